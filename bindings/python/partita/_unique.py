"""Distinct elements."""

from __future__ import annotations

import math
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
    in_blocks,
    in_order,
    layout_of_blocks,
    moved,
    on_host,
    one_axis,
    sequence,
    slab_cuts,
    values_of,
    where_sorted,
    wrapped,
)
from ._device_parts import DevicePart
from ._dtypes import _of_ml_dtypes
from ._exchange import of_all, sent, total
from ._local_order import argsorted, merged
from ._order import cut_positions
from ._rows import as_keys, as_rows, keys_of_rows, splits_of_keys
from ._take import take


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
    axis: Optional[int] = None,
    *,
    equal_nan: bool = True,
    distribution: Optional[Destination] = None,
) -> Union[Array, Tuple[Array, ...]]:
    """The distinct elements, or sub-arrays along an axis, sorted, as `numpy.unique`. Collective, blocking.

    Parameters
    ----------
    ar : Array
        The array.
    return_index : bool, default False
        Also return the index, in row-major order, of the first occurrence of each.
    return_inverse : bool, default False
        Also return where each element of the array is among the distinct ones, in the shape and layout of the array; with an axis one
        number for each sub-array.
    return_counts : bool, default False
        Also return how often each occurs.
    axis : int, optional
        Compare the sub-arrays of this axis, in lexicographic order of their elements; unset: elements.
    equal_nan : bool, default True
        NaNs are one element. Sub-arrays of an axis with NaN in them always differ, as in NumPy..
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
    given = on_host(ar) if return_index or return_inverse or axis is not None else where_sorted(ar)
    if given._core.dtype in _of_ml_dtypes:
        given = given.astype("float32")
    if axis is not None:
        along = one_axis(axis, ar.ndim)
        if ar.ndim > 1:
            return _of_axis(ar, given, along, (return_index, return_inverse, return_counts), distribution)
    one = in_order(given) if return_index or return_inverse else in_any_order(given)
    found = distinct(one, return_index, return_inverse, return_counts, equal_nan)
    parts = [found.values, *([found.first] if return_index else []), *([found.counts] if return_counts else [])]
    made = [sequence(ar, Sequenced(one.context, part, found.cuts), distribution) for part in parts]
    if given.dtype != ar.dtype:
        made[0] = made[0].astype(ar.dtype)
    if return_inverse:
        made.insert(2 if return_index else 1, _in_shape(ar, given, one.with_values(found.inverse)))
    return made[0] if len(made) == 1 else tuple(made)


def _of_axis(
    ar: Array, given: Array, axis: int, wanted: Tuple[bool, bool, bool], distribution: Optional[Destination]
) -> Union[Array, Tuple[Array, ...]]:
    """The distinct sub-arrays of an axis, and of index, inverse and counts those that are requested."""
    there, cuts = in_blocks(given, axis)
    rows = np.moveaxis(values_of(there), axis, 0)
    width = math.prod(ar.shape) // ar.shape[axis] if ar.shape[axis] else 0
    one = keys_of_rows(Sequenced(there._core.context, rows.reshape(len(rows), width), cuts))
    found = distinct(one, True, *wanted[1:])
    first = sequence(ar, Sequenced(one.context, found.first, found.cuts))
    made = [take(ar, first, axis, distribution=distribution)]
    made += [moved(first, distribution)] if wanted[0] else []
    made += [sequence(ar, one.with_values(found.inverse), distribution)] if wanted[1] else []
    made += [sequence(ar, Sequenced(one.context, found.counts, found.cuts), distribution)] if wanted[2] else []
    return made[0] if len(made) == 1 else tuple(made)


def _in_shape(like: Array, given: Array, one: Sequenced) -> Array:
    """A sequence in row-major order as an array of the shape and layout of `given`."""
    shape = given.shape
    if not shape:
        number = np.asarray(total(one.context, one.values.sum()))
        return wrapped(like, _core.Layout(_core.Replicated(), shape, one.context.size), number)
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
    values = _sent(context, mine.values, sizes, received)
    places = index or inverse or counts
    all_ = _of_part(values if places else merged(values, received), False, places, False, equal_nan, is_sorted=not places)
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


def _of_part(values: Any, index: bool, inverse: bool, counts: bool, equal_nan: bool, is_sorted: bool = False) -> Distinct:
    """The same of the elements of one rank; sorting takes less time than the hash tables that NumPy's `unique` may use."""
    if isinstance(values, DevicePart):
        found, many = values.distinct(equal_nan)
        return Distinct(found, None, many, (0, len(found)), None)
    order = argsorted(values) if index or inverse else None
    ordered = values[order] if order is not None else values if is_sorted else np.sort(values)
    starts = np.empty(len(values), np.bool_)
    starts[:1] = True
    starts[1:] = ordered[1:] != ordered[:-1]
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


def _sent(context: _core.Context, values: Any, counts: Any, received: Any) -> Any:
    """As `sent`, also of keys."""
    return as_keys(sent(context, as_rows(values), counts, received)) if values.dtype.kind == "S" else sent(context, values, counts, received)


def _splits(context: _core.Context, values: Any) -> Any:
    """By rank and cut: parts of about equal size, between which no equal elements are divided."""
    if values.dtype.kind == "S":
        return splits_of_keys(context, values)
    sizes = of_all(context, [len(values)])[:, 0]
    _, splits = cut_positions(context, values, slab_cuts(int(sizes.sum()), context.size))
    splits[:, 0], splits[:, -1] = 0, sizes
    return splits


__all__ = ["unique"]
