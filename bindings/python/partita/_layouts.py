"""Layouts of results: what remains of a layout if dimensions are added, removed, cut, or reshaped. Pure functions; nothing communicates."""

from __future__ import annotations

import functools
import math
from typing import Any, Callable, List, Optional, Sequence, Tuple

from . import _core
from ._errors import ArgumentError
from ._mesh import Rule

Shape = Tuple[int, ...]
#: The first indices and those past the last.
Bounds = Tuple[Shape, Shape]


def is_whole(layout: _core.Layout) -> bool:
    """Whether every rank owns the whole array."""
    return all(layout.local_shape(rank) == layout.shape for rank in range(layout.ranks))


@functools.lru_cache(maxsize=256)
def boxes_of(layout: _core.Layout) -> Optional[Tuple[Bounds, ...]]:
    """One box per rank; None if the indices of a rank are not contiguous, or elements have several owners."""
    if layout.is_replicated or layout.partial is not None:
        return None
    found = []
    for rank in range(layout.ranks):
        bounds = [layout.bounds(axis, rank) for axis in range(len(layout.shape))]
        if any(one is None for one in bounds):
            return None
        pairs = [one for one in bounds if one is not None]
        found.append((tuple(lower for lower, _ in pairs), tuple(upper for _, upper in pairs)))
    return tuple(found)


def of_boxes(shape: Shape, boxes: Sequence[Bounds]) -> _core.Layout:
    """The layout with one box per rank, as a Slab if it is one."""
    nothing = (0,) * len(shape)
    whole = [one if all(a < b for a, b in zip(*one)) else (nothing, nothing) for one in boxes]
    if not shape or 0 in shape:
        return _core.Layout(_core.Slab(0) if shape else _core.Replicated(), shape, len(boxes))
    layout = _core.Layout(_core.Box(whole), shape, len(boxes))
    for axis in range(len(shape)):
        slab = _core.Layout(_core.Slab(axis), shape, len(boxes))
        if slab.equivalent(layout):
            return slab
    return layout


def remade(rule: Rule, shape: Shape, ranks: int) -> Optional[_core.Layout]:
    """The layout of the distribution and shape; None if they do not fit."""
    try:
        return _core.Layout(rule, shape, ranks)
    except ArgumentError:
        return None


@functools.lru_cache(maxsize=256)
def laid_out(layout: _core.Layout, shape: Shape) -> _core.Layout:
    """The layout of another shape with as many dimensions: by the same distribution, or else cut along one axis."""
    if shape == layout.shape:
        return layout
    if len(shape) != len(layout.shape):
        return default_layout(shape, layout.ranks)
    made = None if isinstance(layout.distribution, _core.Box) else remade(layout.distribution, shape, layout.ranks)
    if made is not None and made.partial is None:
        return made
    boxes = boxes_of(layout)
    changed = [axis for axis in range(len(shape)) if shape[axis] != layout.shape[axis]]
    has_elements = 0 not in layout.shape  # else no rank has a box that could grow
    if boxes is not None and has_elements and all(upper[axis] - lower[axis] in (0, layout.shape[axis]) for lower, upper in boxes for axis in changed):
        grown = [tuple(shape[axis] if axis in changed else upper[axis] for axis in range(len(shape))) for _, upper in boxes]
        empty = [any(a >= b for a, b in zip(*one)) for one in boxes]
        return of_boxes(shape, [(lower, lower if none else upper) for (lower, _), upper, none in zip(boxes, grown, empty)])
    return default_layout(shape, layout.ranks)


def default_layout(shape: Shape, ranks: int) -> _core.Layout:
    """Cut along the first axis that has an element for each rank, or else along the longest."""
    if not shape:
        return _core.Layout(_core.Replicated(), shape, ranks)
    long = [axis for axis, extent in enumerate(shape) if extent >= ranks]
    return _core.Layout(_core.Slab(long[0] if long else max(range(len(shape)), key=lambda axis: shape[axis])), shape, ranks)


