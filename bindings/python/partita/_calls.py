"""What all collective calls have in common: an error that one rank alone meets before it is among the others is raised on all."""

from __future__ import annotations

import builtins
import functools
import inspect
import re
import threading
import weakref
from threading import get_ident
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple, TypeVar

from . import _core, _errors
from ._errors import ArgumentError, Error, FailedContextError, LostPeerError, SingularError, TimeoutError
from ._registry import OfThreads

Function = TypeVar("Function", bound=Callable[..., Any])
Options = TypeVar("Options")
First = Callable[[Tuple[Any, ...], Dict[str, Any]], None]
Meaning = Callable[[Exception, Tuple[Any, ...], Dict[str, Any]], Exception]

#: How the text of a TypeError of a bound function begins.
_of_bound = re.compile(r"^\w+\(\): ")
#: What all ranks have, or what has ended the context. (So has a SingularError of the library, which knows the index.)
_known_to_all = (FailedContextError, LostPeerError, TimeoutError)
#: Python's own, for what is wrong with an argument, by the class of the family that is one, too.
_own = {builtins.TypeError: "TypeError", ValueError: "ArgumentError", OverflowError: "ArgumentError", builtins.MemoryError: "MemoryError"}


def collective(function: Function, meant_by: Optional[Meaning] = None, first: Optional[First] = None) -> Function:
    """`function`, whose errors are the same on every rank.

    What it raises on this rank before the library has begun its call (a wrong type, an unknown keyword or word, a bad axis) is
    reported to the ranks that have begun theirs, and all raise it, with the numbers of the ranks it occurred on. An exception that is
    neither of the family nor one of Python's for wrong arguments (what a function of the program raises) comes out of this rank as
    it is, and the others raise an Error with its text.

    The context is that of the first argument that has one; where none has, the only one that this thread has begun. Where there are
    several of these the error is this rank's alone.

    A second thread that comes into a context where one is already gets an ArgumentError: they would take each other's messages.

    `meant_by`: what is raised in the place of an exception, or that itself. `first`: called with the arguments, before a call that is not
    within another one of a function that has a `first`.
    """
    called = entered(function, raise_on_all, meant_by, first)
    called.is_collective = True  # type: ignore[attr-defined]
    return called


def pairwise(function: Function, meant_by: Optional[Meaning] = None) -> Function:
    """`function`, of messages between two ranks, whose errors are this rank's own: those of the family in the place of Python's.

    Other ranks are not notified: the partner's number may itself be wrong, and it may need no message. A second thread is treated as by `collective`.
    """
    return entered(function, raise_own, meant_by)


def entered(
    function: Function,
    raise_for: Callable[[str, Exception, Tuple[Any, ...]], None],
    meant_by: Optional[Meaning] = None,
    first: Optional[First] = None,
) -> Function:
    """`function`, into whose context one thread at a time comes.

    `raise_for` raises in the place of an exception, or returns where that is to be raised as it is.
    """

    @functools.wraps(function)
    def called(*given: Any, **named: Any) -> Any:
        thread = get_ident()
        is_outermost = not _inside.has(thread)
        compares = first is not None and not _compared.has(thread)
        try:
            if is_outermost:
                _inside.put(thread, (name, given))
                if _inside.count() > 1:
                    _refuse_second_thread(name, thread, given)
            if compares:
                _compared.put(thread, False)
                first(given, named)  # type: ignore[misc]
            return function(*given, **named)
        except Exception as error:
            meant = _for_no_context(function, error, given, named)
            if isinstance(error, builtins.TypeError):
                meant = _unknown_keyword(function, named) or meant
            if meant is error and meant_by is not None:
                meant = meant_by(error, given, named)
            try:
                raise_for(name, meant, (*given, *named.values()))
                if meant is error:
                    raise
                raise meant from meant.__cause__
            finally:
                del meant  # or it held itself, by its traceback, and with it the arguments until they are collected
        finally:
            if compares:
                _compared.take(thread, None)
            if is_outermost:
                _inside.take(thread, None)

    name = name_of(function)
    return called  # type: ignore[return-value]


def _for_no_context(function: Any, error: Exception, given: Tuple[Any, ...], named: Dict[str, Any]) -> Exception:
    """What is meant where a function that takes a context first is called without one; else `error`."""
    if not isinstance(error, AttributeError):
        return error
    names = function.__code__.co_varnames
    place = 1 if names[:1] == ("self",) else 0
    if names[place : place + 1] != ("context",):
        return error
    first = given[place] if len(given) > place else named.get("context")
    if isinstance(getattr(first, "_core", None), _core.Context):
        return error
    return builtins.TypeError(f"expected a context as the first argument, got {type(first).__name__}")


