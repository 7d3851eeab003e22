"""A plan of an equation, made for arrays and executed: each step is two moves, if they are needed, and one product of matrices."""

from __future__ import annotations

import math
from typing import Any, Dict, Hashable, List, Optional, Sequence, Tuple

import numpy as np

from . import _core
from ._array import Array
from ._contraction import Groups, Labels, Steps, is_run, ordered
from ._device_ufuncs import product as device_product
from ._diagonals import diagonal
from ._einsum_cost import ANY, WHOLE, Cut, rates_of
from ._einsum_plan import Plan, Problem, Step, cut_of, planned, rule_of_cut
from ._errors import ArgumentError
from ._layouts import default_layout, is_whole, remade
from ._layouts import regrouped as regrouped_layout
from ._linear import matmul
from ._mesh import Rule
from ._moves import part_of, with_view
from ._promotion import is_native, product, promoted
from ._shapes import regrouped, reshape
from ._views import with_axis, without_axis


def _total(a: Array, axes: List[int]) -> Any:
    return a.sum(axes, dtype=a.dtype)


def _diagonal(a: Array, offset: int, first: int, second: int) -> Array:
    return diagonal(a, offset, first, second)


of_arrays = Steps(_total, _diagonal, with_axis, without_axis, regrouped, matmul)


def completed(a: Array) -> Array:
    """With values: sums that are still to be added are, in a layout of its shape. Collective if the array is partial."""
    return a.redistribute(default_layout(a.shape, a._core.context.size).distribution) if a._core.is_partial else a


def problem_of(
    arrays: Sequence[Any], terms: Sequence[Sequence[Hashable]], result: Sequence[Hashable], context: _core.Context, dtype: str, itemsize: int,
    on_host: bool, out: Optional[_core.Layout] = None, own: Optional[Sequence[bool]] = None, limit: Optional[int] = None, optimize: Any = True,
) -> Problem:  # fmt: skip
    """What is planned, of anything with a shape and a layout."""
    return Problem(
        tuple(map(tuple, terms)), tuple(one.shape for one in arrays), tuple(one.layout for one in arrays), tuple(result), out,
        tuple(own) if own is not None else (False,) * len(arrays), limit, optimize, rates_of(context, dtype, itemsize, not on_host),
    )  # fmt: skip


def executed(plan: Plan, arrays: List[Array], out: Optional[_core.Layout]) -> Array:
    """The product of the last step. `arrays` is emptied, so that factors are freed as soon as they have been used. Collective, blocking."""
    while len(arrays) > 1:
        step = plan.steps[len(plan.steps) - len(arrays) + 1]
        first, second = (_brought(arrays[place], term, use) for place, term, use in zip(step.places, step.terms, step.uses))
        for place in sorted(step.places, reverse=True):
            del arrays[place]
        arrays.append(_step(step, first, second, out if not arrays else None))
        del first, second
    return arrays.pop()


def _brought(a: Array, term: Sequence[Hashable], use: Cut) -> Array:
    """In the layout in which it is multiplied."""
    if use == ANY or (use == WHOLE and is_whole(a.layout) and not a._core.is_partial):
        return a
    rule = rule_of_cut(use, term)
    wanted = _core.Layout(rule, a.shape, a._core.context.size)
    return a if wanted.equivalent(a.layout) else a.redistribute(rule)


def _step(step: Step, first: Array, second: Array, out: Optional[_core.Layout]) -> Array:
    here, there = step.groups
    if not here.summed:
        return _elementwise(step, *promoted("einsum", first, second))
    extents = {**dict(zip(step.terms[0], first.shape)), **dict(zip(step.terms[1], second.shape))}
    left = _merged(first, step.terms[0], *(_of_left(one) for one in (here, there)))
    right = _merged(second, step.terms[1], *(_of_right(one) for one in (here, there)))
    full = _layout_of_result(step, here, extents, first._core.context.size, out)
    found = _split(left, right, full, here, there, extents, step.room)
    return ordered(found, here.result, step.kept)  # type: ignore[no-any-return]


def _elementwise(step: Step, first: Array, second: Array) -> Array:
    """Where nothing is summed: products of elements, which are repeated along the labels that a factor has not. Each rank has what it needs."""
    extents = {**dict(zip(step.terms[0], first.shape)), **dict(zip(step.terms[1], second.shape))}
    shape, core = tuple(extents[one] for one in step.kept), first._core
    rule = _core.Replicated() if step.result in (WHOLE, ANY) else _core.Slab(step.kept.index(step.result))
    layout = _core.Layout(rule, shape, core.context.size)
    views = [_expanded(one, term, step.kept) for one, term in zip((first, second), step.terms)]
    if not core.on_host:
        return device_product(views[0], views[1], layout)
    made = Array(_core.empty_like_layout(core.context, layout, core.dtype, "C", True, "host"), first._package)
    if layout.local_size(core.context.rank):
        left, right = (_read_by(one, layout) for one in views)
        np.multiply(left, right, out=part_of(made))
    return made


def _expanded(a: Array, term: Sequence[Hashable], kept: Sequence[Hashable]) -> Array:
    """With all dimensions of the result, those that it has not of extent 1."""
    a = ordered(a, term, [one for one in kept if one in term])
    for place, one in enumerate(kept):
        if one not in term:
            a = with_axis(a, place)
    return a


