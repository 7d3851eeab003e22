"""The contexts of DeviceMeshes: ranks of torch.distributed as ranks of Partita."""

from __future__ import annotations

import functools
import os
import time
import weakref
from typing import Any, Tuple

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh
from torch.utils._python_dispatch import _disable_current_modes

from .._context import Context, initialize, options_of
from .._errors import ArgumentError
from .._registry import Registry
from .._torchrun import connect_by_store, is_described

#: By kind of device and global ranks; of the default group of torch.distributed that the other is a reference to.
_contexts: Registry[Tuple[str, Tuple[int, ...]], Tuple[Context, "weakref.ref[Any]"]] = Registry()


@functools.lru_cache(maxsize=64)
def ranks_of(mesh: DeviceMesh) -> Tuple[int, ...]:
    """The global ranks of a mesh, in its order. (The mesh makes a tensor of them each time, which takes longer than all else of a call in Python.)"""
    with _disable_current_modes():  # while a compiler follows what is done to tensors, the mesh has numbers still
        return tuple(mesh.mesh.flatten().tolist())


def context_of(mesh: DeviceMesh) -> Context:
    """The context of a mesh's ranks, in the mesh's order. Collective over these ranks, blocking; the first call for a kind of device over all
    ranks of torch.distributed.

    It is made once, and ends with torch.distributed's default group. Later calls return it without communication. Ranks are those of the
    launcher (mpirun, torchrun), or else find each other through the group's store. Call it on all ranks if only some will use a mesh.

    Parameters
    ----------
    mesh : DeviceMesh
        A mesh with this rank.

    Raises
    ------
    ArgumentError
        The launcher has started other ranks than those of torch.distributed.
    """
    group = dist.group.WORLD
    kind, ranks = mesh.device_type, ranks_of(mesh)
    found = _contexts.get((kind, ranks))
    if found is not None and found[1]() is group:
        return found[0]
    _contexts.take_all(lambda one: one[1]() is not group)
    everyone = tuple(range(dist.get_world_size()))
    whole = _contexts.get((kind, everyone))
    if whole is None:
        whole = _kept((kind, everyone), _of_everyone(kind), group)
    if ranks == everyone:
        return whole[0]
    return _kept((kind, ranks), whole[0].subgroup(list(ranks)), group)[0]


def _kept(key: Tuple[str, Tuple[int, ...]], context: Context, group: Any) -> Tuple[Context, "weakref.ref[Any]"]:
    found = (context, weakref.ref(group, lambda ended: _contexts.take_all(lambda one: one[1] is ended)))
    _contexts.put(key, found)
    return found


def _of_everyone(kind: str) -> Context:
    """The ranks of torch.distributed's default group, in its order."""
    rank, size = dist.get_rank(), dist.get_world_size()
    if size > 1 and not is_described():
        distributed: Any = dist  # of which not all has types
        store = distributed.distributed_c10d._get_default_store()
        connect_by_store(rank, size, time.monotonic() + options_of({}).deadline, lambda: distributed.PrefixStore("partita", store), _address(store))
    started = initialize(device=f"cuda:{torch.cuda.current_device()}" if kind == "cuda" else "cpu")
    if started.size != size:
        launched = started.size
        started.close()
        raise ArgumentError(
            f"context_of: torch.distributed has {size} ranks, but the launcher of this process has started {launched}: start as many, or pass parts "
            "and their layouts (from_dtensor) with a context of your own"
        )
    found = started.split(0, rank)
    assert found is not None
    started.close()
    return found


def _address(store: Any) -> str:
    """Where the store is, if it is on a host; else this one."""
    while hasattr(store, "underlying_store"):
        store = store.underlying_store
    host, port = getattr(store, "host", None), getattr(store, "port", None)
    if host is None:
        return f"{os.environ.get('MASTER_ADDR', '127.0.0.1')}:{os.environ.get('MASTER_PORT', '1')}"
    return f"{host}:{port}"
