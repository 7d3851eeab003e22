"""What the functions of data analysis exchange: a few integers of each rank, and parts whose sizes depend on the data."""

from __future__ import annotations

from typing import Any, List, Sequence

import numpy as np

from . import _core


def total(context: _core.Context, numbers: Any, reduction: str = "sum") -> Any:
    """The elementwise reduction over the ranks, on every rank. Collective, blocking."""
    mine = np.array(numbers, order="C")
    if context.size > 1:
        _core.all_reduce(context, mine, mine, reduction, None)
    return mine


def of_all(context: _core.Context, mine: Any) -> Any:
    """What each rank has, in arrays of one shape and dtype: with a first axis for the ranks. Collective, blocking."""
    part = np.array(mine, order="C", ndmin=1)
    everyone = np.empty((context.size, *part.shape), part.dtype)
    _core.all_gather(context, part, everyone.reshape(context.size * part.shape[0], *part.shape[1:]), [])
    return everyone


def before(context: _core.Context, numbers: Any, reduction: str = "sum") -> Any:
    """The elementwise reduction over the ranks before this one. Collective, blocking."""
    mine = np.array(numbers, order="C")
    _core.scan(context, mine, mine, reduction, True, None)
    return mine


def sent(context: _core.Context, rows: Any, counts: Sequence[int], received: Sequence[int]) -> Any:
    """The rows that the ranks send to this one, by increasing rank. Collective, blocking.

    `counts`: how many of the rows, in their order, each rank gets. `received`: how many come from each rank.
    """
    rows = np.asarray(rows, order="C")
    if context.size == 1:
        return rows
    arriving = np.empty((int(sum(received)), *rows.shape[1:]), rows.dtype)
    _core.all_to_all(context, rows, arriving, _integers(counts), _integers(received), None)
    return arriving


def _integers(numbers: Sequence[int]) -> List[int]:
    return [int(one) for one in numbers]


def counts_received(context: _core.Context, counts: Sequence[int]) -> List[int]:
    """How many each rank sends to this one. Collective, blocking."""
    return _integers(of_all(context, np.array(counts, np.int64))[:, context.rank])
