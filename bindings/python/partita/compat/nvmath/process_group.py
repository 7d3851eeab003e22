"""The processes that start the runtime together, and the few things that they tell each other meanwhile."""

from __future__ import annotations

import functools
import importlib
from abc import ABC, abstractmethod
from enum import IntEnum
from typing import Any, Callable, List, TypeVar, Union

from ... import _collectives
from ..._context import Context, initialize
from ._agreement import collective, gather_objects

__all__ = ["MPIProcessGroup", "PartitaProcessGroup", "ProcessGroup", "ReductionOp", "TorchProcessGroup"]

T = TypeVar("T")
Buffer = Any  # an array of NumPy


class ReductionOp(IntEnum):
    """How elements are reduced."""

    SUM = 0
    MIN = 1
    MAX = 2


class ProcessGroup(ABC):
    """Processes with a rank each. Programs may bring their own; all but `rank` and `nranks` is collective and blocking."""

    @property
    @abstractmethod
    def rank(self) -> int:
        """The number of this process."""

    @property
    @abstractmethod
    def nranks(self) -> int:
        """How many there are."""

    @abstractmethod
    def broadcast_buffer(self, array: Buffer, *, root: int = 0) -> None:
        """The array of all becomes that of the root."""

    @abstractmethod
    def allreduce_buffer(self, array: Buffer, *, op: ReductionOp) -> None:
        """The arrays of all ranks, reduced element by element, in place."""

    @abstractmethod
    def allreduce_object(self, obj: T, *, op: Callable[[T, T], T]) -> T:
        """The objects of all ranks, reduced pairwise by the function."""

    def _context(self, device: str, **options: Any) -> Context:
        """The ranks as Partita has them: by default those that the launcher has started."""
        return initialize(device=device, **options)


class PartitaProcessGroup(ProcessGroup):
    """The ranks of a context of Partita's, which stays its owner's to close."""

    def __init__(self, context: Context) -> None:
        self._partita = context

    @property
    def rank(self) -> int:
        return self._partita.rank

    @property
    def nranks(self) -> int:
        return self._partita.size

    @collective
    def broadcast_buffer(self, array: Buffer, *, root: int = 0) -> None:
        _collectives.broadcast(self._partita, array, root)

    @collective
    def allreduce_buffer(self, array: Buffer, *, op: ReductionOp) -> None:
        _collectives.all_reduce(self._partita, array, array, reduction=ReductionOp(op).name.lower())

    @collective
    def allreduce_object(self, obj: T, *, op: Callable[[T, T], T]) -> T:
        return functools.reduce(op, gather_objects(self._partita, obj))

    def _context(self, device: str, **options: Any) -> Context:
        return self._partita


class MPIProcessGroup(ProcessGroup):
    """The processes of a communicator of mpi4py."""

    def __init__(self, mpi_comm: Any) -> None:
        self._mpi_comm = mpi_comm

    @property
    def rank(self) -> int:
        return int(self._mpi_comm.Get_rank())

    @property
    def nranks(self) -> int:
        return int(self._mpi_comm.Get_size())

    def broadcast_buffer(self, array: Buffer, *, root: int = 0) -> None:
        self._mpi_comm.Bcast(array, root=root)

    def allreduce_buffer(self, array: Buffer, *, op: ReductionOp) -> None:
        from mpi4py import MPI

        self._mpi_comm.Allreduce(MPI.IN_PLACE, array, op=getattr(MPI, ReductionOp(op).name))

    def allreduce_object(self, obj: T, *, op: Callable[[T, T], T]) -> T:
        everyone: List[T] = self._mpi_comm.allgather(obj)
        return functools.reduce(op, everyone)

    def _context(self, device: str, **options: Any) -> Context:
        return initialize(self._mpi_comm, device, **options)


class TorchProcessGroup(ProcessGroup):
    """The processes of a group of torch.distributed, the default one where none is given.

    Parameters
    ----------
    device_id : int or 'cpu'
        Where the group's backend wants its tensors.
    """

    def __init__(self, *, device_id: Union[int, str], torch_process_group: Any = None, logger: Any = None) -> None:
        torch = importlib.import_module("torch")
        if not isinstance(device_id, int) and device_id != "cpu":
            raise ValueError(f"device_id: expected a number or 'cpu', got {device_id!r}")
        if not torch.distributed.is_initialized():
            raise RuntimeError("torch.distributed has not been initialized")
        backend = torch.distributed.get_backend(torch_process_group)
        if backend == "nccl" and device_id == "cpu":
            raise ValueError("the group's backend, nccl, does not support tensors on the CPU: pass device_id")
        if backend == "mpi" and logger is not None:
            logger.warning("the group uses MPI: use MPIProcessGroup, which does not need torch")
        self._torch = torch
        self._device_id = device_id
        self._torch_process_group = torch_process_group

    @property
    def device_id(self) -> Union[int, str]:
        """As given."""
        return self._device_id

    @property
    def rank(self) -> int:
        return int(self._torch.distributed.get_rank(self._torch_process_group))

    @property
    def nranks(self) -> int:
        return int(self._torch.distributed.get_world_size(self._torch_process_group))

    def _exchange(self, array: Buffer, call: Callable[[Any], Any]) -> None:
        tensor = self._torch.from_numpy(array)
        if self._device_id == "cpu":
            call(tensor)
            return
        there = tensor.to(f"cuda:{self._device_id}")
        call(there)
        tensor.copy_(there)

    def broadcast_buffer(self, array: Buffer, *, root: int = 0) -> None:
        distributed = self._torch.distributed
        source = root if self._torch_process_group is None else distributed.get_global_rank(self._torch_process_group, root)
        self._exchange(array, lambda tensor: distributed.broadcast(tensor, src=source, group=self._torch_process_group))

    def allreduce_buffer(self, array: Buffer, *, op: ReductionOp) -> None:
        distributed = self._torch.distributed
        reduction = getattr(distributed.ReduceOp, ReductionOp(op).name)
        self._exchange(array, lambda tensor: distributed.all_reduce(tensor, op=reduction, group=self._torch_process_group))

    def allreduce_object(self, obj: T, *, op: Callable[[T, T], T]) -> T:
        everyone: List[T] = [obj] * self.nranks
        self._torch.distributed.all_gather_object(everyone, obj, group=self._torch_process_group)
        return functools.reduce(op, everyone)
