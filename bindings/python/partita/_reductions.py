"""Reductions with NumPy's names. All are collective and blocking; without axes the result is a number on every rank."""

from __future__ import annotations

from typing import Any, Callable, Optional, Union

import numpy as np

from . import _core
from ._agreement import alike
from ._array import Array, Axis, axes_of, core_given
from ._errors import ArgumentError
from ._masked import count_of, mask_of, mean_selected, number_of, reduced_with, variance_selected
from ._mesh import DistributionLike, rule_of
from ._moves import settled
from ._replicas import with_replicas
from ._streams import settle, stream_of_array


def _method(name: str, text: str) -> Callable[..., Any]:
    """The function that calls the method `name`; `text` is its docstring."""

    def reduce(
        a: Array,
        axis: Axis = None,
        out: None = None,
        *,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
        distribution: Optional[DistributionLike] = None,
        root: Optional[int] = None,
        stream: Any = None,
    ) -> Any:
        core_given(a)
        how = {"out": out, "keepdims": keepdims, "distribution": distribution, "root": root, "stream": stream}
        return reduced_with(a, name, axis, initial, where, None, **how)

    return _named(reduce, name, text)


def _method_with_dtype(name: str, text: str) -> Callable[..., Any]:
    def reduce(
        a: Array,
        axis: Axis = None,
        dtype: Any = None,
        out: None = None,
        *,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
        distribution: Optional[DistributionLike] = None,
        root: Optional[int] = None,
        stream: Any = None,
    ) -> Any:
        core_given(a)
        how = {"out": out, "keepdims": keepdims, "distribution": distribution, "root": root, "stream": stream}
        return reduced_with(a, name, axis, initial, where, dtype, **how)

    return _named(reduce, name, text)


