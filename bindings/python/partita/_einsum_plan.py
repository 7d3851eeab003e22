"""Which two arrays of an equation are multiplied next, in which layouts, and how much memory that takes: chosen together, by cost. Pure.

An array is described by the label along which it is cut. For each set of operands and each such label there is the cheapest way to have the
product of these operands; that of a larger set consists of two smaller ones. All ranks find the same, since they are given the same.
"""

from __future__ import annotations

import functools
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from . import _core
from ._contraction import Groups, arranged, is_run
from ._einsum_cost import ANY, WHOLE, Cut, Rates, seconds_to_copy, seconds_to_move, share
from ._einsum_products import Choice, Form, Held, Request, choices_of
from ._einsum_terms import Terms, path_of
from ._errors import ArgumentError
from ._layouts import is_whole

#: Of so many operands all orders are compared, of more those of one path.
most_compared = 8
#: Of so many also products of arrays that have no label in common.
_most_with_outer = 3
#: With a memory limit: so many ways with different seconds and bytes are kept of each.
_most_kept = 8


class Problem(NamedTuple):
    """An equation of operands with each label once, all of which are in another operand or in the result."""

    terms: Terms
    shapes: Tuple[Tuple[int, ...], ...]
    layouts: Tuple[_core.Layout, ...]
    result: Tuple[Any, ...]
    out: Optional[_core.Layout]
    """Of the array for the result."""
    own: Tuple[bool, ...]
    """Which operands are copies that were made for this call, and count as memory."""
    limit: Optional[int]
    """Bytes of memory of a rank."""
    optimize: Any
    rates: Rates


class Step(NamedTuple):
    """A product of two arrays."""

    places: Tuple[int, int]
    """Of the factors, among the arrays that are left; both are removed, and the product is appended."""
    terms: Tuple[Tuple[Any, ...], Tuple[Any, ...]]
    uses: Tuple[Cut, Cut]
    """How the factors are distributed before they are multiplied."""
    kept: Tuple[Any, ...]
    result: Cut
    groups: Tuple[Groups, Groups]
    """In a rank's memory, and in layouts; see `arranged`."""
    moved: int
    """Bytes that a rank receives, at most."""
    seconds: float
    peak: int
    """Bytes that are allocated on a rank meanwhile, at most."""
    room: Optional[int]
    """Bytes for scratch of the product, where there is a memory limit."""


class Plan(NamedTuple):
    steps: Tuple[Step, ...]
    seconds: float
    moved: int
    peak: int


class _Way(NamedTuple):
    """How the product of a set of operands is made, in one layout."""

    seconds: float
    moved: float
    peak: int
    held: int
    """Bytes of the product on a rank; 0 of an operand, which is the caller's."""
    made: Optional[_Made]


class _Made(NamedTuple):
    factors: Tuple[int, int]
    ways: Tuple[_Way, _Way]
    first: int
    """Which of the factors is made first."""
    choice: Choice
    peak: int


def cut_of(layout: _core.Layout, term: Sequence[Any]) -> Cut:
    """The label along which it is cut."""
    if layout.partial is not None:
        return ANY
    if is_whole(layout):
        return WHOLE
    for axis, label in enumerate(term):
        if _core.Layout(_core.Slab(axis), layout.shape, layout.ranks).equivalent(layout):
            return label  # type: ignore[no-any-return]
    return ANY


@functools.lru_cache(maxsize=256)
def planned(problem: Problem) -> Plan:
    """The cheapest plan. ArgumentError if none fits into the memory limit."""
    return _Planner(problem).plan()


