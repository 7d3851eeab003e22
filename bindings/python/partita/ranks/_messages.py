"""Values on their way between a notebook and its ranks, and what stays on the ranks."""

from __future__ import annotations

import builtins
import contextlib
import importlib
import importlib.util
import io
import pickle
from typing import Any, Callable, Dict, Iterator, NamedTuple, Optional, Tuple

from .._array import Array
from .._calls import text_of
from .._context import Context
from .._errors import ArgumentError, Error, TypeError
from .._planned import Uncopied
from ._functions import parts_of, variables_of

#: A value that stays on the ranks: the number of the call that returned it, and its place in the result.
Key = Tuple[int, int]


class Kept(NamedTuple):
    """What a notebook knows of a value that stays on a rank."""

    key: Key
    text: str
    shape: Optional[Tuple[int, ...]]
    dtype: Any
    layout: Any


def _base() -> Any:
    """cloudpickle's pickler, for classes that no module exports, or Python's."""
    if importlib.util.find_spec("cloudpickle") is None:
        return pickle.Pickler
    return importlib.import_module("cloudpickle").CloudPickler


def _pickled(value: Any, persistent_id: Callable[[Any], Any]) -> bytes:
    base = _base()

    class Pickler(base):  # type: ignore[misc, valid-type]
        def persistent_id(self, one: Any) -> Any:
            return persistent_id(one)

        def reducer_override(self, one: Any) -> Any:
            parts = parts_of(one)
            if parts is NotImplemented and base is not pickle.Pickler:
                return super().reducer_override(one)
            return parts

    stream = io.BytesIO()
    Pickler(stream, protocol=pickle.DEFAULT_PROTOCOL).dump(value)
    return stream.getvalue()


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: bytes, find: Callable[[Any], Any]) -> None:
        super().__init__(io.BytesIO(data))
        self._find = find

    def persistent_load(self, identity: Any) -> Any:
        return self._find(identity)


#: What pickling raises for values that cannot be pickled, or read again.
_unpicklable = (pickle.PicklingError, pickle.UnpicklingError, AttributeError, ImportError, RecursionError, builtins.TypeError, ValueError)


@contextlib.contextmanager
def _in_words(what: str, advice: str = "") -> Iterator[None]:
    """Raises what pickling raises as a TypeError that says so; errors of the package as they are."""
    try:
        yield
    except Error:
        raise
    except _unpicklable as error:
        raise TypeError(f"Ranks: {what}: {text_of(error)}{advice}") from error


# --- from the notebook to the ranks



def packed(value: Any, key_of: Callable[[Any], Optional[Key]]) -> bytes:
    """`value` for the ranks. `key_of` gives the key of a handle, and None for all else."""
    with _in_words("an argument cannot be sent to the ranks"):
        return _pickled(value, key_of)


def unpacked(data: bytes, kept: Dict[Key, Any], namespace: Dict[str, Any], rank: int) -> Any:
    """On a rank: the value, with what the handles in it refer to."""

    def find(key: Key) -> Any:
        if key not in kept:
            raise ArgumentError(f"Ranks: a handle refers to a value that rank {rank} does not have: other ranks returned it")
        return kept[key]

    advice = "; define the class in a module or in a cell of the ranks, or install cloudpickle"
    with _in_words("an argument cannot be read on the ranks", advice), variables_of(namespace):
        return _Unpickler(data, find).load()


# --- from a rank to the notebook


def packed_result(value: Any, number: int, kept: Dict[Key, Any]) -> bytes:
    """On a rank: `value`, of which what belongs to a context stays here."""
    keys: Dict[int, Kept] = {}

    def identity(one: Any) -> Optional[Kept]:
        if not isinstance(one, (Array, Context, Uncopied)):
            return None
        if id(one) not in keys:
            keys[id(one)] = _description(one, (number, len(keys)))
            kept[keys[id(one)].key] = one
        return keys[id(one)]

    with _in_words("the result cannot be sent to the notebook"):
        return _pickled(value, identity)


def _description(one: Any, key: Key) -> Kept:
    if isinstance(one, Array):
        return Kept(key, f"{one.dtype} {one.layout}", one.shape, one.dtype, one.layout)
    return Kept(key, f"context of {one.size} ranks" if isinstance(one, Context) else type(one).__name__, None, None, None)


def unpacked_result(data: bytes, handle_for: Callable[[Kept], Any]) -> Any:
    """In the notebook: the value, with handles of what has stayed on the rank."""
    with _in_words("the result cannot be read in the notebook", "; return its parts, or define the class in a module"):
        return _Unpickler(data, handle_for).load()


class Shown:
    """What a notebook shows of a value that cannot be sent to it."""

    def __init__(self, value: Any) -> None:
        self._text = repr(value)
        self._forms: Dict[str, Any] = {"text/plain": self._text}
        for kind, name in (("text/html", "html"), ("image/svg+xml", "svg"), ("text/latex", "latex"), ("text/markdown", "markdown")):
            try:
                found = getattr(value, f"_repr_{name}_")()
            except Exception:  # there is none, or none of this value
                continue
            if isinstance(found, str):
                self._forms[kind] = found

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Dict[str, Any]:
        return self._forms

    def __repr__(self) -> str:
        return self._text


__all__ = ["Kept", "Key", "Shown", "packed", "packed_result", "unpacked", "unpacked_result"]
