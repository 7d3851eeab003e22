"""`Ranks`: what a notebook does with its ranks."""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import threading
import time
import weakref
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple, Union

from .._context import one_line, options_of
from .._errors import ArgumentError, Error, FailedContextError, LostPeerError, RanksError, TypeError
from .._registry import Counter, Registry
from ._messages import Kept, Key, packed, unpacked_result
from ._output import Output, Printer, checked_output, ranks_in_words
from ._team import Team
from ._worker import compiled

_open: Registry[int, Ranks] = Registry(weak=True)
_numbers = Counter()


class Handle:
    """A distributed array, or another value of a context, that stays on the ranks of a `Ranks`.

    Calls return handles in place of such values, and accept them as arguments: each rank gets its own value. The ranks keep the
    value as long as the handle exists. Made by `Ranks`; a value.
    """

    __slots__ = ("__weakref__", "_key", "_owner", "_ranks", "_team", "_text", "dtype", "layout", "shape")

    shape: Optional[Tuple[int, ...]]
    """Global shape; None if the value is not an array."""
    dtype: Any
    """Dtype; None if the value is not an array."""
    layout: Any
    """Layout over the ranks; None if the value is not an array."""

    def __init__(self, owner: Ranks, team: Team, kept: Kept) -> None:
        self._key, self._text, self.shape, self.dtype, self.layout = kept
        self._owner, self._team = owner, team
        self._ranks = 0
        weakref.finalize(self, owner._dropped.append, (team, kept.key)).atexit = False

    def gather(self) -> Any:
        """The whole array, in the notebook. Blocking."""
        if self.shape is None:
            raise TypeError(f"gather: this handle is not of an array: {self._text}")
        return self._owner(_gathered, self)[0]

    def _repr_svg_(self) -> Optional[str]:
        return None if self.layout is None else self.layout._repr_svg_()

    def __reduce__(self) -> Any:
        raise TypeError("a handle cannot be pickled or copied: it belongs to its ranks")

    def __repr__(self) -> str:
        return f"<on the ranks: {self._text}>"


def _gathered(context: Any, array: Any) -> Any:
    whole = array.gather(root=0)
    return whole if context.rank == 0 else None


class _Call:
    """A task that has been sent to all ranks, and their answers."""

    def __init__(self, number: int, kind: str, size: int) -> None:
        self.number = number
        self.is_interruptible = kind not in ("check", "reopen")
        self.waiting = set(range(size))
        self.values: Dict[int, Optional[bytes]] = {}
        self.raised: Dict[int, Tuple[Any, ...]] = {}
        self.failed = False  # the context of some rank

    def answer(self, rank: int, message: Tuple[Any, ...]) -> None:
        kind, _, content, failed = message
        self.failed = self.failed or bool(failed)
        if kind == "done":
            self.values[rank] = content
        else:
            self.raised[rank] = content
        self.waiting.discard(rank)  # at last: this may be interrupted


