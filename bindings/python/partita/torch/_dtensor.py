"""Conversions between layouts and the DTensor and DeviceMesh of torch.distributed.

Both describe which dimensions of an array are distributed over which axes of a mesh. DTensor divides uneven dimensions differently: if the
parts differ, an UnsupportedError is raised; use `partita.from_local` and `redistribute` instead.
"""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

from torch import Size, Tensor
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Placement, Replicate, Shard

from .. import _core
from .._errors import UnsupportedError


def _axes(mesh: DeviceMesh) -> Tuple[str, ...]:
    return tuple(mesh.mesh_dim_names or (f"dim{i}" for i in range(mesh.ndim)))


def mesh_of(mesh: DeviceMesh) -> _core.Mesh:
    """The mesh with the axes and ranks of a DeviceMesh, which must be 0, 1, ... in order. Local.

    Parameters
    ----------
    mesh : DeviceMesh
        The mesh of torch.distributed.
    """
    ranks = mesh.mesh.flatten().tolist()
    if ranks != list(range(len(ranks))):
        raise UnsupportedError(f"mesh_of: the ranks of the mesh are {ranks}, not 0, 1, ...: split the context in the same way first")
    return _core.Mesh(dict(zip(_axes(mesh), mesh.mesh.shape)))


def device_mesh(mesh: _core.Mesh, device_type: str = "cpu") -> DeviceMesh:
    """The DeviceMesh of torch.distributed's default group with the ranks of the mesh. Collective.

    Parameters
    ----------
    mesh : Mesh
        The mesh.
    device_type : str, default 'cpu'
        As for torch.distributed.
    """
    axes = mesh.axes
    return init_device_mesh(device_type, tuple(axes.values()), mesh_dim_names=tuple(axes))


def layout_of(tensor: DTensor) -> _core.Layout:
    """The layout of a DTensor. Local.

    Parameters
    ----------
    tensor : DTensor
        The tensor.
    """
    mesh = mesh_of(tensor.device_mesh)
    axes = _axes(tensor.device_mesh)
    cut: List[List[str]] = [[] for _ in tensor.shape]
    partial: List[str] = []
    for axis, placement in zip(axes, tensor.placements):
        if isinstance(placement, Shard):
            cut[placement.dim].append(axis)
        elif isinstance(placement, Partial):
            if placement.reduce_op != "sum":
                raise UnsupportedError(f"layout_of: partial placements must be sums, got {placement.reduce_op}")
            partial.append(axis)
        elif not isinstance(placement, Replicate):
            raise UnsupportedError(f"layout_of: the placement {placement} is not supported")
    spec = _core.P(*[names or None for names in cut], partial=partial or None)
    layout = _core.Layout(_core.Partitioned(mesh, spec), tuple(tensor.shape), tensor.device_mesh.size())
    _check_parts("layout_of", layout, tensor.device_mesh, tensor.placements)
    return layout


def _check_parts(what: str, layout: _core.Layout, mesh: DeviceMesh, placements: Sequence[Placement]) -> None:
    """UnsupportedError, the same on all ranks, if the two divide the array differently."""
    for rank in range(layout.ranks):
        ours, theirs = tuple(layout.local_shape(rank)), _cut(layout.shape, mesh, placements, rank)
        if ours != theirs:
            raise UnsupportedError(f"{what}: {layout} has a part of shape {ours} on rank {rank}, but DTensor's has {theirs}")


def _cut(shape: Sequence[int], mesh: DeviceMesh, placements: Sequence[Placement], rank: int) -> Tuple[int, ...]:
    """The shape of a rank's part, as DTensor divides: into parts of the largest size as long as elements remain."""
    found = list(shape)
    places = (mesh.mesh == rank).nonzero()[0].tolist()
    for size, place, placement in zip(mesh.mesh.shape, places, placements):
        if isinstance(placement, Shard):
            most = -(-found[placement.dim] // size)
            found[placement.dim] = max(0, min(most, found[placement.dim] - place * most))
    return tuple(found)


def from_dtensor(tensor: DTensor) -> Tuple[Tensor, _core.Layout]:
    """This rank's part of a DTensor, tracked by autograd, and the layout of the whole. Local.

    Parameters
    ----------
    tensor : DTensor
        The tensor.
    """
    return tensor.to_local(), layout_of(tensor)


def _placements(layout: _core.Layout, mesh: DeviceMesh) -> List[Placement]:
    rule = layout.distribution
    if isinstance(rule, _core.Replicated):
        return [Replicate()] * mesh.ndim
    if isinstance(rule, _core.Slab) and mesh.ndim == 1:
        return [Shard(next(axis for axis in range(len(layout.shape)) if _core.Slab(axis) == rule))]
    if not isinstance(rule, _core.Partitioned) or rule.mesh != mesh_of(mesh):
        raise UnsupportedError(f"to_dtensor: expected a layout over the axes {_axes(mesh)} of the mesh, got {layout}")
    placements: List[Placement] = [Replicate()] * mesh.ndim
    for dimension, names in enumerate(rule.spec.dimensions):
        places = [_axes(mesh).index(name) for name in names]
        if places != sorted(places):
            raise UnsupportedError(f"to_dtensor: dimension {dimension} is distributed over {list(names)}, which DTensor orders as in the mesh")
        for place in places:
            placements[place] = Shard(dimension)
    for name in rule.spec.partial:
        placements[_axes(mesh).index(name)] = Partial("sum")
    return placements


def to_dtensor(x: Tensor, layout: _core.Layout, mesh: Optional[DeviceMesh] = None) -> Any:
    """The DTensor of which `x` is this rank's part, without a copy. Local.

    Parameters
    ----------
    layout : Layout
        The layout of the whole array.
    mesh : DeviceMesh, optional
        A mesh of torch.distributed's ranks; unset: one axis with all of them.
    """
    if mesh is None:
        mesh = init_device_mesh(x.device.type, (layout.ranks,))
    placements = _placements(layout, mesh)
    strides: List[int] = [1]
    for extent in reversed(layout.shape[1:]):
        strides.insert(0, strides[0] * max(extent, 1))
    _check_parts("to_dtensor", layout, mesh, placements)
    return DTensor.from_local(x, mesh, placements, run_check=False, shape=Size(layout.shape), stride=tuple(strides[: x.ndim]))

