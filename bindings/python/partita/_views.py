"""The same memory with other dimensions or steps. Nothing is communicated where the layout of the result can be described; else it is a copy."""

from __future__ import annotations

import operator
from typing import Any, Callable, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._agreement import alike
from ._array import Array, distinct_axes_of
from ._errors import ArgumentError, IndexError
from ._layouts import Bounds, boxes_of, default_layout, inserted, of_boxes, remade, removed
from ._moves import Affine, part_of, picked, settled, with_view
from ._packages import package_for

#: One axis: the first index, the step, and how many.
Steps = Tuple[int, int, int]


def with_axis(array: Array, axis: int) -> Array:
    """With another dimension of extent 1 before `axis`. Local where the distribution has a form with it, else collective."""
    layout = inserted(array.layout, axis)
    if layout is None:
        array = array.redistribute(default_layout(array.shape, array._core.context.size))
        layout = inserted(array.layout, axis)
        assert layout is not None
    return with_view(array, layout, part_of(array).reshape(_inserted_shape(array, layout, axis)))


def _inserted_shape(array: Array, layout: _core.Layout, axis: int) -> Tuple[int, ...]:
    shape = array.local_shape
    return (*shape[:axis], 1, *shape[axis:]) if 0 not in shape else layout.local_shape(array._core.context.rank)


def without_axis(array: Array, axis: int) -> Array:
    """Without the dimension `axis`, whose extent is 1. Local where the distribution has a form without it, else collective."""
    shape = (*array.shape[:axis], *array.shape[axis + 1 :])
    layout = removed(array.layout, axis)
    if layout is None:
        wanted = inserted(default_layout(shape, array._core.context.size), axis)
        assert wanted is not None
        array = array.redistribute(wanted)
        layout = default_layout(shape, array._core.context.size)
    part = part_of(array)
    mine = layout.local_shape(array._core.context.rank)
    return with_view(array, layout, part[(slice(None),) * axis + (0, ...)] if 0 not in part.shape else part.reshape(mine))


def stepped(array: Array, steps: Sequence[Steps], copy: bool = True) -> Optional[Array]:
    """Elements at equal distances along each axis. Shares memory if each rank's part of the result can be described; else a copy, or None
    if `copy` is False."""
    shape = tuple(count for _, _, count in steps)
    layout = _layout_of_steps(array.layout, tuple(steps))
    backward = any(step < 0 for _, step, _ in steps)
    if layout is None or (backward and package_for(array._core, array._package) in ("torch", "jax")):  # their arrays have no negative strides
        if not copy:
            return None
        return _getitem(array, steps)
    part, rank = part_of(array), array._core.context.rank
    if 0 in shape or 0 in layout.local_shape(rank):
        return with_view(array, layout, part[(slice(0, 0),) * part.ndim].reshape(layout.local_shape(rank)))
    places = []
    for axis, (first, step, count) in enumerate(steps):
        bounds, mine = array.layout.bounds(axis, rank), layout.bounds(axis, rank)
        if step == 1 and first == 0 and count == array.shape[axis]:
            places.append(slice(None))
            continue
        assert bounds is not None and mine is not None
        start = first + mine[0] * step - bounds[0]
        end = start + step * (mine[1] - mine[0])
        places.append(slice(start, None if end < 0 else end, step))
    return with_view(array, layout, part[tuple(places)])


@alike
def _getitem(a: Array, key: Sequence[Steps]) -> Array:
    """A copy of these elements. Collective."""
    return picked(a, [Affine(count, first, step) for first, step, count in key])


def _layout_of_steps(layout: _core.Layout, steps: Tuple[Steps, ...]) -> Optional[_core.Layout]:
    """Of the elements where they are."""
    shape = tuple(count for _, _, count in steps)
    changed = [axis for axis, (first, step, count) in enumerate(steps) if (first, step, count) != (0, 1, layout.shape[axis])]
    cut = [axis for axis in changed if any(layout.local_shape(rank)[axis] != layout.shape[axis] for rank in range(layout.ranks))]
    if not cut and not isinstance(layout.distribution, _core.Box) and remade(layout.distribution, layout.shape, layout.ranks) == layout:
        return remade(layout.distribution, shape, layout.ranks)
    boxes = boxes_of(layout)
    return None if boxes is None else of_boxes(shape, [_box_of_steps(one, steps) for one in boxes])


