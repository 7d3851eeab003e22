"""Sorted arrays, and the indices that sort them."""

from __future__ import annotations

from typing import Any, Callable, Optional

import numpy as np

from . import _core
from ._agreement import alike
from ._array import Array, core_given
from ._axes import (
    Cuts,
    Destination,
    Sequenced,
    blocks_along,
    finished,
    has_whole_axes,
    in_any_order,
    longest_slab,
    moved,
    on_host,
    one_axis,
    reduced,
    sequence,
    slab_cuts,
    values_of,
    wrapped,
)
from ._dtypes import _of_ml_dtypes
from ._errors import ArgumentError
from ._freed_memory import blocks
from ._local_order import argsorted

_kinds = (None, "quicksort", "heapsort", "mergesort", "stable")


@alike
def sort(
    a: Array,
    axis: Optional[int] = -1,
    kind: Optional[str] = None,
    *,
    descending: bool = False,
    stable: Optional[bool] = None,
    distribution: Optional[Destination] = None,
) -> Array:
    """A sorted copy, as `numpy.sort`. Collective, blocking.

    Parameters
    ----------
    axis : int or None, default -1
        The axis; None: all elements, in a result of one dimension.
    kind, stable : optional
        As in NumPy. Equal elements are alike, so these choose only the algorithm within a rank.
    descending : bool, default False
        The largest element first.
    distribution : distribution or Layout, optional
        Distribution of the result. Unset: the layout of the array; for None as `axis` `Slab(0)`.

    Notes
    -----
    NaNs are the largest elements; complex numbers are ordered by their real parts, then by their imaginary parts. An axis that each rank has
    completely is sorted without communication. Otherwise an array of one dimension, or one with fewer lines than ranks, is sorted by
    each rank, cut at exact positions (histogram sort), exchanged once and merged, so the parts have exactly the sizes of the requested
    layout; with more lines it is redistributed so that each rank has whole lines.
    """
    if kind not in _kinds:
        raise ArgumentError(f"sort: kind {kind!r}; known: {', '.join(str(one) for one in _kinds[1:])}")
    order: Any = "stable" if stable else kind

    def lines(values: Any, axis: int) -> Any:
        ordered = np.sort(values, axis=axis, kind=order)
        return np.flip(ordered, axis) if descending else ordered

    return _ordered(a, axis, lines, False, descending, distribution)


@alike
def argsort(
    a: Array,
    axis: Optional[int] = -1,
    kind: Optional[str] = None,
    *,
    descending: bool = False,
    stable: Optional[bool] = None,
    distribution: Optional[Destination] = None,
) -> Array:
    """The indices that sort an array, as `numpy.argsort`, in int64. Collective, blocking.

    Parameters
    ----------
    axis : int or None, default -1
        The axis; None: the elements in row-major order.
    kind, stable : optional
        As in NumPy; the order is always stable: equal elements are in the order of their indices.
    descending : bool, default False
        The index of the largest element first; equal elements are still in the order of their indices.
    distribution : distribution or Layout, optional
        Distribution of the result. Unset: the layout of the array; for None as `axis` `Slab(0)`.

    Notes
    -----
    See `sort`. `take(a, argsort(a))` is the sorted array of one dimension.
    """
    if kind not in _kinds:
        raise ArgumentError(f"argsort: kind {kind!r}; known: {', '.join(str(one) for one in _kinds[1:])}")

    def lines(values: Any, axis: int) -> Any:
        return stable_order(values, descending, axis)

    return _ordered(a, axis, lines, True, descending, distribution)


def stable_order(values: Any, descending: bool = False, axis: int = 0) -> Any:
    """The indices that sort an axis of local values, equal elements by increasing index."""
    if descending:  # read from its end
        return np.flip(values.shape[axis] - 1 - stable_order(np.flip(values, axis), False, axis), axis)
    return argsorted(values) if values.ndim == 1 else np.argsort(values, axis, kind="stable")


def _ordered(
    a: Array, axis: Optional[int], lines: Callable[[Any, int], Any], order: bool, descending: bool, distribution: Optional[Destination]
) -> Array:
    """Lines that ranks divide, and sequences on devices, are ordered by the library; `lines` orders whole lines of a rank."""
    if _is_sorted_there(a, axis, order):
        made = Array(_core.sorted_array(reduced(a)._core, None if axis is None else 0, descending, order), a._package)
        return moved(made, distribution)
    given = on_host(a)
    if given._core.dtype in _of_ml_dtypes:  # NaNs among these are not the last in NumPy
        found = _ordered(given.astype("float32"), axis, lines, order, descending, distribution)
        return finished(a, found if order else found.astype(given.dtype))
    if axis is None:
        if not order:
            return sequence(a, _sorted_sequence(in_any_order(given), slab_cuts(given.size, given._core.context.size), descending), distribution)
        return moved(finished(a, Array(_core.sorted_array(given._core, None, descending, order), "numpy")), distribution)
    along = one_axis(axis, given.ndim)
    wanted = given.layout if distribution is None else distribution
    there = given
    if not has_whole_axes(given.layout, (along,)):
        if given.ndim == 1 and not order:
            cuts = blocks_along(given.layout, 0) or slab_cuts(given.size, given._core.context.size)
            return sequence(a, _sorted_sequence(in_any_order(given), cuts, descending), wanted)
        if given.size // max(given.shape[along], 1) < given._core.context.size:
            made = Array(_core.sorted_array(given._core, along, descending, order), "numpy")
            return moved(finished(a, made), distribution)
        there = given.redistribute(longest_slab(given.shape, [along]))
    made = wrapped(a, there.layout, lines(values_of(there), along))
    return moved(made, wanted)


def _sorted_sequence(one: Sequenced, cuts: Cuts, descending: bool) -> Sequenced:
    """The sequence sorted, in other blocks. This rank's elements, sorted by NumPy, and its part of the result are in the same memory."""
    context = one.context
    wanted = cuts[context.rank + 1] - cuts[context.rank]
    memory = blocks.empty((max(len(one.values), wanted),), one.values.dtype)
    values = memory[: len(one.values)]
    values[...] = one.values
    values.sort()
    if descending:
        values[...] = values[::-1].copy()
    if context.size > 1:
        _core.exchange_sorted(context, values, memory[:wanted], descending)
    return Sequenced(context, memory[:wanted], cuts)


def _is_sorted_there(a: Array, axis: Optional[int], order: bool) -> bool:
    """Whether it is one sequence of numbers in device memory, which the devices sort; the order of one only if there is one rank."""
    core = core_given(a)
    if core.on_host or core.dtype.startswith(("complex", "float8")) or (axis is not None and (a.ndim != 1 or axis not in (0, -1))):
        return False
    return core.context.size == 1 or not order


__all__ = ["argsort", "sort"]
