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
    finished,
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
    if isinstance(bins, str):
        raise ArgumentError(f"histogram: bins {bins!r}: expected a number of bins or their edges")
    given = _where_counted(a, weights, weights is None or weights.dtype.kind == "f", bins)
    given = given if given.dtype != np.bool_ else given.astype("uint8")
    one = in_any_order(given)
    heavy = None if weights is None else _beside(given, weights)
    edges, outer = (bins, None) if np.ndim(bins) else (bins, range if range is not None else _ends(given, one))
    there = isinstance(one.values, DevicePart)
    counts, found = np.histogram(np.empty(0, given.dtype) if there else one.values, edges, outer, weights=None if there else heavy)
    if there:
        counts = one.values.counted(len(counts), found, heavy)
        counts = counts if weights is None else counts.astype(weights.dtype)
    counts = total(one.context, counts)
    if density:
        with np.errstate(invalid="ignore", divide="ignore"):
            counts = counts / np.diff(found) / counts.sum()
    return counts, found


def _where_counted(a: Array, weights: Optional[Array], added_there: bool, bins: Any = 0) -> Array:
    """The array, each element once, in the memory of a device that counts its elements, else in host memory.

    `added_there`: whether a device adds the weights. It does not compare with edges of 64 bits without a sign.
    """
    given = where_sorted(a)
    exact = np.ndim(bins) and np.asarray(bins).dtype.kind != "f" and "uint64" in (given.dtype, np.asarray(bins).dtype)
    if not added_there or exact:
        given = on_host(given)
    if weights is not None and weights.shape != given.shape:
        raise ArgumentError(f"weights have shape {weights.shape}, but the array has {given.shape}")
    return given.redistribute(longest_slab(given.shape)) if given.layout.is_replicated and given.ndim else given


def _beside(given: Array, weights: Array) -> Any:
    """The weights of this rank's elements, in the memory of these."""
    there = finished(given, on_host(weights)) if weights._core.on_host else on_host(weights) if given._core.on_host else reduced(weights)
    return in_any_order(moved(there, given.layout) if given.ndim else there).values


def _ends(given: Array, one: Sequenced) -> Tuple[Any, Any]:
    """The smallest and the largest element; 0 and 1 if there are none."""
    values = one.values
    if one.cuts[-1] == 0:
        return 0, 1
    if isinstance(values, DevicePart):
        least, most = np.array([given.min(), given.max()], values.dtype)
        return least, most
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
    if x.ndim != 1 or x.dtype.kind not in "iub":
        raise ArgumentError(f"bincount: expected integers in one dimension, got {x.dtype} in {x.ndim}")
    if minlength < 0:
        raise ArgumentError(f"bincount: minlength is {minlength}, but it is at least 0")
    given = _where_counted(x, weights, weights is None or weights.dtype.kind in "iubf")
    given = given.astype("uint8") if given.dtype == np.bool_ else given
    one = in_any_order(given)
    heavy = None if weights is None else _beside(given, weights)
    there = isinstance(one.values, DevicePart)
    values = one.values if there else one.values.astype(np.int64, copy=False)
    if there:
        least, most = (given.min(), given.max()) if given.size else (0, -1)
    else:
        least, most = smallest_and_largest(one.context, values)
    if least < 0:
        raise ArgumentError(f"{least} is negative")
    size = max(most + 1, minlength)
    counts = values.counted(size, None, heavy) if there else np.bincount(values, heavy, size)
    return total(one.context, counts.astype(np.int64 if weights is None or not one.cuts[-1] else np.float64))


__all__ = ["argwhere", "bincount", "count_nonzero", "flatnonzero", "histogram", "nonzero"]