def _unknown_keyword(function: Any, named: Dict[str, Any]) -> Optional[Exception]:
    """The error of a call with a keyword that the function does not have; None: it has them all."""
    known = _keywords(function) if named else None
    unknown = [name for name in named if known is not None and name not in known]
    if not known or not unknown:
        return None
    remedy = "omit it" if "context" in known else "omit it, or call NumPy with .gather(), which communicates"
    return builtins.TypeError(f"unknown keyword {unknown[0]}: {remedy}; known: {', '.join(known)}")


@functools.lru_cache(maxsize=None)
def _keywords(function: Any) -> Optional[Tuple[str, ...]]:
    """What a function takes by keyword; None: anything."""
    found = inspect.signature(function).parameters.values()
    if any(one.kind is one.VAR_KEYWORD for one in found):
        return None
    return tuple(one.name for one in found if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY) and one.name != "self")


def refuse_unknown(function: Any, named: Dict[str, Any]) -> None:
    """TypeError of this rank if a function that is not collective does not have one of the keywords."""
    error = None if hasattr(function, "is_collective") else _unknown_keyword(function, named)
    if error is not None:
        raise_own(name_of(function), error)


#: Classes whose methods errors call by their name alone.
_bases = ("Array", "Context", "Factorization", "Methods", "PackedFactorization", "PlannedOperation", "Reductions", "<locals>")


def name_of(function: Callable[..., Any]) -> str:
    """As errors call it: that of an object's making is its class, methods of arrays and contexts have their own names."""
    *owner, name = [one.strip("_") for one in function.__qualname__.split(".")]
    if name == "init" or (owner and name == "forward"):
        return owner[-1]
    return f"{owner[-1]}.{name}" if owner and owner[-1] not in _bases else name


def is_told(error: BaseException, context: _core.Context) -> bool:
    """Whether all ranks of the context know of it."""
    return getattr(error, "_partita_told", None) == hash(context)


def mark_as_told(error: BaseException, context: _core.Context) -> None:
    """All ranks of the context know of it."""
    error._partita_told = hash(context)  # type: ignore[attr-defined]


def raise_own(name: str, error: Exception, given: Tuple[Any, ...] = ()) -> None:
    """Raises Python's own exception for what is wrong with an argument as one of the family, which is one, too."""
    if type(error) in _own:
        kind, text = in_words(name, error)
        raise getattr(_errors, kind)(text if text.startswith(f"{name}(") else f"{name}: {text}") from error


def raise_on_all(name: str, error: Exception, given: Tuple[Any, ...]) -> None:
    """Raises what all raise; returns where `error` itself is to be raised."""
    if isinstance(error, _known_to_all) or (isinstance(error, SingularError) and error.index is not None):
        return
    context = context_among(given)
    if context is None or is_told(error, context):
        return
    if context.size == 1:
        return raise_own(name, error)
    kind, text = in_words(name, error)
    try:
        _core.throw_on_all(context, name, kind, text)
    except Error as told:
        mark_as_told(error, context)
        mark_as_told(told, context)
        if type(told) is type(error) and str(told) == text_of(error):
            return
        if isinstance(error, Error) or type(error) in _own or isinstance(told, (TimeoutError, LostPeerError)):
            raise told from error


def text_of(error: BaseException) -> str:
    """What it says, as the library takes texts: UTF-8, without zero bytes."""
    try:
        text = str(error)
    except Exception:
        text = "(its text is not available)"
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")


def in_words(name: str, error: Exception) -> Tuple[str, str]:
    """The class of the family, and the text in one line."""
    text = " ".join(text_of(error).splitlines())
    if isinstance(error, builtins.TypeError):  # of a bound function, which has another name than what was called
        text = _of_bound.sub("", text)
    if text.startswith(f"{name}: ") and type(error) in _own:  # who tells puts it before the text
        text = text[len(name) + 2 :]
    known_as = getattr(error, "_known_as", None)
    if known_as is not None:
        return "ArgumentError", known_as
    if isinstance(error, Error):
        kind = next(one.__name__ for one in type(error).__mro__ if one.__module__ == Error.__module__)
        return kind, text
    if type(error) in _own:
        return _own[type(error)], text
    return "Error", f"{type(error).__name__}: {text}" if text else type(error).__name__


