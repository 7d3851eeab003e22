"""Contexts: the ranks that work together."""

from __future__ import annotations

import builtins
import ctypes
import operator
import sys
import threading
from types import TracebackType
from typing import Any, Callable, Dict, Generic, List, Optional, Sequence, Set, Tuple, Type, TypeVar, Union

from . import _core
from ._calls import collective, note_begun, note_closed, text_of
from ._errors import ArgumentError, FailedContextError, LostPeerError
from ._registry import Counter, Registry
from ._streams import handle_of
from ._torchrun import connect_ranks, forget_handed

Result = TypeVar("Result")


def one_line(error: BaseException) -> str:
    """The text of an exception in one line, for the other ranks."""
    text = " ".join(text_of(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


class _Running(threading.local):
    """The group and the task of a thread of `run`."""

    ranks = 1
    starts = False


_running = _Running()


def ranks_of_process() -> int:
    """The number of ranks that are threads of this process together with the calling thread."""
    return _running.ranks


def is_starting() -> bool:
    """Whether the calling thread is in `initialize`, where the library duplicates its communicator."""
    return _running.starts


_numbers = Counter()
_contexts: Registry[int, Context] = Registry(weak=True)


def context_of(number: int) -> Context:
    """The context with this number, without keeping it alive. PyTorch's compiler may pass a symbol, which is converted to its number."""
    found = _contexts.get(int(number))
    if found is None:
        raise ArgumentError("the context that this was made with has been destroyed")
    return found


class Context:
    """A group of ranks with its heap, plan cache, deadlines and logger. Made by `initialize`, `run` or `split`.

    Only one thread at a time may use a context and its arrays. Several contexts may exist at once. ``with context:`` closes it at the
    end. If the block ends by an exception, the context fails, and ranks that wait for this one get a `LostPeerError` with its text.
    """

    __slots__ = ("__weakref__", "_core", "_number", "rank", "size")

    rank: int
    """This rank: 0, 1, ... below `size`."""
    size: int
    """The number of ranks."""

    # What compilers of Python look at is plain numbers.
    def __init__(self, core: _core.Context) -> None:
        if not isinstance(core, _core.Context):
            raise builtins.TypeError("a context is made by initialize, run, split or subgroup")
        self._core = core
        self._number = _numbers.next()
        self.rank, self.size = core.rank, core.size
        _contexts.put(self._number, self)

    @property
    def device(self) -> str:
        """The device of the context: 'cpu', 'cuda:0', ..."""
        return self._core.device

    @property
    def threads(self) -> int:
        """The number of threads that BLAS and FFT may use in this rank."""
        return self._core.threads

    @property
    def topology(self) -> _core.Topology:
        """The ranks of each node."""
        return self._core.topology

    @property
    def failed(self) -> bool:
        """Whether the context has failed, as far as this rank knows."""
        return self._core.failed

    @property
    def failure(self) -> str:
        """The text of the first failure; empty if there is none."""
        return self._core.failure

    @collective
    def barrier(self, *, stream: Any = None) -> None:
        """Wait until all ranks have called it. Collective, blocking. With a stream it returns at once, and the stream waits for the streams
        of the other ranks.
        """
        self._core.barrier(None if stream is None else handle_of(stream))

    @property
    def stream(self) -> Optional[int]:
        """The number of the context's own stream; None on the CPU."""
        return self._core.stream

    def synchronize(self, stream: Any = None) -> None:
        """Wait until the device has completed the work of this rank, and that of `stream`. Local; returns at once on the CPU."""
        self._core.synchronize(None if stream is None else handle_of(stream))

    @collective
    def collect(self) -> None:
        """Release memory of arrays that all ranks have dropped. Collective, blocking."""
        self._core.collect()

    def close(self) -> str:
        """End the context. Collective, blocking.

        Returns
        -------
        str
            The blocks that variables of some rank still refer to; empty if none. Such arrays can still be read locally.
        """
        left = self._core.close()
        note_closed(self)
        return left

    def fail(self, why: str) -> None:
        """Mark the context as failed with the text `why`, so that other ranks stop waiting for this one. Local."""
        self._core.fail(why)

    @collective
    def subgroup(self, ranks: Sequence[int]) -> Context:
        """A context of these ranks, in this order. Collective over them only, blocking.

        An error on one rank is raised by all ranks of this context, which has failed if others were already creating the group.

        Parameters
        ----------
        ranks : sequence of int
            Ranks of this context, among them the calling one.
        """
        return _begun(self._core.subgroup(list(ranks)))

    @collective
    def split(self, colour: int, key: int = 0) -> Optional[Context]:
        """A context of the ranks that pass the same colour; None if it is negative. Collective, blocking.

        Parameters
        ----------
        colour : int
            Selects the group.
        key : int, default 0
            Orders the ranks of a group; equal keys are ordered by rank.
        """
        core = self._core.split(colour, key)
        return None if core is None else _begun(core)

    @collective
    def along(self, mesh: _core.Mesh, axes: Union[str, Sequence[str]]) -> Context:
        """A context of the ranks that differ from this one along these axes of the mesh only. Collective over those ranks.

        It is made by the first call and kept; later calls do not communicate. Errors are as for `subgroup`.

        Parameters
        ----------
        mesh : Mesh
            A mesh of this context's ranks.
        axes : str or sequence of str
            Names of its axes.
        """
        return _begun(self._core.along(mesh, [axes] if isinstance(axes, str) else list(axes)))

    def __enter__(self) -> Context:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if error is None:
            self.close()
        else:
            self.fail(one_line(error))

    # Copies of what has a context, such as layers of PyTorch, work with the same ranks.
    def __copy__(self) -> Context:
        return self

    def __deepcopy__(self, memo: Any) -> Context:
        return self

    def __reduce__(self) -> Any:
        raise builtins.TypeError("a context cannot be pickled: it belongs to the processes or threads that made it")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Context) and self._core == other._core

    def __hash__(self) -> int:
        return hash(self._core)

    def __repr__(self) -> str:
        return f"<partita.Context: rank {self.rank} of {self.size}, {self.device}>"


def _begun(core: _core.Context) -> Context:
    context = Context(core)
    note_begun(context)
    return context


def options_of(given: dict[str, Any]) -> _core.ContextOptions:
    """The options of `initialize`; ArgumentError for others."""
    options = _core.ContextOptions()
    known = [name for name in dir(options) if not name.startswith("_")]
    for name, value in given.items():
        if name not in known:
            raise ArgumentError(f"unknown option {name}; known: {', '.join(known)}")
        setattr(options, name, value)
    return options


def _handle_of(comm: Any) -> Tuple[int, int, str]:
    """Address and size of the MPI_Comm, and its MPI, as for partita::communicator."""
    if comm is None:
        return 0, 0, ""
    MPI = sys.modules.get("mpi4py.MPI")
    if MPI is None or not isinstance(comm, MPI.Comm):
        raise TypeError(f"comm: expected a communicator of mpi4py, got {type(comm).__name__}")
    name, version = MPI.get_vendor()
    return MPI._addressof(comm), MPI._sizeof(comm), f"{name} {version[0]}"


def initialize(comm: Any = None, device: str = "any", **options: Any) -> Context:
    """Make a context. Collective over its ranks, blocking.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm, optional
        The communicator of the ranks, which Partita duplicates. Unset: the ranks that a launcher has started (``partita run --threads``,
        else MPI_COMM_WORLD under mpirun and other MPI launchers, else torchrun), or else this process alone.
    device : str, default 'any'
        'cpu', 'cuda', 'cuda:1', or 'any': a GPU if this process has one.
    **options
        deadline (seconds that a wait may take without progress, 300), threads (for BLAS and FFT), ranks_per_node, machine, log ('warn'),
        memory_limit (bytes), plan_cache_size, plan_cache_bytes, cross_memory ('automatic'); for devices device_heap, device_collectives,
        device_messages, copy_way, device_lanes. Environment variables, PARTITA_ and the name in capitals, override them.

    Raises
    ------
    ArgumentError
        An unknown option or value, or a communicator of another MPI than the library's.
    TimeoutError, LostPeerError
        Some ranks did not make the call.

    Notes
    -----
    In the main thread Ctrl-C ends a wait; the context has then failed, also on the other ranks.
    """
    address, size, implementation = _handle_of(comm)
    given = options_of(options)
    if comm is None:
        connect_ranks(given.deadline)
    before, _running.starts = _running.starts, True
    try:
        return _begun(_core.initialize(given, device, address, size, implementation))
    finally:
        _running.starts = before
        forget_handed()


class RankThreads(Generic[Result]):
    """Ranks that are threads of this process. The thread that makes them stays free for signals.

    Parameters
    ----------
    daemon : bool
        The process may end before them.
    """

    def __init__(
        self, ranks: int, function: Callable[[Context], Result], device: str, options: Dict[str, Any], daemon: bool = False
    ) -> None:
        self.interruption = _core.Interruption()
        self._ranks, self._function, self._device, self._options = ranks, function, device, options_of(options)
        self._results: List[Any] = [None] * ranks
        self._raised: List[BaseException] = []
        self._begun, self.ended = threading.Event(), threading.Event()
        self._running: Set[int] = set()
        # Nobody joins it by a wait that Ctrl-C may interrupt: up to Python 3.12 it would count as one that has ended, and the process
        # would end under its ranks.
        self._thread = threading.Thread(target=self._run, name="partita.run", daemon=daemon)

    def start(self) -> None:
        self._thread.start()

    def wait(self) -> None:
        """Until all have ended, also in a rank of another `run` that is interrupted: exceptions reach a thread when it runs Python."""
        while not self.ended.wait(0.1):
            pass

    def interrupt(self) -> None:
        """End the waits of all ranks at once, and their Python code at its next line; returns when they have ended."""
        self.interruption.wanted = True
        if self._begun.wait(1):  # Ctrl-C may come before there is a thread
            self.ended.wait(0.2)  # by it ranks end that wait for others; those that do not get it as the main thread does
            for one in tuple(self._running):
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(one), ctypes.py_object(KeyboardInterrupt))
            self.wait()

    def results(self) -> List[Result]:
        """By rank, of threads that have ended. Raises what a rank has raised, rather than what follows from that on other ranks."""
        self._thread.join()
        if self._raised:  # a rank that has lost another one may be faster than that one's own error
            raise next((one for one in self._raised if not isinstance(one, (LostPeerError, FailedContextError))), self._raised[0])
        return self._results

    def _run(self) -> None:
        self._begun.set()
        try:
            _core.run_threads(self._ranks, self._body, self._options, self._device, self.interruption)
        except BaseException as error:
            if not self._raised:  # of the start; what a rank has raised is in the list, and this is its text
                self._raised.append(error)
        finally:
            self.ended.set()

    def _body(self, core: _core.Context) -> str:
        _running.ranks = self._ranks
        self._running.add(threading.get_ident())
        try:
            if self.interruption.wanted:
                raise KeyboardInterrupt
            context = _begun(core)
            self._results[context.rank] = self._function(context)
            context.close()
        except BaseException as error:  # also KeyboardInterrupt and SystemExit: they are raised again by `results`
            self._raised.append(error)
            return one_line(error)
        finally:
            self._running.discard(threading.get_ident())
        return ""


def run(ranks: int, function: Callable[[Context], Result], *, device: str = "any", **options: Any) -> List[Result]:
    """Call ``function(context)`` on several ranks that are threads of this process. Blocking.

    Parameters
    ----------
    ranks : int
        The number of ranks.
    function : callable
        Called by each rank. Its context is closed when it has returned.
    device : str, default 'any'
        As for `initialize`.
    **options
        As for `initialize`.

    Returns
    -------
    list
        The results by rank.

    Raises
    ------
    BaseException
        The first exception of a rank, except LostPeerErrors that follow from it; the other ranks stop waiting for it.

    Notes
    -----
    Ctrl-C ends the waits of all ranks at once and their Python code at its next line; a call that computes finishes first.
    """
    if not callable(function):
        raise builtins.TypeError(f"run: expected a function of the context, got {type(function).__name__}")
    try:
        ranks = operator.index(ranks)
    except builtins.TypeError:
        raise builtins.TypeError(f"run: ranks: expected an integer, got {type(ranks).__name__}") from None
    threads = RankThreads(ranks, function, device, options)
    try:
        threads.start()
        threads.wait()
    except BaseException:
        threads.interrupt()
        raise
    return threads.results()
