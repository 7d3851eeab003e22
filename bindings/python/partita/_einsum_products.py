"""How one product of two labelled arrays may be distributed among the ranks, and what each of these costs."""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from ._einsum_cost import (
    ANY, WHOLE, Cut, Rates, grids, scratch_of, seconds_to_copy, seconds_to_join, seconds_to_move, seconds_to_multiply, seconds_to_read, seconds_to_receive,
    share,
)  # fmt: skip


class Form(NamedTuple):
    """The labels of a product, as `Groups` has them, and the extents of all labels."""

    batch: List[Any]
    rows: List[Any]
    columns: List[Any]
    summed: List[Any]
    extents: Dict[Any, int]

    @staticmethod
    def size(labels: Sequence[Any], extents: Dict[Any, int]) -> int:
        return math.prod(extents[one] for one in labels)

    @property
    def merges(self) -> bool:
        """Whether dimensions become one; none do where elements are multiplied one by one."""
        return bool(self.summed) and max(len(self.rows), len(self.columns), len(self.summed)) > 1

    def elements(self) -> Tuple[int, int, int, int]:
        """Of the factors and of the product, and multiplications."""
        batch, rows, columns, summed = (self.size(labels, self.extents) for labels in self[:4])
        return batch * rows * summed, batch * summed * columns, batch * rows * columns, batch * rows * columns * summed


class Held(NamedTuple):
    """A factor in a layout that there is of it."""

    cut: Cut
    partial: bool
    """Its sums are still to be added."""
    seconds: float
    """Until it is there."""
    received: Callable[[Cut], float]
    """Elements that a rank receives, at most, if it is moved to another layout."""


class Request(NamedTuple):
    form: Form
    sizes: Tuple[int, int, int, int]
    """What the form's `elements` are."""
    rates: Rates
    copied: Tuple[bool, bool]
    """Which factors are copied because dimensions of them are merged."""
    limited: bool
    """By a memory limit: then factors are moved before they are multiplied, which takes memory that is known."""
    alone: bool
    """A product of two matrices alone, whose layouts the library chooses."""
    asked: Optional[Cut]
    """ANY: the layout of an array for the result, which is not cut along one label."""


class Choice(NamedTuple):
    """A product with its price."""

    factors: Tuple[Cut, Cut]
    """How they are distributed when they are there."""
    uses: Tuple[Cut, Cut]
    """And when they are multiplied; what is then read of other ranks is up to the product."""
    result: Cut
    loose: Optional[Cut]
    """The label along which the work is cut, if both factors with that label are."""
    seconds: float
    moved: float
    """Bytes that a rank receives."""
    held: int
    """Bytes of the result on a rank."""
    scratch: int
    """Bytes of scratch of the product on a rank."""
    bytes: int
    """Bytes that are allocated on a rank: copies of the factors, scratch and result."""


class _Used(NamedTuple):
    """A factor brought to where it is multiplied."""

    cut: Cut
    use: Cut
    before: float
    """Seconds until the factor is there."""
    seconds: float
    moved: float
    bytes: float
    elements: float
    """That a rank multiplies."""


def choices_of(request: Request, left: List[Held], right: List[Held]) -> Iterator[Choice]:
    """All that may be the cheapest for some layout of the result."""
    form, rates = request.form, request.rates
    complete = not any(one.partial for one in (*left, *right))
    if request.alone or (rates.ranks == 1 and complete):  # on one rank everything is there
        yield from _by_the_library(request, left, right)
        return
    everywhere: List[Cut] = [] if request.limited or not form.summed else [WHOLE]
    for label in form.batch:
        yield from _along(request, left, right, label, label, label, [label, *everywhere])
    for label in form.rows:
        yield from _along(request, left, right, label, None, label, [label, *everywhere])
    for label in form.columns:
        yield from _along(request, left, right, None, label, label, [label, *everywhere])
    results = [*form.batch, *form.rows, *form.columns]
    if not request.limited or not results:  # the library's own move to all ranks takes memory that is not known
        results.append(WHOLE)
    for label in form.summed:
        yield from _along(request, left, right, label, label, label, results)
    yield from _along(request, left, right, WHOLE, WHOLE, None, [WHOLE])
    if complete and form.summed and not request.limited and not form.merges and (request.asked == ANY or rates.ranks > 3):
        yield from _by_the_library(request, left, right)