#: By thread, the name and the arguments of the call that it is in.
_inside: OfThreads[Tuple[str, Tuple[Any, ...]]] = OfThreads()


def call_of_thread() -> str:
    """The name of the call that this thread is in; empty: it is in none."""
    inside = _inside.get(get_ident())
    return inside[0] if inside is not None else ""


_core.name_calls_by(call_of_thread)


#: The threads in a call that compares its arguments between ranks, and whether it has compared all of them.
_compared: OfThreads[bool] = OfThreads()


def note_compared() -> None:
    """The call that this thread is in has compared all its arguments between ranks."""
    _compared.put(get_ident(), True)


def has_compared() -> bool:
    """Whether it has, so that what is computed from them is equal on all ranks."""
    return bool(_compared.get(get_ident()))


def _refuse_second_thread(name: str, thread: int, given: Tuple[Any, ...]) -> None:
    """ArgumentError where a thread that came before is in a call of the same context."""
    mine = _context_in(given)
    for other, (_, theirs) in _inside.copy().items():
        if other == thread or mine is None:
            return
        if _context_in(theirs) == mine:
            error = ArgumentError(f"{name}: another thread is in a call of this context, which only one thread at a time may use")
            mark_as_told(error, mine)
            raise error


def contexts_in(given: Tuple[Any, ...]) -> Iterator[_core.Context]:
    """Those of the arguments that have one, and of the values in them."""
    for one in given:
        for value in one.values() if isinstance(one, dict) else one if isinstance(one, (list, tuple)) else (one,):
            found = _context_of(value)
            if found is not None:
                yield found


def _context_in(given: Tuple[Any, ...]) -> Optional[_core.Context]:
    """The first of these."""
    return next(contexts_in(given), None)


#: Values that have no context; most arguments are of these types.
_plain = frozenset((int, float, complex, bool, str, slice, type(None)))


def _context_of(value: Any) -> Optional[_core.Context]:
    if type(value) in _plain:
        return None
    for name in ("_core", "_context", "context"):
        try:
            found = getattr(value, name, None)
        except Exception:  # of what is not an array, in the place of one: that is what is wrong
            continue
        found = found if isinstance(found, _core.Context) else getattr(found, "context", getattr(found, "_core", None))
        if isinstance(found, _core.Context):
            return found
    return None


def context_among(given: Tuple[Any, ...]) -> Optional[_core.Context]:
    """The same; without any, the only one that this thread has begun."""
    found, begun = _context_in(given), only_begun()
    return found if found is not None or begun is None else begun._core


class _Begun(threading.local):
    """The contexts that a thread has begun."""

    def __init__(self) -> None:
        self.contexts: List[weakref.ReferenceType[Any]] = []


_begun = _Begun()


def only_begun() -> Any:
    """The only context that this thread has begun; None where there are several, or none."""
    begun = [one for one in (seen() for seen in _begun.contexts) if one is not None]
    return begun[0] if len(begun) == 1 else None


def note_begun(context: Any) -> None:
    """This thread has begun it. It is not kept alive."""
    _begun.contexts = [seen for seen in _begun.contexts if seen() is not None]
    _begun.contexts.append(weakref.ref(context))


def is_begun(context: Any) -> bool:
    """Whether this thread has begun it, and not closed it."""
    return any(seen() is context for seen in _begun.contexts)


def note_closed(context: Any) -> None:
    """It is closed, and may be kept alive by others: arguments without a context do not refer to it."""
    _begun.contexts = [seen for seen in _begun.contexts if seen() is not context]


def with_options(kind: Callable[..., Options], what: str, given: Dict[str, Any]) -> Options:
    """The library's options of a call; what there is none of is named."""
    try:
        return kind(**given)
    except builtins.TypeError as error:
        made: Any = kind
        known = re.findall(r"(\w+): ", made.__init__.__nb_signature__[0][0])
        for name in given:
            if name not in known:
                raise builtins.TypeError(f"{what}: unknown option {name}; known: {', '.join(known)}") from None
        raise builtins.TypeError(f"{what}: {_of_bound.sub('', str(error))}") from None


__all__ = [
    "collective", "context_among", "contexts_in", "entered", "in_words", "is_begun", "is_told", "mark_as_told", "name_of", "note_begun",
    "note_closed", "only_begun", "pairwise", "raise_on_all", "raise_own", "refuse_unknown", "text_of", "with_options",
]  # fmt: skip
