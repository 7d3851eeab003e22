"""Groups: the ranks of compiled programs."""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from types import TracebackType
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Type, TypeVar, Union

import jax  # type: ignore[import-not-found,unused-ignore]
import numpy as np

from .. import _calls, _core
from .._collectives import all_gather
from .._context import Context, one_line, ranks_of_process
from .._errors import ArgumentError, UnsupportedError
from .._registry import Registry
from . import _fast_path, _tokens
from ._devices import contexts_of_program, name_of, on_each

_config: Any = jax.config


def _without_key(_: int) -> contextlib.AbstractContextManager[None]:
    return contextlib.nullcontext()


# What programs are kept by, too: one that another group has traced makes its calls.
_jax: Any = jax
_key_of_programs: Callable[[int], contextlib.AbstractContextManager[Any]] = (
    _jax.make_user_context(None) if hasattr(jax, "make_user_context") else _without_key
)


def index_of_device(context: Context) -> Optional[int]:
    """The index of the context's GPU in this process; None on the CPU."""
    kind, _, number = context.device.partition(":")
    return int(number) if kind == "cuda" else None


def device_of_programs() -> str:
    """Where JAX runs programs by default, named as in `initialize`."""
    device = _config.jax_default_device
    if device is None or isinstance(device, str):
        device = jax.local_devices(backend=device)[0]
    return name_of(device)


def _device_of_programs(context: Context) -> Optional[Any]:
    """Where programs of the group run, if JAX would use another GPU of this process by default."""
    index = index_of_device(context)
    if index is None or jax.default_backend() != "gpu" or _config.jax_default_device is not None:
        return None
    devices = jax.local_devices()
    if len(devices) < 2:
        return None
    return next((one for one in devices if one.local_hardware_id == index), None)


def _threads_of_xla() -> int:
    """The number of threads that run programs on the CPU, for all ranks of this process."""
    devices: int = jax.local_device_count()
    for name in ("PJRT_NPROC", "NPROC"):
        if os.environ.get(name, "").isdigit():
            return max(int(os.environ[name]), devices)
    return max(len(os.sched_getaffinity(0)), devices)


def _require_threads(context: Context) -> None:
    """UnsupportedError if ranks of this process would wait for each other.

    A call waits for other ranks in one of XLA's threads, so there must be as many threads as ranks. For a GPU, XLA has one stream per
    process, in which one rank's work would wait for that of another behind it.
    """
    ranks = ranks_of_process()
    if ranks == 1:
        return
    if jax.default_backend() == "gpu":
        devices = all_gather(context, np.array([index_of_device(context) or 0]))
        if len(set(devices.tolist())) < ranks:
            raise UnsupportedError(
                f"Group: {ranks} ranks are threads of this process and share a GPU, for which XLA has one stream: start the "
                "ranks as processes"
            )
    elif jax.default_backend() == "cpu" and _threads_of_xla() < ranks:
        raise UnsupportedError(
            f"Group: {ranks} ranks are threads of this process, whose programs XLA runs in {_threads_of_xla()} threads: set "
            f"PJRT_NPROC={ranks} in the environment before JAX is used first, or start the ranks as processes"
        )


class _OfThread(threading.local):
    def __init__(self) -> None:
        self.entered: List[Tuple[Group, contextlib.ExitStack]] = []  # with what ends with the block
        self.open: List[Group] = []


_of_thread = _OfThread()


def _failures() -> List[Tuple[int, str]]:
    return [_core.xla_group_failures(group._number) for group in _of_thread.open]


def _wait_for_programs(contexts: Sequence[Context]) -> None:
    """Wait for the programs of this thread on the devices of these ranks; raises the error of one that fails."""
    before = _failures()
    _tokens.wait_for_programs()
    for context in contexts:
        _fast_path.wait_for_programs(index_of_device(context))
    for (seen, _), (found, text) in zip(before, _failures()):
        if found > seen:
            raise jax.errors.JaxRuntimeError(text)


