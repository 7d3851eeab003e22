"""Elements given by index arrays, of an array in any layout: each rank reads or writes a sequence of them."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence

import numpy as np

from . import _core
from ._array import Array
from ._axes import blocks_along, values_of
from ._device_parts import DevicePart
from ._exchange import counts_received, sent
from ._layouts import default_layout, is_whole

#: One array of global indices for each of the axes that are indexed, all of one length.
Columns = Sequence[Any]


def read(a: Array, axes: Sequence[int], columns: Columns) -> Any:
    """The elements, or what the other axes have of them, with a first axis for the indices. Collective, blocking.

    Of an array in device memory that each rank has completely they stay there; else they are in host memory. Indices are sent to the ranks that have the elements, which send these back.
    """
    if a.layout.is_replicated and not is_whole(a.layout):
        a = a.redistribute(default_layout(a.shape, a._core.context.size))
    layout, context = a.layout, a._core.context
    if 0 in layout.shape:
        return np.empty((len(columns[0]), *(layout.shape[axis] for axis in _others(layout, axes))), a.dtype)
    if is_whole(layout):
        return rows_of(a, axes, columns)
    chosen = _of_ranks(layout, axes, columns)
    counts = [len(one) for one in chosen]
    received = counts_received(context, counts)
    asked = sent(context, np.stack(columns, 1)[np.concatenate(chosen)], counts, received)
    answers = rows_of(a, axes, _local(layout, axes, asked.T, context.rank))
    answers = answers.on_host() if isinstance(answers, DevicePart) else answers
    rests = [_rest(layout, axes, rank) for rank in range(context.size)]
    widths = [_size(one) for one in rests]
    back = sent(context, answers.reshape(-1), [n * widths[context.rank] for n in received], [n * width for n, width in zip(counts, widths)])
    found = np.empty((len(columns[0]), *(layout.shape[axis] for axis in _others(layout, axes))), answers.dtype)
    start = 0
    for places, rest, width in zip(chosen, rests, widths):
        part = back[start : start + len(places) * width].reshape(len(places), *map(len, rest))
        start += part.size
        found[_at(places, rest, found.shape)] = part
    return found


def rows_of(a: Array, axes: Sequence[int], columns: Columns) -> Any:
    """The same of this rank's part, by its own indices: in the memory that it is in."""
    part = values_of(a)
    return part.gathered(axes, columns) if isinstance(part, DevicePart) else np.moveaxis(part, axes, range(len(axes)))[tuple(columns)]


def write(a: Array, axes: Sequence[int], columns: Columns, rows: Any, everywhere: bool) -> None:
    """Sets the elements to the rows, in their order and that of the ranks: of equal indices the last one counts. `a`: in host memory.

    `rows`: a number, or an array with a first axis for the indices. `everywhere`: all ranks pass the same, and nothing is sent; else
    collective, blocking.
    """
    layout, context = a.layout, a._core.context
    if 0 in layout.shape:
        return
    chosen = _of_ranks(layout, axes, columns, context.rank if everywhere else None)
    rests = [_rest(layout, axes, rank) for rank in range(context.size)]
    mine = rests[context.rank]
    if everywhere or context.size == 1:
        places = chosen[context.rank]
        indices = np.stack(columns, 1)[places]
        values = rows if np.ndim(rows) == 0 else rows[_at(places, mine, rows.shape)]
    else:
        counts = [len(one) for one in chosen]
        received = counts_received(context, counts)
        indices, values = sent(context, np.stack(columns, 1)[np.concatenate(chosen)], counts, received), rows
        if np.ndim(rows):
            widths = [_size(one) for one in rests]
            leaving = [rows[_at(places, rest, rows.shape)].reshape(-1) for places, rest in zip(chosen, rests)]
            sizes = [n * widths[context.rank] for n in received]
            values = sent(context, np.concatenate(leaving), [len(one) for one in leaving], sizes).reshape(len(indices), *map(len, mine))
    if len(indices):
        np.moveaxis(values_of(a), axes, range(len(axes)))[_local(layout, axes, indices.T, context.rank)] = values


def _others(layout: _core.Layout, axes: Sequence[int]) -> List[int]:
    return [axis for axis in range(len(layout.shape)) if axis not in axes]


def _rest(layout: _core.Layout, axes: Sequence[int], rank: int) -> List[Any]:
    """The indices that the rank has of the axes that are not indexed."""
    return [layout.indices(axis, rank) for axis in _others(layout, axes)]


def _size(indices: Sequence[Any]) -> int:
    size = 1
    for one in indices:
        size *= len(one)
    return size


def _at(places: Any, rest: Sequence[Any], shape: Sequence[int]) -> Any:
    """The key of these rows and of the rest, in an array of rows."""
    return places if all(len(one) == extent for one, extent in zip(rest, shape[1:])) else np.ix_(places, *rest)


def _local(layout: _core.Layout, axes: Sequence[int], columns: Columns, rank: int) -> Any:
    """Global indices of a rank's own elements as indices of its part."""
    found = []
    for axis, column in zip(axes, columns):
        bounds = layout.bounds(axis, rank)
        found.append(np.searchsorted(layout.indices(axis, rank), column) if bounds is None else column - bounds[0])
    return tuple(found)


def _of_ranks(layout: _core.Layout, axes: Sequence[int], columns: Columns, only: Optional[int] = None) -> List[Any]:
    """By rank, the places of the columns' indices whose elements it has; for one rank `only`, or all."""
    nothing = np.zeros(0, np.int64)
    for axis, column in zip(axes, columns):
        cuts = blocks_along(layout, axis)
        if cuts is not None and only is None:
            owners = np.searchsorted(cuts, column, "right") - 1
            order = np.argsort(owners.astype(np.uint16) if layout.ranks < 1 << 16 else owners, kind="stable")  # 16 bits: a radix sort
            return np.split(order, np.cumsum(np.bincount(owners, minlength=layout.ranks))[:-1])
    return [_owned(layout, axes, columns, rank) if only in (None, rank) else nothing for rank in range(layout.ranks)]


def _owned(layout: _core.Layout, axes: Sequence[int], columns: Columns, rank: int) -> Any:
    """The places of the indices whose elements the rank has."""
    if 0 in layout.local_shape(rank):
        return np.zeros(0, np.int64)
    here = np.ones(len(columns[0]), np.bool_)
    for axis, column in zip(axes, columns):
        bounds = layout.bounds(axis, rank)
        if bounds is None:
            indices = layout.indices(axis, rank)
            here &= indices[np.minimum(np.searchsorted(indices, column), len(indices) - 1)] == column
        elif bounds != (0, layout.shape[axis]):
            here &= (bounds[0] <= column) & (column < bounds[1])
    return np.flatnonzero(here)


__all__ = ["Columns", "read", "rows_of", "write"]
