"""Indices of elements that are not zero, and how many elements are where."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

import numpy as np

from ._agreement import alike
from ._array import Array, Axis
from ._axes import (
    Destination,
    Sequenced,
    cuts_of,
    in_any_order,
    in_blocks,
    in_order,
    layout_of_blocks,
    longest_slab,
    moved,
    on_host,
    reduced,
    sequence,
    values_of,
    where_sorted,
    wrapped,
)
from ._device_parts import DevicePart
from ._errors import ArgumentError
from ._exchange import of_all, smallest_and_largest, total
from ._shapes import ravel
from ._replicas import with_replicas


@alike
def count_nonzero(a: Array, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """How many elements are not zero, as `numpy.count_nonzero`. Collective, blocking.

    Parameters
    ----------
    axis : int or sequence of int, optional
        The axes along which they are counted; unset: all.

    Returns
    -------
    int or Array
        A number on every rank if `axis` is None and `keepdims` False, or else what `sum` returns.
    """
    given = reduced(a)
    axis = tuple(range(a.ndim)) if axis is None and keepdims else axis
    if axis is not None and not given._core.on_host:
        return (given != 0).sum(axis, keepdims=keepdims)
    if axis is not None:
        is_true = values_of(given).astype(np.bool_)  # of complex numbers in half the time that comparisons take
        return wrapped(given, given.layout, is_true).sum(axis, keepdims=keepdims)
    if not given._core.on_host:
        return int((given != 0).sum())
    one = in_any_order(given)
    return int(total(one.context, np.count_nonzero(one.values)))


def _indices(a: Array) -> Tuple[Any, Any, Any]:
    """Of this rank's elements that are not zero, one array per dimension; how the ranks divide them; the context."""
    if not a.ndim:
        raise ArgumentError("nonzero: the array has no dimensions")
    there, cuts = in_blocks(a if a._core.on_host or a.dtype == np.bool_ else a != 0, 0)
    context, part = there._core.context, values_of(there)
    if isinstance(part, DevicePart):
        found = _indices_on_device(part)
        found[0] = found[0].joined("add", cuts[context.rank])
    else:
        found = list(np.nonzero(part))
        found[0] = found[0] + cuts[context.rank]
    return found, cuts_of(of_all(context, [found[0].size])[:, 0]), context


def _indices_on_device(part: DevicePart) -> List[Any]:
    left = part.reshape(-1).true_positions()
    found = []
    for extent in part.shape[:0:-1]:
        found.append(left.joined("remainder", max(extent, 1)))
        left = left.joined("floor_divide", max(extent, 1))
    return [left, *found[::-1]]


@alike
def nonzero(a: Array, *, distribution: Optional[Destination] = None) -> Tuple[Array, ...]:
    """The indices of the elements that are not zero, as `numpy.nonzero`. Collective, blocking.

    Parameters
    ----------
    distribution : distribution or Layout, optional
        Distribution of the results. Unset: as many indices on each rank as it has such elements in blocks of axis 0; see `balance`.

    Returns
    -------
    tuple of Arrays
        The indices in row-major order of the elements, in int64, one array per dimension.
    """
    found, cuts, context = _indices(reduced(a))
    return tuple(sequence(a, Sequenced(context, one, cuts), distribution) for one in found)


@alike
def flatnonzero(a: Array, *, distribution: Optional[Destination] = None) -> Array:
    """The positions in row-major order of the elements that are not zero, as `numpy.flatnonzero`. Collective, blocking.

    Parameters
    ----------
    distribution : distribution or Layout, optional
        As for `nonzero`.
    """
    return nonzero(ravel(a), distribution=distribution)[0]


@alike
def argwhere(a: Array, *, distribution: Optional[Destination] = None) -> Array:
    """The indices of the elements that are not zero, one row each, as `numpy.argwhere`. Collective, blocking.

    Parameters
    ----------
    distribution : distribution or Layout, optional
        As for `nonzero`.
    """
    found, cuts, _ = _indices(reduced(a))
    columns = [one.on_host() if isinstance(one, DevicePart) else one for one in found]
    made = wrapped(a, layout_of_blocks((cuts[-1], a.ndim), 0, cuts), np.stack(columns, 1))
    return moved(made, distribution)


