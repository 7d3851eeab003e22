"""Communicators as groups."""

from __future__ import annotations

import atexit
import sys
import threading
from typing import Any, Optional

import jax  # type: ignore[import-not-found,unused-ignore]

from ..._context import initialize, one_line
from ...jax._group import Group, entered

_lock = threading.Lock()
_world: Optional[Group] = None
_key: Optional[int] = None  # of mpi4py's attribute that keeps a communicator's group


def _started(comm: Any) -> Group:
    device = "any" if jax.default_backend() == "gpu" else "cpu"
    made = Group._of(initialize(comm, device))
    atexit.register(_end, made)
    return made


def _end(group: Group) -> None:
    """At exit; a program that ends by an exception lets nobody wait for it."""
    error = getattr(sys, "last_value", None)
    if group._context.failed:
        return
    if error is None:
        group.close()
    else:
        group.fail(one_line(error))


def _of_world() -> Group:
    global _world
    with _lock:
        if _world is None:
            _world = _started(None)
        return _world


def group_of(comm: Any) -> Group:
    """None: the innermost ``with Group(...):`` of this thread, or else all ranks that the launcher has started.

    The first call with another communicator than COMM_WORLD is collective over it.
    """
    if comm is None:
        return entered() or _of_world()
    if isinstance(comm, Group):
        return comm
    MPI = sys.modules.get("mpi4py.MPI")
    if MPI is None or not isinstance(comm, MPI.Intracomm):
        raise TypeError(f"comm: a communicator of mpi4py or a partita.jax.Group is wanted, and not {comm!r}")
    if MPI.Comm.Compare(comm, MPI.COMM_WORLD) in (MPI.IDENT, MPI.CONGRUENT) and _of_world().size == comm.size:
        return _of_world()
    return _kept(comm, MPI)


def _kept(comm: Any, MPI: Any) -> Group:
    global _key
    if _key is None:
        _key = MPI.Comm.Create_keyval()
    found: Optional[Group] = comm.Get_attr(_key)
    if found is None:
        found = _started(comm)
        comm.Set_attr(_key, found)
    return found
