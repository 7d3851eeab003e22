"""Derivatives, integrals and interpolation along an axis, and the covariance of variables."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Union, cast

import numpy as np

from ._agreement import alike
from ._array import Array, axes_of, distinct_axes_of
from ._axes import finished, moved, on_host, values_of, with_whole, wrapped
from ._diagonals import diagonal
from ._errors import ArgumentError
from ._joining import concatenate
from ._linear import matmul
from ._masked import readable
from ._moves import settled
from ._reductions import floating
from ._replicas import with_replicas
from ._ufuncs import local_call


def _known(one: Any) -> Any:
    """Values that every rank needs: of a distributed array, gathered."""
    return one.gather(space="host") if isinstance(one, Array) else np.asarray(one)


@alike
def gradient(f: Array, *varargs: Any, axis: Union[None, int, Sequence[int]] = None, edge_order: int = 1) -> Any:
    """Derivatives by differences of second order, as `numpy.gradient`. Collective, blocking.

    Each rank has whole lines: unless it has them already, the array is redistributed along each axis, and the result back.

    Parameters
    ----------
    f : Array
        The values.
    *varargs : number or vector
        The distance of neighbours, or their coordinates: one for all axes, or one each; 1 if there is none.
    axis : int or sequence of int, optional
        The axes; unset: all.
    edge_order : {1, 2}
        Order of the differences at both ends.

    Returns
    -------
    Array, or tuple of Arrays
        In the layout of `f`, one for each axis.
    """
    axes = list(range(f.ndim)) if axis is None else distinct_axes_of(cast(Any, axis), f.ndim)
    steps = [_known(one) for one in varargs]
    if len(steps) not in (0, 1, len(axes)):
        raise ArgumentError(f"gradient: {len(steps)} distances for {len(axes)} axes; expected none, one, or one for each axis")
    steps = (steps or [np.float64(1)]) * (1 if len(steps) == len(axes) else len(axes))
    given, found = on_host(f), []
    for along, step in zip(axes, steps):
        if given.shape[along] <= edge_order:
            raise ArgumentError(f"gradient: {given.shape[along]} elements along axis {along}; expected more than edge_order, which is {edge_order}")
        there, _ = with_whole(given, [along])
        made = np.gradient(values_of(there), step, axis=along, edge_order=edge_order)  # type: ignore[call-overload]
        found.append(moved(wrapped(f, there.layout, made), f.layout))
    return found[0] if len(found) == 1 else tuple(found)


@alike
@with_replicas("y", "x")
def trapezoid(y: Array, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    """The integral along an axis by the trapezoidal rule, as `numpy.trapezoid`. Collective, blocking.

    Parameters
    ----------
    y : Array
        The values.
    x : vector, optional
        Where they are along the axis; unset: at distances `dx`.
    dx : number
        The distance of neighbours.
    axis : int
        The axis.
    """
    (along,) = axes_of(axis, settled("trapezoid", y).ndim)
    real = y.real.dtype if y.dtype.kind in "fc" else np.float64
    steps = np.full(max(y.shape[along] - 1, 0), dx, real) if x is None else np.diff(_known(x))
    if x is not None and (steps.ndim != 1 or len(steps) != y.shape[along] - 1):
        raise ArgumentError(f"trapezoid: x has shape {np.shape(x)}; expected a vector of {y.shape[along]} elements, as y has along axis {along}")
    half = steps / 2
    weights = np.append(half, half[:0].sum()) + np.append(half[:0].sum(), half)
    return (y * weights.reshape([-1 if one == along else 1 for one in range(y.ndim)])).sum(along)


@alike
def interp(x: Array, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Optional[float] = None) -> Array:
    """Piecewise linear interpolation, as `numpy.interp`, in the layout of `x`. Collective, blocking.

    Parameters
    ----------
    x : Array
        The points at which to interpolate.
    xp, fp : vector
        Increasing coordinates, and the values there. Distributed ones are gathered on every rank.
    left, right : number, optional
        The value below `xp[0]`, and above `xp[-1]`; unset: the first and the last of `fp`.
    period : number, optional
        Coordinates are taken modulo the period.
    """
    found = local_call("interp", np.interp, [on_host(x)], xp=_known(xp), fp=_known(fp), left=left, right=right, period=period)
    return finished(x, found)


def _variables(name: str, m: Array, rowvar: bool) -> Array:
    if settled(name, m).ndim > 2:
        raise ArgumentError(f"{name}: an array of {m.ndim} dimensions; expected one or two")
    rows = m[None] if m.ndim < 2 else m if rowvar else m.T
    return floating(name, rows, None)


@alike
@with_replicas("m", "y")
def cov(
    m: Array,
    y: Optional[Array] = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: Optional[int] = None,
    fweights: Any = None,
    aweights: Any = None,
) -> Any:
    """The covariance matrix of variables, as `numpy.cov`. Collective, blocking: one matrix product.

    Parameters
    ----------
    m : Array
        [variables, observations], or one variable.
    y : Array, optional
        More variables with as many observations.
    rowvar : bool
        Each row is a variable; otherwise each column.
    bias : bool
        The divisor is the number of observations, not that minus one.
    ddof : int, optional
        The divisor is the number of observations minus `ddof`; overrides `bias`.
    fweights, aweights : vector, optional
        How often each observation counts, and its relative weight.

    Returns
    -------
    Array
        [variables, variables]; without dimensions for one variable.
    """
    rows = _variables("cov", m, rowvar)
    if y is not None:
        rows = concatenate([rows, _variables("cov", y, rowvar or y.ndim < 2)])
    less = (0 if bias else 1) if ddof is None else ddof
    weights = np.ones(rows.shape[1]) if fweights is None else _known(fweights).astype(float)
    relative = None if aweights is None else _known(aweights).astype(float)
    if relative is not None:
        weights = weights * relative
    total = weights.sum()
    count = total - less if relative is None or not less else total - less * (weights * relative).sum() / total
    weights = weights.astype(rows.real.dtype)
    weighted = rows * weights[None] if fweights is not None or relative is not None else rows
    deviation = rows - readable(rows, weighted.sum(1, keepdims=True) / total)
    scaled = deviation * weights[None] if weighted is not rows else deviation
    found = matmul(deviation, np.conj(scaled).T) / max(count, 0.0)
    return found if len(rows) > 1 else found[0, 0]


@alike
@with_replicas("x", "y")
def corrcoef(x: Array, y: Optional[Array] = None, rowvar: bool = True) -> Any:
    """The correlation coefficients of variables, as `numpy.corrcoef`. Collective, blocking; see `cov`.

    Parameters
    ----------
    x : Array
        [variables, observations], or one variable.
    y : Array, optional
        More variables.
    rowvar : bool
        Each row is a variable; otherwise each column.
    """
    found = cov(x, y, rowvar)
    if not isinstance(found, Array) or not found.ndim:
        return found / found
    deviation = np.sqrt(_known(diagonal(found)).real)
    return found / deviation[:, None] / deviation[None, :]


__all__ = ["corrcoef", "cov", "gradient", "interp", "trapezoid"]
