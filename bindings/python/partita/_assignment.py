"""a[key] = value."""

from __future__ import annotations

from typing import Any, List, Tuple

import numpy as np

from . import _core
from ._agreement import alike
from ._array import Array
from ._errors import ArgumentError, IndexError
from ._moves import part_of, put, settled, shortened
from ._keys import is_advanced
from ._places import broadcast_to
from ._put import converted, number_in, setitem
from ._replicas import replicas
from ._streams import stream_of_arrays
from ._ufuncs import local_of, reads_in_place
from ._views import keys_of, view_of, with_axis, without_axis


def assign(array: Array, key: Any, value: Any) -> None:
    """array[key] = value; local for numbers and for arrays of the same layout and dtype, else collective."""
    if isinstance(value, (list, tuple)):
        value = np.asarray(value)
    if is_advanced(key):
        if not _is_masked(array, key, value):
            setitem(array, key, value)
        return
    keys = keys_of(key, array.ndim)
    sources = [one for one in keys if one is not None]
    kept = [_kept(one, extent) for one, extent in zip(sources, array.shape)]
    target = view_of(array, kept)
    if target is None:
        _set_steps(array, kept, value, keys)
    elif np.ndim(value) == 0 and not isinstance(value, Array):
        target.fill(value)
    elif not isinstance(value, (Array, np.ndarray)):
        raise ArgumentError(f"expected a number or an array, got {type(value).__name__}; write values of one rank to .local")
    elif not _is_copied(target, value, keys):
        _write(target, value, keys)


def _is_masked(array: Array, mask: Any, value: Any) -> bool:
    """Whether a number was written where a distributed mask is true, in place: the usual case, local."""
    if not isinstance(mask, Array) or mask.dtype != np.bool_ or mask.shape != array.shape or isinstance(value, Array) or np.ndim(value) != 0:
        return False
    settled("setitem", array)
    if not array._core.on_host or mask._core.is_partial or not mask._core.on_host or not reads_in_place(array.layout, mask.layout):
        return False
    np.copyto(part_of(array), number_in(value, array), where=local_of("setitem", mask, array))
    return True


def _kept(key: Any, extent: int) -> slice:
    """An integer as the slice of one element."""
    if isinstance(key, slice):
        return key
    index = int(key)
    if not -extent <= index < extent:
        raise IndexError(f"index {index} is out of range for a dimension of {extent} elements")
    return slice(index % extent, index % extent + 1)


def _is_copied(target: Array, value: Any, keys: List[Any]) -> bool:
    """Whether it was a local copy: the usual case."""
    if not isinstance(value, Array) or value.shape != target.shape or value._core.dtype != target._core.dtype:
        return False
    if not all(isinstance(one, slice) for one in keys) or not target._core.same_layout(value._core):
        return False
    _core.copy(value._core, target._core, stream_of_arrays(None, target, value))
    return True


def _set_steps(array: Array, slices: List[slice], value: Any, keys: List[Any]) -> None:
    """What the slices select has no layout: a number is written by each rank where it has them, an array by its indices."""
    ranges = [np.arange(*one.indices(extent)) for one, extent in zip(slices, array.shape)]
    if np.ndim(value) == 0 and not isinstance(value, Array):
        here = [array.indices(axis) for axis in range(array.ndim)]
        places = [np.flatnonzero(np.isin(mine, chosen)) for mine, chosen in zip(here, ranges)]
        if all(map(len, places)):
            put(part_of(array), shortened(places), value)
    else:
        _set_by_index(array, ranges, value, keys)


@alike
def _set_by_index(array: Array, indices: List[Any], value: Any, keys: List[Any]) -> None:
    setitem(array, np.ix_(*indices), _fitted(array, tuple(map(len, indices)), value, keys))


@alike
def _write(target: Array, value: Any, keys: List[Any]) -> None:
    """In another layout, dtype or shape."""
    given = _fitted(target, target.shape, value, keys)
    if not target._core.same_layout(given._core):
        given = given.redistribute(target.layout)  # a new array: the value may be another view of this memory
    _core.copy(given._core, target._core, stream_of_arrays(None, target, given))


def _fitted(target: Array, shape: Tuple[int, ...], value: Any, keys: List[Any]) -> Array:
    """The values in the dtype of the array, and in the shape of what the keys select with each integer as a slice."""
    given = replicas("setitem", [target, value])[1]
    given = converted(given, target)
    extents, selected = iter(shape), []
    for one in keys:
        extent = 1 if one is None else next(extents)
        if one is None or isinstance(one, slice):
            selected.append(extent)
    given = given if given.shape == tuple(selected) else broadcast_to(given, selected)
    place = 0
    for one in keys:  # the dimensions of the target: those of integers, and not those of None
        if one is None:
            given = without_axis(given, place)
        elif not isinstance(one, slice):
            given = with_axis(given, place)
        place += one is not None
    return given
