"""Distributed arrays as the functions of data analysis take them: NumPy's values in host memory, along one axis or in one sequence."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._array import Array, axes_of, core_given
from ._device_parts import DevicePart
from ._layouts import cut_of, is_whole
from ._mesh import DistributionLike
from ._packages import package_for, seen_by
from ._parts import layout_of
from ._streams import settle

Cuts = Tuple[int, ...]
Destination = Union[_core.Layout, DistributionLike]


class Sequenced(NamedTuple):
    """A sequence of elements in blocks: this rank has elements cuts[rank] to cuts[rank + 1], in `values`."""

    context: _core.Context
    values: Any
    cuts: Cuts

    @property
    def first(self) -> int:
        """The number of this rank's first element."""
        return self.cuts[self.context.rank]

    @property
    def positions(self) -> Any:
        """The numbers of this rank's elements."""
        return np.arange(self.first, self.first + len(self.values))

    def with_values(self, values: Any) -> Sequenced:
        """Other values of the same elements."""
        return Sequenced(self.context, values, self.cuts)


def reduced(a: Array) -> Array:
    """The array with its contributions reduced, when the stream of its package has written it."""
    core = core_given(a)
    settle(core, a._package)
    return a.redistribute(longest_slab(a.shape)) if core.is_partial else a


def on_host(a: Array) -> Array:
    """The same in host memory."""
    a = reduced(a)
    return a if a._core.on_host else a.copy(space="host")


def where_sorted(a: Array) -> Array:
    """The same in the memory of a device that sorts its elements, else in host memory."""
    a = reduced(a)
    return a if a._core.on_host or DevicePart.of(a._core).is_sorted_here else a.copy(space="host")


def values_of(a: Array) -> Any:
    """The local part: in host memory as NumPy sees it, in device memory as the library moves it."""
    return seen_by("numpy", a._core) if a._core.on_host else DevicePart.of(a._core)


def finished(like: Array, made: Array) -> Array:
    """The array in the memory space and package of `like`. Collective if that is a device and the array in host memory."""
    if made._core.on_host and not like._core.on_host:
        made = made.copy(space="device")
    package = package_for(made._core, like._package)
    return made if package == made._package else Array(made._core, package)


def wrapped(like: Array, layout: _core.Layout, values: Any) -> Array:
    """The array of these local parts, in the memory space and package of `like`."""
    if isinstance(values, DevicePart):
        return Array(values.dense().seen_in(layout, True, like._core), like._package)
    part = np.asarray(values, order="C")
    return finished(like, Array(_core.wrap_beside(like._core, part, layout), "numpy", part))


def moved(a: Array, destination: Optional[Destination]) -> Array:
    """The array in another distribution or layout; the array itself if it has the rule, or an equivalent layout, or None is given."""
    if destination is None:
        return a
    layout = layout_of(destination, a.shape, a._core.context.size)
    if a.layout == layout or (isinstance(destination, _core.Layout) and _has_parts_of(a.layout, layout)):
        return a
    return a.redistribute(layout)


@functools.lru_cache(maxsize=256)
def _has_parts_of(layout: _core.Layout, other: _core.Layout) -> bool:
    """Whether the parts are equal; empty ones may have several shapes."""
    shapes = (layout.local_shape(rank) == other.local_shape(rank) for rank in range(layout.ranks))
    return layout.equivalent(other) and all(shapes)


def all_values_of(a: Array) -> Any:
    """The elements, all on each rank, as `values_of`. Nothing is moved where each rank has them."""
    return values_of(moved(a, _core.Layout(_core.Replicated(), a.shape, a._core.context.size)))


def one_axis(axis: Any, dimensions: int) -> int:
    """The axis, counted from 0."""
    (found,) = axes_of((axis,), dimensions)
    return found


def longest_slab(shape: Sequence[int], without: Sequence[int] = ()) -> Union[_core.Slab, _core.Replicated]:
    """The distribution over the longest axis that is not one of `without`."""
    others = [axis for axis in range(len(shape)) if axis not in without]
    return _core.Slab(max(others, key=lambda axis: shape[axis])) if others else _core.Replicated()


@functools.lru_cache(maxsize=256)
def has_whole_axes(layout: _core.Layout, axes: Tuple[int, ...]) -> bool:
    """Whether each rank that has anything has these axes completely."""
    shapes = (layout.local_shape(rank) for rank in range(layout.ranks))
    return all(0 in shape or all(shape[axis] == layout.shape[axis] for axis in axes) for shape in shapes)


