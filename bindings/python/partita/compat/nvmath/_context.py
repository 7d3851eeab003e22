"""Beginning and end of the runtime."""

from __future__ import annotations

import atexit
import contextlib
import sys
import threading
from dataclasses import dataclass, field
from typing import Any, Optional, Sequence

from ... import _core
from ..._context import Context, one_line
from ..._context import initialize as start
from ..._errors import Error, UnsupportedError
from ._agreement import collective
from .process_group import MPIProcessGroup, PartitaProcessGroup, ProcessGroup

_backends = ("nvshmem", "nccl")


@dataclass(frozen=True)
class DistributedContext:
    """The arguments of `initialize`, and the Partita context that it has made.

    `nccl_comm` is that context where NCCL is among the backends, else None.
    """

    device_id: int
    process_group: ProcessGroup
    nvshmem_available: bool
    nccl_comm: Optional[Any]
    partita: Context = field(repr=False)
    owned: bool = field(repr=False)  # closed by finalize

    @property
    def communicator(self) -> Any:
        """The communicator of mpi4py; None where the processes are not of MPI. (The name of 0.8.)"""
        return self.process_group._mpi_comm if isinstance(self.process_group, MPIProcessGroup) else None


class _OfThread(threading.local):
    """Ranks that are threads have a runtime each; one that the main thread has initialised is the process's."""

    context: Optional[DistributedContext] = None


_of_thread = _OfThread()
_of_process: Optional[DistributedContext] = None


def get_context() -> Optional[DistributedContext]:
    """What has been initialised; None before `initialize` and after `finalize`. Local."""
    return _of_thread.context or _of_process


def current() -> DistributedContext:
    """The same, or RuntimeError."""
    context = get_context()
    if context is None:
        raise RuntimeError("the distributed runtime is not initialized: call initialize(device_id, process_group) first")
    return context


def _keep(context: Optional[DistributedContext]) -> None:
    global _of_process
    if threading.current_thread() is threading.main_thread():
        _of_process = context
    else:
        _of_thread.context = context


def _group_of(given: Any) -> Optional[ProcessGroup]:
    if given is None or isinstance(given, ProcessGroup):
        return given
    if isinstance(given, Context):
        return PartitaProcessGroup(given)
    if hasattr(given, "Get_rank") and hasattr(given, "Get_size"):
        return MPIProcessGroup(given)
    raise TypeError(f"process_group: expected a ProcessGroup, a communicator of mpi4py or a context of Partita, got {given!r}")


def _checked(device_id: Any, backends: Optional[Sequence[str]]) -> Sequence[str]:
    if not isinstance(device_id, int):
        raise TypeError(f"device_id: expected an integer, got {device_id!r}")
    if backends is None:
        return _backends
    for backend in backends:
        if backend not in _backends:
            raise ValueError(f"backend must be one of {_backends}, got {backend}")
    if not backends:
        raise ValueError(f"backends: name at least one of {_backends}")
    return backends


@collective
def initialize(
    device_id: int,
    process_group: Any = None,
    backends: Optional[Sequence[str]] = None,
    *,
    communicator: Any = None,
) -> None:
    """Start the runtime. Collective, blocking.

    Parameters
    ----------
    device_id : int
        The GPU of this process; on a machine without any, operands are computed on the CPU.
    process_group : ProcessGroup, mpi4py.MPI.Comm or partita.Context, optional
        The processes; by default those that the launcher has started. (`communicator` is its name in 0.8.)
    backends : sequence of str, optional
        'nvshmem', 'nccl': what of them may carry data between GPUs where it is installed; those that are not named do not.
        By default both may.

    Raises
    ------
    TypeError, ValueError
        A device_id that is not an integer, an unknown backend or none, no process group, or one by both of its names.
    RuntimeError
        There is a runtime already.
    """
    if process_group is not None and communicator is not None:
        raise TypeError("process_group and communicator are aliases: pass one of them")
    if get_context() is not None:
        raise RuntimeError("the distributed runtime has already been initialized: call finalize() first")
    given = communicator if process_group is None else process_group
    group = _group_of(given)
    wrong: Optional[Exception] = None
    try:
        allowed = _checked(device_id, backends)
    except (TypeError, ValueError) as error:  # raised by all ranks, once they are connected
        device_id, allowed, wrong = 0, _backends, error
    partita = _started(group, device_id, allowed)
    owned = partita is not given and partita is not getattr(given, "_partita", None)
    if group is None:
        group = PartitaProcessGroup(partita)
    try:
        _settle_together(partita, group, wrong)
    except Exception:
        if owned:
            with contextlib.suppress(Error):
                partita.close()
        raise
    nccl = partita if "nccl" in allowed else None
    _keep(DistributedContext(device_id, group, "nvshmem" in allowed, nccl, partita, owned))
    atexit.register(_end)


def _started(group: Optional[ProcessGroup], device_id: int, allowed: Sequence[str]) -> Context:
    device = f"cuda:{device_id}" if _core.device_count() else "cpu"
    options = {
        "device_heap": "automatic" if "nvshmem" in allowed else "driver",
        "device_collectives": "automatic" if "nccl" in allowed else "own",
    }
    return start(device=device, **options) if group is None else group._context(device, **options)


def _settle(partita: Context, group: ProcessGroup, wrong: Optional[Exception]) -> None:
    """Raises what is wrong on some rank on all of them."""
    if wrong is not None:
        raise wrong
    if (partita.rank, partita.size) != (group.rank, group.nranks):
        raise UnsupportedError(
            f"rank {group.rank} of {group.nranks} in the process group is rank {partita.rank} of {partita.size} for "
            "Partita, which supports the ranks of MPI, of `partita run` and of its own contexts"
        )
    partita.barrier()


_settle.__qualname__ = "initialize"  # as its errors call it
_settle_together = collective(_settle)


@collective
def finalize() -> None:
    """End the runtime. Collective, blocking; nothing to do where there is none. Arrays stay readable."""
    context = get_context()
    if context is None:
        return
    from ._memory import forget_all

    forget_all(context.partita)
    _keep(None)
    if context.owned:
        context.partita.close()


def _end() -> None:
    """At exit: if the program has not finalized; if it ends by an exception, the other ranks stop waiting for it."""
    context = get_context()
    if context is None or not context.owned or context.partita.failed:
        return
    error = getattr(sys, "last_value", None)
    if error is None:
        finalize()
    else:
        context.partita.fail(one_line(error))