def _named(function: Callable[..., Any], name: str, text: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    return alike(function)


sum = _method_with_dtype("sum", "The sum over all axes or some; see `Array.sum`. Collective, blocking.")
prod = _method_with_dtype("prod", "The product over all axes or some; see `Array.sum`. Collective, blocking.")
min = _method("min", "The smallest element over all axes or some; see `Array.sum`. Collective, blocking.")
max = _method("max", "The largest element over all axes or some; see `Array.sum`. Collective, blocking.")
any = _method("any", "Whether any element is not 0, over all axes or some; see `Array.sum`. Collective, blocking.")
all = _method("all", "Whether all elements are not 0, over all axes or some; see `Array.sum`. Collective, blocking.")


@alike
def mean(
    a: Array,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    *,
    keepdims: bool = False,
    where: Any = None,
    distribution: Optional[DistributionLike] = None,
    root: Optional[int] = None,
    stream: Any = None,
) -> Any:
    """The mean over all axes or some; see `Array.mean`. Collective, blocking."""
    core_given(a)
    how = {"out": out, "keepdims": keepdims, "distribution": distribution, "root": root, "stream": stream}
    if where is None:
        return a.mean(axis, dtype=dtype, **how)
    a = floating("mean", a, dtype)
    return mean_selected(a, mask_of("mean", a, where), axis, **how)


def floating(name: str, a: Array, dtype: Any) -> Array:
    """Booleans and integers as float64, numbers of 16 bits as float32."""
    settled(name, a)
    if dtype is not None:
        return a if a.dtype == dtype else a.astype(dtype)
    kind = a._core.dtype
    return a.astype("float64") if kind.startswith(("bool", "int", "uint")) else a.astype("float32") if kind in ("float16", "bfloat16") else a


def refuse_out(name: str, out: Any) -> None:
    if out is not None:
        raise ArgumentError(f"{name}: the argument out is not supported")


@alike
def var(
    a: Array,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    ddof: Union[int, float] = 0,
    *,
    keepdims: bool = False,
    where: Any = None,
    correction: Optional[float] = None,
    distribution: Optional[DistributionLike] = None,
    root: Optional[int] = None,
) -> Any:
    """The variance over all axes or some. Collective, blocking: two reductions, that of the mean and that of the squared deviations.

    Parameters
    ----------
    dtype : dtype, optional
        The dtype of the computation; unset: float64 for booleans and integers, float32 for float16 and bfloat16.
    ddof : number
        The divisor is the number of elements minus `ddof`.
    correction : number, optional
        Another name for `ddof`, that of the array API standard.
    """
    refuse_out("var", out)
    return _spread("var", a, axis, dtype, ddof if correction is None else correction, where, keepdims=keepdims, distribution=distribution, root=root)


def _spread(
    name: str,
    a: Array,
    axis: Axis,
    dtype: Any,
    less: Any,
    where: Any,
    *,
    keepdims: bool,
    distribution: Optional[DistributionLike],
    root: Optional[int],
) -> Any:
    """`var`, or `std`."""
    a = floating(name, a, dtype)
    if where is not None:
        found, _ = variance_selected(a, mask_of(name, a, where), axis, less, keepdims=keepdims, distribution=distribution, root=root)
        return number_of(np.sqrt(found) if name == "std" else found)
    over_all = axis is None and not keepdims
    if over_all and (distribution is not None or root is not None):
        raise ArgumentError(f"{name}: a reduction over all axes returns a number on every rank")
    if over_all:
        settle(a._core, a._package)
        return _core.spread_of_all(a._core, name == "std", float(less))
    rule = None if distribution is None else rule_of(distribution)
    stream = stream_of_array(None, a._core, a._package)
    return Array(_core.spread_along(a._core, name == "std", float(less), a._axes(axis), keepdims, rule, root, stream), a._package)


@alike
def std(
    a: Array,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    ddof: Union[int, float] = 0,
    *,
    keepdims: bool = False,
    where: Any = None,
    correction: Optional[float] = None,
    distribution: Optional[DistributionLike] = None,
    root: Optional[int] = None,
) -> Any:
    """The standard deviation, the square root of `var`, with its arguments. Collective, blocking.

    Parameters
    ----------
    dtype : dtype, optional
        The dtype of the computation; see `var`.
    ddof : number
        The divisor is the number of elements minus `ddof`.
    correction : number, optional
        Another name for `ddof`.
    """
    refuse_out("std", out)
    return _spread("std", a, axis, dtype, ddof if correction is None else correction, where, keepdims=keepdims, distribution=distribution, root=root)


@alike
def ptp(a: Array, axis: Axis = None, out: None = None, *, keepdims: bool = False) -> Any:
    """The largest element minus the smallest. Collective, blocking."""
    refuse_out("ptp", out)
    core_given(a)
    return number_of(a.max(axis, keepdims=keepdims) - a.min(axis, keepdims=keepdims))


@alike
@with_replicas("a", "weights")
def average(a: Array, axis: Axis = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False) -> Any:
    """The weighted mean over all axes or some. Collective, blocking.

    Parameters
    ----------
    weights : Array or numpy.ndarray, optional
        Of the shape of the array, or one per index along `axis`; unset: equal weights.
    returned : bool
        Also return the sum of the weights.
    """
    if weights is None:
        found = settled("average", a).mean(axis, keepdims=keepdims)
        return (found, _like_result(found, float(count_of(a, axis)))) if returned else found
    a = floating("average", a, None)
    if weights.shape != a.shape:
        if axis is None or not isinstance(axis, (int, np.integer)) or weights.ndim != 1:
            raise ArgumentError(f"average: weights of shape {weights.shape} for an array of shape {a.shape}; give one axis and a vector")
        along = axes_of(axis, a.ndim)[0]
        values = np.asarray(weights.gather(space="host") if isinstance(weights, Array) else weights)
        values = np.ascontiguousarray(values.reshape([-1 if one == along else 1 for one in range(a.ndim)]))
        line = Array(_core.wrap_beside(a._core, values, _core.Layout(_core.Replicated(), values.shape, a._core.context.size)), a._package)
        line = line if a._core.on_host else line.copy(space="device")
        weights = np.where(np.isnan(a), line, line)  # in the layout of the array
    total = weights.sum(axis, keepdims=keepdims)
    found = number_of((a * weights).sum(axis, keepdims=keepdims) / total)
    return (found, total) if returned else found


def _like_result(found: Any, number: float) -> Any:
    return number if not isinstance(found, Array) else found * 0 + number


__all__ = [
    "all", "any", "average", "max", "mean", "min", "prod", "ptp", "std", "sum", "var",
]  # fmt: skip
