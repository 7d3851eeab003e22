"""The plan of einsum as text: the order, layouts, bytes and seconds of its products."""

from __future__ import annotations

from typing import Any, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from . import _core
from ._array import Array, core_given, require_one_context
from ._contraction import Steps, prepared, reduced
from ._diagonals import diagonal_layout
from ._dtypes import dtype_name
from ._einsum import check_words, is_multiplied, needed_labels
from ._einsum_cost import Cut
from ._einsum_plan import Plan, planned
from ._einsum_run import problem_of
from ._einsum_terms import order_asked, parsed
from ._errors import TypeError
from ._layouts import default_layout, inserted, removed


class _Described(NamedTuple):
    """An array without elements."""

    layout: _core.Layout

    @property
    def shape(self) -> Tuple[int, ...]:
        return self.layout.shape


def _without(a: _Described, axes: Sequence[int]) -> _Described:
    return _Described(_core.reduced_layout(a.layout, axes))


def _diagonal(a: _Described, offset: int, first: int, second: int) -> _Described:
    shape = tuple(extent for axis, extent in enumerate(a.shape) if axis not in (first, second))
    return _Described(diagonal_layout(a.layout, (*shape, a.shape[first])))


def _without_axis(a: _Described, axis: int) -> _Described:
    layout = removed(a.layout, axis)
    return _Described(default_layout((*a.shape[:axis], *a.shape[axis + 1 :]), a.layout.ranks) if layout is None else layout)


def _with_axis(a: _Described, axis: int) -> _Described:
    layout = inserted(a.layout, axis)
    return _Described(default_layout((*a.shape[:axis], 1, *a.shape[axis:]), a.layout.ranks) if layout is None else layout)


def _nothing(*_: Any) -> Any:
    raise AssertionError


_described = Steps(_without, _diagonal, _with_axis, _without_axis, _nothing, _nothing)


def einsum_path(
    subscripts: str, *operands: Any, out: Optional[Array] = None, optimize: Any = True, memory_limit: Optional[int] = None
) -> Tuple[List[Any], str]:
    """The order in which `einsum` multiplies, and a text with the layouts, bytes and seconds of each product. Local: nothing is computed.

    Parameters
    ----------
    subscripts : str
        As for `einsum`.
    operands : Array or numpy.ndarray
        The operands; at least one distributed array. Their elements are not read.
    out, optimize, memory_limit
        As for `einsum`.

    Returns
    -------
    path : list
        'einsum_path', and a pair of positions for each product: both arrays are removed from the list, and their product is appended. It
        can be passed as `optimize`.
    text : str
        For each product the labels, how the factors and the product are distributed ('i': cut along i as Slab cuts it), the bytes that a rank
        receives, the predicted seconds, and the bytes that a rank has allocated meanwhile.

    Raises
    ------
    ArgumentError
        As for `einsum`.
    """
    check_words(subscripts, memory_limit)
    arrays = [one for one in operands if isinstance(one, Array)]
    if not arrays:
        raise TypeError("einsum_path: expected a distributed array among the operands")
    target = None if out is None else core_given(out).layout
    require_one_context("einsum_path", *arrays, *([] if out is None else [out]))
    first = arrays[0]
    context = first._core.context
    given = [one if isinstance(one, Array) else np.asarray(one) for one in operands]
    dtype = np.result_type(*(one.dtype for one in given))
    ranks = context.size
    layouts = [one.layout if isinstance(one, Array) else _core.Layout(_core.Replicated(), one.shape, ranks) for one in given]
    terms, result = parsed(subscripts, tuple(one.ndim for one in given))
    as_they_are = [is_multiplied(place, terms, result) and one.dtype == dtype for place, one in enumerate(given)]
    complete = [one if one.partial is None or as_it_is else default_layout(one.shape, ranks) for one, as_it_is in zip(layouts, as_they_are)]
    described, labels = prepared(subscripts, [_Described(one) for one in complete], terms, _described)
    for place, term in enumerate(labels):
        described[place], labels[place] = reduced(described[place], term, needed_labels(place, labels, result), _described)
    own = [one.layout is not old or each.dtype != dtype for one, old, each in zip(described, layouts, given)]
    if len(described) == 1:
        return ["einsum_path", (0,)], f"einsum {subscripts!r}: one operand, no products"
    plan = planned(
        problem_of(
            described, labels, result, context, dtype_name(dtype), dtype.itemsize, first._core.on_host, target, own, memory_limit or None, order_asked(optimize)
        )
    )
    return ["einsum_path", *(tuple(sorted(step.places)) for step in plan.steps)], _text(subscripts, plan, ranks)


def _text(subscripts: str, plan: Plan, ranks: int) -> str:
    head = f"einsum {subscripts!r} on {ranks} {'rank' if ranks == 1 else 'ranks'}: {_seconds(plan.seconds)} predicted, a rank receives {_bytes(plan.moved)}"
    lines = [f"{head} and has at most {_bytes(plan.peak)} allocated"]
    for number, step in enumerate(plan.steps, 1):
        equation = f"{_labels(step.terms[0])},{_labels(step.terms[1])}->{_labels(step.kept)}"
        layouts = f"{_layout(step.uses[0])}, {_layout(step.uses[1])} -> {_layout(step.result)}"
        lines.append(
            f"  {number}. {equation}: {layouts}; {_bytes(step.moved)} received, {_seconds(step.seconds)}, {_bytes(step.peak)} allocated"
        )
    return "\n".join(lines)


def _labels(labels: Sequence[Any]) -> str:
    return "".join(one if isinstance(one, str) else f"[{one}]" for one in labels)


def _layout(cut: Cut) -> str:
    return cut if isinstance(cut, str) else f"[{cut}]"


def _bytes(count: float) -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} bytes"


def _seconds(seconds: float) -> str:
    if seconds < 1e-3:
        return f"{seconds * 1e6:.3g} us"
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


__all__ = ["einsum_path"]
