"""Sorted arrays, and the indices that sort them."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from . import _core
from ._agreement import alike
from ._array import Array, core_given
from ._axes import (
    Destination,
    Sequenced,
    cuts_of,
    finished,
    in_any_order,
    in_blocks,
    in_order,
    has_whole_axes,
    layout_of_blocks,
    longest_slab,
    moved,
    on_host,
    one_axis,
    reduced,
    sequence,
    slab_cuts,
    values_of,
    wrapped,
)
from ._dtypes import _of_ml_dtypes
from ._device_parts import DevicePart
from ._errors import ArgumentError
from ._exchange import few_elements, gathered, sent
from ._freed_memory import blocks
from ._local_order import argsorted, has_keys, keys_with_positions, merged, positions_in
from ._order import cut_positions

_kinds = (None, "quicksort", "heapsort", "mergesort", "stable")


class Ordered(NamedTuple):
    """This rank's part of a sorted sequence, and what its elements carried."""

    values: Any
    carried: Any


@alike
def sort(
    a: Array,
    axis: Optional[int] = -1,
    kind: Optional[str] = None,
    *,
    descending: bool = False,
    stable: Optional[bool] = None,
    distribution: Optional[Destination] = None,
) -> Array:
    """A sorted copy, as `numpy.sort`. Collective, blocking.

    Parameters
    ----------
    axis : int or None, default -1
        The axis; None: all elements, in a result of one dimension.
    kind, stable : optional
        As in NumPy. Equal elements are alike, so these choose only the algorithm within a rank.
    descending : bool, default False
        The largest element first.
    distribution : distribution or Layout, optional
        Distribution of the result. Unset: the layout of the array; for None as `axis` `Slab(0)`.

    Notes
    -----
    NaNs are the largest elements; complex numbers are ordered by their real parts, then by their imaginary parts. An axis that each rank has
    completely is sorted without communication. Otherwise an array of one dimension, or one with fewer lines than ranks, is sorted by
    each rank, cut at exact positions (histogram sort), exchanged once and merged, so the parts have exactly the sizes of the requested
    layout; with more lines it is redistributed so that each rank has whole lines.
    """
    if kind not in _kinds:
        raise ArgumentError(f"sort: kind {kind!r}; known: {', '.join(str(one) for one in _kinds[1:])}")
    if _is_sorted_there(a, axis, few_elements):
        return moved(_sorted_there(reduced(a), descending), distribution if axis is None or distribution is not None else a.layout)
    order: Any = "stable" if stable else kind

    def lines(values: Any, axis: int) -> Any:
        ordered = np.sort(values, axis=axis, kind=order)
        return np.flip(ordered, axis) if descending else ordered

    def line(one: Sequenced, cuts: Sequence[int]) -> Any:
        return sorted_parts(one, cuts, descending=descending).values

    return _ordered(a, axis, lines, line, True, distribution)


@alike
def argsort(
    a: Array,
    axis: Optional[int] = -1,
    kind: Optional[str] = None,
    *,
    descending: bool = False,
    stable: Optional[bool] = None,
    distribution: Optional[Destination] = None,
) -> Array:
    """The indices that sort an array, as `numpy.argsort`, in int64. Collective, blocking.

    Parameters
    ----------
    axis : int or None, default -1
        The axis; None: the elements in row-major order.
    kind, stable : optional
        As in NumPy; the order is always stable: equal elements are in the order of their indices.
    descending : bool, default False
        The index of the largest element first; equal elements are still in the order of their indices.
    distribution : distribution or Layout, optional
        Distribution of the result. Unset: the layout of the array; for None as `axis` `Slab(0)`.

    Notes
    -----
    See `sort`. `take(a, argsort(a))` is the sorted array of one dimension.
    """
    if kind not in _kinds:
        raise ArgumentError(f"argsort: kind {kind!r}; known: {', '.join(str(one) for one in _kinds[1:])}")
    if core_given(a).context.size == 1 and _is_sorted_there(a, axis):
        part = DevicePart.of(reduced(a)._core).reshape(-1).dense()
        order = part.empty(part.shape, "int64")
        _core.sort_part(part.core, None, order.core, descending)
        made = Array(order.seen_in(layout_of_blocks(part.shape, 0, (0, a.size)), True), a._package)
        return moved(made, distribution if axis is None or distribution is not None else a.layout)

    def lines(values: Any, axis: int) -> Any:
        return stable_order(values, descending, axis)

    def line(one: Sequenced, cuts: Sequence[int]) -> Any:
        if not has_keys(one.values) or one.cuts[-1] >= 1 << 32:
            return sorted_parts(one, cuts, descending=descending, carried=one.positions).carried
        packed = keys_with_positions(np.ascontiguousarray(one.values), one.positions.view(np.uint64), descending)
        return positions_in(sorted_parts(one.with_values(packed), cuts).values)

    return _ordered(a, axis, lines, line, False, distribution)