def _read_by(a: Array, layout: _core.Layout) -> Any:
    """This rank's elements of an array that it reads for its part of the result."""
    rank, part = a._core.context.rank, part_of(a)
    keys = []
    for axis, extent in enumerate(a.shape):
        bounds = layout.bounds(axis, rank)
        assert bounds is not None
        first, last = bounds
        is_whole_here = part.shape[axis] == extent != last - first and extent == layout.shape[axis]
        keys.append(slice(first, last) if is_whole_here else slice(None))
    return part[tuple(keys)]


def _of_left(groups: Groups) -> List[Labels]:
    """The dimensions of the first matrix, or of a vector: the library multiplies them where they are."""
    return [*([one] for one in groups.batch), *([groups.rows] if groups.rows or groups.batch else []), groups.summed]


def _of_right(groups: Groups) -> List[Labels]:
    return [*([one] for one in groups.batch), groups.summed, *([groups.columns] if groups.columns or groups.batch else [])]


def _merged(a: Array, term: Sequence[Hashable], here: List[Labels], there: List[Labels]) -> Array:
    """One dimension for each group of labels. `here`: their order in a rank's memory; `there`: in the layout, as of the whole array."""
    order = [term.index(one) for group in here for one in group]
    if all(len(group) <= 1 for group in here):
        a = a if order == list(range(a.ndim)) else a.transpose(order)
        for place, group in enumerate(here):
            if not group:
                a = with_axis(a, place)
        return a
    shape = tuple(math.prod(a.shape[term.index(one)] for one in group) for group in here)
    permuted = a.layout.permuted([term.index(one) for group in there for one in group])
    layout = regrouped_layout(permuted, shape)
    if layout is None:  # of an array without elements
        return reshape(a.transpose(order), shape)
    a = a if order == list(range(a.ndim)) else a.transpose(order)
    if not all(is_run(group, term) for group in here):  # by the library, into memory that other ranks read
        a = a.copy()
    return with_view(a, layout, part_of(a).reshape(layout.local_shape(a._core.context.rank)))


def _layout_of_result(step: Step, groups: Groups, extents: Dict[Any, int], ranks: int, out: Optional[_core.Layout]) -> Optional[_core.Layout]:
    """Of the product, with all its dimensions in the order of a rank's memory; None: the cheapest."""
    shape = tuple(extents[one] for one in groups.result)
    if ranks == 1 or 0 in shape:
        return None
    if step.result == WHOLE:
        return _core.Layout(_core.Replicated(), shape, ranks)
    if step.result != ANY:
        return _core.Layout(_core.Slab(groups.result.index(step.result)), shape, ranks)
    if out is not None and cut_of(out, step.kept) == ANY and not groups.merges:
        return out.permuted([step.kept.index(one) for one in groups.result])
    return None


def _split(
    left: Array, right: Array, full: Optional[_core.Layout], here: Groups, there: Groups, extents: Dict[Any, int], room: Optional[int]
) -> Array:
    """The product of the matrices, with all its dimensions."""
    shape = tuple(extents[one] for one in here.result)
    merged = (*left.shape[:-1], *(right.shape[-1:] if here.columns or here.batch else ()))
    asked = None
    if full is not None:
        permuted = full.permuted([here.result.index(one) for one in there.result])
        asked = permuted if permuted.shape == merged else regrouped_layout(permuted, merged)
    if asked is None or full is None or remade(asked.distribution, merged, asked.ranks) != asked:
        found = _multiplied(left, right, None, room)
        for place in ([len(here.batch)] if here.batch and not here.rows else []) + ([-1] if here.batch and not here.columns else []):
            found = without_axis(found, place % found.ndim)
        return found if found.shape == shape else regrouped(found, shape)
    found = _multiplied(left, right, asked.distribution, room)
    found = found if found.layout == asked else found.redistribute(asked.distribution)
    if merged == shape:
        return found
    return with_view(found, full, part_of(found).reshape(full.local_shape(found._core.context.rank)))


def _multiplied(left: Array, right: Array, rule: Optional[Rule], room: Optional[int]) -> Array:
    options: Dict[str, Any] = {**({} if rule is None else {"distribution": rule}), **({} if room is None else {"memory_limit": room})}
    if not options:
        return matmul(left, right)
    if is_native(left, right):
        return matmul(left, right, **options)
    return product(left, right, lambda one, other: matmul(one, other, **options))


def contracted_arrays(a: Array, of_a: Sequence[Hashable], b: Array, of_b: Sequence[Hashable], kept: Sequence[Hashable]) -> Array:
    """The sum of a[of_a] b[of_b] over the labels of both that are not kept; all others are. Collective, blocking."""
    core = a._core
    itemsize = max(a.dtype.itemsize, b.dtype.itemsize)
    problem = problem_of((a, b), (of_a, of_b), kept, core.context, core.dtype, itemsize, core.on_host)
    return executed(planned(problem), [a, b], None)


__all__ = ["completed", "contracted_arrays", "executed", "of_arrays", "problem_of"]