@functools.lru_cache(maxsize=256)
def blocks_along(layout: _core.Layout, axis: int) -> Optional[Cuts]:
    """Where the blocks of the ranks begin and end, if the ranks have, in their order, blocks of this axis alone. None: they have not."""
    cuts = [0]
    for rank in range(layout.ranks):
        local = layout.local_shape(rank)
        if any(local[one] != layout.shape[one] for one in range(len(local)) if one != axis):
            return None
        if 0 not in local:
            lower, upper = (layout.to_global(rank, tuple(index))[axis] for index in ([0] * len(local), [one - 1 for one in local]))
            if lower != cuts[-1] or upper - lower + 1 != local[axis]:
                return None
        cuts.append(cuts[-1] + local[axis])
    return tuple(cuts) if cuts[-1] == layout.shape[axis] else None


def slab_cuts(extent: int, ranks: int) -> Cuts:
    """Where equal parts begin and end, as those of `Slab`."""
    return tuple(cut_of(extent, ranks, rank) for rank in range(ranks + 1))


def layout_of_blocks(shape: Sequence[int], axis: int, cuts: Sequence[int]) -> _core.Layout:
    """Blocks of one axis, of any size; those of `Slab` where they are equal."""
    ranks = len(cuts) - 1
    if tuple(cuts) == slab_cuts(shape[axis], ranks):
        return _core.Layout(_core.Slab(axis), tuple(shape), ranks)
    points = [list(cuts) if one == axis else [0, extent] for one, extent in enumerate(shape)]
    return _core.Layout(_core.Box.from_cuts(points), tuple(shape), ranks)


def in_blocks(a: Array, axis: int) -> Tuple[Array, Cuts]:
    """The array in blocks along the axis, moved to `Slab` if it is not, and where they begin and end."""
    cuts = blocks_along(a.layout, axis)
    if cuts is None:
        a = a.redistribute(_core.Slab(axis))
        cuts = slab_cuts(a.shape[axis], a._core.context.size)
    return a, cuts


class Cut(NamedTuple):
    """How an array is divided: in blocks along one axis, or, without an axis, not at all: every rank has the whole array."""

    axis: Optional[int]
    cuts: Cuts

    def layout(self, shape: Sequence[int], axis: int = 0) -> _core.Layout:
        """That of an array of another shape, which is divided alike along `axis`."""
        if self.axis is None:
            return _core.Layout(_core.Replicated(), tuple(shape), len(self.cuts) - 1)
        return layout_of_blocks(shape, axis, self.cuts)


def with_whole(a: Array, axes: Sequence[int]) -> Tuple[Array, Cut]:
    """The array, moved if it has to be, so that each rank has these axes completely, and blocks of one other axis."""
    ranks = a._core.context.size
    others = [axis for axis in range(a.ndim) if axis not in axes]
    if has_whole_axes(a.layout, tuple(axes)):
        for axis in others:
            cuts = blocks_along(a.layout, axis)
            if cuts is not None:
                return a, Cut(axis, cuts)
        if all(a.layout.local_shape(rank) == a.shape for rank in range(ranks)):
            return a, Cut(None, (0,) * (ranks + 1))
    rule = longest_slab(a.shape, axes)
    if isinstance(rule, _core.Replicated):
        return a.redistribute(rule), Cut(None, (0,) * (ranks + 1))
    return a.redistribute(rule), Cut(rule.axis, slab_cuts(a.shape[rule.axis], ranks))


def in_order(a: Array) -> Sequenced:
    """The elements in row-major order."""
    context = a._core.context
    if a.ndim == 0:
        a = a if is_whole(a.layout) else a.redistribute(_core.Replicated())  # it may be on some ranks alone
        return Sequenced(context, values_of(a).reshape(1)[: int(context.rank == 0)], (0, *[1] * context.size))
    a, cuts = in_blocks(a, 0)
    row = a.size // max(a.shape[0], 1)
    return Sequenced(context, values_of(a).reshape(-1), tuple(cut * row for cut in cuts))


def in_any_order(a: Array) -> Sequenced:
    """The elements, each once, in any order. Replicas are divided among the ranks; otherwise nothing is moved."""
    if a.ndim == 0:
        return in_order(a)
    if a.layout.is_replicated and a._core.context.size > 1:
        a = a.redistribute(longest_slab(a.shape))
    sizes = [a.layout.local_size(rank) for rank in range(a._core.context.size)]
    return Sequenced(a._core.context, values_of(a).reshape(-1), cuts_of(sizes))


def cuts_of(sizes: Sequence[int]) -> Cuts:
    """Where parts of these sizes begin and end."""
    cuts = [0]
    for size in sizes:
        cuts.append(cuts[-1] + int(size))
    return tuple(cuts)


def sequence(like: Array, one: Sequenced, distribution: Optional[Destination] = None) -> Array:
    """The array of one dimension with these elements. Unless a distribution is given they stay where they are."""
    made = wrapped(like, layout_of_blocks((one.cuts[-1],), 0, one.cuts), one.values)
    return moved(made, distribution)