class _Planner:
    def __init__(self, problem: Problem) -> None:
        self._problem, self._rates = problem, problem.rates
        self._names: List[Any] = list(dict.fromkeys(one for term in problem.terms for one in term))
        self._bits = {one: 1 << place for place, one in enumerate(self._names)}
        self._extents = {one: extent for term, shape in zip(problem.terms, problem.shapes) for one, extent in zip(term, shape)}
        self._of_terms = [self._set(term) for term in problem.terms]
        self._of_result = self._set(problem.result)
        self._ways: Dict[int, Dict[Cut, List[_Way]]] = {}
        self._sets: Dict[int, int] = {}
        self._moves: Dict[Tuple[int, Cut, Cut], float] = {}
        self._base = 0
        for place, (layout, term) in enumerate(zip(problem.layouts, problem.terms)):
            self._ways[1 << place] = {cut_of(layout, term): [_Way(0.0, 0.0, 0, 0, None)]}
            if problem.own[place]:
                self._base += max(layout.local_size(rank) for rank in range(layout.ranks)) * self._rates.itemsize

    # --- sets of labels, a bit for each, so that all ranks go through them in the same order

    def _set(self, labels: Sequence[Any]) -> int:
        return sum(self._bits[one] for one in labels)

    def _labels(self, labels: int) -> List[Any]:
        return [one for place, one in enumerate(self._names) if labels >> place & 1]

    def _kept(self, operands: int) -> int:
        """The labels of the product of a set of operands."""
        found = self._sets.get(operands)
        if found is None:
            inside, outside = 0, self._of_result
            for place, labels in enumerate(self._of_terms):
                if operands >> place & 1:
                    inside |= labels
                else:
                    outside |= labels
            found = self._sets[operands] = inside & outside
        return found

    # --- the search

    def plan(self) -> Plan:
        count = len(self._problem.terms)
        whole = (1 << count) - 1
        searched = self._problem.optimize is True and count <= most_compared
        if not searched or count > _most_with_outer:
            self._follow(path_of(self._problem.terms, self._problem.result, self._problem.shapes, self._problem.optimize))
        if searched:
            for operands in sorted(range(1, whole + 1), key=lambda one: (bin(one).count("1"), one)):
                for part in self._splits(operands, count):
                    self._combine(part, operands ^ part)
        return self._chosen(whole)

    def _follow(self, path: Sequence[Tuple[int, ...]]) -> None:
        """The ways along one path."""
        left = [1 << place for place in range(len(self._problem.terms))]
        for places in path:
            parts = [left[place] for place in places]
            for place in sorted(places, reverse=True):
                del left[place]
            first = parts[0]
            for other in parts[1:]:
                self._combine(first, other)
                first |= other
            left.append(first)

    def _splits(self, operands: int, count: int) -> List[int]:
        """Parts of a set of operands, each with the first operand; of many operands only those with a label in common with the rest."""
        lowest, part, found = operands & -operands, operands, []
        while part:
            part = (part - 1) & operands
            if part & lowest and part in self._ways and operands ^ part in self._ways:
                found.append(part)
        if count <= _most_with_outer:
            return found
        return [part for part in found if self._kept(part) & self._kept(operands ^ part)]

    def _combine(self, left: int, right: int) -> None:
        """The products of what there is of two sets of operands."""
        both = left | right
        of_left, of_right, kept = self._kept(left), self._kept(right), self._kept(both)
        form = Form(
            self._labels(of_left & of_right & kept), self._labels(of_left & ~of_right), self._labels(of_right & ~of_left),
            self._labels(of_left & of_right & ~kept), self._extents,
        )  # fmt: skip
        copied = (False, False)
        if form.summed:
            copied = (self._is_copied(left, (form.rows, form.summed)), self._is_copied(right, (form.summed, form.columns)))
        is_last = both == (1 << len(self._problem.terms)) - 1
        request = Request(form, form.elements(), self._rates, copied, self._problem.limit is not None, self._alone(form), self._asked(form) if is_last else None)
        table = self._ways.setdefault(both, {})
        for choice in choices_of(request, *(list(self._held(one)) for one in (left, right))):
            for first in self._ways[left][choice.factors[0]]:
                for second in self._ways[right][choice.factors[1]]:
                    self._add(table, choice, (left, right), (first, second))

    def _is_copied(self, operands: int, groups: Sequence[Sequence[Any]]) -> bool:
        """Whether a factor is copied, because dimensions become one that do not follow each other. Of intermediate results the order is not known."""
        if operands & (operands - 1):
            return any(len(group) > 1 for group in groups)
        term = self._problem.terms[operands.bit_length() - 1]
        return not all(is_run(sorted(group, key=term.index), term) for group in groups)

    def _alone(self, form: Form) -> bool:
        """Whether it is one product of matrices, which chooses its layouts."""
        problem = self._problem
        complete = all(layout.partial is None for layout in problem.layouts)
        return len(problem.terms) == 2 and complete and bool(form.summed) and not form.merges and problem.out is None and problem.limit is None

    def _asked(self, form: Form) -> Optional[Cut]:
        """The layout of `out`, if the last product can be left in it."""
        if self._problem.out is None:
            return None
        cut = cut_of(self._problem.out, self._problem.result)
        return ANY if cut == ANY and form.summed and not form.merges else None

    def _held(self, operands: int) -> Iterator[Held]:
        of_one = operands & (operands - 1) == 0
        partial = of_one and self._problem.layouts[operands.bit_length() - 1].partial is not None
        for cut, ways in self._ways[operands].items():
            yield Held(cut, partial, ways[0].seconds, functools.partial(self._received, operands, cut))

    def _received(self, operands: int, cut: Cut, use: Cut) -> float:
        """Elements that a rank receives at most, where an array is moved to another layout."""
        key = (operands, cut, use)
        found = self._moves.get(key)
        if found is None:
            found = self._moves[key] = self._counted(operands, cut, use)
        return found

    def _counted(self, operands: int, cut: Cut, use: Cut) -> float:
        ranks = self._rates.ranks
        labels = self._labels(self._kept(operands))
        size = float(Form.size(labels, self._extents))
        part = size if use == WHOLE else size * share(self._extents[use], ranks)
        if operands & (operands - 1) == 0:
            place = operands.bit_length() - 1
            layout, term = self._problem.layouts[place], self._problem.terms[place]
            if layout.partial is not None:
                return part * (ranks - 1)
            return float(layout.most_received(_layout(use, term, layout.shape, ranks)))
        even = all(self._extents[one] >= ranks for one in (cut, use) if one not in (WHOLE, ANY))
        return part * (1 - 1 / ranks) if even else part

    def _add(self, table: Dict[Cut, List[_Way]], choice: Choice, factors: Tuple[int, int], ways: Tuple[_Way, _Way]) -> None:
        """Another way, unless there is one that is as fast and takes no more memory."""
        seconds = ways[0].seconds + ways[1].seconds + choice.seconds
        known = table.setdefault(choice.result, [])
        limited = self._problem.limit is not None
        if not limited and known and known[0].seconds <= seconds:
            return
        peak = ways[0].held + ways[1].held + choice.bytes
        each = (max(ways[0].peak, ways[0].held + ways[1].peak), max(ways[1].peak, ways[1].held + ways[0].peak))
        first = 0 if each[0] <= each[1] else 1
        made = _Made(factors, ways, first, choice, peak)
        way = _Way(seconds, ways[0].moved + ways[1].moved + choice.moved, max(each[first], peak), choice.held, made)
        if not limited:
            table[choice.result] = [way]
        elif not any(one.seconds <= seconds and one.peak <= way.peak for one in known):
            left = sorted([way, *(one for one in known if one.seconds < seconds or one.peak < way.peak)], key=lambda one: one.seconds)
            table[choice.result] = left if len(left) <= _most_kept else [*left[: _most_kept - 1], left[-1]]  # the last one takes least

    # --- the choice

    def _chosen(self, operands: int) -> Plan:
        best: Optional[Tuple[float, float, _Way, Cut]] = None
        need: Optional[int] = None
        for cut, ways in self._ways[operands].items():
            seconds, moved = self._delivery(operands, cut)
            for way in ways:
                peak = way.peak + self._base
                need = peak if need is None else min(need, peak)
                if self._problem.limit is not None and peak > self._problem.limit:
                    continue
                if best is None or way.seconds + seconds < best[0]:
                    best = (way.seconds + seconds, way.moved + moved, way, cut)
        if best is None:
            raise ArgumentError(f"einsum: a memory limit of {self._problem.limit} bytes is too small; at least {need} bytes are required")
        steps: List[Step] = []
        self._emit(best[2], operands, [1 << place for place in range(len(self._problem.terms))], list(self._problem.terms), steps)
        return Plan(tuple(steps), best[0], round(best[1]), best[2].peak + self._base)

    def _delivery(self, operands: int, cut: Cut) -> Tuple[float, float]:
        """Seconds and bytes of what is moved into `out`."""
        out, ranks = self._problem.out, self._rates.ranks
        if out is None:
            return 0.0, 0.0
        size = float(Form.size(self._problem.result, self._extents))
        wanted = cut_of(out, self._problem.result)
        if cut == wanted or cut == WHOLE:
            return seconds_to_copy(self._rates, size * self._rates.itemsize / (1 if wanted == WHOLE else ranks)), 0.0
        if cut == ANY:
            received = size / ranks
        else:
            received = float(_layout(cut, self._problem.result, out.shape, ranks).most_received(out))
        return seconds_to_move(self._rates, received * self._rates.itemsize), received * self._rates.itemsize

    def _emit(self, way: _Way, operands: int, left: List[int], terms: List[Tuple[Any, ...]], steps: List[Step], held: int = 0) -> None:
        """The steps of a way, and those before it; `held`: bytes that are kept for later ones."""
        made = way.made
        if made is None:
            return
        both = [made.first, 1 - made.first]
        self._emit(made.ways[both[0]], made.factors[both[0]], left, terms, steps, held)
        self._emit(made.ways[both[1]], made.factors[both[1]], left, terms, steps, held + made.ways[both[0]].held)
        first, second = (left.index(one) for one in made.factors)
        mine, other = terms[first], terms[second]
        choice, peak, limit = made.choice, made.peak + held + self._base, self._problem.limit
        loose = frozenset(() if choice.loose is None else (choice.loose,))
        front = frozenset(one for one in (*choice.uses, choice.result) if one not in (WHOLE, ANY)) - loose
        sizes = [Form.size(term, self._extents) for term in (mine, other)]
        groups = arranged((mine, other), self._labels(self._kept(operands)), front, loose, sizes[1] > sizes[0])
        is_last = operands == (1 << len(self._problem.terms)) - 1
        order = self._problem.result if is_last else tuple(groups[0].result)
        room = None if limit is None else max(1, limit - peak + choice.scratch)
        moved = round(choice.moved)
        steps.append(Step((first, second), (mine, other), choice.uses, order, choice.result, groups, moved, choice.seconds, peak, room))
        for place in sorted((first, second), reverse=True):
            del left[place], terms[place]
        left.append(operands)
        terms.append(order)


def _layout(cut: Cut, term: Sequence[Any], shape: Tuple[int, ...], ranks: int) -> _core.Layout:
    return _core.Layout(rule_of_cut(cut, term), shape, ranks)


def rule_of_cut(cut: Cut, term: Sequence[Any]) -> "_core.Slab | _core.Replicated":
    """The distribution of an array with these labels that is cut so."""
    return _core.Replicated() if cut == WHOLE else _core.Slab(list(term).index(cut))


__all__ = ["Plan", "Problem", "Step", "cut_of", "most_compared", "planned", "rule_of_cut"]