class Ranks:
    """Ranks for a notebook or script, whose variables and arrays live from one call to the next.

        ranks = pt.Ranks(4)
        a = ranks(lambda ctx: pt.random(ctx, (1000, 1000), "slab:0"))[0]     # a handle; the array stays on the ranks
        ranks(lambda ctx, a: float(a.sum()), a)                             # [s, s, s, s]
        ranks.run("b = a @ a.T") ; ranks["b"]                               # after ranks["a"] = a

    A rank has a context, the variable `ctx`, and its own variables; `pt` is this package. In IPython and Jupyter, after
    ``%load_ext partita``, the cell magic ``%%partita`` runs a cell on the ranks (see `run`).

    Parameters
    ----------
    size : int, optional
        The number of ranks; unset: one per core that this process may use, at most 4. Not with `connect`.
    kind : {'processes', 'threads'}
        Processes on this machine, or threads of this process. Python code of threads shares one interpreter lock.
    launcher : str, optional
        For processes: 'mpi' starts them by the MPI launcher that ``partita run`` finds, a path by that launcher; unset: by
        ``partita run --threads``, without MPI.
    connect : path, optional
        The file of ``mpirun -n 4 python -m partita.ranks --listen FILE`` on this machine: these processes are the ranks. The connection is a
        local socket and requires the secret in the file, which only you may be able to read.
    device : str, default 'any'
        As for `initialize`.
    output : {'lines', 'merged'} or int or sequence of int
        What is shown of the output of the ranks: all lines as they arrive, labelled with the rank ('lines'); equal lines of several ranks
        once ('merged'; a line waits at most half a second for the others); or that of these ranks. May be changed: ``ranks.output``.
    **options
        As for `initialize`.

    Raises
    ------
    ArgumentError, LostPeerError, Error
        A wrong argument; ranks that could not be started, with what they printed.

    Notes
    -----
    Arguments and results are copied (pickled), for threads too. Functions of the notebook are sent with their code and the global variables that
    they use; other names are looked up among the variables of the rank. Classes of the notebook need the package cloudpickle,
    or are defined in a cell of the ranks.

    If all ranks raise the same exception, the call raises it; otherwise a `RanksError`. If the context has failed, the ranks get a new one at
    the next call, and arrays of the old one raise FailedContextError. Ctrl-C interrupts the code of all ranks, and the call raises
    KeyboardInterrupt; ranks that have not left their code within 5 s, or at the next Ctrl-C, are replaced by new ones without variables.

    If a rank ends, the call raises a `RanksError` that says how, and the other ranks end too; `restart` starts new ones.
    All ranks end with `close`, with the ``with`` block, when the object is garbage-collected, and with this process, however it ends. One
    thread at a time may use the object. Processes that were forked from this one cannot use it.
    """

    _grace = 1.0  # seconds that other ranks have to answer after one has raised
    _patience = 5.0  # seconds until interrupted ranks are replaced
    _merging = 0.5  # seconds that merged lines wait

    def __init__(
        self,
        size: Optional[int] = None,
        *,
        kind: str = "processes",
        launcher: Optional[str] = None,
        connect: Union[None, str, os.PathLike[str]] = None,
        device: str = "any",
        output: Output = "lines",
        **options: Any,
    ) -> None:
        self._start = _starting(size, kind, launcher, connect, (device, options))
        self._user: Dict[str, int] = {}  # the thread that is in a call
        self._process = os.getpid()
        self._order = _numbers.next()
        self._dropped: List[Tuple[Team, Key]] = []
        self._number = self._cells = 0
        self._is_connected = connect is not None
        self._is_closed = False
        self._begin()
        try:
            self.output = output
        except ArgumentError:
            self.close()
            raise

    def _begin(self) -> None:
        self._team: Team = self._start()
        self._ending = weakref.finalize(self, self._team.end)
        self._doubt = ""  # 'failed': the ranks need a new context; 'unsure': whether they do is to be found out
        self._failure = ""  # why an earlier context has failed
        self._lost = ""  # why the ranks have ended
        _open.put(self._order, self)

    @property
    def size(self) -> int:
        """The number of ranks."""
        return self._team.size

    @property
    def output(self) -> Output:
        """What is shown of the output of the ranks: 'lines', 'merged', a rank or several. May be assigned."""
        return self._output

    @output.setter
    def output(self, output: Output) -> None:
        self._output = checked_output(output, self.size)

    def __call__(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> List[Any]:
        """Call ``function(ctx, *args, **kwargs)`` on all ranks. Blocking.

        Parameters
        ----------
        function : callable
            A function of the context. Sent by name if a module exports it, otherwise with its code.
        *args, **kwargs
            Further arguments, copied to all ranks; handles become the values of each rank.

        Returns
        -------
        list
            The results by rank. Distributed arrays, contexts and planned operations stay on the ranks, and are handles in the results: the same
            handle for all ranks, counted in the order in which they occur in a result.
        """
        if not callable(function):
            raise TypeError(f"Ranks: expected a function of the context, got {type(function).__name__}")
        with self._entered():
            return self._results(self._perform("function", self._packed((function, args, kwargs))))

    def run(self, source: str) -> Any:
        """Run Python code on all ranks, as a cell of a notebook. Blocking.

        Parameters
        ----------
        source : str
            The code. It sees and changes the variables of the rank, among them `ctx` and `pt`.

        Returns
        -------
        object
            The value of the last expression on rank 0; None if there is none, or a semicolon follows it. What cannot be pickled is an
            object that shows what it would have shown.
        """
        name = f"<cell {self._cells + 1} of the ranks>"
        compiled(source, name)  # a SyntaxError is raised here
        with self._entered():
            self._cells += 1
            call = self._perform("cell", self._packed((source, name)))
            return self._results(call)[0]

    def __getitem__(self, name: str) -> Any:
        """The variable of the ranks with this name: a handle of a distributed array, otherwise a list of the values by rank. Blocking.

        KeyError if it is missing on all ranks.
        """
        with self._entered():
            values = self._results(self._perform("get", self._packed(name)))
        return values[0] if isinstance(values[0], Handle) and all(one is values[0] for one in values) else values

    def __setitem__(self, name: str, value: Any) -> None:
        """Assign a copy of the value to the variable on all ranks; of a handle, each rank's own value. Blocking."""
        with self._entered():
            self._results(self._perform("set", self._packed({name: value})))

    def __delitem__(self, name: str) -> None:
        """Delete the variable on all ranks. Blocking."""
        with self._entered():
            self._results(self._perform("delete", self._packed(name)))

    def restart(self) -> None:
        """End all ranks and start new ones, without variables. Blocking. Not for ranks that mpirun has started."""
        with self._entered(lost_too=True):
            self._restart()

    def close(self) -> None:
        """End all ranks: idle ones close their contexts, others are killed after 10 s. Local, blocking."""
        if os.getpid() == self._process:
            self._is_closed = True
            _open.take(self._order)
            self._ending()

    def __enter__(self) -> Ranks:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        state = "closed" if self._is_closed else "ended" if self._lost else "open"
        return f"<partita.Ranks: {self.size} ranks, {state}>"

    # --- calls

    @contextlib.contextmanager
    def _entered(self, lost_too: bool = False) -> Iterator[None]:
        if os.getpid() != self._process:
            raise Error(f"Ranks: these ranks belong to process {self._process}, of which this one is a fork; make others here")
        me = threading.get_ident()
        if self._user.setdefault("thread", me) != me:
            raise ArgumentError("Ranks: another thread is in a call of these ranks, which only one thread at a time may use")
        try:
            if self._is_closed:
                raise RanksError("Ranks: these ranks are closed; make others by partita.Ranks")
            if self._lost and not lost_too:
                raise RanksError(f"Ranks: {self._lost}")
            yield
        finally:
            self._user.pop("thread", None)

    def _packed(self, value: Any) -> bytes:
        return packed(value, self._key_of)

    def _key_of(self, one: Any) -> Optional[Key]:
        if isinstance(one, Ranks):
            raise TypeError("Ranks: the ranks themselves cannot be sent to a rank; a function uses them, or they are an argument")
        if not isinstance(one, Handle):
            return None
        if one._owner is not self:
            raise ArgumentError(f"Ranks: {one!r} belongs to other ranks")
        if one._team is not self._team:
            raise ArgumentError(f"Ranks: {one!r} was lost when the ranks were restarted")
        return one._key

    def _perform(self, kind: str, payload: bytes) -> _Call:
        """The answers of all ranks, in a context that works."""
        if self._doubt == "unsure":
            self._exchange("check", b"")
        if self._doubt:
            call = self._exchange("reopen", b"")
            if call.raised:
                self._lose(f"the ranks could not get a new context ({call.raised[min(call.raised)][1]})")
        return self._exchange(kind, payload)

    def _exchange(self, kind: str, payload: bytes) -> _Call:
        self._number += 1
        call = _Call(self._number, kind, self.size)
        printer = Printer(self.size, self._output, self._merging)
        self._doubt = self._doubt or "unsure"
        try:
            with self._team.routing():
                self._team.post(call.number, ("task", call.number, kind, payload, self._forgotten()))
                self._collect(call, printer)
            self._doubt = "failed" if call.failed or (call.raised and kind == "check") else "unsure" if call.raised else ""
        except RanksError:
            raise
        except BaseException as error:
            text = self._leave(call, printer)
            if isinstance(error, KeyboardInterrupt) and text:
                raise KeyboardInterrupt(text) from None
            raise
        finally:
            printer.finish()
        return call

    def _forgotten(self) -> List[Key]:
        keys = []
        while self._dropped:
            team, key = self._dropped.pop()
            if team is self._team:
                keys.append(key)
        return keys

    def _collect(self, call: _Call, printer: Printer, end: Optional[float] = None) -> None:
        """Take in what the ranks send until all have answered, or until the time `end`."""
        team, raised_at = self._team, 0.0
        while call.waiting and (end is None or time.monotonic() < end):
            if call.raised:
                raised_at = raised_at or time.monotonic()
                if not call.failed and time.monotonic() > raised_at + self._grace:
                    self._stop(call)
            self._show(printer, 0.05)
            for rank in sorted(call.waiting):
                message = team.answers.get(call.number, {}).get(rank)
                if message is not None:
                    call.answer(rank, message)
                elif rank not in team.alive:
                    self._lose(None, rank)
            if team.unsent == call.number:
                call.waiting.clear()
        team.answers.pop(call.number, None)
        for _ in range(team.events.qsize()):
            self._show(printer, 0)

    def _show(self, printer: Printer, patience: float) -> None:
        """Print what has arrived; waits so long for the next event."""
        try:
            kind, *event = self._team.events.get(patience > 0, patience)
        except queue.Empty:
            return printer.look()
        if kind == "output":
            printer.add(*event)
        elif event:
            printer.end(event[0])

    def _stop(self, call: _Call) -> None:
        """Ranks that wait for one that has raised get its text, as in `partita.run`."""
        call.failed = True
        for rank, parts in call.raised.items():
            self._team.post_to([rank], ("fail", parts[1]))

    def _leave(self, call: _Call, printer: Printer) -> str:
        """After an interrupt: until the ranks have left the call, or others have replaced them. Returns what has become of them."""
        with contextlib.suppress(KeyboardInterrupt):  # a second one: wait no longer
            self._team.interrupt(call.number, sorted(call.waiting) if call.is_interruptible else ())
            self._collect(call, printer, time.monotonic() + self._patience)
        if call.waiting:
            stuck = _named(call.waiting)
            lost = self._team.lost_variables
            if self._is_connected:
                self._lose(f"after an interrupt {stuck} did not leave its call, and the ranks were ended")
            self._restart()
            return f"{stuck} did not leave its call, and the ranks were restarted: {lost}"
        self._doubt = "failed" if call.failed or self._doubt == "failed" else "unsure"
        self._failure = " (it was interrupted)"
        return "the context of the ranks has failed: its arrays are lost, and the next call has a new one" if call.failed else ""

    def _lose(self, text: Optional[str], rank: int = 0) -> None:
        """The ranks have ended, or are ended now."""
        self._lost = "the ranks have ended; restart() starts new ones"
        self._team.end(2, at_once=True)
        text = text or self._team.why_lost(rank)
        again = "start mpirun again" if self._is_connected else "restart() starts new ones"
        self._lost = f"{text}; {self._team.lost_variables}; {again}"
        raise RanksError(f"Ranks: {self._lost}")

    def _restart(self) -> None:
        if self._is_connected:
            raise ArgumentError("restart: these ranks were started by mpirun; start them again, and connect by a new Ranks")
        self._lost = "the ranks have ended; restart() starts new ones"
        self._team.end(2, at_once=bool(self._doubt))
        self._ending.detach()
        self._begin()

    def _results(self, call: _Call) -> List[Any]:
        if call.raised:
            raise self._error_of(call)
        handles: Dict[Key, Handle] = {}
        return [self._unpacked(call.values[rank], handles) for rank in range(self.size)]

    def _unpacked(self, data: Optional[bytes], handles: Dict[Key, Handle]) -> Any:
        def handle_for(kept: Kept) -> Handle:
            found = handles.get(kept.key)
            if found is None:
                found = handles[kept.key] = Handle(self, self._team, kept)
            elif found._text != kept.text:
                raise ArgumentError(f"Ranks: ranks return different values in the same place: {found._text} and {kept.text}")
            return found

        return None if data is None else unpacked_result(data, handle_for)

    def _error_of(self, call: _Call) -> BaseException:
        """What the call raises: the exception that all ranks have raised, or a RanksError."""
        errors = {rank: self._loaded(parts) for rank, parts in sorted(call.raised.items())}
        causes = {rank: one for rank, one in errors.items() if not isinstance(one, (LostPeerError, FailedContextError))} or errors
        first = min(causes)
        if call.raised and all(isinstance(one, FailedContextError) for one in errors.values()) and len(errors) == self.size:
            causes = {rank: FailedContextError(f"an earlier context of the ranks has failed{self._failure}; make its arrays again") for rank in errors}
        texts = {rank: one_line(one) for rank, one in causes.items()}
        traceback = _RankTraceback(f"\n\nrank {first}:\n{call.raised[first][3]}")
        if len(causes) == self.size and len(set(texts.values())) == 1 and isinstance(causes[first], Exception):
            causes[first].__cause__ = traceback
            return causes[first]
        groups: Dict[str, List[int]] = {}
        for rank, text in texts.items():
            groups.setdefault(text, []).append(rank)
        said = "; ".join(f"{_named(ranks)} raised {text}" for text, ranks in groups.items())
        end = "; the context has failed: its arrays are lost, and the next call has a new one" if call.failed else ""
        if call.failed:
            self._failure = f" ({said})"
        error = RanksError(f"{said}{end}", errors, {rank: parts[3] for rank, parts in sorted(call.raised.items())})
        error.__cause__ = traceback
        return error

    def _loaded(self, parts: Tuple[Any, ...]) -> BaseException:
        form, line, _, _ = parts
        if form is not None:
            with contextlib.suppress(Exception):  # of a class that the notebook does not have
                found = pickle.loads(form)
                if isinstance(found, BaseException):
                    return found
        return Error(line)


def _named(ranks: Iterable[int]) -> str:
    words = ranks_in_words(sorted(ranks))
    return f"rank {words}" if words.isdigit() else f"ranks {words}"


class _RankTraceback(Exception):
    """The traceback of a rank, shown as the cause of what the call raises."""


def _starting(size: Optional[int], kind: str, launcher: Optional[str], connect: Any, opening: Any) -> Callable[[], Team]:
    """Checks the arguments, and returns what starts the ranks."""
    if kind not in ("processes", "threads"):
        raise ArgumentError(f"Ranks: kind: expected 'processes' or 'threads', got {kind!r}")
    if (connect is not None or kind == "threads") and launcher is not None:
        raise ArgumentError("Ranks: a launcher is for processes that are started here")
    if connect is not None:
        if kind == "threads" or size is not None:
            raise ArgumentError("Ranks: connect: the number and kind of the ranks are those of mpirun")
        from ._processes import connected_to

        return lambda: connected_to(os.fspath(connect), opening)
    if size is None:
        size = min(4, len(os.sched_getaffinity(0)))
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise ArgumentError(f"Ranks: expected a number of ranks, got {size!r}")
    ranks = size
    options_of(opening[1])  # an unknown option is an error here
    if kind == "threads":
        from ._threads import ThreadTeam

        return lambda: ThreadTeam(ranks, opening)
    from ._processes import started

    return lambda: started(ranks, opening, launcher)


def newest() -> Optional[Ranks]:
    """The ranks that were made last, of those that are not closed."""
    return max((one for _, one in _open.items()), key=lambda one: one._order, default=None)


__all__ = ["Handle", "Ranks", "newest"]
