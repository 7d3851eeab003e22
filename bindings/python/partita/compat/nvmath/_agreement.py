"""What ranks tell each other of a call before it begins, so that what is wrong is the same exception on all of them."""

from __future__ import annotations

import pickle
from typing import Any, Callable, List, TypeVar

import numpy as np

from ..._collectives import all_gather
from ..._context import Context

T = TypeVar("T")


def gather_objects(context: Context, thing: T) -> List[T]:
    """The things of all ranks, by rank. Collective, blocking."""
    if context.size == 1:
        return [thing]
    mine = np.frombuffer(pickle.dumps(thing), np.uint8)
    sizes = [int(size) for size in all_gather(context, np.array([mine.size], np.int64))]
    everything = all_gather(context, mine, counts=sizes).tobytes()
    ends = np.cumsum(sizes)
    return [pickle.loads(everything[end - size : end]) for size, end in zip(sizes, ends)]


def _portable(error: Exception) -> Exception:
    """The error, or its text where it cannot travel."""
    try:
        pickle.loads(pickle.dumps(error))
        return error
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")


def agree(context: Context, prepare: Callable[[], T]) -> List[T]:
    """What `prepare()` gives on each rank; what it raises on some rank, on every rank. Collective, blocking."""
    mine: Any
    try:
        mine = (prepare(), None)
    except Exception as error:
        mine = (None, _portable(error))
    everyone = gather_objects(context, mine)
    for _, raised in everyone:
        if raised is not None:
            raise raised
    return [found for found, _ in everyone]


def require_alike(what: str, values: List[Any]) -> None:
    """ValueError where ranks differ."""
    for rank, value in enumerate(values):
        if value != values[0]:
            raise ValueError(f"{what} inconsistent across processes: {values[0]} on rank 0, {value} on rank {rank}")
