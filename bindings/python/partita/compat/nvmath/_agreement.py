"""What ranks exchange about a call before it begins, so that an error of one rank is the same exception on all of them."""

from __future__ import annotations

import builtins
import pickle
import re
from typing import Any, Callable, List, Optional, Tuple, Type, TypeVar

import numpy as np

from ... import _core
from ..._calls import entered, in_words, is_told, mark_as_told
from ..._collectives import all_gather
from ..._context import Context
from ..._errors import Error, FailedContextError, LostPeerError, TimeoutError, TypeError
from ..._registry import Registry

T = TypeVar("T")
Kind = TypeVar("Kind", bound=Exception)
Function = TypeVar("Function", bound=Callable[..., Any])

#: Classes of exceptions that are not of the package's family, by name.
_raised: Registry[str, Type[Exception]] = Registry()


def raised_on_all(kind: Type[Kind]) -> Type[Kind]:
    """An exception class of nvmath: what `collective` functions raise of it on one rank, they raise of it on all ranks."""
    _raised.put(kind.__name__, kind)
    return kind


def collective(function: Function) -> Function:
    """`function`, which raises the same exception on every rank of the runtime: of the same class and with the same text.

    An exception that one rank raises before it takes part in the call is sent to the ranks that wait for it. The class is kept where
    it is one of the package's family, of `raised_on_all` or of Python's; others become an Error. Outside of a runtime exceptions are
    this rank's own.
    """
    called = entered(function, _raise_on_all)
    called.is_collective = True  # type: ignore[attr-defined]
    return called


def _raise_on_all(name: str, error: Exception, given: Tuple[Any, ...]) -> None:
    """Raises what all ranks raise; returns where that is `error` itself. A TypeError of the family has come from another rank."""
    context = _context_of(given)
    if context is None or isinstance(error, (FailedContextError, LostPeerError, TimeoutError)):
        return
    known = error if is_told(error, context) or isinstance(error, TypeError) else _told(context, name, error)
    meant = _of_its_class(known)
    mark_as_told(meant, context)
    try:
        if meant is not error:
            raise meant from (error if known is not error else error.__cause__)
    finally:
        del error, known, meant  # or they held each other, by their tracebacks, and with them the arguments until they are collected


def _context_of(given: Tuple[Any, ...]) -> Optional[_core.Context]:
    """That of the first argument that is one or has one, or that of the runtime."""
    from ._context import get_context

    for one in given:
        for found in (one, getattr(one, "_context", None), getattr(one, "_partita", None)):
            if isinstance(found, Context):
                return found._core
    runtime = get_context()
    return None if runtime is None else runtime.partita._core


def _told(context: _core.Context, name: str, error: Exception) -> Error:
    """The exception of all ranks of the context."""
    kind, text = in_words(name, error)
    try:
        _core.throw_on_all(context, name, kind, text)
    except Error as told:
        # One rank alone, and those of a context that has ended, throw it as it is.
        return told if f"{name}: " in str(told) else type(told)(f"{name}: {told}")
    raise AssertionError("throw_on_all has returned")


def _of_its_class(error: Exception) -> Exception:
    """An exception of the class that the text names behind the call; `error` where it names none."""
    found = re.match(r"((?:ranks? [\d, -]+: )?[\w.]+: )(\w+): (.*)", str(error), re.DOTALL)
    if found is None:
        return error
    who, name, text = found.groups()
    kind = _raised.get(name) or getattr(builtins, name, None)
    if not isinstance(kind, type) or not issubclass(kind, Exception):
        return error
    try:
        return kind(who + text)
    except Exception:  # a class that is not made of a text
        return error


def gather_objects(context: Context, thing: T) -> List[T]:
    """The things of all ranks, by rank. Collective, blocking."""
    if context.size == 1:
        return [thing]
    mine = np.frombuffer(pickle.dumps(thing), np.uint8)
    context.barrier()  # a check, in which errors of other ranks arrive without ending the context: a gather may be one that is kept
    sizes = [int(size) for size in all_gather(context, np.array([mine.size], np.int64))]
    everything = all_gather(context, mine, counts=sizes).tobytes()
    ends = np.cumsum(sizes)
    return [pickle.loads(everything[end - size : end]) for size, end in zip(sizes, ends)]


def require_alike(what: str, values: List[Any]) -> None:
    """ValueError where ranks differ."""
    for rank, value in enumerate(values):
        if value != values[0]:
            raise ValueError(f"{what} inconsistent across processes: {values[0]} on rank 0, {value} on rank {rank}")
