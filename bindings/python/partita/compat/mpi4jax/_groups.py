"""Communicators as groups: one group each, since each has separate messages.

A communicator keeps its group as an attribute. Duplicating one is collective, and MPI calls back for each attribute while it
does: there the group of the duplicate is made, so that messages of the duplicate need no other call of all ranks.
"""

from __future__ import annotations

import atexit
import sys
from types import ModuleType
from typing import Any, Optional, Tuple

import jax  # type: ignore[import-not-found,unused-ignore]

from ..._context import initialize, is_starting, one_line
from ..._errors import ArgumentError
from ..._registry import Registry
from ...jax._group import Group, device_of_programs, entered

#: Those that have begun, by their numbers; the last ones end first.
_open: Registry[int, Group] = Registry()
#: "none": of calls that name no communicator. "of COMM_WORLD".
_usual: Registry[str, Group] = Registry()
#: mpi4py's number of the attribute.
_key: Registry[str, int] = Registry()


class _Later:
    """The attribute of COMM_WORLD, whose group begins with that of all calls."""


def _noted(group: Group) -> Group:
    _open.put(group._number, group)
    return group


def _started(comm: Any) -> Group:
    return _noted(Group._of(initialize(comm, device_of_programs())))


def _beside(group: Group) -> Group:
    """The same ranks as another group. Collective."""
    made = group.split(0, group.rank)
    assert made is not None
    return _noted(made)


def _end(group: Group) -> None:
    """If a program ends by an exception, the other ranks stop waiting for it."""
    error = getattr(sys, "last_value", None)
    if group._context.failed:
        return
    if error is None:
        group.close()
    else:
        group.fail(one_line(error))


@atexit.register
def _end_all() -> None:
    for group in reversed(_open.take_all()):
        _end(group)


def begin_usual() -> None:
    """Collective over the ranks that were started: COMM_WORLD's group begins with that of calls that name none."""
    world = _usual.find_or_make("none", lambda: _started(None))
    MPI = running_mpi()
    if MPI is not None and MPI.COMM_WORLD.size == world.size > 1:
        _usual.find_or_make("of COMM_WORLD", lambda: _beside(world))


def _of_world() -> Group:
    found = _usual.get("none")
    if found is None:
        begin_usual()
        found = _usual.get("none")
        assert found is not None
    return found


def _of_comm_world(comm: Any) -> Group:
    _of_world()
    # Without a launcher of MPI each process is a COMM_WORLD, and of one rank there is nothing to tell apart.
    return _usual.find_or_make("of COMM_WORLD", lambda: _started(comm))


def running_mpi() -> Optional[ModuleType]:
    """mpi4py's MPI, where the program has imported it and MPI runs."""
    MPI: Any = sys.modules.get("mpi4py.MPI")
    return MPI if MPI is not None and MPI.Is_initialized() and not MPI.Is_finalized() else None


def group_of(comm: Any) -> Group:
    """None: the innermost ``with Group(...):`` of this thread, or else all ranks that the launcher has started.

    The first call with a communicator is collective over it, but for COMM_WORLD and duplicates.
    """
    if comm is None:
        return entered() or _of_world()
    if isinstance(comm, Group):
        return comm
    MPI: Any = running_mpi()
    if MPI is None or not isinstance(comm, MPI.Intracomm):
        raise TypeError(f"comm: expected a communicator of mpi4py or a partita.jax.Group, got {comm!r}")
    if comm == MPI.COMM_NULL:
        raise ArgumentError("comm: COMM_NULL: this rank is not in the communicator, or it has been freed")
    key = _attribute(MPI)
    found = comm.Get_attr(key)
    if isinstance(found, Group):
        return found
    _of_world()  # all ranks begin with it, whichever communicator each of them uses first
    group = _of_comm_world(comm) if isinstance(found, _Later) else _started(comm)
    comm.Set_attr(key, group)
    return group


def _attribute(MPI: Any) -> int:
    return _key.find_or_make("of mpi4py", lambda: int(MPI.Comm.Create_keyval(copy_fn=_duplicated, delete_fn=_freed)))


def _duplicated(comm: Any, key: int, group: Any) -> Any:
    """Of what a duplicate of the communicator keeps. In every rank's call that duplicates."""
    if is_starting():  # for the library itself
        return NotImplemented
    return _beside(_of_comm_world(comm) if isinstance(group, _Later) else group)


def _freed(comm: Any, key: int, group: Any) -> None:
    """With the communicator, which all of its ranks free together."""
    if isinstance(group, Group) and _open.take(group._number) is not None:
        _end(group)


def note_duplicates() -> None:
    """From now on duplicates of COMM_WORLD are known as such. Local."""
    MPI: Any = running_mpi()
    if MPI is not None and MPI.COMM_WORLD.Get_attr(_attribute(MPI)) is None:
        MPI.COMM_WORLD.Set_attr(_attribute(MPI), _Later())
