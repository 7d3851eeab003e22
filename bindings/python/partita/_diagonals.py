"""Triangles and diagonals of matrices."""

from __future__ import annotations

from typing import Any, Tuple

import numpy as np

from . import _core
from ._agreement import alike
from ._array import Array, axes_of
from ._errors import ArgumentError
from ._layouts import default_layout, is_whole
from ._moves import as_index, copy_of, part_of, settled, with_part
from ._places import broadcast_to, new_like, pad


def _masked(name: str, m: Array, k: int, lower: bool) -> Array:
    if settled(name, m).ndim == 1:
        m = broadcast_to(m, (m.shape[0], m.shape[0]))
    if m.ndim < 2:
        raise ArgumentError(f"{name}: expected at least one dimension, got {m.ndim}")
    rows, columns = m.indices(m.ndim - 2)[:, None], m.indices(m.ndim - 1)[None, :]
    kept = columns - rows <= k if lower else columns - rows >= k
    part: Any = part_of(m)
    if type(part) is np.ndarray:
        return with_part(m, m.layout, np.where(kept, part, np.zeros((), part.dtype)))
    found, dropped = copy_of(part), np.nonzero(~kept)
    found[(..., as_index(found, dropped[0]), as_index(found, dropped[1]))] = 0
    return with_part(m, m.layout, found)


def tril(m: Array, k: int = 0) -> Array:
    """The lower triangle; elements above the diagonal `k` are 0. Local; of a vector collective, blocking.

    Parameters
    ----------
    m : Array
        [.., rows, columns], or one dimension: each row of a square matrix.
    k : int
        The last diagonal that is kept; positive: above the main one.
    """
    return _masked("tril", m, k, True)


def triu(m: Array, k: int = 0) -> Array:
    """The upper triangle; elements below the diagonal `k` are 0. Local; of a vector collective, blocking.

    Parameters
    ----------
    m : Array
        [.., rows, columns], or one dimension: each row of a square matrix.
    k : int
        The first diagonal that is kept; positive: above the main one.
    """
    return _masked("triu", m, k, False)


def diagonal_layout(layout: _core.Layout, shape: Tuple[int, ...]) -> _core.Layout:
    """Of diagonals with this shape, of matrices in this layout."""
    return _core.Layout(_core.Replicated(), shape, layout.ranks) if is_whole(layout) else default_layout(shape, layout.ranks)


@alike
def diagonal(a: Array, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """The elements on a diagonal, along the last dimension of the result. Collective, blocking.

    Parameters
    ----------
    offset : int
        The diagonal; positive: above the main one.
    axis1, axis2 : int
        The dimensions of rows and columns.
    """
    settled("diagonal", a)
    first, second = axes_of([axis1, axis2], a.ndim)
    if first == second:
        raise ArgumentError(f"diagonal: axis1 and axis2 are both {first}")
    a = a.transpose([*[axis for axis in range(a.ndim) if axis not in (first, second)], first, second])
    rows, columns = a.shape[-2:]
    count = max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))
    window = a._seen_as(a._core.window((*[0] * (a.ndim - 2), min(rows, max(0, -offset)), min(columns, max(0, offset))), (*a.shape[:-2], count, count)))
    layout = diagonal_layout(window.layout, (*window.shape[:-2], count))
    if isinstance(layout.distribution, _core.Slab):
        window = window.redistribute(_core.Slab(layout.distribution.axis))
    mine = layout.local_shape(a._core.context.rank)
    if 0 in mine:
        return new_like(a, layout, 0)
    return with_part(a, layout, copy_of(part_of(window).diagonal(int(layout.indices(len(mine) - 1, a._core.context.rank)[0]), -2, -1)[..., : mine[-1]]))


@alike
def diag(v: Array, k: int = 0) -> Array:
    """A diagonal of a matrix, or the matrix with a vector on a diagonal and zeros elsewhere. Collective, blocking.

    Parameters
    ----------
    v : Array
        A matrix, or a vector.
    k : int
        The diagonal; positive: above the main one.
    """
    if settled("diag", v).ndim == 2:
        return diagonal(v, k)
    if v.ndim != 1:
        raise ArgumentError(f"diag: an array of {v.ndim} dimensions; expected one or two")
    extent, ranks = v.shape[0] + abs(k), v._core.context.size
    if not extent:
        return new_like(v, default_layout((0, 0), ranks), 0)
    # Row i has element i - max(0, -k).
    column = pad(v, (max(0, -k), max(0, k)))[:, None].redistribute(_core.Slab(0))
    return tril(triu(broadcast_to(column, (extent, extent)), k), k)


@alike
def trace(a: Array, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Any:
    """The sum of the elements on a diagonal, on every rank; for more than two dimensions an array. Collective, blocking.

    Parameters
    ----------
    offset : int
        The diagonal; positive: above the main one.
    axis1, axis2 : int
        The dimensions of rows and columns.
    dtype : dtype, optional
        Of the sum; unset: that of `Array.sum`.
    """
    found = diagonal(a, offset, axis1, axis2)
    if dtype is not None:
        found = found.astype(dtype)
    return found.sum() if found.ndim == 1 else found.sum(-1)


__all__ = ["diag", "diagonal", "tril", "triu"]
