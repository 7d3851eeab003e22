"""Distinct elements."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Tuple, Union

import numpy as np

from . import _core
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
from ._calls import collective
from ._dtypes import _of_ml_dtypes
from ._errors import ArgumentError
from ._exchange import of_all, sent, total
from ._order import cut_positions


class Distinct(NamedTuple):
    """This rank's part of the distinct elements, and where the elements of its part of the array are among all."""

    values: Any
    first: Any
    counts: Any
    cuts: Cuts
    inverse: Any


@collective
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
    found = distinct(one, return_inverse, equal_nan)
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


def _local(values: Any, equal_nan: bool, **options: bool) -> Any:
    if not equal_nan:
        options["equal_nan"] = False
    return np.unique(values, **options)  # type: ignore[call-overload]


def distinct(one: Sequenced, inverse: bool, equal_nan: bool) -> Distinct:
    context = one.context
    values, first, where, counts = _local(one.values, equal_nan, return_index=True, return_inverse=True, return_counts=True)
    if equal_nan and values.dtype.kind == "c" and len(values) and np.isnan(values[-1]):
        values[-1] = complex(np.nan, np.nan)  # NaNs of all forms are one
    first, where = first + one.first, where.reshape(-1)
    splits = _splits(context, values)
    mine, received = np.diff(splits[context.rank]), splits[:, context.rank + 1] - splits[:, context.rank]
    arrived = [sent(context, part, mine, received) for part in (values, first, counts)]
    found, places = _local(arrived[0], equal_nan, return_inverse=True)
    places = places.reshape(-1)
    cuts = cuts_of(of_all(context, [len(found)])[:, 0])
    firsts, many = np.full(len(found), np.iinfo(np.int64).max), np.zeros(len(found), np.int64)
    np.minimum.at(firsts, places, arrived[1])
    np.add.at(many, places, arrived[2])
    back = sent(context, places + cuts[context.rank], received, mine)[where] if inverse else None
    return Distinct(found, firsts, many, cuts, back)


def _splits(context: _core.Context, values: Any) -> Any:
    """By rank and cut: parts of about equal size, between which no equal elements are divided."""
    sizes = of_all(context, [len(values)])[:, 0]
    if context.size == 1:
        return np.array([[0, len(values)]])
    _, splits = cut_positions(context, values, slab_cuts(int(sizes.sum()), context.size), range(context.size))
    splits[:, 0], splits[:, -1] = 0, sizes
    return splits


__all__ = ["unique"]
