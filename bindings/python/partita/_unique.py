"""Distinct elements."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Tuple, Union

import numpy as np

from . import _core
from ._agreement import alike
from ._array import Array
from ._axes import (
    Cuts,
    Destination,
    Sequenced,
    cuts_of,
    in_any_order,
    in_order,
    layout_of_blocks,
    moved,
    on_host,
    sequence,
    slab_cuts,
    wrapped,
)
from ._dtypes import _of_ml_dtypes
from ._errors import ArgumentError
from ._exchange import of_all, sent, total
from ._local_order import argsorted
from ._order import cut_positions


class Distinct(NamedTuple):
    """This rank's part of the distinct elements, and where the elements of its part of the array are among all."""

    values: Any
    first: Any
    counts: Any
    cuts: Cuts
    inverse: Any


@alike
def unique(
    ar: Array,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: None = None,
    *,
    equal_nan: bool = True,
    distribution: Optional[Destination] = None,
) -> Union[Array, Tuple[Array, ...]]:
    """The distinct elements, sorted, as `numpy.unique`. Collective, blocking.

    Parameters
    ----------
    ar : Array
        The array.
    return_index : bool, default False
        Also return the index, in row-major order, of the first occurrence of each.
    return_inverse : bool, default False
        Also return where each element of the array is among the distinct ones, in the shape and layout of the array.
    return_counts : bool, default False
        Also return how often each occurs.
    axis : None
        Not supported.
    equal_nan : bool, default True
        NaNs are one element.
    distribution : distribution or Layout, optional
        Distribution of the results of one dimension. Unset: parts of about equal size; see `balance`.

    Returns
    -------
    Array, or tuple of Arrays
        The values, and what was requested, in the order of the arguments.

    Notes
    -----
    Each rank finds the distinct elements of its part; only these are exchanged, once, so that all equal ones are on one rank.
    """
    if axis is not None:
        raise ArgumentError("unique: the argument axis is not supported")
    given = on_host(ar)
    if given._core.dtype in _of_ml_dtypes:
        given = given.astype("float32")
    one = in_order(given) if return_index or return_inverse else in_any_order(given)
    found = distinct(one, return_index, return_inverse, return_counts, equal_nan)
    parts = [found.values, *([found.first] if return_index else []), *([found.counts] if return_counts else [])]
    made = [sequence(ar, Sequenced(one.context, part, found.cuts), distribution) for part in parts]
    if given.dtype != ar.dtype:
        made[0] = made[0].astype(ar.dtype)
    if return_inverse:
        made.insert(2 if return_index else 1, _in_shape(ar, given, one.with_values(found.inverse)))
    return made[0] if len(made) == 1 else tuple(made)


def _in_shape(like: Array, given: Array, one: Sequenced) -> Array:
    """A sequence in row-major order as an array of the shape and layout of `given`."""
    shape = given.shape
    if not shape:
        number = np.asarray(total(one.context, one.values.sum()))
        return wrapped(like, given.layout, number)
    row = given.size // max(shape[0], 1)
    cuts = tuple(cut // row for cut in one.cuts) if row else slab_cuts(shape[0], one.context.size)
    rows = cuts[one.context.rank + 1] - cuts[one.context.rank]
    return moved(wrapped(like, layout_of_blocks(shape, 0, cuts), one.values.reshape(rows, *shape[1:])), given.layout)


def distinct(one: Sequenced, index: bool = False, inverse: bool = False, counts: bool = False, equal_nan: bool = True) -> Distinct:
    """The distinct elements of a sequence, and of the rest what is requested. Collective, blocking."""
    context = one.context
    mine = _of_part(one.values, index, inverse, counts, equal_nan)
    splits = _splits(context, mine.values)
    sizes, received = np.diff(splits[context.rank]), splits[:, context.rank + 1] - splits[:, context.rank]
    values = sent(context, mine.values, sizes, received)
    all_ = _of_part(values, False, index or inverse or counts, False, equal_nan)
    cuts = cuts_of(of_all(context, [len(all_.values)])[:, 0])
    first, many, where = None, None, None
    if index:
        first = np.full(len(all_.values), np.iinfo(np.int64).max)
        np.minimum.at(first, all_.inverse, sent(context, mine.first + one.first, sizes, received))
    if counts:
        many = np.zeros(len(all_.values), np.int64)
        np.add.at(many, all_.inverse, sent(context, mine.counts, sizes, received))
    if inverse:
        where = sent(context, all_.inverse + cuts[context.rank], received, sizes)[mine.inverse]
    return Distinct(all_.values, first, many, cuts, where)


def _of_part(values: Any, index: bool, inverse: bool, counts: bool, equal_nan: bool) -> Distinct:
    """The same of the elements of one rank; sorting takes less time than the hash tables that NumPy's `unique` may use."""
    order = argsorted(values) if index or inverse else None
    ordered = np.sort(values) if order is None else values[order]
    starts = np.empty(len(values), np.bool_)
    starts[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=starts[1:])
    if equal_nan and values.dtype.kind in "fc" and len(values) and np.isnan(ordered[-1]):
        first = int(np.argmax(np.isnan(ordered)))  # the NaNs are last
        starts[first + 1 :] = False
        ordered[first] = np.nan  # of complex numbers in all their forms
    places = np.flatnonzero(starts)
    where = None
    if inverse:
        where = np.empty(len(values), np.int64)
        where[order] = np.cumsum(starts) - 1
    return Distinct(
        ordered[places],
        order[places] if index and order is not None else None,
        np.diff(np.append(places, len(values))) if counts else None,
        (0, len(places)),
        where,
    )


def _splits(context: _core.Context, values: Any) -> Any:
    """By rank and cut: parts of about equal size, between which no equal elements are divided."""
    sizes = of_all(context, [len(values)])[:, 0]
    _, splits = cut_positions(context, values, slab_cuts(int(sizes.sum()), context.size), sizes, range(context.size))
    splits[:, 0], splits[:, -1] = 0, sizes
    return splits


__all__ = ["unique"]
