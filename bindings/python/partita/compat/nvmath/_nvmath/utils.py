"""Helpers of nvmath.internal.utils."""

from __future__ import annotations

import contextlib
import importlib
import sys
from dataclasses import dataclass
from typing import Any, ContextManager, Iterator, Optional, Union

from ...._streams import handle_of
from .._stateful import options_of

AnyStream = Any


@dataclass
class StreamHolder:
    """A stream, its handle, and what makes it the current one. `external` is the stream, too."""

    ctx: ContextManager[Any]
    device_id: Union[int, str]
    ptr: int
    obj: Any
    package: str
    external: Any


@contextlib.contextmanager
def device_ctx(device_id: Union[int, str]) -> Iterator[None]:
    """Within it CuPy and PyTorch, as far as they are there, compute on that GPU. Nothing to do on the CPU."""
    with contextlib.ExitStack() as stack:
        if device_id != "cpu":
            if "cupy" in sys.modules and importlib.import_module("cupy").cuda.is_available():
                stack.enter_context(importlib.import_module("cupy").cuda.Device(device_id))
            if "torch" in sys.modules and importlib.import_module("torch").cuda.is_available():
                stack.enter_context(importlib.import_module("torch").cuda.device(device_id))
        yield


def get_or_create_stream(device_id: Union[int, str], stream: Any, op_package: Any) -> Optional[StreamHolder]:
    """The stream, or the package's current one; None on the CPU."""
    name = op_package if isinstance(op_package, str) else getattr(op_package, "__name__", "")
    if device_id == "cpu" or name not in ("cupy", "torch"):
        return None
    with device_ctx(device_id):
        cuda = importlib.import_module(f"{name}.cuda")
        found = stream if stream is not None else (cuda.current_stream if name == "torch" else cuda.get_current_stream)()
        current: ContextManager[Any] = cuda.stream(found) if name == "torch" else found
    return StreamHolder(current, device_id, handle_of(found), found, name, found)


def check_or_create_options(cls: Any, options: Any, options_description: str, *, keep_none: bool = False) -> Any:
    """An object of the class; of a dict, made of it."""
    return None if options is None and keep_none else options_of(cls, options, options_description)