class Group:
    """The ranks of compiled programs: those of a context, or all devices of the program.

    Programs run in XLA's threads, and only one thread at a time may use a context. A group therefore has a separate context, and the
    given one stays free for other calls. Creation is collective over the context's ranks and blocking. Inside ``with group:`` calls of
    this thread that name no group use it, and programs run on the context's GPU unless `jax_default_device` is set; the end of the block
    closes it.

    Parameters
    ----------
    context : Context, optional
        Its ranks are the group's. Unset: one rank per device of the program, in the order of `jax.devices()`; creation is collective
        over the processes of the program (`jax.distributed`).
    **options
        As for `initialize`, without a context.

    Raises
    ------
    UnsupportedError
        More ranks are threads of this process than XLA has threads for their programs, or several of them share a GPU; on each of them.
        Without a context: several processes, of which some have several devices.
    """

    def __init__(self, context: Optional[Context] = None, **options: Any) -> None:
        if context is None:
            self._begin(contexts_of_program(options))
            return
        if options:
            raise ArgumentError(f"Group: options {', '.join(options)} are those of the context: pass them to initialize")
        _require_threads(context)
        own = context.split(0, context.rank)
        assert own is not None
        self._begin([own])

    def _begin(self, own: List[Context]) -> None:
        self._contexts = own  # of this process's ranks
        self._context = own[0]
        self._number = _core.add_xla_group([one._core for one in own])
        self._programs: Registry[Any, Any] = Registry()  # of calls outside of programs
        self._is_closed = False
        _of_thread.open.append(self)

    @classmethod
    def _of(cls, own: Context) -> Group:
        made = cls.__new__(cls)
        made._begin([own])
        return made

    @property
    def rank(self) -> int:
        """This rank: 0, 1, ... below `size`. UnsupportedError if this process has several ranks, one per device."""
        if len(self._contexts) > 1:
            raise UnsupportedError(
                f"the group has {len(self._contexts)} ranks in this process, one per device: calls on the part of one rank, which take "
                "layouts, are not available there; pass whole arrays with a NamedSharding, without layouts"
            )
        return self._context.rank

    @functools.cached_property
    def _ranks_of_devices(self) -> Dict[Any, int]:
        """The rank of each device of the program."""
        devices = jax.devices()
        if self.size != len(devices) or (len(self._contexts) == 1 and (jax.process_index() != self.rank or self.size != jax.process_count())):
            raise UnsupportedError(
                f"calls on whole arrays need one rank per device, in the order of jax.devices(): the group has {self.size} ranks, this "
                f"process is rank {self._context.rank} of them and process {jax.process_index()} of {jax.process_count()}, and the "
                f"program has {len(devices)} devices; use partita.jax.Group() without a context"
            )
        return {device: rank for rank, device in enumerate(devices)}

    @property
    def size(self) -> int:
        """The number of ranks."""
        return self._context.size

    def split(self, colour: int, key: int = 0) -> Optional[Group]:
        """A group of the ranks that pass the same colour; None if it is negative. Collective, blocking.

        Parameters
        ----------
        colour : int
            Selects the group.
        key : int, default 0
            Orders the ranks of a group; equal keys are ordered by rank.
        """
        _wait_for_programs(self._contexts)
        self.rank  # of one rank only
        own = self._context.split(colour, key)
        return None if own is None else Group._of(own)

    def along(self, mesh: _core.Mesh, axes: Union[str, Sequence[str]]) -> Group:
        """A new group of the ranks that differ from this one along these axes of the mesh only. Collective over all ranks.

        Parameters
        ----------
        mesh : Mesh
            A mesh of this group's ranks.
        axes : str or sequence of str
            Names of its axes.
        """
        members = self._members_along(mesh, axes)
        found = self.split(members[0], members.index(self.rank))
        assert found is not None
        return found

    def _members_along(self, mesh: _core.Mesh, axes: Union[str, Sequence[str]]) -> List[int]:
        try:
            return list(mesh.ranks_along(self.rank, [axes] if isinstance(axes, str) else list(axes)))
        except Exception as error:
            tell("along", error, self)
            raise

    def synchronize(self) -> None:
        """Wait for the programs of this thread, and for their work on a GPU. Local; blocking, within the deadline.

        Errors that occur on a GPU after a call has enqueued its work are raised here, or by the next call of the group: JAX does not see
        them, and results are undefined from that point on.
        """
        _wait_for_programs(self._contexts)
        _core.synchronize_xla_group(self._number)

    def close(self) -> None:
        """Wait for the programs of this thread, then end the group. Collective, blocking.

        Calls of a closed group are refused: by an ArgumentError during tracing, and by a JaxRuntimeError with its text in compiled programs.
        """
        try:
            self.synchronize()
        finally:
            self._is_closed = True
            _core.forget_xla_group(self._number)
            if self in _of_thread.open:  # not closed before, nor made in another thread
                _of_thread.open.remove(self)
            on_each(self._contexts, Context.close)

    def fail(self, why: str) -> None:
        """Mark the group as failed with the text `why`, so that other ranks stop waiting for this one. Local."""
        for context in self._contexts:
            context.fail(why)

    def __enter__(self) -> Group:
        self._require_open()
        device, block = _device_of_programs(self._context) if len(self._contexts) == 1 else None, contextlib.ExitStack()
        block.enter_context(_key_of_programs(self._number))
        if device is not None:
            block.enter_context(jax.default_device(device))
        _of_thread.entered.append((self, block))
        return self

    def _require_open(self) -> None:
        if self._is_closed:
            raise ArgumentError(f"{self!r} has been closed; create a new one with partita.jax.Group(context)")

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        _of_thread.entered.pop()[1].close()
        if error is None:
            self.close()
        else:
            self.fail(one_line(error))

    def __repr__(self) -> str:
        if len(self._contexts) > 1:
            return f"<partita.jax.Group: {self.size} ranks, the devices of this process>"
        return f"<partita.jax.Group: rank {self.rank} of {self.size}>"