#: Makes another list of one value per dimension; the second argument is that of a dimension that is not cut.
Change = Callable[[List[Any], Any], List[Any]]


def _of_rule(layout: _core.Layout, shape: Shape, change: Change) -> Optional[_core.Layout]:
    """The layout whose distribution has another list of dimensions. None: no rule describes it."""
    rule = layout.distribution
    if remade(rule, layout.shape, layout.ranks) != layout:  # a window
        return None
    made: Optional[Rule] = None
    if isinstance(rule, _core.Replicated):
        made = rule
    elif isinstance(rule, _core.Slab):
        axes = change([axis == rule.axis for axis in range(len(layout.shape))], False)
        made = _core.Slab(axes.index(True)) if True in axes else None
    elif isinstance(rule, _core.Partitioned):
        named = [*rule.spec.dimensions, *[[]] * (len(layout.shape) - len(rule.spec.dimensions))]
        changed = change(named, [])
        if sum(map(len, changed)) == sum(map(len, named)):
            made = _core.Partitioned(rule.mesh, _core.P(*[names or None for names in changed], uneven=rule.spec.uneven))
    elif isinstance(rule, (_core.BlockCyclic, _core.BlockNonCyclic)) and not any(rule.grid.first):
        extents = change(list(rule.grid.extents), 1)
        if math.prod(extents) == rule.grid.size:  # no axis that is cut is removed
            grid = _core.ProcessGrid(tuple(extents), order=rule.grid.order, ranks=list(rule.grid.ranks))
            made = type(rule)(grid, tuple(change(list(rule.block), 1)) if len(rule.block) else ())
    return None if made is None else remade(made, shape, layout.ranks)


@functools.lru_cache(maxsize=256)
def inserted(layout: _core.Layout, axis: int) -> Optional[_core.Layout]:
    """With another dimension of extent 1 before `axis`; None if the array must be redistributed first."""
    shape = (*layout.shape[:axis], 1, *layout.shape[axis:])
    found = _of_rule(layout, shape, lambda each, new: [*each[:axis], new, *each[axis:]])
    boxes = boxes_of(layout) if found is None and layout.shape else None
    if boxes is None:
        return found
    return of_boxes(shape, [((*lower[:axis], 0, *lower[axis:]), (*upper[:axis], 1, *upper[axis:])) for lower, upper in boxes])


@functools.lru_cache(maxsize=256)
def removed(layout: _core.Layout, axis: int) -> Optional[_core.Layout]:
    """Without the dimension `axis`, whose extent is 1; None if the array must be redistributed first."""
    shape = (*layout.shape[:axis], *layout.shape[axis + 1 :])
    found = _of_rule(layout, shape, lambda each, new: [*each[:axis], *each[axis + 1 :]])
    boxes = boxes_of(layout) if found is None and shape else None
    if boxes is None:
        return found
    nothing = (0,) * len(layout.shape)
    kept = [one if one[0][axis] < one[1][axis] else (nothing, nothing) for one in boxes]
    return of_boxes(shape, [((*lower[:axis], *lower[axis + 1 :]), (*upper[:axis], *upper[axis + 1 :])) for lower, upper in kept])


# --- ranges in row-major order


def flat_range(shape: Shape, box: Bounds) -> Optional[Tuple[int, int]]:
    """The positions in row-major order of the elements of a box; None if they are not contiguous."""
    lower, upper = box
    extents = [b - a for a, b in zip(lower, upper)]
    if any(extent <= 0 for extent in extents):
        return 0, 0
    first = next((axis for axis, extent in enumerate(extents) if extent != 1), len(shape))
    if any(extent != whole for extent, whole in zip(extents[first + 1 :], shape[first + 1 :])):
        return None
    start = 0
    for index, extent in zip(lower, shape):
        start = start * extent + index
    return start, start + math.prod(extents)


