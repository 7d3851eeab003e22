"""`mpi4jax.experimental` of versions up to 0.7."""

from __future__ import annotations

from typing import Callable, TypeVar

from . import notoken as notoken

Function = TypeVar("Function", bound=Callable[..., object])


def auto_tokenize(function: Function) -> Function:
    """The function itself: calls are in order without tokens."""
    return function


__all__ = ["auto_tokenize", "notoken"]