Function = TypeVar("Function", bound=Callable[..., Any])


def collective(function: Function) -> Function:
    """`function`, whose errors during tracing are raised on all ranks of its group, as those of `partita`'s calls.

    The group is the call's or the entered one. Other ranks, whose programs are running, get them as JaxRuntimeError.
    """

    @functools.wraps(function)
    def called(*given: Any, **named: Any) -> Any:
        try:
            return function(*given, **named)
        except jax.errors.JaxRuntimeError:  # of a program: all have it
            raise
        except Exception as error:
            tell(function.__name__, error, next((one for one in (*given, *named.values()) if isinstance(one, Group)), None) or entered())
            raise

    called.is_collective = True  # type: ignore[attr-defined]
    return called  # type: ignore[return-value]


def pairwise(function: Function) -> Function:
    """`function`, for messages between two ranks, whose errors during tracing are raised on this rank only."""

    @functools.wraps(function)
    def called(*given: Any, **named: Any) -> Any:
        try:
            return function(*given, **named)
        except Exception as error:
            _calls.raise_own(function.__name__, error)
            raise

    return called  # type: ignore[return-value]


def tell(name: str, error: Exception, group: Optional[Group]) -> None:
    """Notify the other ranks, after this rank's programs, which use the group's context."""
    if group is not None and not group._is_closed and len(group._contexts) == 1:  # or all of its ranks have the error
        _wait_for_programs(group._contexts)
        _calls.raise_on_all(name, error, (group._context,))


def entered() -> Optional[Group]:
    """The group of the innermost ``with group:`` of this thread."""
    return _of_thread.entered[-1][0] if _of_thread.entered else None


def chosen(group: Optional[Group]) -> Group:
    """The group of a call."""
    found = group or entered()
    if found is None:
        raise ArgumentError("no group is given: pass group, or make the call inside `with partita.jax.Group(context):`")
    found._require_open()
    return found
