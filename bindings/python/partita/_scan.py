"""Sums and products along an axis, and differences of neighbours."""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional, Tuple, cast

import numpy as np

from . import _core
from ._agreement import alike
from ._array import Array
from ._axes import Destination, longest_slab, moved, one_axis, reduced, values_of, wrapped
from ._dtypes import dtype_name, numpy_dtype
from ._errors import ArgumentError
from ._joining import concatenate
from ._places import broadcast_to
from ._replicas import replicas
from ._shapes import ravel

_scans: Dict[str, Any] = {"cumsum": np.cumsum, "cumprod": np.cumprod}


@alike
def cumsum(a: Array, axis: Optional[int] = None, dtype: Any = None, *, distribution: Optional[Destination] = None) -> Array:
    """The sums of the elements up to each one, as `numpy.cumsum`. Collective, blocking.

    Parameters
    ----------
    axis : int, optional
        The axis; unset: all elements in row-major order, in a result of one dimension.
    dtype : dtype, optional
        Dtype of the result and of the sums. Unset: that of the array, but int64 for booleans and smaller signed integers, and uint64 for
        smaller unsigned ones. float16 and bfloat16 are added in float32 and rounded once.
    distribution : distribution or Layout, optional
        Distribution of the result. Unset: the layout of the array; without an axis `Slab(0)`.

    Notes
    -----
    Each rank adds its own elements; the totals of the ranks before it are added afterwards. So sums of floating-point numbers are rounded
    otherwise than by NumPy. Only one slice per rank is exchanged if the ranks have blocks of the axis; arrays that are distributed
    otherwise along it are redistributed to `Slab(axis)` and back. Devices compute where the elements are.
    """
    return _scanned("cumsum", a, axis, dtype, distribution)


@alike
def cumprod(a: Array, axis: Optional[int] = None, dtype: Any = None, *, distribution: Optional[Destination] = None) -> Array:
    """The products of the elements up to each one, as `numpy.cumprod`, with the arguments of `cumsum`. Collective, blocking."""
    return _scanned("cumprod", a, axis, dtype, distribution)


@alike
def cumulative_sum(
    x: Array, *, axis: Optional[int] = None, dtype: Any = None, include_initial: bool = False, distribution: Optional[Destination] = None
) -> Array:
    """The sums of the elements up to each one, as `numpy.cumulative_sum`. Collective, blocking.

    Parameters
    ----------
    axis : int, optional
        The axis; may be unset only for an array of one dimension.
    dtype : dtype, optional
        As for `cumsum`.
    include_initial : bool, default False
        Begin with 0, so that the result has one element more along the axis.
    distribution : distribution or Layout, optional
        Distribution of the result. Unset: as for `cumsum`, or with `include_initial` as for `diff`.
    """
    return _with_initial("cumulative_sum", cumsum, 0, x, axis, dtype, include_initial, distribution)


@alike
def cumulative_prod(
    x: Array, *, axis: Optional[int] = None, dtype: Any = None, include_initial: bool = False, distribution: Optional[Destination] = None
) -> Array:
    """The products of the elements up to each one, as `numpy.cumulative_prod`, with the arguments of `cumulative_sum`. Collective, blocking.

    Parameters
    ----------
    include_initial : bool, default False
        Begin with 1.
    """
    return _with_initial("cumulative_prod", cumprod, 1, x, axis, dtype, include_initial, distribution)


def _with_initial(
    name: str,
    scan: Callable[..., Array],
    initial: int,
    x: Array,
    axis: Optional[int],
    dtype: Any,
    include_initial: bool,
    distribution: Optional[Destination],
) -> Array:
    if axis is None and isinstance(x, Array) and x.ndim != 1:
        raise ArgumentError(f"{name}: an array of {x.ndim} dimensions needs an axis")
    along = 0 if axis is None else axis
    if not include_initial:
        return scan(x, along, dtype, distribution=distribution)
    found = scan(x, along, dtype)
    place = one_axis(along, x.ndim)
    shape = tuple(1 if one == place else extent for one, extent in enumerate(x.shape))
    first = wrapped(found, _core.Layout(_core.Replicated(), shape, x._core.context.size), np.full(shape, initial, found.dtype))
    whole = concatenate([first, found], place)
    return moved(whole, _fitting(x, whole.shape) if distribution is None else distribution)


