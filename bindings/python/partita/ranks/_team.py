"""The rank processes or threads of a `Ranks`, as its notebook sees them: tasks go to them, events come from them."""

from __future__ import annotations

import codecs
import contextlib
import os
import pickle
import queue
import selectors
import threading
from functools import partial
from typing import Any, Callable, Dict, Optional, Sequence, Tuple

from .._registry import Counter, Registry
from ._worker import Message

#: ("output", rank, stream, text), or ("news",): look at `answers`, `alive` and `unsent`; ("news", rank) if that rank has answered.
Event = Tuple[Any, ...]
_all: Registry[int, Team] = Registry(weak=True)
_numbers = Counter()


class Team:
    """Ranks with a connection to each.

    One thread sends, and another one receives and takes note of answers: an exception in the thread that waits for the ranks, such as
    KeyboardInterrupt, leaves no half message and loses no answer. Derived classes start the ranks and end them.
    """

    #: Whether a call that does not react is left by ending the ranks.
    lost_variables = "the variables of all ranks are lost"

    def __init__(self, connections: Sequence[Any], outputs: Sequence[Sequence[int]] = ()) -> None:
        """`connections`, and by rank the descriptors of stdout and stderr, and one that is kept open as long as the rank may live."""
        self.size = len(connections)
        self.events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self.answers: Dict[int, Dict[int, Message]] = {}  # by task and rank
        self.unsent = 0  # the last task that was interrupted before it was sent
        self.gone = threading.Event()
        self.alive = set(range(self.size))
        self._process = os.getpid()
        self._ended = False
        self._connections = list(connections)
        self._outputs = {descriptor: (rank, name) for rank, three in enumerate(outputs) for name, descriptor in zip(("stdout", "stderr"), three)}
        self._lifelines = [three[2] for three in outputs]
        self._decoders = {one: codecs.getincrementaldecoder("utf-8")("replace") for one in self._outputs}
        self._sent = 0
        self._outbox: queue.SimpleQueue[Optional[Callable[[], None]]] = queue.SimpleQueue()
        _all.put(_numbers.next(), self)
        self._threads = [threading.Thread(target=body, name="partita.ranks", daemon=True) for body in (self._send, self._receive)]
        for thread in self._threads:
            thread.start()

    def post(self, number: int, message: Message) -> None:
        """A task for all ranks."""
        self._outbox.put(partial(self._post, number, message))

    def post_to(self, ranks: Sequence[int], message: Message) -> None:
        """A message that has no answer."""
        self._outbox.put(partial(self._deliver, tuple(ranks), message))

    def interrupt(self, number: int, ranks: Sequence[int]) -> None:
        """Interrupt the task on these ranks, which may be none. It counts as unsent if `post` was interrupted itself."""
        self._outbox.put(partial(self._interrupt_sent, number, tuple(ranks)))

    def end(self, patience: float = 10.0, at_once: bool = False) -> None:
        """End all ranks. Idle ones close their context, unless `at_once`; those that have not ended within `patience` seconds are killed."""
        if self._ended or os.getpid() != self._process:
            return
        if threading.current_thread() in self._threads:  # of the collector
            threading.Thread(target=self.end, name="partita.ranks").start()
            return
        self._ended = True
        self._outbox.put(partial(self._deliver, tuple(range(self.size)), ("close", at_once)))
        self.gone.wait(patience)
        self._outbox.put(None)
        self.kill()

    def kill(self) -> None:
        """End what has not ended."""

    def routing(self) -> contextlib.AbstractContextManager[None]:
        """For a call: what the ranks print becomes events."""
        return contextlib.nullcontext()

    def why_lost(self, rank: int) -> str:
        """After `end`: how the rank has ended."""
        return f"rank {rank} has ended"

    def release(self) -> None:
        """The ranks have ended."""
        while self._lifelines:
            os.close(self._lifelines.pop())

    # --- in the thread that sends

    def _send(self) -> None:
        while True:
            task = self._outbox.get()
            if task is None:
                return
            task()

    def _post(self, number: int, message: Message) -> None:
        self._sent = number
        self._deliver(tuple(range(self.size)), message)

    def _deliver(self, ranks: Sequence[int], message: Message) -> None:
        data = pickle.dumps(message)
        for rank in ranks:
            with contextlib.suppress(OSError):  # it has ended, which the other thread notices
                self._connections[rank].send_bytes(data)

    def _interrupt_sent(self, number: int, ranks: Sequence[int]) -> None:
        if self._sent != number:
            self._sent = self.unsent = number
            self.events.put(("news",))
        elif ranks:
            self._interrupt(number, ranks)

    def _interrupt(self, number: int, ranks: Sequence[int]) -> None:
        self._deliver(ranks, ("interrupt", number))

    # --- in the thread that receives

    def _receive(self) -> None:
        with selectors.DefaultSelector() as selector:
            for rank, connection in enumerate(self._connections):
                selector.register(connection, selectors.EVENT_READ, rank)
            for descriptor in self._outputs:
                selector.register(descriptor, selectors.EVENT_READ)
            while self.alive:
                for key, _ in selector.select():
                    if key.data is None:
                        if key.fd in self._outputs:  # it may have been closed with its rank
                            self._read_output(key.fd, selector)
                    elif key.data in self.alive:
                        self._read_message(key.data, selector)
        for descriptor in list(self._outputs):
            self._close_output(descriptor)
        self.gone.set()

    def _read_message(self, rank: int, selector: selectors.BaseSelector) -> None:
        try:
            message = self._connections[rank].recv()
        except (EOFError, OSError):
            message = None
        for descriptor, (whose, _) in list(self._outputs.items()):
            while whose == rank and descriptor in self._outputs and _is_readable(descriptor):
                self._read_output(descriptor, selector)
        if message is not None:
            self.answers.setdefault(message[1], {})[rank] = message
            self.events.put(("news", rank))
            return
        selector.unregister(self._connections[rank])
        self._connections[rank].close()
        self.alive.discard(rank)
        self.events.put(("news",))

    def _read_output(self, descriptor: int, selector: selectors.BaseSelector) -> None:
        data = os.read(descriptor, 1 << 16)
        text = self._decoders[descriptor].decode(data, not data)
        if text:
            self.events.put(("output", *self._outputs[descriptor], text))
        if not data:
            selector.unregister(descriptor)
            self._close_output(descriptor)

    def _close_output(self, descriptor: int) -> None:
        del self._outputs[descriptor]
        os.close(descriptor)

    def _forget(self) -> None:
        """In a forked child: its copies of the connections would keep the ranks alive."""
        for connection in self._connections:
            with contextlib.suppress(OSError):
                connection.close()
        for descriptor in (*self._outputs, *self._lifelines):
            with contextlib.suppress(OSError):
                os.close(descriptor)


def _is_readable(descriptor: int) -> bool:
    with selectors.SelectSelector() if descriptor < 1024 else selectors.PollSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        return bool(selector.select(0))


def _forget_all() -> None:
    for _, one in _all.items():
        one._forget()


os.register_at_fork(after_in_child=_forget_all)

__all__ = ["Event", "Team"]
