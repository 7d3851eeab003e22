"""Membership, and positions in sorted arrays."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, cast

import numpy as np

from ._agreement import alike, alike_but
from ._array import Array
from ._axes import Sequenced, all_values_of, in_any_order, in_order, on_host, reduced, values_of, wrapped
from ._device_parts import DevicePart
from ._errors import ArgumentError
from ._exchange import answered, gathered, of_all
from ._local_order import argsorted
from ._replicas import with_replicas
from ._take import take
from ._unique import distinct

#: Arrays of at most so many elements are copied to all ranks rather than asked about.
_small = 1 << 16


class _Sorted(NamedTuple):
    """This rank's block of a sorted sequence, and the first elements of the blocks that have any."""

    one: Sequenced
    firsts: Any
    owners: Any

    @classmethod
    def of(cls, one: Sequenced) -> _Sorted:
        first = one.values[:1] if len(one.values) else np.zeros(1, one.values.dtype)
        owners = np.flatnonzero(np.diff(one.cuts))
        return cls(one, of_all(one.context, first)[owners, 0], owners)

    def places(self, wanted: Any, side: Any) -> Any:
        """Where these elements belong. Collective, blocking."""
        return self._asked(wanted, side, lambda asked: self.one.first + np.searchsorted(self.one.values, asked, side))

    def contains(self, wanted: Any) -> Any:
        """Which of these elements the sequence has. Collective, blocking."""

        def answer(asked: Any) -> Any:
            if not len(self.one.values):
                return np.zeros(len(asked), np.bool_)
            places = np.searchsorted(self.one.values, asked)
            return self.one.values[np.minimum(places, len(self.one.values) - 1)] == asked

        return self._asked(wanted, "right", answer)

    def _asked(self, wanted: Any, side: Any, answer: Any) -> Any:
        if not len(self.owners):
            return answer(wanted)
        order = argsorted(wanted)  # neighbours in the order have neighbouring places: a search in sorted sequences reads memory once
        wanted = wanted[order]
        before = np.maximum(np.searchsorted(self.firsts, wanted, side) - 1, 0)
        answers = answered(self.one.context, wanted, self.owners[before], answer)
        found = np.empty_like(answers)
        found[order] = answers
        return found


@alike_but("v")
@with_replicas("a")
def searchsorted(a: Array, v: Any, side: str = "left", sorter: Optional[Array] = None) -> Any:
    """Where elements belong in a sorted array of one dimension, as `numpy.searchsorted`. Collective, blocking.

    Parameters
    ----------
    a : Array
        The sorted array, such as a result of `sort`.
    v : Array, number or NumPy array
        The elements to look for. Each rank may look for other numbers or elements of a NumPy array.
    side : {'left', 'right'}
        Before or after equal elements.
    sorter : Array, optional
        A result of `argsort(a)`, if `a` is not sorted.

    Returns
    -------
    Array, or NumPy number or array
        Positions in int64, in the layout of `v` or for this rank's elements.

    Notes
    -----
    Each element is sent to the rank that has its place, and the position is sent back.
    """
    given = reduced(a)
    if given.ndim != 1:
        raise ArgumentError(f"searchsorted: expected an array of one dimension, got {given.ndim}")
    if side not in ("left", "right"):
        raise ArgumentError(f"searchsorted: side {side!r}; known: left, right")
    if sorter is not None:
        given = take(given, sorter)
    wanted = reduced(v) if isinstance(v, Array) else None
    queries = np.asarray(v) if wanted is None else values_of(wanted)
    common = np.result_type(given.dtype, queries.dtype)
    if (wanted is None or not wanted._core.on_host) and _is_searched_there(given, queries.dtype):
        all_ = all_values_of(given)
        found = all_.converted(common.name).places(_beside(all_, queries), side)
        return found.on_host()[()] if wanted is None else wrapped(v, wanted.layout, found)
    wanted = None if wanted is None else on_host(wanted)
    queries = queries if wanted is None else values_of(wanted)
    one = in_order(on_host(given))
    there = _Sorted.of(one.with_values(one.values.astype(common, copy=False)))
    found = there.places(queries.reshape(-1).astype(common, copy=False), side).reshape(queries.shape)
    return found[()] if wanted is None else wrapped(v, wanted.layout, found)


