"""Reductions of the elements that are not NaN, with NumPy's names. All are collective and blocking; see `_reductions`."""

from __future__ import annotations

import math
from typing import Any, Optional, Union

import numpy as np

from ._agreement import alike
from ._array import Array, Axis, axes_of
from ._axes import Destination, wrapped
from ._errors import ArgumentError
from ._exchange import of_all
from ._extrema import extreme, with_one_index
from ._masked import count_of, count_selected, mean_selected, number_of, numbers_in, selected, variance_selected
from ._moves import part_of, settled
from ._reductions import floating, refuse_out
from ._scan import cumprod, cumsum
from ._ufuncs import local_call
from ._views import without_axis


def _without_nan(name: str, a: Array, value: Any) -> Array:
    """With the value in the place of each NaN; an array that cannot have any is itself."""
    return selected(a, numbers_in(settled(name, a)), value)


@alike
def nansum(a: Array, axis: Axis = None, dtype: Any = None, out: None = None, *, keepdims: bool = False) -> Any:
    """The sum of the elements that are not NaN, with the arguments of `sum`. Collective, blocking."""
    refuse_out("nansum", out)
    return _without_nan("nansum", a, 0).sum(axis, dtype=dtype, keepdims=keepdims)


@alike
def nanprod(a: Array, axis: Axis = None, dtype: Any = None, out: None = None, *, keepdims: bool = False) -> Any:
    """The product of the elements that are not NaN, with the arguments of `prod`. Collective, blocking."""
    refuse_out("nanprod", out)
    return _without_nan("nanprod", a, 1).prod(axis, dtype=dtype, keepdims=keepdims)


@alike
def nanmin(a: Array, axis: Axis = None, out: None = None, *, keepdims: bool = False) -> Any:
    """The smallest element that is not NaN; NaN if all are. Collective, blocking."""
    refuse_out("nanmin", out)
    return _extreme_number("nanmin", a, axis, keepdims, math.inf)


@alike
def nanmax(a: Array, axis: Axis = None, out: None = None, *, keepdims: bool = False) -> Any:
    """The largest element that is not NaN; NaN if all are. Collective, blocking."""
    refuse_out("nanmax", out)
    return _extreme_number("nanmax", a, axis, keepdims, -math.inf)


def _extreme_number(name: str, a: Array, axis: Axis, keepdims: bool, none: float) -> Any:
    if settled(name, a)._core.on_host and a.dtype.kind == "f" and count_of(a, axis) > 0:
        found = _of_fmax(a, axis, keepdims, np.fmin if none > 0 else np.fmax)
        if found is not None:
            return found
    filled = _without_nan(name, a, none)
    found = (filled.min if none > 0 else filled.max)(axis, keepdims=keepdims)
    if filled is a:
        return found
    if not isinstance(found, Array):
        return found if found != none or count_selected(a, numbers_in(a), None) else math.nan
    return local_call("where", np.where, [count_selected(a, numbers_in(a), axis, keepdims=keepdims) > 0, found, math.nan])


def _of_fmax(a: Array, axis: Axis, keepdims: bool, function: np.ufunc) -> Any:
    """By NumPy's ufunc that ignores NaN, in one pass; None where the ranks would have to reduce parts of the axes."""
    part, context = part_of(a), a._core.context
    if axis is None:
        mine = function.reduce(part, axis=None) if part.size else math.nan
        return None if keepdims else number_of(function.reduce(of_all(context, np.array([mine], part.dtype)), axis=None))
    axes = axes_of(axis, a.ndim)
    layout = with_one_index(a.layout, axes[0]) if len(axes) == 1 else None
    if layout is None:
        return None
    local = layout.local_shape(context.rank)
    found = wrapped(a, layout, np.empty(local, part.dtype) if 0 in local else function.reduce(part, axes[0], keepdims=True))
    return found if keepdims else without_axis(found, axes[0])


@alike
def nanmean(a: Array, axis: Axis = None, dtype: Any = None, out: None = None, *, keepdims: bool = False) -> Any:
    """The mean of the elements that are not NaN, with the arguments of `mean`. Collective, blocking."""
    refuse_out("nanmean", out)
    a = floating("nanmean", a, dtype)
    return mean_selected(a, numbers_in(a), axis, keepdims=keepdims)


