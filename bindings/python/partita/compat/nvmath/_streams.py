"""Streams of CUDA that callers give, and the current ones of their packages."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from ..._context import Context
from ..._errors import UnsupportedError


def _of_handle(handle: int) -> Any:
    for package in ("cupy", "torch"):
        if package in sys.modules:
            return importlib.import_module(f"{package}.cuda").ExternalStream(handle)
    raise UnsupportedError("stream: a handle of CUDA's needs CuPy or PyTorch in the process")


def wait_for(stream: Any, operand: Any) -> None:
    """Return when what the stream has been given is done: operands may be read then, and results be written to.

    Without a stream the current one of the operand's package is meant. Results are complete when a call returns,
    so nothing has to wait behind it.

    Raises
    ------
    TypeError
        What is no stream.
    """
    if stream is None:
        if operand.device == "cpu":
            return
        cuda = importlib.import_module(f"{operand.name}.cuda")
        with operand.on_device():
            stream = (cuda.current_stream if operand.name == "torch" else cuda.get_current_stream)()
    if hasattr(stream, "external"):  # what get_or_create_stream gives
        stream = stream.external
    if hasattr(stream, "__cuda_stream__") and not hasattr(stream, "synchronize"):
        protocol = stream.__cuda_stream__
        stream = (protocol() if callable(protocol) else protocol)[1]
    if isinstance(stream, int) and not isinstance(stream, bool):
        stream = _of_handle(stream)
    if stream is not None:
        wait = getattr(stream, "synchronize", None) or getattr(stream, "sync", None)
        if wait is None:
            raise TypeError(f"stream: one of CuPy or PyTorch, a handle or an object with __cuda_stream__, and not {stream!r}")
        wait()


def settle(context: Context, operand: Any) -> None:
    """Return when what a call has put into streams is done: those of the context, and the current one of the package."""
    context.synchronize()
    wait_for(None, operand)
