"""Arguments that must be equal on all ranks, compared before a call that consists of several calls of the library."""

from __future__ import annotations

import functools
import inspect
import numbers
from typing import Any, Callable, Dict, Sequence, Tuple

import numpy as np

from . import _core
from ._calls import Function, collective, context_among, contexts_in, name_of, note_compared
from ._errors import ArgumentError

#: So many elements of a sequence are written out; of longer ones there is a hash.
_few = 8


def alike(function: Function) -> Function:
    """As `alike_but`, of all arguments."""
    return alike_but()(function)


def alike_but(*own: str) -> Callable[[Function], Function]:
    """`collective`, for functions that are composed of calls of the library: all ranks must pass equal arguments.

    The library compares what each of its calls is given, but not what a composed function makes of other arguments (the order of a sort,
    the indices that are taken): results would be wrong without an error. So the arguments are compared first, in one exchange of a hash,
    and DisagreementError names those that differ. A call within another one of such a function compares nothing: the outer one has.
    Arguments of several contexts are an ArgumentError.

    Of an array, dtype, layout and number are compared: that of the collective call that made it. The calls that the function is composed
    of execute parts and intermediate results, which have no number.

    `own`: arguments that each rank may choose, unless they are arrays.
    """

    def decorated(function: Function) -> Function:
        name = name_of(function)

        def compare(given: Tuple[Any, ...], named: Dict[str, Any]) -> None:
            values = (*given, *named.values())
            found = list(contexts_in(values))
            context = found[0] if found else context_among(values)
            if any(one != context for one in found[1:]):
                raise ArgumentError(f"{name}: the arrays belong to different contexts; make all in one context")
            if context is None or context.size == 1:
                return
            names, defaults = _parameters(function)
            facts = {**defaults, **_facts(names, given, named)}
            passed = {**dict(zip(names, given)), **named}
            left_out = ("stream", *(one for one in own if not _is_array(passed.get(one))))
            _core.agree(context, name, sorted(fact for fact in facts.items() if fact[0] not in left_out))
            if not own:
                note_compared()

        return collective(function, first=compare)

    return decorated


@functools.lru_cache(maxsize=None)
def _parameters(function: Any) -> Tuple[Tuple[str, ...], Dict[str, str]]:
    """The names of positional parameters, and the texts of the defaults."""
    found = inspect.signature(function).parameters.values()
    positional = tuple(one.name for one in found if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD))
    return positional, {one.name: described(one.default) for one in found if one.default is not one.empty}


def _facts(names: Tuple[str, ...], given: Tuple[Any, ...], named: Dict[str, Any]) -> Dict[str, str]:
    """What is passed, by name."""
    values = {**dict(zip(names, given)), **{f"argument {i}": one for i, one in enumerate(given) if i >= len(names)}, **named}
    return {name: _described_dtype(value) if name == "dtype" else described(value) for name, value in values.items()}


def _is_array(value: Any) -> bool:
    """Whether it is a distributed array."""
    return isinstance(getattr(value, "_core", None), _core.Array)


def _described_dtype(value: Any) -> str:
    try:
        return described(value) if value is None else str(np.dtype(value))
    except TypeError:
        return described(value)


def described(value: Any) -> str:
    """The value in words that are the same on all ranks."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (numbers.Number, slice)) or value is Ellipsis:
        return repr(value)
    if isinstance(value, str):
        return value
    core = getattr(value, "_core", None)
    if isinstance(core, _core.Array):
        origin = core.origin
        return f"{core.dtype} {value.layout}" + (f" ({origin})" if origin else "")
    if isinstance(core, _core.Context):
        return f"a context of {core.size} ranks"
    if isinstance(value, (list, tuple)):
        return _described_sequence(value)
    if isinstance(value, np.ndarray):
        return _described_numbers(value)
    if isinstance(value, dict):
        return _described_sequence([f"{key}: {described(one)}" for key, one in value.items()])
    if callable(value):
        return str(getattr(value, "__qualname__", type(value).__name__))
    return str(value) if type(value).__module__.startswith("partita") else type(value).__name__


def _described_sequence(values: Any) -> str:
    each = [described(one) for one in values[:_few]]
    if len(values) <= _few:
        return f"[{', '.join(each)}]"
    import hashlib  # which loads OpenSSL

    rest = hashlib.blake2b("\0".join(described(one) for one in values).encode(), digest_size=8)
    return f"[{', '.join(each)}, ...] of {len(values)} elements with the hash {rest.hexdigest()}"


def _described_numbers(values: Any) -> str:
    if values.dtype.hasobject or values.size <= _few:
        return f"{values.dtype} {values.shape} {values.tolist()}"
    return f"{values.dtype} {values.shape} with the hash {hash_of([values]).hex()}"


def hash_of(arrays: Sequence[Any]) -> bytes:
    """8 bytes of NumPy arrays: of their dtypes, shapes and elements."""
    import hashlib

    found = hashlib.blake2b(digest_size=8)
    for one in arrays:
        found.update(f"{one.dtype.str}{one.shape}".encode())
        found.update(np.ascontiguousarray(one).reshape(-1).view(np.uint8).data)
    return found.digest()


__all__ = ["alike", "alike_but", "described", "hash_of"]