def _along(
    request: Request, left: List[Held], right: List[Held], of_left: Optional[Cut], of_right: Optional[Cut], label: Optional[Cut], results: List[Cut]
) -> Iterator[Choice]:
    """Ranks work on parts along a label; None: each on everything. A factor without the label (None) is read as a whole."""
    form, rates = request.form, request.rates
    sizes = request.sizes
    part = share(form.extents[label], rates.ranks) if label is not None else 1.0
    is_summed = label in form.summed
    mine = list(_brought(request, left, of_left, sizes[0], part, request.copied[0], is_summed))
    other = list(_brought(request, right, of_right, sizes[1], part, request.copied[1], is_summed))
    of_product = sizes[2] * (1.0 if is_summed else part)
    products = sizes[3] * part
    if not request.limited:  # what follows does not depend on where they come from
        mine, other = ([min(each, key=lambda one: one.before + one.seconds)] for each in (mine, other))
    for first in mine:
        for second in other:
            uses = (first.use, second.use)
            is_cut = label is not None and all(use == label for use, wanted in zip(uses, (of_left, of_right)) if wanted is not None)
            multiply = seconds_to_multiply(rates, products, first.elements, second.elements, of_product)
            for result in results:
                held = sizes[2] * (1.0 if result == WHOLE else share(form.extents[result], rates.ranks))
                joined = _joined(rates, sizes[2], held, result == WHOLE) if is_summed else 0.0
                sent = _sent(rates, sizes[2]) if result == WHOLE and label is not None and not is_summed else 0.0
                scratch = scratch_of(rates, float(sizes[2]) if is_summed else 0.0, held)
                yield Choice(
                    (first.cut, second.cut),
                    uses,
                    result,
                    label if is_cut and (is_summed or result == label) else None,
                    first.seconds + second.seconds + multiply + seconds_to_join(rates, joined) + seconds_to_receive(rates, sent),
                    first.moved + second.moved + joined + sent,
                    math.ceil(held * rates.itemsize),
                    scratch,
                    math.ceil(first.bytes + second.bytes + held * rates.itemsize) + scratch,
                )


def _joined(rates: Rates, size: float, held: float, everywhere: bool) -> float:
    """Bytes that a rank receives when sums of all ranks are added, where each then has a part, or all have all."""
    others = (rates.ranks - 1) / rates.ranks
    return (2 * size * others if everywhere else held * (rates.ranks - 1)) * rates.sum_itemsize


def _sent(rates: Rates, size: float) -> float:
    """Bytes that a rank receives if each has a part of the product and all get all."""
    return size * (rates.ranks - 1) / rates.ranks * rates.itemsize


def _is_read(request: Request, one: Held, wanted: Optional[Cut], is_summed: bool) -> bool:
    """Whether a factor stays where it is, and the product reads of other ranks what they need of it."""
    form = request.form
    if request.limited or one.partial or wanted == WHOLE or is_summed or not form.summed:
        return False
    if one.cut == ANY:
        return not form.merges
    # Of dimensions that become one only the first may be cut, and it must be the same one in both factors.
    if wanted is not None and one.cut in form.summed and len(form.summed) > 1:
        return False
    return not any(one.cut in group and wanted in group for group in (form.rows, form.columns, form.summed))


def _brought(
    request: Request, held: List[Held], wanted: Optional[Cut], size: float, part: float, copies: bool, is_summed: bool
) -> Iterator[_Used]:
    """A factor in each layout that there is of it, brought to the one required: cut along a label, or on all ranks."""
    rates = request.rates
    for one in held:
        if one.cut == WHOLE or one.cut == wanted:  # a rank reads its part of what it has
            here = size if one.cut == WHOLE else size * part
            yield _used(rates, one, one.cut, 0.0, 0.0, 0.0, here, size if wanted in (None, WHOLE) else size * part, copies)
            continue
        everywhere = wanted is None or wanted == WHOLE
        use = WHOLE if everywhere else wanted
        assert use is not None
        received = one.received(use) * rates.itemsize
        here = size if everywhere else size * part
        if _is_read(request, one, wanted, is_summed):
            yield _used(rates, one, one.cut, seconds_to_read(rates, received), received, 0.0, size / rates.ranks, here, copies)
        else:
            copy = here * rates.itemsize
            yield _used(rates, one, use, seconds_to_move(rates, received), received, copy, here, here, copies)


def _used(rates: Rates, one: Held, use: Cut, seconds: float, moved: float, bytes_: float, here: float, multiplied: float, copies: bool) -> _Used:
    copied = here * rates.itemsize if copies else 0.0
    return _Used(one.cut, use, one.seconds, seconds + seconds_to_copy(rates, copied), moved, bytes_ + copied, multiplied)


def _by_the_library(request: Request, left: List[Held], right: List[Held]) -> Iterator[Choice]:
    """In whatever layouts the factors are, on the best grid of ranks."""
    form, rates = request.form, request.rates
    sizes = request.sizes
    ranks = rates.ranks
    held = math.ceil(sizes[2] * rates.itemsize / ranks)
    best: Tuple[float, float] = (math.inf, 0.0)
    products = sizes[3] / ranks
    for rows, columns, summed in grids(ranks):
        parts = (sizes[0] / (rows * summed), sizes[1] / (columns * summed), sizes[2] / (rows * columns))
        read = (parts[0] + parts[1]) * (1 - 1 / ranks) * rates.itemsize
        joined = parts[2] * (1 - 1 / summed) * rates.sum_itemsize
        seconds = seconds_to_multiply(rates, products, *parts) + seconds_to_read(rates, read) + seconds_to_join(rates, joined)
        best = min(best, (seconds, read + joined))
    result = WHOLE if ranks == 1 else ANY
    for first in left:
        for second in right:
            copied = sum(size * rates.itemsize / ranks for size, is_copied in zip(sizes, request.copied) if is_copied)
            scratch = scratch_of(rates, 0.0, sizes[2] / ranks)
            cuts = (first.cut, second.cut)
            seconds = best[0] + seconds_to_copy(rates, copied)
            yield Choice(cuts, cuts, result, None, seconds, best[1], held, scratch, held + math.ceil(copied) + scratch)


__all__ = ["Choice", "Form", "Held", "Request", "choices_of"]