def _box_of_steps(box: Bounds, steps: Sequence[Steps]) -> Bounds:
    lower, upper = [], []
    for (first, step, count), start, end in zip(steps, *box):
        if step < 0:  # counted from the other end
            first, step, start, end = -first, -step, 1 - end, 1 - start
        lower.append(min(count, max(0, -((first - start) // step))))
        upper.append(max(lower[-1], min(count, -((first - end) // step))))
    return tuple(lower), tuple(upper)


Key = Union[int, slice, None]


def keys_of(key: Any, dimensions: int) -> List[Any]:
    """One key per dimension, and None for each new one; an Ellipsis is replaced."""
    keys = list(key) if isinstance(key, tuple) else [key]
    for place, one in enumerate(keys):
        if not (one is None or one is Ellipsis or isinstance(one, slice)):
            try:
                keys[place] = operator.index(one)
            except TypeError:
                raise IndexError(f"index {one!r}: expected integers, slices, None, or arrays of integers or booleans") from None
    return expanded(keys, dimensions, lambda one: one is not None)


def expanded(keys: List[Any], dimensions: int, covered: Callable[[Any], int]) -> List[Any]:
    """The keys with whole slices in the place of the Ellipsis, or after them. `covered`: how many dimensions one is for."""
    places = [place for place, one in enumerate(keys) if one is Ellipsis]
    given = sum(covered(one) for one in keys if one is not Ellipsis)
    if len(places) > 1 or given > dimensions:
        raise IndexError(f"{len(keys)} indices of an array of {dimensions} dimensions")
    place = places[0] if places else len(keys)
    return keys[:place] + [slice(None)] * (dimensions - given) + keys[place + 1 :]


def indexed(array: Array, keys: Sequence[Key]) -> Array:
    """The elements that integers, slices and None select: shares memory, or is a copy, as `stepped`."""
    found = view_of(array, keys, True)
    assert found is not None
    return found


def view_of(array: Array, keys: Sequence[Key], copy: bool = False) -> Optional[Array]:
    """The same, where it shares memory; else None, or a copy."""
    settled("index", array)
    lower, extents, steps, dropped = [], [], [], []
    for axis, one in enumerate(one for one in keys if one is not None):
        extent = array.shape[axis]
        if not isinstance(one, slice):
            index = int(one)
            if not -extent <= index < extent:
                raise IndexError(f"index {index} is out of range for dimension {axis} of {extent} elements")
            one = slice(index % extent, index % extent + 1)
            dropped.append(axis)
        first, last, step = one.indices(extent)
        count = len(range(first, last, step))
        lowest, highest = (first, first + (count - 1) * step + 1) if step > 0 else (first + (count - 1) * step, first + 1)
        lower.append(lowest if count else 0)
        extents.append(highest - lowest if count else 0)
        steps.append((0 if step > 0 else max(0, highest - lowest - 1), step, count))
    found = array._seen_as(array._core.window(tuple(lower), tuple(extents)))
    if all(step == 1 for _, step, _ in steps):
        return _with_new_axes(found, keys, dropped)
    there = stepped(found, steps, copy)
    return None if there is None else _with_new_axes(there, keys, dropped)


def _with_new_axes(found: Array, keys: Sequence[Key], dropped: List[int]) -> Array:
    for axis in reversed(dropped):
        found = without_axis(found, axis)
    place = 0
    for one in keys:
        if one is None:
            found = with_axis(found, place)
        place += one is None or isinstance(one, slice)
    return found


@alike
def squeeze(a: Array, axis: Any = None) -> Array:
    """Without dimensions of extent 1; shares memory where the distribution has a form without them. Collective.

    Parameters
    ----------
    axis : int or sequence of int, optional
        The dimensions to remove; unset: all of extent 1.
    """
    settled("squeeze", a)
    axes = [axis_ for axis_, extent in enumerate(a.shape) if extent == 1] if axis is None else distinct_axes_of(axis, a.ndim)
    for one in axes:
        if a.shape[one] != 1:
            raise ArgumentError(f"squeeze: dimension {one} has {a.shape[one]} elements; only dimensions of extent 1 can be removed")
    for one in sorted(axes, reverse=True):
        a = without_axis(a, one)
    return a


@alike
def expand_dims(a: Array, axis: Union[int, Sequence[int]]) -> Array:
    """With dimensions of extent 1 at the places `axis` of the result; shares memory where the distribution has a form with them. Collective.

    Parameters
    ----------
    axis : int or sequence of int
        Where the new dimensions are in the result.
    """
    settled("expand_dims", a)
    count = 1 if isinstance(axis, (int, np.integer)) else len(axis)
    for one in sorted(distinct_axes_of(axis, a.ndim + count)):
        a = with_axis(a, one)
    return a


__all__ = ["expand_dims", "squeeze"]
