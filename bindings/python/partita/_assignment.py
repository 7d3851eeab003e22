"""a[key] = value."""

from __future__ import annotations

from typing import Any, List

import numpy as np

from . import _core
from ._agreement import alike
from ._array import Array
from ._errors import ArgumentError
from ._moves import part_of
from ._places import broadcast_to
from ._streams import stream_of_arrays
from ._ufuncs import local_of, replicas
from ._views import indexed, keys_of, with_axis, without_axis


def assign(array: Array, key: Any, value: Any) -> None:
    """array[key] = value; local for numbers and for arrays of the same layout and dtype, else collective."""
    if isinstance(key, (Array, np.ndarray)) and key.dtype == np.dtype(bool):
        return _write_masked(array, key, value)
    keys = keys_of(key, array.ndim)
    sources = [one for one in keys if one is not None]
    target = indexed(array, [_kept(one, extent) for one, extent in zip(sources, array.shape)], copy=False)
    if np.ndim(value) == 0 and not isinstance(value, Array):
        target.fill(value)
    elif not isinstance(value, (Array, np.ndarray)):
        raise ArgumentError(f"expected a number or a distributed array, got {type(value).__name__}; write values of one rank to .local")
    elif not _is_copied(target, value, keys):
        _write(target, value, keys)


def _write_masked(array: Array, mask: Any, value: Any) -> None:
    """The number where the mask is true. Local, unless the mask is a NumPy array."""
    if mask.shape != array.shape or np.ndim(value) != 0 or isinstance(value, Array):
        raise ArgumentError(
            f"a mask of shape {mask.shape} for an array of shape {array.shape}: expected a mask of this shape and a number; use where for arrays"
        )
    np.copyto(part_of(array), value, where=local_of("setitem", mask, array), casting="same_kind")


def _kept(key: Any, extent: int) -> slice:
    """An integer as the slice of one element."""
    if isinstance(key, slice):
        return key
    index = int(key)
    if not -extent <= index < extent:
        raise ArgumentError(f"index {index} is out of range for a dimension of {extent} elements")
    return slice(index % extent, index % extent + 1)


def _is_copied(target: Array, value: Any, keys: List[Any]) -> bool:
    """Whether it was a local copy: the usual case."""
    if not isinstance(value, Array) or value.shape != target.shape or value._core.dtype != target._core.dtype:
        return False
    if not all(isinstance(one, slice) for one in keys) or not target._core.same_layout(value._core):
        return False
    _core.copy(value._core, target._core, stream_of_arrays(None, target, value))
    return True


@alike
def _write(target: Array, value: Any, keys: List[Any]) -> None:
    """In another layout, dtype or shape."""
    given = replicas("setitem", [target, value])[1]
    if given.dtype != target.dtype:
        if not np.can_cast(given.dtype, target.dtype, "same_kind"):
            raise ArgumentError(f"values of {given.dtype} cannot be assigned to an array of {target.dtype}: convert them with astype")
        given = given.astype(target.dtype)
    extents, selected = iter(target.shape), []
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
    if not target._core.same_layout(given._core):
        given = given.redistribute(target.layout)  # a new array: the value may be another view of this memory
    _core.copy(given._core, target._core, stream_of_arrays(None, target, given))
