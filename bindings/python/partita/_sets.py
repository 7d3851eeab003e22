"""Sets of elements, and the functions of the Array API standard for distinct elements."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Tuple

import numpy as np

from ._agreement import alike
from ._array import Array
from ._axes import Destination, Sequenced, in_any_order, on_host, sequence
from ._replicas import with_replicas
from ._search import isin
from ._take import where_true
from ._unique import distinct, unique


class UniqueAllResult(NamedTuple):
    """What `unique_all` returns."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCountsResult(NamedTuple):
    """What `unique_counts` returns."""

    values: Array
    counts: Array


class UniqueInverseResult(NamedTuple):
    """What `unique_inverse` returns."""

    values: Array
    inverse_indices: Array


@alike
def unique_all(x: Array) -> UniqueAllResult:
    """Distinct elements, their first indices, the inverse, and counts: `unique` with each NaN by itself. Collective, blocking."""
    return UniqueAllResult(*_tuple(x, return_index=True, return_inverse=True, return_counts=True))


@alike
def unique_counts(x: Array) -> UniqueCountsResult:
    """Distinct elements and how often they occur: `unique` with each NaN by itself. Collective, blocking."""
    return UniqueCountsResult(*_tuple(x, return_counts=True))


@alike
def unique_inverse(x: Array) -> UniqueInverseResult:
    """Distinct elements and where each element is among them: `unique` with each NaN by itself. Collective, blocking."""
    return UniqueInverseResult(*_tuple(x, return_inverse=True))


@alike
def unique_values(x: Array) -> Array:
    """Distinct elements: `unique` with each NaN by itself. Collective, blocking."""
    found = unique(x, equal_nan=False)
    assert isinstance(found, Array)
    return found


def _tuple(x: Array, **options: Any) -> Tuple[Array, ...]:
    found = unique(x, equal_nan=False, **options)
    assert isinstance(found, tuple)
    return found


@alike
@with_replicas("ar1", "ar2")
def union1d(ar1: Array, ar2: Array, *, distribution: Optional[Destination] = None) -> Array:
    """The distinct elements of two arrays, sorted, as `numpy.union1d`. Collective, blocking."""
    first, second = (in_any_order(on_host(one)) for one in (ar1, ar2))
    dtype = np.result_type(first.values.dtype, second.values.dtype)
    both = np.concatenate([first.values, second.values]).astype(dtype, copy=False)
    cuts = tuple(one + other for one, other in zip(first.cuts, second.cuts))
    found = distinct(Sequenced(first.context, both, cuts))
    return sequence(ar1, Sequenced(first.context, found.values, found.cuts), distribution)


@alike
@with_replicas("ar1", "ar2")
def intersect1d(ar1: Array, ar2: Array, *, distribution: Optional[Destination] = None) -> Array:
    """The distinct elements that are in both arrays, sorted, as `numpy.intersect1d`. Collective, blocking."""
    dtype = np.result_type(ar1.dtype, ar2.dtype)
    return _of_first(ar1 if ar1.dtype == dtype else ar1.astype(dtype), ar2, False, distribution)


@alike
@with_replicas("ar1", "ar2")
def setdiff1d(ar1: Array, ar2: Array, *, distribution: Optional[Destination] = None) -> Array:
    """The distinct elements of `ar1` that are not in `ar2`, sorted, as `numpy.setdiff1d`. Collective, blocking."""
    return _of_first(ar1, ar2, True, distribution)


@alike
@with_replicas("ar1", "ar2")
def setxor1d(ar1: Array, ar2: Array, *, distribution: Optional[Destination] = None) -> Array:
    """The distinct elements that are in one of the arrays only, sorted, as `numpy.setxor1d`. Collective, blocking."""
    return union1d(_of_first(ar1, ar2, True), _of_first(ar2, ar1, True), distribution=distribution)


def _of_first(ar1: Array, ar2: Array, invert: bool, distribution: Optional[Destination] = None) -> Array:
    values: Any = unique(ar1)
    return where_true(values, isin(values, ar2, invert=invert), distribution)


__all__ = [
    "UniqueAllResult", "UniqueCountsResult", "UniqueInverseResult", "intersect1d", "setdiff1d", "setxor1d", "union1d", "unique_all",
    "unique_counts", "unique_inverse", "unique_values",
]  # fmt: skip
