"""Conversions between layouts and the DTensor and DeviceMesh of torch.distributed.

Both describe which dimensions of an array are distributed over which axes of a mesh. DTensor divides uneven dimensions differently: a layout
with other parts is an UnsupportedError; `redistribute` to one of DTensor's first.
"""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

from torch import Size, Tensor
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Placement, Replicate, Shard

from .. import _core
from .._errors import UnsupportedError
from ._placements import layout_on, strides_of


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
    return layout_on("layout_of", _axes(tensor.device_mesh), tuple(mesh.axes.values()), tuple(tensor.placements), tuple(tensor.shape))


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
    theirs = layout_on("to_dtensor", _axes(mesh), tuple(mesh.shape), tuple(placements), layout.shape)
    if not theirs.equivalent(layout):
        raise UnsupportedError(f"to_dtensor: {layout} gives ranks other parts than DTensor's {theirs}: redistribute to that first")
    return DTensor.from_local(x, mesh, placements, run_check=False, shape=Size(layout.shape), stride=strides_of(layout.shape))

