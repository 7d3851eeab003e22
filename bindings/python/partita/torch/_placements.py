"""Placements of DTensors as layouts."""

from __future__ import annotations

import functools
import math
from typing import Any, Iterator, List, Optional, Sequence, Tuple

from torch.distributed.tensor import Partial, Placement, Replicate, Shard

from .. import _core
from .._errors import UnsupportedError

Placements = Tuple[Placement, ...]
Extents = Tuple[int, ...]

#: The reductions of PyTorch that are Partita's.
_reductions = ("sum", "min", "max", "product")


def names_of_axes(dimensions: int) -> Tuple[str, ...]:
    """Of a mesh whose own names do not matter."""
    return tuple(f"a{i}" for i in range(dimensions))


@functools.lru_cache(maxsize=512)
def layout_on(what: str, names: Tuple[str, ...], extents: Extents, placements: Placements, shape: Extents) -> _core.Layout:
    """The layout over the ranks of a mesh, in its order, of an array with these placements, in the parts that DTensor makes."""
    orders = _orders(what, extents, placements, shape)
    partial, reduction = _contributions(what, names, placements)
    mesh = _core.Mesh(dict(zip(names, extents)) or {"a0": 1})
    spec = _core.P(*[[names[axis] for axis in order] or None for order in orders], partial=partial or None, reduction=reduction)
    layout = _core.Layout(_core.Partitioned(mesh, spec), shape, math.prod(extents))
    parts = [_bounds(shape, orders, extents, place) for place in _places(extents)]
    if all(tuple(layout.local_shape(rank)) == _shape(part) for rank, part in enumerate(parts)):
        return layout
    if sum(extents[axis] > 1 for order in orders for axis in order) < sum(extent > 1 for extent in extents):
        raise UnsupportedError(
            f"{what}: a dimension of {shape} is cut unevenly by several axes of the mesh of {extents}, of which others have replicas or contributions "
            f"({placements}): redistribute to Shard(dim) on the first of these axes alone, or to even parts"
        )
    boxes = [(tuple(begin for begin, _ in part), tuple(end for _, end in part)) for part in parts]
    return _core.Layout(_core.Box(boxes), shape, len(parts))


def _places(extents: Extents) -> Iterator[Extents]:
    """The coordinates of the ranks, in their order."""
    if not extents:
        yield ()
        return
    for first in range(extents[0]):
        for others in _places(extents[1:]):
            yield (first, *others)


def _is_strided(placement: Placement) -> bool:
    """A dimension that FSDP cuts after an axis of the mesh that comes later, in PyTorch's words."""
    return type(placement).__name__ == "_StridedShard"


def dimension_of(placement: Placement) -> Optional[int]:
    """That which it cuts."""
    return getattr(placement, "dim", None) if isinstance(placement, Shard) or _is_strided(placement) else None


def _orders(what: str, extents: Extents, placements: Placements, shape: Extents) -> List[List[int]]:
    """The axes of the mesh that cut each dimension, the slowest first."""
    cut: List[List[int]] = [[] for _ in shape]
    for axis in reversed(range(len(placements))):
        placement: Any = placements[axis]
        dimension = dimension_of(placement)
        if dimension is None:
            if not isinstance(placement, (Partial, Replicate)):
                raise UnsupportedError(f"{what}: the placement {placement} is not supported")
            continue
        if not -len(shape) <= dimension < len(shape):
            raise UnsupportedError(f"{what}: the placement {placement} of an array of shape {shape}")
        order = cut[dimension]
        place = 0
        if _is_strided(placement):
            while math.prod(extents[other] for other in order[:place]) < placement.split_factor and place < len(order):
                place += 1
            whole = math.prod(extents[other] for other in (axis, *order))
            if math.prod(extents[other] for other in order[:place]) != placement.split_factor or shape[dimension] % whole:
                raise UnsupportedError(
                    f"{what}: the placements {placements} of shape {shape} over a mesh of {extents} do not give each rank contiguous parts of one "
                    "size: redistribute to Shard or Replicate first"
                )
        order.insert(place, axis)
    return cut


def _contributions(what: str, names: Tuple[str, ...], placements: Placements) -> Tuple[List[str], str]:
    """The axes with contributions, and their reduction."""
    partial = [(name, one.reduce_op) for name, one in zip(names, placements) if isinstance(one, Partial)]
    reductions = {reduction for _, reduction in partial}
    if len(reductions) > 1 or not reductions <= set(_reductions) or any(type(one) is not Partial for one in placements if isinstance(one, Partial)):
        raise UnsupportedError(f"{what}: partial placements must have one reduction of {', '.join(_reductions)}, got {placements}")
    return [name for name, _ in partial], next(iter(reductions), "sum")


def _bounds(shape: Extents, orders: Sequence[Sequence[int]], extents: Extents, place: Extents) -> List[Tuple[int, int]]:
    """The part of a rank, as DTensor divides: into parts of the largest size as long as elements remain, axis by axis."""
    found = []
    for extent, order in zip(shape, orders):
        begin, length = 0, extent
        for axis in order:
            most = -(-length // extents[axis])
            before = min(length, place[axis] * most)
            begin, length = begin + before, min(most, length - before)
        found.append((begin, begin + length))
    return found


def _shape(bounds: Sequence[Tuple[int, int]]) -> Extents:
    return tuple(end - begin for begin, end in bounds)


def strides_of(shape: Sequence[int]) -> Extents:
    """Of an array that is stored row by row."""
    strides = [1]
    for extent in reversed(shape[1:]):
        strides.insert(0, strides[0] * max(extent, 1))
    return tuple(strides[: len(shape)])