def box_of(shape: Shape, positions: Tuple[int, int]) -> Optional[Bounds]:
    """The box of the elements at these positions in row-major order; None if they are not one."""
    first, last = positions
    lower: List[int] = []
    upper: List[int] = []
    for axis in range(len(shape)):
        row = math.prod(shape[axis + 1 :])
        if last <= first:
            return (0,) * len(shape), (0,) * len(shape)
        start, rest = divmod(first, row)
        end = (last - 1) // row
        if start != end or axis == len(shape) - 1:  # the axis that is cut
            if rest or last % row:
                return None
            return (*lower, start, *[0] * (len(shape) - axis - 1)), (*upper, last // row, *shape[axis + 1 :])
        lower.append(start)
        upper.append(start + 1)
        first, last = rest, last - start * row
    return tuple(lower), tuple(upper)


def flat_boxes(shape: Shape, ranks: int) -> List[Bounds]:
    """A box per rank, contiguous in row-major order, in the order of the ranks."""
    if not shape:
        return [((), ())] * ranks
    if shape[0] >= ranks or len(shape) == 1:
        cuts = [cut_of(shape[0], ranks, rank) for rank in range(ranks + 1)]
        return [((a, *[0] * (len(shape) - 1)), (b, *shape[1:])) for a, b in zip(cuts, cuts[1:])]
    found: List[Bounds] = []
    for index in range(shape[0]):
        share = cut_of(ranks, shape[0], index + 1) - cut_of(ranks, shape[0], index)
        found += [((index, *lower), (index + 1, *upper)) for lower, upper in flat_boxes(shape[1:], share)]
    return found if found else [((0,) * len(shape), (0,) * len(shape))] * ranks


def cut_of(extent: int, parts: int, part: int) -> int:
    """Where the part begins if the extent is cut as Slab cuts it."""
    quotient, rest = divmod(extent, parts)
    return part * quotient + min(part, rest)


# --- dimensions merged and split where the elements are

#: Dimensions from the first to the one past the last, of both shapes.
Block = Tuple[Tuple[int, int], Tuple[int, int]]


def _blocks(before: Shape, after: Shape) -> Optional[List[Block]]:
    """The shortest runs of dimensions that have as many elements in both shapes, in order; None if an extent is 0."""
    if 0 in before or 0 in after:
        return None
    found: List[Block] = []
    a = b = 0
    while a < len(before) or b < len(after):
        first, mine, theirs = (a, b), 1, 1
        while mine != theirs or (a, b) == first:
            if b == len(after) or (mine <= theirs and a < len(before)):
                mine, a = mine * before[a], a + 1
            else:
                theirs, b = theirs * after[b], b + 1
        found.append(((first[0], a), (first[1], b)))
    return found


@functools.lru_cache(maxsize=256)
def regrouped(layout: _core.Layout, shape: Shape) -> Optional[_core.Layout]:
    """The layout in another shape with as many elements, where each rank keeps its own; None: there is none.

    There is one if of dimensions that become one, or come from one, only the first of more than one element is cut.
    """
    if layout.partial is None and is_whole(layout):
        return _core.Layout(_core.Replicated(), shape, layout.ranks)
    boxes, blocks = boxes_of(layout), _blocks(layout.shape, shape)
    if boxes is None or blocks is None:
        return None
    made: List[Bounds] = []
    for lower, upper in boxes:
        if any(a >= b for a, b in zip(lower, upper)):
            made.append(((0,) * len(shape), (0,) * len(shape)))
            continue
        bounds = []
        for (first, last), (start, end) in blocks:
            positions = flat_range(layout.shape[first:last], (lower[first:last], upper[first:last]))
            box = None if positions is None else box_of(shape[start:end], positions)
            if box is None:
                return None
            bounds.append(box)
        made.append((tuple(one for low, _ in bounds for one in low), tuple(one for _, high in bounds for one in high)))
    return of_boxes(shape, made)
