"""The program of a rank: ``python -m partita.ranks``, started by `Ranks`, or by mpirun with ``--listen FILE``."""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import fcntl
import os
import queue
import secrets
import socket
import sys
import threading
import types
from multiprocessing.connection import Connection
from typing import Any, List, Optional

import numpy as np

import partita as pt

from ._connections import SECRET_VARIABLE, accepted, connected, opened_door, send_descriptors, write_address
from ._worker import Message, SignalGuard, Worker, fresh_namespace, raised_parts


def main(arguments: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m partita.ranks",
        description="A rank for a notebook, which connects to it by partita.Ranks(connect=FILE). Start one on each rank of one machine: "
        "mpirun -n 4 python -m partita.ranks --listen FILE. They end with the notebook.",
    )
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--listen", metavar="FILE", help="wait for a notebook; rank 0 writes where, and a secret, into FILE (mode 0600)")
    mode.add_argument("--join", metavar="NAME", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.join is not None:
        connection: Optional[Connection] = connected(given.join, bytes.fromhex(os.environ.pop(SECRET_VARIABLE, "")))
    else:
        connection = _listen(given.listen)
    if connection is None:
        return 1
    return _Rank(connection).serve()


def _listen(path: str) -> Optional[Connection]:
    """Waits for the notebook. Collective."""
    with pt.initialize(device="cpu") as context:
        if context.topology.node_count > 1:
            raise pt.UnsupportedError("partita.ranks: the ranks of a notebook must be on one machine, that of the notebook")
        secret = np.frombuffer(secrets.token_bytes(44), np.uint8).copy()
        pt.broadcast(context, secret)
        name, rank, ranks = f"partita-ranks-{secret[32:].tobytes().hex()}", context.rank, context.size
        door = opened_door(f"{name}-{rank}", 4)
        context.barrier()  # all listen before the file says so
    key = secret[:32].tobytes()
    if rank == 0:
        write_address(path, name, key, ranks)
    try:
        while True:
            connection = accepted(door, key, None)
            if connection is not None:
                return connection
    finally:
        door.close()
        if rank == 0:
            with contextlib.suppress(OSError):
                os.unlink(path)


class _Rank:
    """This process as a rank of the notebook at the other end of the connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._tasks: queue.SimpleQueue[Optional[Message]] = queue.SimpleQueue()
        self._guard = SignalGuard()
        self._number = 0  # of the task that is being performed; 0: none
        module = types.ModuleType("__main__")
        module.__dict__.update(fresh_namespace())
        sys.modules["__main__"] = module
        self._worker = Worker(connection.send, self._guard, module.__dict__)
        os.register_at_fork(after_in_child=connection.close)  # or the notebook took a child for this rank

    def serve(self) -> int:
        _, device, options, path = self._connection.recv()
        sys.path.extend(one for one in path if one not in sys.path)
        self._device, self._options = device, options
        _give_output(self._connection)
        try:
            context = pt.initialize(device=device, **options)
        except BaseException as error:
            self._connection.send(("refused", raised_parts(error)))
            return 1
        self._worker.begin(context)
        del context
        self._connection.send(("hello", self._worker.context.rank, self._worker.context.size, os.getpid(), *versions()))
        threading.Thread(target=self._read, name="partita.ranks", daemon=True).start()
        while True:
            task = self._tasks.get()
            if task is None:
                break
            if task[0] == "fail":
                self._worker.fail(task[1])
            elif task[2] == "reopen":
                self._reopen(task)
            else:
                self._worker.perform(task)
            self._number = 0
        with contextlib.suppress(Exception):
            self._worker.context.close()
        return 0

    def _reopen(self, task: Message) -> None:
        self._worker.fail("the ranks have a new context")
        self._worker.perform((*task[:2], "reopen", self._initialize, task[4]))

    def _initialize(self) -> Any:
        return pt.initialize(device=self._device, **self._options)

    def _read(self) -> None:
        """In a separate thread: interrupts and the end reach a rank that computes."""
        try:
            while True:
                message = self._connection.recv()
                if message[0] == "interrupt":
                    if message[1] == self._number:
                        self._guard.interrupt()
                elif message[0] == "close":
                    if message[1] or self._number != 0:
                        os._exit(0)
                    self._tasks.put(None)
                else:
                    if message[0] == "task":
                        self._number = message[1]
                    self._tasks.put(message)
        except BaseException:  # the notebook has ended
            os._exit(1)


def versions() -> Any:
    """What a notebook and its ranks must have in common."""
    return sys.implementation.cache_tag, pt.__version__


def _give_output(connection: Connection) -> None:
    """From here on the notebook reads what this process prints, and this process ends with it."""
    ends = []
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        with contextlib.suppress(AttributeError, OSError):  # there is none, or nobody reads it
            getattr(sys, name).flush()
        reading, writing = os.pipe()
        os.dup2(writing, descriptor)
        os.close(writing)
        ends.append(reading)
        stream = open(descriptor, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    ends.append(_lifeline())
    send_descriptors(connection, ends)
    for one in ends:
        os.close(one)
    faulthandler.enable()


def _lifeline() -> int:
    """One end of a connection. When the other processes that have it have ended, the kernel ends this one by SIGIO, also in code that holds
    the interpreter lock."""
    mine, theirs = socket.socketpair()
    descriptor = mine.detach()  # never closed
    fcntl.fcntl(descriptor, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(descriptor, fcntl.F_SETFL, fcntl.fcntl(descriptor, fcntl.F_GETFL) | os.O_ASYNC)
    return theirs.detach()


if __name__ == "__main__":
    sys.exit(main())
