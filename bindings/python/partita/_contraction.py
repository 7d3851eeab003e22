"""Sums of products of two arrays with labelled dimensions, each by one product of matrices, for any kind of arrays."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Callable, Dict, FrozenSet, Hashable, List, NamedTuple, Sequence, Tuple

from ._einsum_terms import parsed, path_of
from ._errors import ArgumentError

Labels = List[Any]


class Groups(NamedTuple):
    """The labels of a product of two arrays, by what they are in a product of matrices."""

    batch: Labels
    """In both and in the result: leading dimensions."""
    rows: Labels
    """In the first and in the result: one dimension."""
    columns: Labels
    """In the second and in the result: one dimension."""
    summed: Labels
    """In both: one dimension, which the product sums over."""

    @property
    def result(self) -> Labels:
        """The labels of the product, in its order."""
        return [*self.batch, *self.rows, *self.columns]

    @property
    def merges(self) -> bool:
        """Whether dimensions become one."""
        return max(len(self.rows), len(self.columns), len(self.summed)) > 1


def groups_of(of_a: Sequence[Hashable], of_b: Sequence[Hashable], kept: Sequence[Hashable], cut: FrozenSet[Hashable]) -> Groups:
    """Of operands all of whose labels are in the other one or kept; labels in `cut` are in front of those that they are merged with."""
    both = [one for one in of_a if one in of_b]
    batch, summed = [one for one in both if one in kept], [one for one in both if one not in kept]
    rows, columns = ([one for one in labels if one not in both] for labels in (of_a, of_b))
    for merged in (rows, columns, summed):
        merged.sort(key=lambda one: one not in cut)
    return Groups(batch, rows, columns, summed)


def arranged(
    terms: Tuple[Sequence[Hashable], Sequence[Hashable]], kept: Sequence[Hashable], front: FrozenSet[Hashable], loose: FrozenSet[Hashable], like_second: bool
) -> Tuple[Groups, Groups]:
    """The orders of labels in a rank's memory, and in layouts.

    They differ where both factors, or a factor and the result, are cut along the same label, one of `loose`: parts of merged dimensions then
    have their elements in the order of memory, which need not be that of the whole dimension. `front`: other labels that are cut, which are in
    front in both. `like_second`: what is summed is in the order of the second factor.
    """
    natural = groups_of(*terms, kept, frozenset())
    if like_second:
        natural.summed.sort(key=list(terms[1]).index)
    here, there = ([list(group) for group in natural] for _ in range(2))
    for mine, theirs in zip(here, there):
        if not loose.intersection(mine):
            mine.sort(key=lambda one: one not in front)
        theirs.sort(key=lambda one: one not in front and one not in loose)
    return Groups(natural.batch, *here[1:]), Groups(natural.batch, *there[1:])


def is_run(group: Sequence[Hashable], term: Sequence[Hashable]) -> bool:
    """Whether the labels follow each other in the term."""
    places = [list(term).index(one) for one in group]
    return places == list(range(places[0], places[0] + len(places))) if places else True


@dataclasses.dataclass(frozen=True)
class Steps:
    """What sums of products are made of, for one kind of arrays; `product` is of matrices, behind dimensions that both have."""

    total: Callable[[Any, List[int]], Any]
    diagonal: Callable[[Any, int, int, int], Any]
    with_axis: Callable[[Any, int], Any]
    without_axis: Callable[[Any, int], Any]
    reshape: Callable[[Any, Sequence[int]], Any]
    product: Callable[[Any, Any], Any]
    #: Labels of distributed dimensions: in front of those that they are merged with, so that parts stay together.
    cut: FrozenSet[Hashable] = frozenset()


def contracted(
    a: Any, of_a: Sequence[Hashable], b: Any, of_b: Sequence[Hashable], kept: Sequence[Hashable], steps: Steps
) -> Any:
    """The sum of a[of_a] b[of_b] over all labels that are not kept, with the dimensions in the order of `kept`. Collective, blocking."""
    a, left_labels = reduced(a, list(of_a), {*of_b, *kept}, steps)
    b, right_labels = reduced(b, list(of_b), {*left_labels, *kept}, steps)
    groups = groups_of(left_labels, right_labels, kept, steps.cut)
    batch, rows, columns, summed = groups
    extents = {**dict(zip(left_labels, a.shape)), **dict(zip(right_labels, b.shape))}
    left = _grouped(a, left_labels, [*([one] for one in batch), rows, summed], steps)
    right = _grouped(b, right_labels, [*([one] for one in batch), summed, columns], steps)
    found = steps.product(left, right)
    labels = groups.result
    shape = tuple(extents[one] for one in labels)
    if not rows and found.ndim > len(batch) and found.shape != shape:
        found = steps.without_axis(found, len(batch))
    if not columns and found.ndim > len(batch) and found.shape != shape:
        found = steps.without_axis(found, found.ndim - 1)
    found = found if found.shape == shape else steps.reshape(found, shape)
    return ordered(found, labels, kept)


def reduced(a: Any, labels: Labels, needed: "set[Hashable]", steps: Steps) -> Tuple[Any, Labels]:
    """Summed over the labels that are not needed."""
    gone = [axis for axis, one in enumerate(labels) if one not in needed]
    return steps.total(a, gone) if gone else a, [one for one in labels if one in needed]


def _grouped(a: Any, labels: Labels, groups: List[Labels], steps: Steps) -> Any:
    """One dimension for each group of labels."""
    order = [labels.index(one) for group in groups for one in group]
    a = a if order == list(range(a.ndim)) else a.transpose(order)
    shape, start = [], 0
    for group in groups:
        shape.append(math.prod(a.shape[start : start + len(group)]))
        start += len(group)
    if all(len(group) == 1 for group in groups):
        return a
    if all(len(group) <= 1 for group in groups):
        for place, group in enumerate(groups):
            if not group:
                a = steps.with_axis(a, place)
        return a
    return steps.reshape(a, shape)


def summed(subscripts: str, given: List[Any], optimize: Any, steps: Steps) -> Any:
    """The sum of products of arrays of one dtype, by such steps, in the order of opt_einsum."""
    terms, result = parsed(subscripts, tuple(one.ndim for one in given))
    arrays, labels = prepared(subscripts, given, terms, steps)
    shapes = tuple(one.shape for one in arrays)
    for pair in path_of(tuple(map(tuple, labels)), result, shapes, optimize):
        if len(pair) == 1:
            continue
        chosen = [(arrays[place], labels[place]) for place in pair]
        for place in sorted(pair, reverse=True):
            del arrays[place], labels[place]
        needed = {*result, *(one for term in labels for one in term)}
        first, term = chosen[0]
        for place, (other, others) in enumerate(chosen[1:], 2):
            later = needed | {one for _, more in chosen[place:] for one in more}
            kept = [one for one in dict.fromkeys((*term, *others)) if one in later]
            last = not arrays and place == len(chosen)
            kept = list(result) if last else kept
            first, term = contracted(first, term, other, others, kept, steps), kept
        arrays.append(first)
        labels.append(term)
    return ordered(*reduced(arrays[0], labels[0], set(result), steps), result)


def ordered(a: Any, labels: Sequence[Hashable], wanted: Sequence[Hashable]) -> Any:
    """With the dimensions in another order."""
    return a if list(labels) == list(wanted) else a.transpose([labels.index(one) for one in wanted])


def prepared(subscripts: str, given: Sequence[Any], terms: Sequence[Sequence[Any]], steps: Steps) -> Tuple[List[Any], List[Labels]]:
    """The operands with each label once: of repeated ones the diagonal. ArgumentError if extents differ."""
    found = [_distinct(subscripts, one, list(term), steps) for one, term in zip(given, terms)]
    _require_extents(subscripts, found, steps)
    return [one for one, _ in found], [term for _, term in found]


def _distinct(subscripts: str, a: Any, term: Labels, steps: Steps) -> Tuple[Any, Labels]:
    for one in [one for one in dict.fromkeys(term) if term.count(one) > 1]:
        while term.count(one) > 1:
            first = term.index(one)
            second = term.index(one, first + 1)
            if a.shape[first] != a.shape[second]:
                raise ArgumentError(f"einsum: {subscripts!r}: {one!r} is of {a.shape[first]} and of {a.shape[second]} elements")
            a = steps.diagonal(a, 0, first, second)
            term = [label for axis, label in enumerate(term) if axis not in (first, second)] + [one]
    return a, term


def _require_extents(subscripts: str, prepared: List[Tuple[Any, Labels]], steps: Steps) -> None:
    """ArgumentError if extents differ; dimensions of extent 1 are dropped where another operand has more."""
    extents: Dict[Any, int] = {}
    for a, term in prepared:
        for one, extent in zip(term, a.shape):
            if extents.get(one, 1) == 1:
                extents[one] = extent
    for place, (a, term) in enumerate(prepared):
        for axis in reversed(range(len(term))):
            if a.shape[axis] == 1 != extents[term[axis]]:
                a, term = steps.without_axis(a, axis), term[:axis] + term[axis + 1 :]
            elif a.shape[axis] != extents[term[axis]]:
                raise ArgumentError(f"einsum: {subscripts!r}: {term[axis]!r} is of {extents[term[axis]]} and of {a.shape[axis]} elements")
        prepared[place] = (a, term)


__all__ = ["Groups", "Steps", "arranged", "contracted", "groups_of", "is_run", "ordered", "prepared", "reduced", "summed"]
