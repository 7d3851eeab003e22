"""The largest and smallest elements."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

import numpy as np

from ._agreement import alike
from ._array import Array
from ._axes import (
    Destination,
    Sequenced,
    finished,
    in_order,
    moved,
    on_host,
    one_axis,
    sequence,
    slab_cuts,
    values_of,
    where_sorted,
    with_whole,
    wrapped,
)
from ._device_parts import DevicePart
from ._dtypes import _of_ml_dtypes
from ._errors import ArgumentError
from ._exchange import few_elements, gathered, of_all, sent
from ._order import cut_positions
from ._sort import stable_order


class TopK(NamedTuple):
    """The largest or smallest elements, and their indices along the axis."""

    values: Array
    indices: Array


@alike
def topk(
    a: Array, k: int, axis: Optional[int] = -1, *, largest: bool = True, distribution: Optional[Destination] = None
) -> TopK:
    """The `k` largest or smallest elements along an axis, in order, and their indices. Collective, blocking.

    Parameters
    ----------
    k : int
        The number of elements, at most the extent of the axis.
    axis : int or None, default -1
        The axis; None: all elements in row-major order.
    largest : bool, default True
        The largest elements, the largest first; False: the smallest, the smallest first.
    distribution : distribution or Layout, optional
        Distribution of the results. Unset: `Slab` of the axis for an array of one dimension, else blocks along another axis.

    Returns
    -------
    TopK
        A tuple (values, indices). Of equal elements those with lower indices come first. NaNs are larger than all numbers.

    Notes
    -----
    Only elements that are among the `k` first of their rank are sorted and exchanged.
    """
    given = where_sorted(a) if axis is None or a.ndim == 1 else on_host(a)
    if given._core.dtype in _of_ml_dtypes:
        found = topk(given.astype("float32"), k, axis, largest=largest, distribution=distribution)
        return TopK(finished(a, found.values.astype(given.dtype)), finished(a, found.indices))
    along = 0 if axis is None else one_axis(axis, given.ndim)
    extent = given.size if axis is None else given.shape[along]
    if not 0 <= k <= extent:
        raise ArgumentError(f"topk: k is {k}, but there are {extent} elements")
    if axis is None or given.ndim == 1:
        return _first_of_sequence(a, given, k, largest, distribution)
    there, cut = with_whole(given, [along])
    values = values_of(there)
    order = stable_order(values, largest, along)
    order = np.take(order, range(k), along)
    shape = (*given.shape[:along], k, *given.shape[along + 1 :])
    layout = cut.layout(shape, cut.axis or 0)
    results = (wrapped(a, layout, one) for one in (np.take_along_axis(values, order, along), order))
    return TopK(*(moved(one, distribution) for one in results))


def _first_of_sequence(like: Array, given: Array, k: int, largest: bool, distribution: Optional[Destination]) -> TopK:
    one = in_order(given)
    kept: Any = slice(None)
    if isinstance(one.values, DevicePart):
        found = one.values.candidates(k, largest)
        some = one.values if found is None else one.values.taken(found)
        order = some.empty(some.shape, "int64")
        values = some.ordered(largest, order)[: min(k, some.size)].on_host()
        kept = order[: len(values)]
        places = (kept if found is None else found.taken(kept)).on_host()
        return _of_candidates(like, one, values, places + one.first, k, largest, distribution)
    if k < len(one.values):
        last = len(one.values) - k if largest else k - 1
        bound = np.partition(one.values, last)[last] if k else None
        with np.errstate(invalid="ignore"):
            kept = slice(0) if k == 0 else np.flatnonzero(~(one.values < bound) if largest else ~(one.values > bound))
    return _of_candidates(like, one, one.values[kept], one.positions[kept], k, largest, distribution)


def _of_candidates(like: Array, one: Sequenced, values: Any, places: Any, k: int, largest: bool, distribution: Optional[Destination]) -> TopK:
    """`values`: of this rank, in host memory; `places`: where they are in the sequence of all."""
    context, cuts = one.context, slab_cuts(k, one.context.size)
    sizes = of_all(context, [len(values)])[:, 0]
    if sizes.sum() <= few_elements:  # all on every rank
        values, places = gathered(context, values, sizes), gathered(context, places, sizes)
        order = stable_order(values, largest)[cuts[context.rank] : cuts[context.rank + 1]]
        return TopK(*(sequence(like, Sequenced(context, part[order], cuts), distribution) for part in (values, places)))
    order = stable_order(values, largest)
    values, places = values[order], places[order]
    splits, _ = cut_positions(context, values, cuts, largest)
    counts, received = np.diff(splits[context.rank]), splits[:, context.rank + 1] - splits[:, context.rank]
    mine = slice(splits[context.rank, -1])
    values, places = sent(context, values[mine], counts, received), sent(context, places[mine], counts, received)
    order = stable_order(values, largest)  # the ranks' runs are in the order of their places
    return TopK(*(sequence(like, Sequenced(context, part[order], cuts), distribution) for part in (values, places)))


__all__ = ["TopK", "topk"]
