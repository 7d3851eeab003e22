"""What the functions of data analysis exchange: a few integers of each rank, and parts whose sizes depend on the data."""

from __future__ import annotations

from typing import Any, Callable, List, Sequence, Tuple

import numpy as np

from . import _core
from ._freed_memory import blocks

#: So many elements are copied to all ranks rather than cut: that takes less time than a few exchanges of counts.
few_elements = 1 << 12


def total(context: _core.Context, numbers: Any, reduction: str = "sum") -> Any:
    """The elementwise reduction over the ranks, on every rank. Collective, blocking."""
    mine = np.array(numbers, order="C")
    if context.size > 1:
        _core.all_reduce(context, mine, mine, reduction, None)
    return mine


def smallest_and_largest(context: _core.Context, integers: Any) -> Tuple[int, int]:
    """Among the integers of all ranks, on every rank; 0 and -1 if there are none. Collective, blocking."""
    none = np.iinfo(np.int64).min
    ends = [int(integers.max()), ~int(integers.min())] if integers.size else [none, none]
    most, least = (int(one) for one in total(context, np.array(ends, np.int64), "max"))
    return (0, -1) if most == none == least else (~least, most)


def of_all(context: _core.Context, mine: Any) -> Any:
    """What each rank has, in arrays of one shape and dtype: with a first axis for the ranks. Collective, blocking."""
    part = np.array(mine, order="C", ndmin=1)
    everyone = np.empty((context.size, *part.shape), part.dtype)
    _core.all_gather(context, part, everyone.reshape(context.size * part.shape[0], *part.shape[1:]), [])
    return everyone


def gathered(context: _core.Context, part: Any, sizes: Any) -> Any:
    """The parts of all ranks, of these sizes, one after the other. Collective, blocking."""
    part = np.asarray(part, order="C")
    everyone = np.empty((int(sum(sizes)), *part.shape[1:]), part.dtype)
    _core.all_gather(context, part, everyone, _integers(sizes))
    return everyone


def sent(context: _core.Context, rows: Any, counts: Sequence[int], received: Sequence[int]) -> Any:
    """The rows that the ranks send to this one, by increasing rank. Collective, blocking.

    `counts`: how many of the rows, in their order, each rank gets. `received`: how many come from each rank.
    """
    rows = np.asarray(rows, order="C")
    if context.size == 1:
        return rows
    arriving = blocks.empty((int(sum(received)), *rows.shape[1:]), rows.dtype)
    _core.all_to_all(context, rows, arriving, _integers(counts), _integers(received), None)
    return arriving


def _integers(numbers: Any) -> List[int]:
    return [int(one) for one in numbers]


def counts_received(context: _core.Context, counts: Sequence[int]) -> List[int]:
    """How many each rank sends to this one. Collective, blocking."""
    return _integers(of_all(context, np.array(counts, np.int64))[:, context.rank])


def answered(context: _core.Context, questions: Any, owners: Any, answer: Callable[[Any], Any]) -> Any:
    """The answers of the ranks that own what is asked for. Collective, blocking.

    `questions`: one per row. `owners`: the rank that each is for. `answer`: from the rows that arrive at this rank, one row per question.
    """
    if context.size == 1:
        return answer(questions)
    order = np.argsort(owners.astype(np.uint16) if context.size < 1 << 16 else owners, kind="stable")  # 16 bits: a radix sort
    counts = np.bincount(owners, minlength=context.size)
    received = counts_received(context, _integers(counts))
    back = sent(context, answer(sent(context, questions[order], _integers(counts), received)), received, _integers(counts))
    answers = np.empty_like(back)
    answers[order] = back
    return answers