@alike
def nanvar(
    a: Array,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    ddof: Union[int, float] = 0,
    *,
    keepdims: bool = False,
    correction: Optional[float] = None,
) -> Any:
    """The variance of the elements that are not NaN, with the arguments of `var`. Collective, blocking.

    Parameters
    ----------
    dtype : dtype, optional
        The dtype of the computation; see `var`.
    ddof : number
        The divisor is the number of elements minus `ddof`.
    correction : number, optional
        Another name for `ddof`.
    """
    refuse_out("nanvar", out)
    a = floating("nanvar", a, dtype)
    less = ddof if correction is None else correction
    quotient, count = variance_selected(a, numbers_in(a), axis, less, keepdims=keepdims)
    if isinstance(quotient, Array):  # without any number it is NaN, whatever is subtracted
        return local_call("where", np.where, [count > 0, quotient, math.nan])
    return number_of(quotient) if count > 0 else math.nan


@alike
def nanstd(
    a: Array,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    ddof: Union[int, float] = 0,
    *,
    keepdims: bool = False,
    correction: Optional[float] = None,
) -> Any:
    """The standard deviation of the elements that are not NaN, with the arguments of `var`. Collective, blocking.

    Parameters
    ----------
    dtype : dtype, optional
        The dtype of the computation; see `var`.
    ddof : number
        The divisor is the number of elements minus `ddof`.
    correction : number, optional
        Another name for `ddof`.
    """
    refuse_out("nanstd", out)
    return number_of(np.sqrt(nanvar(a, axis, dtype, ddof=ddof, keepdims=keepdims, correction=correction)))


@alike
def nancumsum(a: Array, axis: Optional[int] = None, dtype: Any = None, *, distribution: Optional[Destination] = None) -> Array:
    """As `cumsum`, with 0 in the place of NaN. Collective, blocking.

    Parameters
    ----------
    axis : int, optional
        The axis; unset: all elements in row-major order, in a result of one dimension.
    dtype : dtype, optional
        Dtype of the result and of the sums; see `cumsum`.
    distribution : distribution or Layout, optional
        Distribution of the result; see `cumsum`.
    """
    return cumsum(_without_nan("nancumsum", a, 0), axis, dtype, distribution=distribution)


@alike
def nancumprod(a: Array, axis: Optional[int] = None, dtype: Any = None, *, distribution: Optional[Destination] = None) -> Array:
    """As `cumprod`, with 1 in the place of NaN, and the arguments of `nancumsum`. Collective, blocking."""
    return cumprod(_without_nan("nancumprod", a, 1), axis, dtype, distribution=distribution)


def _of_numbers(name: str, a: Array, axis: Optional[int], value: float) -> Array:
    """For `nanargmax` and `nanargmin`; ArgumentError if there is no number."""
    filled = _without_nan(name, a, value)
    if filled is not a and not _every(count_selected(a, numbers_in(a), axis)):
        raise ArgumentError(f"{name}: all elements are NaN{'' if axis is None else ' at an index of the other axes'}")
    return filled


def _every(counts: Any) -> bool:
    return bool(counts.all() if isinstance(counts, Array) else counts)


@alike
def nanargmax(a: Array, axis: Optional[int] = None, out: None = None, *, keepdims: bool = False) -> Any:
    """As `argmax`, of the elements that are not NaN. Collective, blocking.

    Parameters
    ----------
    axis : int, optional
        The axis that is reduced; unset: the index is that of the elements in row-major order.
    """
    refuse_out("nanargmax", out)
    return extreme("argmax", _of_numbers("nanargmax", a, axis, -math.inf), axis, keepdims)


@alike
def nanargmin(a: Array, axis: Optional[int] = None, out: None = None, *, keepdims: bool = False) -> Any:
    """As `argmin`, of the elements that are not NaN. Collective, blocking.

    Parameters
    ----------
    axis : int, optional
        The axis that is reduced; unset: the index is that of the elements in row-major order.
    """
    refuse_out("nanargmin", out)
    return extreme("argmin", _of_numbers("nanargmin", a, axis, math.inf), axis, keepdims)


__all__ = ["nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmin", "nanprod", "nanstd", "nansum", "nanvar"]
