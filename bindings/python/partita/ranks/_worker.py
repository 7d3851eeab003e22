"""A rank: it does what the notebook sends, one task after the other, and keeps its variables and context meanwhile."""

from __future__ import annotations

import ast
import contextlib
import ctypes
import io
import pickle
import signal
import sys
import threading
import time
import tokenize
import traceback
import types
from pathlib import Path
from typing import Any, Callable, Dict, Optional, Tuple

from .._calls import is_begun, text_of
from .._context import Context, one_line
from ._functions import remember_source
from ._messages import Key, Shown, packed_result, unpacked

Message = Tuple[Any, ...]
_here = str(Path(__file__).parent)


class SignalGuard:
    """Lets Ctrl-C into the program's code alone, once in a task. For the main thread of a process."""

    def __init__(self) -> None:
        self._open = False
        self._thread = threading.get_ident()

    def __enter__(self) -> None:
        signal.signal(signal.SIGINT, self._raise)
        self._open = True

    def __exit__(self, *error: Any) -> None:
        self._open = False

    def interrupt(self) -> None:
        """From another thread."""
        if self._open:
            signal.pthread_kill(self._thread, signal.SIGINT)

    def _raise(self, number: int, frame: Any) -> None:
        if self._open:
            self._open = False
            raise KeyboardInterrupt


class ThreadGuard:
    """The same for any thread of a process, whose interrupts are not signals."""

    def __init__(self) -> None:
        self._inside: Dict[str, int] = {}
        self._sent = threading.Event()

    def __enter__(self) -> None:
        self._sent.clear()
        self._inside["thread"] = threading.get_ident()

    def __exit__(self, *error: Any) -> None:
        if self._inside.pop("thread", None) is not None:
            return
        while not self._sent.is_set():  # an interrupt is on its way: it arrives here, or has arrived
            time.sleep(0.001)
        _raise_in(threading.get_ident(), None)

    def interrupt(self) -> None:
        """From another thread."""
        thread = self._inside.pop("thread", None)
        if thread is not None:
            _raise_in(thread, KeyboardInterrupt)
            self._sent.set()


def _raise_in(thread: int, kind: Optional[type]) -> None:
    """Raises an exception in that thread when it runs Python next; None takes it back."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), None if kind is None else ctypes.py_object(kind))


class Worker:
    """The state of one rank, and its tasks.

    Parameters
    ----------
    send
        Sends a message to the notebook.
    guard
        Admits interrupts.
    namespace
        The variables of the rank.
    """

    def __init__(self, send: Callable[[Message], None], guard: Any, namespace: Dict[str, Any]) -> None:
        self._send = send
        self.guard = guard
        self.namespace = namespace
        self.context: Any = None
        self._kept: Dict[Key, Any] = {}

    def begin(self, context: Context) -> None:
        """The context of the tasks from here on."""
        self.context = self.namespace["ctx"] = context

    def perform(self, task: Message) -> None:
        """Do it and send the answer: its result, or what it raised."""
        _, number, kind, payload, forgotten = task
        for key in forgotten:
            self._kept.pop(key, None)
        guard = self.guard if kind not in ("check", "reopen") else contextlib.nullcontext()  # all ranks have to make a context
        try:
            with guard:
                answer: Message = ("done", number, getattr(self, f"_{kind}")(number, payload))
        except BaseException as error:  # also KeyboardInterrupt and SystemExit: the notebook raises
            answer = ("raised", number, raised_parts(error))
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:  # the program has closed it
                pass
        self._send((*answer, self.context.failed or not is_begun(self.context)))

    def fail(self, why: str) -> None:
        """Ranks that wait for this one stop waiting."""
        if not self.context.failed:
            self.context.fail(why)

    # --- the kinds of tasks

    def _function(self, number: int, payload: bytes) -> bytes:
        function, given, named = self._read(payload)
        return packed_result(function(self.context, *given, **named), number, self._kept)

    def _cell(self, number: int, payload: bytes) -> Optional[bytes]:
        source, name = self._read(payload)
        remember_source(name, source.splitlines(keepends=True))
        statements, last = compiled(source, name)
        exec(statements, self.namespace)
        value = None if last is None else eval(last, self.namespace)
        if self.context.rank != 0:
            return None
        if type(value).__module__ != "__main__":
            with contextlib.suppress(TypeError):
                return packed_result(value, number, self._kept)
        return packed_result(Shown(value), number, self._kept)

    def _get(self, number: int, payload: bytes) -> bytes:
        name = self._read(payload)
        if name not in self.namespace:
            raise KeyError(name)
        return packed_result(self.namespace[name], number, self._kept)

    def _set(self, number: int, payload: bytes) -> None:
        self.namespace.update(self._read(payload))

    def _delete(self, number: int, payload: bytes) -> None:
        del self.namespace[self._read(payload)]

    def _check(self, number: int, payload: bytes) -> None:
        """Whether the ranks are still at the same place of the same program."""
        self.context.barrier()

    def _reopen(self, number: int, initialize: Callable[[], Context]) -> None:
        self.begin(initialize())

    def _read(self, payload: bytes) -> Any:
        return unpacked(payload, self._kept, self.namespace, self.context.rank)


def compiled(source: str, name: str) -> Tuple[types.CodeType, Optional[types.CodeType]]:
    """The statements of a cell, and its last expression; None where there is none, or a semicolon follows it, as in IPython."""
    tree = ast.parse(source, name)
    last: Optional[types.CodeType] = None
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not _is_quiet(source):
        expression = tree.body.pop()
        assert isinstance(expression, ast.Expr)
        last = compile(ast.Expression(expression.value), name, "eval")
    return compile(tree, name, "exec"), last


def _is_quiet(source: str) -> bool:
    without = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER, tokenize.INDENT, tokenize.DEDENT)
    words = [one.string for one in tokenize.generate_tokens(io.StringIO(source).readline) if one.type not in without]
    return words[-1:] == [";"]


def raised_parts(error: BaseException) -> Message:
    """An exception for another process: pickled, or None; its class and text in a line; its traceback without frames of this package."""
    trace = error.__traceback__
    while trace is not None and str(trace.tb_frame.f_code.co_filename).startswith(_here):
        trace = trace.tb_next
    lines = traceback.format_exception(type(error), error, trace)
    try:
        pickle.loads(data := pickle.dumps(error))
        form: Optional[bytes] = data
    except Exception:  # it has what cannot be pickled, or is not made by its arguments
        form = None
    return form, one_line(error), text_of(error), "".join(lines)


def fresh_namespace() -> Dict[str, Any]:
    """The variables of a new rank."""
    import partita

    return {"__name__": "__main__", "__doc__": None, "__builtins__": __builtins__, "pt": partita}


__all__ = ["Message", "SignalGuard", "ThreadGuard", "Worker", "compiled", "fresh_namespace", "raised_parts"]