@alike
@with_replicas("element")
def isin(element: Array, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: Optional[str] = None) -> Array:
    """Which elements are among others, as `numpy.isin`. Collective, blocking.

    Parameters
    ----------
    element : Array
        The elements.
    test_elements : Array or array
        The others: a distributed array, or numbers that are the same on all ranks.
    assume_unique, kind : optional
        As in NumPy: a hint, and the algorithm within a rank.
    invert : bool, default False
        Which are not.

    Returns
    -------
    Array
        Booleans, in the layout of `element`.

    Notes
    -----
    Up to 65,536 distinct others are copied to all ranks; of more, each element is sent to the rank that has its place in their order.
    """
    among = reduced(test_elements) if isinstance(test_elements, Array) else np.asarray(test_elements)
    given, found = reduced(element), cast(Any, None)
    if _is_compared_there(given, among):
        part, name = values_of(given), np.result_type(given.dtype, among.dtype).name
        all_ = _beside(part, all_values_of(among) if isinstance(among, Array) else among)
        found = all_.reshape(-1).converted(name).ordered().contains(part)
        return wrapped(element, given.layout, found.joined("equal", False) if invert else found)
    given = on_host(given)
    values = values_of(given)
    if not isinstance(test_elements, Array):
        found = np.isin(values, test_elements, invert=invert)
        return wrapped(element, given.layout, found)
    others = distinct(in_any_order(on_host(test_elements)))
    context = given._core.context
    if others.cuts[-1] <= _small:
        every = gathered(context, others.values, np.diff(others.cuts))
        return wrapped(element, given.layout, np.isin(values, every, invert=invert))
    common = np.result_type(values.dtype, others.values.dtype)
    there = _Sorted.of(Sequenced(context, others.values.astype(common, copy=False), others.cuts))
    found = there.contains(values.reshape(-1).astype(common, copy=False)).reshape(values.shape)
    return wrapped(element, given.layout, ~found if invert else found)


@alike
@with_replicas("x")
def digitize(x: Array, bins: Any, right: bool = False) -> Array:
    """In which bin each element is, as `numpy.digitize`. Collective, blocking.

    Parameters
    ----------
    x : Array
        The elements.
    bins : Array or sequence of numbers
        Increasing or decreasing edges: a distributed array, or numbers that are the same on all ranks.
    right : bool, default False
        Whether a bin includes its right edge instead of its left one.

    Returns
    -------
    Array
        Bins in int64, in the layout of `x`: 0 for elements before the first edge.
    """
    given = reduced(x)
    edges = all_values_of(on_host(bins)) if isinstance(bins, Array) else np.asarray(bins)
    if edges.ndim != 1 or not len(edges) or not _are_compared_there(given, edges.dtype):
        given = on_host(given)
        return wrapped(x, given.layout, np.digitize(values_of(given), edges, right))
    np.digitize(edges[:0], edges)  # which checks them
    part, common, falls = values_of(given), np.result_type(given.dtype, edges.dtype), edges[0] > edges[-1]
    ascending = part.filled((edges[::-1] if falls else edges).astype(common), common.name)
    found = ascending.places(part, "left" if right else "right")
    return wrapped(x, given.layout, found.joined("multiply", -1).joined("add", len(edges)) if falls else found)


def _are_compared_there(a: Array, dtype: Any) -> bool:
    """Whether the array is in the memory of a device that compares its elements with numbers of a dtype as NumPy does."""
    kinds = {a.dtype.kind, dtype.kind}
    common = np.result_type(a.dtype, dtype) if kinds <= set("biuf") else dtype
    return not a._core.on_host and kinds <= set("biuf") and (common.kind != "f" or "f" in kinds)


def _is_searched_there(a: Array, dtype: Any) -> bool:
    """Whether places in a sorted array are found by each rank, in the memory of a device."""
    return _are_compared_there(a, dtype) and (a._core.context.size == 1 or a.size <= _small)


def _is_compared_there(a: Array, others: Any) -> bool:
    """Whether a device finds which elements are among others, which each rank gets."""
    few = not isinstance(others, Array) or a._core.context.size == 1 or others.size <= _small
    return few and _are_compared_there(a, others.dtype)


def _beside(part: DevicePart, values: Any) -> DevicePart:
    """Numbers in the memory of `part`."""
    return values if isinstance(values, DevicePart) else part.filled(values, values.dtype.name)


__all__ = ["digitize", "isin", "searchsorted"]
