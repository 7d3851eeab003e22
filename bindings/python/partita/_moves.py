"""Elements chosen along each dimension, in any layout of the result: what reshaping, rolling, flipping, repeating and padding consist of."""

from __future__ import annotations

import functools
import importlib
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._array import Array, core_given
from ._device_parts import DevicePart
from ._errors import ArgumentError
from ._layouts import default_layout, is_whole, laid_out
from ._packages import empty_beside, package_of, seen_by
from ._streams import stream_of_array

Positions = Union[slice, "np.ndarray[Any, np.dtype[np.int64]]"]


class Affine(NamedTuple):
    """Index i of the result is index (first + i // repeats * step) % modulus of the source; a modulus of 0 is none."""

    extent: int
    first: int = 0
    step: int = 1
    modulus: int = 0
    repeats: int = 1

    def at(self, indices: Any) -> Any:
        found = indices // self.repeats if self.repeats > 1 else indices
        if self.step != 1 or self.first:
            found = found * self.step + self.first
        return found % self.modulus if self.modulus else found


class Listed(NamedTuple):
    """Index i of the result is the i-th of these indices of the source, int64 as bytes."""

    listed: bytes

    @property
    def extent(self) -> int:
        return len(self.listed) // 8

    def at(self, indices: Any) -> Any:
        return np.frombuffer(self.listed, np.int64)[indices]


Map = Union[Affine, Listed]


def listed(indices: Any) -> Listed:
    return Listed(np.ascontiguousarray(indices, np.int64).tobytes())


def settled(name: str, array: Array) -> Array:
    """The array, if its elements have values. TypeError for other objects, ArgumentError for partial arrays."""
    core = core_given(array)
    if core.is_partial:
        raise ArgumentError(f"{name}: {array.layout} is partial and has no values yet: redistribute it first")
    return array


def part_of(array: Array) -> Any:
    """The local part for moving elements: in host memory as NumPy sees it, in device memory as its package does."""
    if array._core.on_host:
        return array.local if type(array.local) is np.ndarray else seen_by("numpy", array._core)
    return array.local if array._package != "none" else DevicePart.of(array._core)


def with_part(array: Array, layout: _core.Layout, part: Any) -> Array:
    """An array of this layout on a new part, which is in row-major order afterwards, like those of `array`. Nothing is communicated."""
    return _wrapped(array, layout, np.asarray(part, order="C") if isinstance(part, np.ndarray) else part, True, False)


def with_view(array: Array, layout: _core.Layout, part: Any) -> Array:
    """An array of this layout that shares memory with `array`: the part has any strides. Nothing is communicated."""
    return _wrapped(array, layout, part, False, array._read_only)


def _wrapped(array: Array, layout: _core.Layout, part: Any, dense: bool, read_only: bool) -> Array:
    if isinstance(part, DevicePart):
        return Array(part.seen_in(layout, dense, array._core), array._package, read_only=read_only)
    shape = layout.local_shape(array._core.context.rank)
    if part.shape != shape:
        part = part.reshape(shape)
    core = _core.wrap_beside(array._core, part, layout, dense)
    known = array._package == package_of(part)
    return Array(core, array._package, part if known else None, read_only)


def picked(array: Array, maps: Sequence[Map], layout: Optional[_core.Layout] = None) -> Array:
    """The elements that `maps`, one per dimension, choose, in a layout, by default by the distribution of the array.

    Collective, blocking: one all-to-all of the elements that change ranks, nothing if none do.
    """
    if array._package == "jax" and not array._core.on_host:  # which writes no elements
        return picked(array.copy(space="host"), maps, layout).copy(space="device")
    shape = tuple(one.extent for one in maps)
    result = laid_out(array.layout, shape) if layout is None else layout
    if (array.layout.is_replicated or not array.shape) and not is_whole(array.layout):
        array = array.redistribute(default_layout(array.shape, array._core.context.size))
    part, rank = part_of(array), array._core.context.rank
    plan = _plan(array.layout, result, tuple(maps), rank)
    out = empty_beside(part, result.local_shape(rank))
    for positions, places in plan.here:
        put(out, places, _taken(part, positions))
    if plan.moves:
        _exchange(array, plan, part, out)
    return with_part(array, result, out)


class _Plan(NamedTuple):
    """Positions in this rank's part, and places in its part of the result, by the other rank."""

    here: List[Tuple[Tuple[Positions, ...], Tuple[Positions, ...]]]
    sent: Dict[int, Tuple[Positions, ...]]
    received: Dict[int, Tuple[Positions, ...]]
    moves: bool