def stable_order(values: Any, descending: bool = False, axis: int = 0) -> Any:
    """The indices that sort an axis of local values, equal elements by increasing index."""
    if descending:  # read from its end
        return np.flip(values.shape[axis] - 1 - stable_order(np.flip(values, axis), False, axis), axis)
    return argsorted(values) if values.ndim == 1 else np.argsort(values, axis, kind="stable")


def _is_sorted_there(a: Array, axis: Optional[int], most: int = 0) -> bool:
    """Whether it is one sequence of numbers in device memory, which the device sorts; among several ranks of more elements than `most`."""
    core = core_given(a)
    unsorted = ("complex", "float8") if core.context.size == 1 else ("complex", "float8", "bfloat16")
    if core.on_host or core.dtype.startswith(unsorted) or (axis is not None and (a.ndim != 1 or axis not in (0, -1))):
        return False
    return core.context.size == 1 or a.size > most


def _sorted_there(a: Array, descending: bool) -> Array:
    """The elements in one dimension, in equal parts: as `sorted_parts`, but what arrives is sorted once more."""
    context = a._core.context
    if a.layout.is_replicated and context.size > 1:
        a = a.redistribute(longest_slab(a.shape))
    cuts, values = slab_cuts(a.size, context.size), DevicePart.of(a._core).reshape(-1).ordered(descending)
    if context.size > 1:
        sizes = cuts_of([a.layout.local_size(rank) for rank in range(context.size)])
        looked_up = values.on_host()
        splits = _splits(Sequenced(context, looked_up, sizes), np.ascontiguousarray(looked_up[::-1]) if descending else looked_up, cuts, descending)
        counts, received = np.diff(splits[context.rank]), splits[:, context.rank + 1] - splits[:, context.rank]
        arriving = values.empty((int(received.sum()),))
        mine = values[splits[context.rank, 0] : splits[context.rank, -1]]
        _core.all_to_all(context, mine, arriving, [int(one) for one in counts], [int(one) for one in received], None)
        values = arriving.ordered(descending)
    return Array(values.seen_in(layout_of_blocks((a.size,), 0, cuts), True), a._package)


Lines = Callable[[Any, int], Any]
Line = Callable[[Sequenced, Sequence[int]], Any]


def _ordered(
    a: Array, axis: Optional[int], lines: Lines, line: Line, alike: bool, distribution: Optional[Destination]
) -> Array:
    """`lines` orders whole lines of a rank; `line` one that is in blocks. `alike`: elements of one value are interchangeable."""
    given = on_host(a)
    context = given._core.context
    if given._core.dtype in _of_ml_dtypes:  # NaNs among these are not the last in NumPy
        found = _ordered(given.astype("float32"), axis, lines, line, alike, distribution)
        return finished(a, found.astype(given.dtype) if alike else found)
    if axis is None:
        elements = in_any_order(given) if alike else in_order(given)
        cuts = slab_cuts(given.size, context.size)
        return sequence(a, Sequenced(context, line(elements, cuts), cuts), distribution)
    along = one_axis(axis, given.ndim)
    wanted = given.layout if distribution is None else distribution
    if has_whole_axes(given.layout, (along,)):
        return moved(wrapped(a, given.layout, lines(values_of(given), along)), wanted)
    others = given.size // max(given.shape[along], 1)
    if others >= context.size:
        there = given.redistribute(longest_slab(given.shape, [along]))
        return moved(wrapped(a, there.layout, lines(values_of(there), along)), wanted)
    there, cuts = in_blocks(given, along)
    if given.ndim == 1:
        return moved(wrapped(a, there.layout, line(Sequenced(context, values_of(there), cuts), cuts)), wanted)
    values = np.moveaxis(values_of(there), along, 0)
    flat = values.reshape(len(values), others)
    columns = [line(Sequenced(context, flat[:, column], cuts), cuts) for column in range(others)]
    ordered = np.stack(columns, 1).reshape(values.shape) if columns else np.empty(values.shape, given.dtype if alike else np.int64)
    return moved(wrapped(a, there.layout, np.moveaxis(ordered, 0, along)), wanted)


