"""Reductions of the elements that are not NaN, with NumPy's names. All are collective and blocking; see `_reductions`."""

from __future__ import annotations

import math
from typing import Any, Optional, Union, cast

import numpy as np

from ._agreement import alike
from ._array import Array, Axis, axes_of
from ._axes import wrapped
from ._errors import ArgumentError
from ._exchange import of_all
from ._extrema import extreme, with_one_index
from ._freed_memory import blocks
from ._moves import part_of, settled, with_part
from ._reductions import count_of, divided, floating, number_of, readable, refuse_out, squared
from ._ufuncs import local_call
from ._views import without_axis


def _without_nan(name: str, a: Array, value: Any) -> Array:
    """With the value in the place of each NaN; an array that cannot have any is itself."""
    if settled(name, a).dtype.kind not in "fc":
        return a
    if not a._core.on_host:
        return cast(Array, local_call("where", np.where, [np.isnan(a), value, a]))
    part = part_of(a)
    filled = blocks.empty(part.shape, part.dtype)
    filled[...] = part
    np.copyto(filled, value, where=np.isnan(part))
    return with_part(a, a.layout, filled)


def _numbers(a: Array, axis: Axis, keepdims: bool = False) -> Any:
    """How many elements are not NaN."""
    if a.dtype.kind not in "fc":
        return count_of(a, axis)
    return np.logical_not(np.isnan(a)).sum(axis, keepdims=keepdims)


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
        return found if found != none or _numbers(a, None) else math.nan
    return local_call("where", np.where, [_numbers(a, axis, keepdims) > 0, found, math.nan])


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
    return number_of(divided(_without_nan("nanmean", a, 0).sum(axis, keepdims=keepdims), _numbers(a, axis, keepdims)))


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
    centre = nanmean(a, axis, keepdims=axis is not None)
    deviation = _without_nan("nanvar", cast(Array, a - readable(a, centre)), 0)
    found = _numbers(a, axis, keepdims)
    less = ddof if correction is None else correction
    count = found - less
    if isinstance(count, Array):  # without any number it is NaN, whatever is subtracted
        count = count.astype("float64")
    quotient = divided(squared(deviation).sum(axis, keepdims=keepdims), count)
    if isinstance(quotient, Array):
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


def _of_numbers(name: str, a: Array, axis: Optional[int], value: float) -> Array:
    """For `nanargmax` and `nanargmin`; ArgumentError if there is no number."""
    filled = _without_nan(name, a, value)
    if filled is not a and not _every(_numbers(a, axis)):
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


__all__ = ["nanargmax", "nanargmin", "nanmax", "nanmean", "nanmin", "nanprod", "nanstd", "nansum", "nanvar"]