@functools.lru_cache(maxsize=64)
def _plan(source: _core.Layout, result: _core.Layout, maps: Tuple[Map, ...], rank: int) -> _Plan:
    axes, ranks = range(len(maps)), range(source.ranks)
    if is_whole(source):
        wanted = tuple(maps[axis].at(result.indices(axis, rank)) for axis in axes)
        places = tuple(slice(0, len(one)) for one in wanted)
        return _Plan([(tuple(map(_short, wanted)), places)] if all(map(len, wanted)) else [], {}, {}, False)
    wants = [[maps[axis].at(result.indices(axis, one)) for axis in axes] for one in ranks]
    owns = [[source.indices(axis, one) for axis in axes] for one in ranks]
    shared = [_shared(owns[one], wants[one]) for one in ranks]
    moves = any(mine is None or any(len(a) < len(b) for a, b in zip(mine[1], want)) for mine, want in zip(shared, wants) if all(map(len, want)))
    sent = {to: found[0] for to in ranks if to != rank for found in [_shared(owns[rank], wants[to])] if found}
    received = {one: found[1] for one in ranks if one != rank for found in [_shared(owns[one], wants[rank])] if found}
    mine = shared[rank]
    here = [] if mine is None else [(shortened(mine[0]), shortened(mine[1]))]
    return _Plan(here, {to: shortened(one) for to, one in sent.items()}, {of: shortened(one) for of, one in received.items()}, moves)


def _shared(own: List[Any], wanted: List[Any]) -> Optional[Tuple[List[Any], List[Any]]]:
    """Where the wanted indices are in a rank's part, and their places in the result; None if the rank has none of them."""
    positions, places = [], []
    for here, there in zip(own, wanted):
        if not len(here) or not len(there):
            return None
        found = np.minimum(np.searchsorted(here, there), len(here) - 1)
        place = np.flatnonzero(here[found] == there)
        if not len(place):
            return None
        positions.append(found[place])
        places.append(place)
    return positions, places


def shortened(each: List[Any]) -> Tuple[Positions, ...]:
    """Slices, where the indices are equidistant."""
    return tuple(map(_short, each))


def _short(indices: Any) -> Positions:
    """A slice, if the indices are equidistant."""
    if len(indices) < 2:
        return slice(int(indices[0]), int(indices[0]) + 1) if len(indices) else slice(0, 0)
    step = int(indices[1]) - int(indices[0])
    if step == 0 or not (np.diff(indices) == step).all():
        return np.ascontiguousarray(indices)
    stop = int(indices[-1]) + step
    return slice(int(indices[0]), None if stop < 0 else stop, step)


def _length(positions: Positions) -> int:
    if not isinstance(positions, slice):
        return len(positions)
    step, stop = int(positions.step or 1), int(-1 if positions.stop is None else positions.stop)
    return len(range(int(positions.start), stop, step))


def _size(positions: Tuple[Positions, ...]) -> int:
    return int(np.prod([_length(one) for one in positions], dtype=np.int64))


def _indices(part: Any, one: Positions) -> Any:
    """What the package of the part takes as an index: only NumPy has negative steps everywhere."""
    package = package_of(part)
    if package == "numpy":
        return one
    if isinstance(one, slice) and (one.step or 1) > 0:
        return one
    if isinstance(one, slice):
        one = np.arange(one.start, -1 if one.stop is None else one.stop, one.step)
    return as_index(part, one)


def as_index(part: Any, indices: Any) -> Any:
    """Indices as the package of the part takes them."""
    package = package_of(part)
    if package == "numpy":
        return indices
    module = importlib.import_module(package)
    return module.as_tensor(indices, device=part.device) if package == "torch" else module.asarray(indices)


def copy_of(part: Any) -> Any:
    """A copy of the elements."""
    return part.clone() if package_of(part) == "torch" else part.copy()


def _taken(part: Any, positions: Tuple[Positions, ...]) -> Any:
    found = part[tuple(one if isinstance(one, slice) and (one.step or 1) > 0 else slice(None) for one in positions)]
    for axis, one in enumerate(positions):
        if not (isinstance(one, slice) and (one.step or 1) > 0):
            found = found[(slice(None),) * axis + (_indices(part, one),)]
    return found


def put(out: Any, places: Tuple[Positions, ...], values: Any) -> None:
    """Sets the elements at these places."""
    if all(isinstance(one, slice) for one in places):
        out[places] = values
        return
    each = [np.arange(out.shape[axis])[one] if isinstance(one, slice) else one for axis, one in enumerate(places)]
    out[tuple(_indices(out, one) for one in np.ix_(*each))] = values


def _exchange(array: Array, plan: _Plan, part: Any, out: Any) -> None:
    """One all-to-all of what other ranks have and want."""
    ranks = range(array._core.context.size)
    counts = [[_size(of[one]) if one in of else 0 for one in ranks] for of in (plan.sent, plan.received)]
    leaving, arriving = (empty_beside(part, (sum(of),)) for of in counts)
    start = 0
    for to in ranks:
        if counts[0][to]:
            leaving[start : start + counts[0][to]] = _taken(part, plan.sent[to]).reshape(-1)
            start += counts[0][to]
    _core.all_to_all(array._core.context, leaving, arriving, counts[0], counts[1], stream_of_array(None, array._core, array._package))
    start = 0
    for one in ranks:
        if counts[1][one]:
            places = plan.received[one]
            put(out, places, arriving[start : start + counts[1][one]].reshape([_length(each) for each in places]))
            start += counts[1][one]
