"""Distinct elements, membership, and positions in sorted arrays."""

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
    values_of,
    wrapped,
)
from ._calls import collective
from ._dtypes import _of_ml_dtypes
from ._errors import ArgumentError
from ._exchange import answered, of_all, sent, total
from ._order import cut_positions
from ._take import take

#: Arrays of at most so many elements are copied to all ranks rather than asked about.
_small = 1 << 16


class _Distinct(NamedTuple):
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
    found = _distinct(one, return_inverse, equal_nan)
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


def _distinct(one: Sequenced, inverse: bool, equal_nan: bool) -> _Distinct:
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
    return _Distinct(found, firsts, many, cuts, back)


def _splits(context: _core.Context, values: Any) -> Any:
    """By rank and cut: parts of about equal size, between which no equal elements are divided."""
    sizes = of_all(context, [len(values)])[:, 0]
    if context.size == 1:
        return np.array([[0, len(values)]])
    _, splits = cut_positions(context, values, slab_cuts(int(sizes.sum()), context.size), range(context.size))
    splits[:, 0], splits[:, -1] = 0, sizes
    return splits


class _Sorted(NamedTuple):
    """This rank's block of a sorted sequence, and the first elements of the blocks that have any."""

    one: Sequenced
    firsts: Any
    owners: Any

    @classmethod
    def of(cls, one: Sequenced) -> _Sorted:
        first = one.values[:1] if len(one.values) else np.zeros(1, one.values.dtype)
        owners = np.flatnonzero(np.diff(one.cuts))
        return cls(one, of_all(one.context, first)[owners, 0], owners)

    def places(self, wanted: Any, side: Any) -> Any:
        """Where these elements belong. Collective, blocking."""
        return self._asked(wanted, side, lambda asked: self.one.first + np.searchsorted(self.one.values, asked, side))

    def contains(self, wanted: Any) -> Any:
        """Which of these elements the sequence has. Collective, blocking."""

        def answer(asked: Any) -> Any:
            if not len(self.one.values):
                return np.zeros(len(asked), np.bool_)
            places = np.searchsorted(self.one.values, asked)
            return self.one.values[np.minimum(places, len(self.one.values) - 1)] == asked

        return self._asked(wanted, "right", answer)

    def _asked(self, wanted: Any, side: Any, answer: Any) -> Any:
        if not len(self.owners):
            return answer(wanted)
        before = np.maximum(np.searchsorted(self.firsts, wanted, side) - 1, 0)
        return answered(self.one.context, wanted, self.owners[before], answer)


@collective
def searchsorted(a: Array, v: Any, side: str = "left", sorter: Optional[Array] = None) -> Any:
    """Where elements belong in a sorted array of one dimension, as `numpy.searchsorted`. Collective, blocking.

    Parameters
    ----------
    a : Array
        The sorted array, such as a result of `sort`.
    v : Array, number or NumPy array
        The elements to look for. Each rank may look for other numbers or elements of a NumPy array.
    side : {'left', 'right'}
        Before or after equal elements.
    sorter : Array, optional
        A result of `argsort(a)`, if `a` is not sorted.

    Returns
    -------
    Array, or NumPy number or array
        Positions in int64, in the layout of `v` or for this rank's elements.

    Notes
    -----
    Each element is sent to the rank that has its place, and the position is sent back.
    """
    given = on_host(a)
    if given.ndim != 1:
        raise ArgumentError(f"searchsorted: expected an array of one dimension, got {given.ndim}")
    if side not in ("left", "right"):
        raise ArgumentError(f"searchsorted: side {side!r}; known: left, right")
    if sorter is not None:
        given = take(given, sorter)
    wanted = on_host(v) if isinstance(v, Array) else None
    queries = np.asarray(v) if wanted is None else values_of(wanted)
    one, common = in_order(given), np.result_type(given.dtype, queries.dtype)
    there = _Sorted.of(one.with_values(one.values.astype(common, copy=False)))
    found = there.places(queries.reshape(-1).astype(common, copy=False), side).reshape(queries.shape)
    return found[()] if wanted is None else wrapped(v, wanted.layout, found)


@collective
def isin(element: Array, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: Optional[str] = None) -> Array:
    """Which elements are among others, as `numpy.isin`. Collective, blocking.

    Parameters
    ----------
    element : Array
        The elements.
    test_elements : Array or array
        The others: a distributed array, or numbers that are the same on all ranks.
    assume_unique, kind : optional
        As in NumPy: a hint, and the algorithm within a rank.
    invert : bool, default False
        Which are not.

    Returns
    -------
    Array
        Booleans, in the layout of `element`.

    Notes
    -----
    Up to 65,536 distinct others are copied to all ranks; of more, each element is sent to the rank that has its place in their order.
    """
    given = on_host(element)
    values = values_of(given)
    if not isinstance(test_elements, Array):
        found = np.isin(values, test_elements, invert=invert)
        return wrapped(element, given.layout, found)
    others = _distinct(in_any_order(on_host(test_elements)), False, True)
    context = given._core.context
    if others.cuts[-1] <= _small:
        every = np.empty(others.cuts[-1], others.values.dtype)
        _core.all_gather(context, others.values, every, [int(one) for one in np.diff(others.cuts)])
        return wrapped(element, given.layout, np.isin(values, every, invert=invert))
    common = np.result_type(values.dtype, others.values.dtype)
    there = _Sorted.of(Sequenced(context, others.values.astype(common, copy=False), others.cuts))
    found = there.contains(values.reshape(-1).astype(common, copy=False)).reshape(values.shape)
    return wrapped(element, given.layout, ~found if invert else found)


__all__ = ["isin", "searchsorted", "unique"]