@alike
@with_replicas("a", "weights")
def histogram(
    a: Array,
    bins: Any = 10,
    range: Optional[Tuple[float, float]] = None,
    density: Optional[bool] = None,
    weights: Optional[Array] = None,
) -> Tuple[Any, Any]:
    """How many elements are in each bin, as `numpy.histogram`. Collective, blocking.

    Parameters
    ----------
    bins : int or sequence of numbers, default 10
        The number of bins of equal width, or their edges.
    range : (number, number), optional
        The outer edges of bins of equal width; unset: the smallest and the largest element.
    density : bool, optional
        Divide by the sum and the widths of the bins.
    weights : Array, optional
        An array of the same shape, whose elements are added instead of ones.

    Returns
    -------
    NumPy array, NumPy array
        The counts and the edges, on every rank.
    """
    given = where_sorted(a) if weights is None else on_host(a)
    if isinstance(bins, str):
        raise ArgumentError(f"histogram: bins {bins!r}: expected a number of bins or their edges")
    if given.layout.is_replicated and given.ndim:
        given = given.redistribute(longest_slab(given.shape))
    one = in_any_order(given if given.dtype != np.bool_ else given.astype("uint8"))
    heavy = None if weights is None else _beside(given, weights, one)
    ordered = one.values.ordered() if isinstance(one.values, DevicePart) else None
    ends = one if ordered is None else one.with_values(ordered[:: max(ordered.size - 1, 1)].on_host())
    edges, outer = (bins, None) if np.ndim(bins) else (bins, range if range is not None else _ends(ends))
    counts, found = np.histogram(one.values if ordered is None else ends.values[:0], edges, outer, weights=heavy)
    if ordered is not None:
        counts = np.diff(np.append(ordered.places_of(found[:-1], "left"), ordered.places_of(found[-1:], "right")))
    counts = total(one.context, counts)
    if density:
        with np.errstate(invalid="ignore", divide="ignore"):
            counts = counts / np.diff(found) / counts.sum()
    return counts, found


def _beside(given: Array, weights: Array, one: Sequenced) -> Any:
    """The weights of this rank's elements."""
    others = on_host(weights)
    if others.shape != given.shape:
        raise ArgumentError(f"weights have shape {others.shape}, but the array has {given.shape}")
    return in_any_order(moved(others, given.layout)).values if given.ndim else in_order(others).values


def _ends(one: Sequenced) -> Tuple[Any, Any]:
    """The smallest and the largest element; 0 and 1 if there are none."""
    values = one.values
    if one.cuts[-1] == 0:
        return 0, 1
    limits: Any = np.iinfo(values.dtype) if values.dtype.kind in "iu" else None
    lowest, highest = (limits.min, limits.max) if limits is not None else (-np.inf, np.inf)
    ends = (values.min(), values.max()) if len(values) else (highest, lowest)
    bad = values.dtype.kind == "f" and bool(np.isnan(ends).any())
    smallest, largest = (total(one.context, np.array([end], values.dtype), how)[0] for end, how in zip(ends, ("min", "max")))
    if total(one.context, [int(bad)])[0]:
        return np.nan, np.nan
    return smallest, largest


@alike
@with_replicas("x", "weights")
def bincount(x: Array, weights: Optional[Array] = None, minlength: int = 0) -> Any:
    """How often each integer occurs, as `numpy.bincount`. Collective, blocking.

    Parameters
    ----------
    x : Array
        Integers that are not negative, in one dimension.
    weights : Array, optional
        An array of the same shape, whose elements are added instead of ones.
    minlength : int, default 0
        The least number of counts.

    Returns
    -------
    NumPy array
        The counts of 0, 1, ..., up to the largest element, on every rank.
    """
    given = where_sorted(x) if weights is None else on_host(x)
    if given.ndim != 1 or given.dtype.kind not in "iub":
        raise ArgumentError(f"bincount: expected integers in one dimension, got {given.dtype} in {given.ndim}")
    if minlength < 0:
        raise ArgumentError(f"bincount: minlength is {minlength}, but it is at least 0")
    if given.layout.is_replicated:
        given = given.redistribute(longest_slab(given.shape))
    one = in_any_order(given)
    heavy = None if weights is None else _beside(given, weights, one)
    values = one.values
    if isinstance(values, DevicePart):
        values, heavy = values.distinct()
    values = values.astype(np.int64, copy=False)
    least, most = smallest_and_largest(one.context, values)
    if least < 0:
        raise ArgumentError(f"{least} is negative")
    counts = np.bincount(values, heavy, max(most + 1, minlength))
    return total(one.context, counts.astype(np.int64 if weights is None or not one.cuts[-1] else np.float64))


__all__ = ["argwhere", "bincount", "count_nonzero", "flatnonzero", "histogram", "nonzero"]