def sorted_parts(one: Sequenced, cuts: Sequence[int], *, descending: bool = False, carried: Any = None) -> Ordered:
    """The sequence sorted, of which this rank gets elements cuts[rank] to cuts[rank + 1]. Collective, blocking.

    `carried`: what moves with the elements; equal elements then keep their order. The cuts may end before the last element: the elements
    after it are not sent.
    """
    context = one.context
    if context.size > 1 and one.cuts[-1] <= few_elements:
        return _together(one, cuts, descending, carried)
    if carried is None:
        return Ordered(_sorted_values(one, cuts, descending), None)
    order = stable_order(one.values, descending)
    values, carried = one.values[order], carried[order]
    if context.size == 1:
        return Ordered(values[: cuts[-1]], carried[: cuts[-1]])
    splits = _splits(one, np.ascontiguousarray(values[::-1]) if descending else values, cuts, descending)
    mine, counts, received = _exchanged(context, splits)
    values, carried = sent(context, values[mine], counts, received), sent(context, carried[mine], counts, received)
    order = _order_of_runs(values, descending)
    return Ordered(values[order], carried[order])


def _sorted_values(one: Sequenced, cuts: Sequence[int], descending: bool) -> Any:
    """Without anything that is carried: first this rank's elements and then its part of the result are in the same memory."""
    context = one.context
    wanted = cuts[context.rank + 1] - cuts[context.rank]
    memory = blocks.empty((max(len(one.values), wanted),), one.values.dtype)
    values = memory[: len(one.values)]
    values[...] = one.values
    values.sort()
    ordered = values[::-1] if descending else values
    if context.size == 1:
        return ordered[: cuts[-1]]
    mine, counts, received = _exchanged(context, _splits(one, values, cuts, descending))
    runs = sent(context, ordered[mine], counts, received)
    if descending:  # each run is in the other order
        runs.sort()
        return runs[::-1]
    return merged(runs, received, memory[:wanted])


def _exchanged(context: _core.Context, splits: Any) -> Tuple[slice, Any, Any]:
    """Which of this rank's values are sent, how many to each rank, and how many it receives from each."""
    mine = splits[context.rank]
    return slice(mine[0], mine[-1]), np.diff(mine), splits[:, context.rank + 1] - splits[:, context.rank]


def _together(one: Sequenced, cuts: Sequence[int], descending: bool, carried: Any) -> Ordered:
    """Of few elements: each rank gets all, and takes its part of the sorted sequence."""
    sizes = np.diff(one.cuts)
    mine = slice(cuts[one.context.rank], cuts[one.context.rank + 1])
    values = gathered(one.context, one.values, sizes)
    order = stable_order(values, descending)[mine]
    return Ordered(values[order], None if carried is None else gathered(one.context, carried, sizes)[order])


def _order_of_runs(values: Any, descending: bool) -> Any:
    """As `stable_order` of a sequence of sorted runs, which NumPy merges."""
    if descending:
        return len(values) - 1 - np.argsort(values[::-1], kind="stable")[::-1]
    return np.argsort(values, kind="stable")


def _splits(one: Sequenced, ascending: Any, cuts: Sequence[int], descending: bool) -> Any:
    """By rank and cut: where the rank's sorted values are cut."""
    ranks, sizes = range(one.context.size), np.diff(one.cuts)
    if not descending:
        return cut_positions(one.context, ascending, cuts, sizes, ranks)[0]
    # Read from its end the sequence is ascending, and equal elements of later ranks come first.
    found, _ = cut_positions(one.context, ascending, [one.cuts[-1] - cut for cut in cuts], sizes, ranks[::-1])
    return sizes[:, None] - found


__all__ = ["argsort", "sort"]
