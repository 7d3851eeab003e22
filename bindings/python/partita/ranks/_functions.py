"""Functions that no module exports (of notebooks, of scripts, lambdas, local ones) travel with their code and the globals that they use."""

from __future__ import annotations

import builtins
import contextlib
import dis
import importlib
import linecache
import marshal
import os
import sys
import threading
import types
from typing import Any, Dict, Iterator, List, Set, Tuple

Parts = Tuple[Any, ...]


class _Reading(threading.local):
    """Where names that a function does not bring are looked up: the variables of the rank that this thread is."""

    namespace: Dict[str, Any] = {}


_reading = _Reading()


@contextlib.contextmanager
def variables_of(namespace: Dict[str, Any]) -> Iterator[None]:
    """Functions that are made inside find there what they do not bring."""
    before, _reading.namespace = _reading.namespace, namespace
    try:
        yield
    finally:
        _reading.namespace = before


class _Globals(Dict[str, Any]):
    """What a function has brought, and then the variables of its rank."""

    def __init__(self, rest: Dict[str, Any]) -> None:
        super().__init__()
        self["__builtins__"] = builtins
        self.rest = rest

    def __missing__(self, name: str) -> Any:
        return self.rest[name]


def parts_of(value: Any) -> Any:
    """For `reducer_override` of a pickler: how to make a function or a module again; NotImplemented for all else."""
    if isinstance(value, types.ModuleType):
        return importlib.import_module, (value.__name__,)
    if not isinstance(value, types.FunctionType) or _is_exported(value):
        return NotImplemented
    code, cells = value.__code__, value.__closure__ or ()
    empty = (marshal.dumps(code), value.__name__, len(cells), _lines_of(code))
    wanted = sorted({"__name__", "__file__"} | _globals_in(code))
    state = {
        "globals": {name: value.__globals__[name] for name in wanted if name in value.__globals__},
        "cells": [_content(cell) for cell in cells],
        "attributes": {
            "__defaults__": value.__defaults__,
            "__kwdefaults__": value.__kwdefaults__,
            "__qualname__": value.__qualname__,
            "__module__": value.__module__,
            "__doc__": value.__doc__,
        },
        "dict": dict(value.__dict__),
    }
    return _empty_function, empty, state, None, None, _fill


def _is_exported(function: types.FunctionType) -> bool:
    """Whether other processes find it by its name."""
    if function.__module__ in (None, "__main__"):
        return False
    found: Any = sys.modules.get(function.__module__)
    for name in function.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is function


def _globals_in(code: types.CodeType) -> Set[str]:
    names = {one.argval for one in dis.get_instructions(code) if one.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _globals_in(constant)
    return names


def _content(cell: Any) -> Tuple[Any, ...]:
    try:
        return (cell.cell_contents,)
    except ValueError:  # not assigned yet
        return ()


def _lines_of(code: types.CodeType) -> Tuple[str, List[str]]:
    """The source, for tracebacks of processes that cannot read it from a file."""
    return code.co_filename, [] if os.path.exists(code.co_filename) else linecache.getlines(code.co_filename)


def _empty_function(code: bytes, name: str, cells: int, lines: Tuple[str, List[str]]) -> types.FunctionType:
    """Made before what it refers to, which may be itself."""
    if lines[1]:
        remember_source(lines[0], lines[1])
    closure = tuple(types.CellType() for _ in range(cells))
    return types.FunctionType(marshal.loads(code), _Globals(_reading.namespace), name, None, closure)


def _fill(function: types.FunctionType, state: Dict[str, Any]) -> None:
    function.__globals__.update(state["globals"])
    for cell, content in zip(function.__closure__ or (), state["cells"]):
        if content:
            cell.cell_contents = content[0]
    for name, value in state["attributes"].items():
        setattr(function, name, value)
    function.__dict__.update(state["dict"])


def remember_source(name: str, lines: List[str]) -> None:
    """Tracebacks show these lines for code of this file name."""
    linecache.cache[name] = (sum(map(len, lines)), None, lines, name)


__all__ = ["parts_of", "remember_source", "variables_of"]
