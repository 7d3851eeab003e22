"""Keys of arrays that have an array of integers or booleans in them."""

from __future__ import annotations

from typing import Any, List, Tuple

import numpy as np

from ._agreement import alike
from ._array import Array
from ._count import flatnonzero
from ._errors import ArgumentError
from ._take import take, where_true


def is_advanced(key: Any) -> bool:
    """Whether a key of an array has arrays among its indices."""
    return any(isinstance(one, (Array, np.ndarray, list)) and np.ndim(one) > 0 for one in (key if isinstance(key, tuple) else (key,)))


@alike
def selected(a: Array, key: Any) -> Array:
    """``a[key]`` with one array of integers or booleans in the key, next to slices. Collective, blocking."""
    keys = list(key) if isinstance(key, tuple) else [key]
    places = [place for place, one in enumerate(keys) if isinstance(one, (Array, np.ndarray, list)) and np.ndim(one) > 0]
    if len(places) != 1:
        raise ArgumentError(f"{len(places)} arrays as indices: one array is supported; index step by step, or use .local, this rank's part")
    index = keys[places[0]] if isinstance(keys[places[0]], Array) else np.asarray(keys[places[0]])
    covered = index.ndim if index.dtype == np.bool_ else 1
    axis, others = _around(keys, places[0], a.ndim, covered)
    if any(not isinstance(one, slice) for one in others):
        raise ArgumentError("expected slices next to an array of indices: index by integers before or afterwards")
    window = a[tuple(others)] if others else a
    if index.dtype != np.bool_:
        return take(window, index, axis)
    if index.shape != window.shape[axis : axis + covered]:
        raise ArgumentError(f"a mask of shape {index.shape} for dimensions of shape {window.shape[axis : axis + covered]}")
    if axis:
        if covered > 1:
            raise ArgumentError("a mask of several dimensions must be the first index")
        return take(window, flatnonzero(index) if isinstance(index, Array) else np.flatnonzero(index), axis)
    return where_true(window, index)


def _around(keys: List[Any], place: int, dimensions: int, covered: int) -> Tuple[int, List[Any]]:
    """The first axis that the array in the key is for, and the keys of all axes, with whole slices for those."""
    before, after = keys[:place], keys[place + 1 :]
    many = dimensions - covered - len([one for one in (*before, *after) if one is not Ellipsis])
    if many < 0:
        raise ArgumentError(f"{len(keys)} indices of an array of {dimensions} dimensions")
    fill: List[Any] = [slice(None)] * many
    if any(one is Ellipsis for one in before):
        at = [one is Ellipsis for one in before].index(True)
        before = before[:at] + fill + before[at + 1 :]
    elif any(one is Ellipsis for one in after):
        at = [one is Ellipsis for one in after].index(True)
        after = after[:at] + fill + after[at + 1 :]
    else:
        after = after + fill
    return len(before), [*before, *[slice(None)] * covered, *after]


__all__ = ["is_advanced", "selected"]