def _scanned(name: str, a: Array, axis: Optional[int], dtype: Any, distribution: Optional[Destination]) -> Array:
    given = reduced(a)
    if given.dtype.itemsize == 1 and given.dtype.kind not in "biu":
        raise ArgumentError(f"{name}: dtype {given.dtype} is not supported: convert the array with astype")
    result = np.dtype(_scans[name](np.zeros(0, given.dtype)).dtype) if dtype is None else numpy_dtype(dtype_name(dtype))
    if axis is None:
        given = ravel(given)
        distribution = _core.Slab(0) if distribution is None else distribution
    along, kind = one_axis(axis or 0, given.ndim), result
    if result == np.bool_:  # whether any element so far is true, or all
        given, kind = _converted(given, result), np.dtype(np.uint64)
    elif result.itemsize == 2 and result.kind not in "iu":
        kind = np.dtype(np.float32)
    if given._core.on_host or not np.can_cast(given.dtype, kind, "safe"):
        given = _converted(given, kind)
    found = Array(_core.cumulate(given._core, along, name == "cumprod", dtype_name(kind)), given._package)
    return moved(_converted(found, result), distribution)


def _converted(a: Array, dtype: "np.dtype[Any]") -> Array:
    """As NumPy converts: integers that are too large for a smaller dtype wrap around."""
    if a.dtype == dtype:
        return a
    return wrapped(a, a.layout, values_of(a).astype(dtype)) if a._core.on_host else a.astype(dtype)


@alike
def diff(a: Array, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None, *, distribution: Optional[Destination] = None) -> Array:
    """The differences of neighbours along an axis, as `numpy.diff`. Collective, blocking.

    Parameters
    ----------
    n : int, default 1
        How many times differences are taken.
    axis : int, default -1
        The axis; the result is shorter by `n` along it.
    prepend, append : Array, numpy.ndarray or number, optional
        Elements before and after the array along the axis. A number is one element for each line.
    distribution : distribution or Layout, optional
        Distribution of the result. Unset: the rule of the array, or where that fits this shape only (`Box`, blocks of given extents)
        `Slab` of the axis along which the array is longest.

    Notes
    -----
    Elements that move by `n` places to another rank are sent.
    """
    along = one_axis(axis, a.ndim) if isinstance(a, Array) and a.ndim else -1
    if along < 0:
        raise ArgumentError("diff: the array has no dimensions")
    if n < 0:
        raise ArgumentError(f"diff: n is {n}, but differences are taken 0 or more times")
    given = _extended(reduced(a), along, prepend, append) if n else reduced(a)
    times = min(n, given.shape[along])
    shape = tuple(extent - times if one == along else extent for one, extent in enumerate(given.shape))
    result = given
    for _ in range(times):
        result = _neighbours(result, along)
    return moved(result, _fitting(given, shape) if distribution is None and times else distribution)


def _extended(a: Array, axis: int, before: Any, after: Any) -> Array:
    """The array between others along the axis, by its own distribution."""
    first, last = replicas("diff", [before, after], [a], numbers=True)
    shape = tuple(1 if one == axis else extent for one, extent in enumerate(a.shape))
    others = [one if one is None or one.ndim else broadcast_to(one, shape) for one in (first, last)]
    first, last = (one if one is None else moved(one, _fitting(a, one.shape)) for one in others)
    parts = [one for one in (first, a, last) if one is not None]
    return a if len(parts) == 1 else concatenate(parts, axis)


def _neighbours(a: Array, axis: int) -> Array:
    """The differences, with the layout of the upper neighbours."""
    key = (slice(None),) * axis
    upper = a[(*key, slice(1, None))]
    lower = moved(a[(*key, slice(None, -1))], upper.layout)
    differ = np.not_equal if a.dtype == np.bool_ else np.subtract
    return cast(Array, differ(upper, lower))


def _fitting(a: Array, shape: Tuple[int, ...]) -> Destination:
    """The array's rule where it fits this shape, too."""
    try:
        return _core.Layout(a.distribution, shape, a._core.context.size)
    except ArgumentError:
        return longest_slab(shape)


__all__ = ["cumprod", "cumsum", "cumulative_prod", "cumulative_sum", "diff"]
