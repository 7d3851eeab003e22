"""Ranks that are threads of the notebook's process."""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
import time
from multiprocessing.connection import Connection, Pipe
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence

from .._context import Context, RankThreads
from .._registry import OfThreads, Registry
from ._processes import Opening
from ._team import Team
from ._worker import Message, ThreadGuard, Worker, fresh_namespace


class ThreadTeam(Team):
    """Rank threads. A new context has new ones, with the variables of those before."""

    lost_variables = "the variables of all ranks are lost, and the old threads run until their call returns"

    def __init__(self, size: int, opening: Opening) -> None:
        pairs = [Pipe() for _ in range(size)]
        self._links: List[Connection] = [link for _, link in pairs]
        self._workers = [Worker(link.send, ThreadGuard(), fresh_namespace()) for link in self._links]
        self._opening = opening
        self._reopening: List[Optional[Message]] = [None] * size
        self._running = self._started([None] * size)
        super().__init__([link for link, _ in pairs])
        threading.Thread(target=self._supervise, name="partita.ranks", daemon=True).start()
        try:
            while any(worker.context is None for worker in self._workers):
                if self._running.ended.wait(0.01):
                    self._running.results()
        except BaseException:
            self.end()
            raise

    def _started(self, tasks: List[Optional[Message]]) -> RankThreads[None]:
        device, options = self._opening
        threads = RankThreads(len(tasks), lambda context: self._serve(context, tasks[context.rank]), device, options, daemon=True)
        threads.start()
        return threads

    def _supervise(self) -> None:
        """Start new threads where a context is to be made again; once they have ended for good, so have the connections."""
        while True:
            self._running.wait()
            tasks, self._reopening = self._reopening, [None] * self.size
            if not all(tasks):
                break
            self._running = self._started(tasks)
        for link in self._links:
            link.close()

    def _serve(self, context: Context, task: Optional[Message]) -> None:
        """As one of the ranks."""
        rank = context.rank
        worker, link = self._workers[rank], self._links[rank]
        worker.begin(context)
        if task is not None:
            link.send(("done", task[1], None, False))
        with _printing_to(lambda stream, text: self.events.put(("output", rank, stream, text))):
            while True:
                try:
                    task = link.recv()
                except (EOFError, OSError):
                    return
                if task[0] == "close":
                    return
                if task[0] == "fail":
                    worker.fail(task[1])
                elif task[2] == "reopen":
                    self._reopening[rank] = task
                    worker.fail("the ranks have a new context")
                    return
                else:
                    worker.perform(task)

    def _post(self, number: int, message: Message) -> None:
        self._running.interruption.wanted = False
        super()._post(number, message)

    def _interrupt(self, number: int, ranks: Sequence[int]) -> None:
        self._running.interruption.wanted = True
        time.sleep(0.2)  # by it ranks leave the library's waits; those that do not are in Python
        for rank in ranks:
            self._workers[rank].guard.interrupt()

    def kill(self) -> None:
        self._running.interruption.wanted = True
        if not self._running.ended.is_set():
            _abandoned.put(id(self._running), self._running)

    def routing(self) -> contextlib.AbstractContextManager[None]:
        return _routed()


#: Threads that have not left their call.
_abandoned: Registry[int, RankThreads[None]] = Registry()


@atexit.register
def _wait_for_abandoned() -> None:
    """Python cannot end under threads that run it."""
    end = time.monotonic() + 5
    if not all(threads.ended.wait(max(0.0, end - time.monotonic())) for _, threads in _abandoned.items()):
        sys.stderr.write("partita: threads of interrupted ranks are still in their call; the process ends without them\n")
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(1)


# --- output: what rank threads print is theirs


_sinks: OfThreads[Callable[[str, str], None]] = OfThreads()


@contextlib.contextmanager
def _printing_to(sink: Callable[[str, str], None]) -> Iterator[None]:
    _sinks.put(threading.get_ident(), sink)
    try:
        yield
    finally:
        _sinks.take(threading.get_ident(), None)


class _Routed:
    """A stream of the process: what threads of ranks write to it is sent to their notebook with the number of the rank."""

    def __init__(self, stream: Any, name: str) -> None:
        self._stream, self._name = stream, name

    def write(self, text: str) -> int:
        sink = _sinks.get(threading.get_ident())
        if sink is None:
            return int(self._stream.write(text))
        sink(self._name, text)
        return len(text)

    def writelines(self, lines: Sequence[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def _routed() -> Iterator[None]:
    for name in ("stdout", "stderr"):
        setattr(sys, name, _Routed(getattr(sys, name), name))
    try:
        yield
    finally:
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name)
            if isinstance(stream, _Routed):
                setattr(sys, name, stream._stream)


__all__ = ["ThreadTeam"]
