"""Functions of the standard that make arrays, by the default context and distribution. Collective, blocking."""

from __future__ import annotations

import builtins
from typing import Any, Optional, Tuple

import numpy as np

from .. import _create, _diagonals, _like
from .._array import Array
from .._default import fitting, required_default
from ._scalars import asarray


def _made(name: str, shape: Any, dtype: Any, value: Any) -> Array:
    here = required_default(name)
    extents = _create.shape_of(shape)
    rule = fitting(here.distribution, len(extents), here.context.size)
    return _create.full(here.context, extents, rule, value, np.float64 if dtype is None else dtype)


def empty(shape: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """An array with undefined contents."""
    return _made("empty", shape, dtype, 0)


def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """An array of zeros."""
    return _made("zeros", shape, dtype, 0)


def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """An array of ones."""
    return _made("ones", shape, dtype, 1)


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """An array with every element equal to a number."""
    return _made("full", shape, np.asarray(fill_value).dtype if dtype is None else dtype, fill_value)


def empty_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
    """An array in the layout of another, with undefined contents."""
    return _like.empty_like(x, dtype)


def zeros_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
    """An array of zeros in the layout of another."""
    return _like.zeros_like(x, dtype)


def ones_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
    """An array of ones in the layout of another."""
    return _like.ones_like(x, dtype)


def full_like(x: Array, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """An array in the layout of another, with every element equal to a number."""
    return _like.full_like(x, fill_value, dtype)


def arange(start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None) -> Array:
    """start, start + step, ... below stop."""
    here = required_default("arange")
    first, last = (0, start) if stop is None else (start, stop)
    kind = np.result_type(first, last, step) if dtype is None else np.dtype(dtype)
    count = builtins.max(0, len(np.arange(first, last, step))) if all(isinstance(one, int) for one in (first, last, step)) else builtins.max(0, int(np.ceil((last - first) / step)))
    rule = fitting(here.distribution, 1, here.context.size)
    return _create.from_function(here.context, (count,), rule, lambda i: (first + i * step).astype(kind), kind)


def linspace(start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: Any = None, endpoint: bool = True) -> Array:
    """Numbers at equal distances."""
    here = required_default("linspace")
    return _create.linspace(here.context, start, stop, num, endpoint, distribution=fitting(here.distribution, 1, here.context.size), dtype=dtype)


def eye(n_rows: int, n_cols: Optional[int] = None, /, *, k: int = 0, dtype: Any = None, device: Any = None) -> Array:
    """A matrix with ones on a diagonal."""
    here = required_default("eye")
    rule = fitting(here.distribution, 2, here.context.size)
    wide = n_rows if n_cols is None else n_cols
    return _create.eye(here.context, n_rows, wide, distribution=rule, dtype=np.float64 if dtype is None else dtype, diagonal=k)


def from_dlpack(x: Any, /, *, device: Any = None, copy: Optional[bool] = None) -> Array:
    """An array of what every rank has, with DLPack."""
    return x if isinstance(x, Array) and not copy else asarray(np.array(np.from_dlpack(x)))


def meshgrid(*arrays: Array, indexing: str = "xy") -> Tuple[Array, ...]:
    """The coordinates of a grid, one array for each vector."""
    from .._places import broadcast_to
    from .._shapes import reshape

    count = len(arrays)
    places = list(range(count))
    if indexing == "xy" and count > 1:
        places[0], places[1] = 1, 0
    shape = [1] * count
    for place, one in zip(places, arrays):
        shape[place] = one.size
    grids = []
    for place, one in zip(places, arrays):
        grids.append(broadcast_to(reshape(one, [one.size if axis == place else 1 for axis in range(count)]), shape).copy())
    return tuple(grids)


def tril(x: Array, /, *, k: int = 0) -> Array:
    """The lower triangle. Local."""
    return _diagonals.tril(x, k)


def triu(x: Array, /, *, k: int = 0) -> Array:
    """The upper triangle. Local."""
    return _diagonals.triu(x, k)
