"""What is computed from singular values: ranks, condition numbers, pseudo-inverses, least squares."""

from __future__ import annotations

import math
from typing import Any, Dict, NamedTuple, Optional

import numpy as np

from . import _core
from ._array import Array, no_epilogue_arrays
from ._calls import collective
from ._errors import ArgumentError, SingularError
from ._linear import matmul, norm
from ._matrices import adjoint, on_every_rank, prepared, real_dtype, settled, singular_values, wait_for
from ._redistribute import redistribute
from ._replicas import with_replicas

#: rtol was not given.
_unset: Any = getattr(np, "_NoValue")


class LstsqResult(NamedTuple):
    """What `lstsq` returns."""

    x: Array
    residuals: "np.ndarray[Any, np.dtype[Any]]"
    """The squared 2-norms of the columns of B - A X, on every rank; empty unless m > n and A, or each matrix, has full rank."""
    rank: Any
    """How many singular values are not taken as 0; of a batch [..]."""
    s: "np.ndarray[Any, np.dtype[Any]]"
    """The singular values, descending, on every rank; of a batch [.., min(m, n)]."""


def _epsilon(a: Array) -> float:
    """The distance from 1 to the next number."""
    return float(np.finfo(real_dtype(a)).eps)


def _rounding(a: Array) -> float:
    return max(a.shape[-2:]) * _epsilon(a)


class _Truncated:
    """U, S and Vh without the singular values that are not above a multiple of the largest. Blocking."""

    def __init__(self, a: Array, rcond: Optional[float]) -> None:
        u, s, vh = _core.svd(a._core, 0)
        self.values = on_every_rank(s)
        self.rank = _count(self.values, _rounding(a) if rcond is None else rcond)
        (m, n), r = a.shape, self.rank
        self.u, self.s, self.vh = u.window((0, 0), (m, r)), s.window((0,), (r,)), vh.window((0, 0), (r, n))

    def quotients(self, b: Array) -> Array:
        """diag(s)^-1 U^H B"""
        op = "conjugate-transpose"
        if b.ndim == 1:
            found = _core.divided(_product(self.u, op, b._core, distribution=_core.Replicated()), self.s)
        else:
            projected = _product(self.u, op, b._core, distribution=_core.Slab(1))
            found = _core.divided(projected.permuted([1, 0]), self.s).permuted([1, 0])
        return Array(found, b._package)


class _TruncatedBatch:
    """U, S^-1 and Vh of each matrix, with zeros in S^-1 where a singular value is not above a multiple of the largest. Blocking."""

    def __init__(self, a: Array, rcond: Optional[float]) -> None:
        self.u, s, self.vh = (Array(core, a._package) for core in _core.svd(a._core, 0))
        self.values = on_every_rank(s._core)
        if rcond is None:
            rcond = _rounding(a)
        self.rank = _count(self.values, rcond)
        self._inverses = np.divide(1, self.values, out=np.zeros_like(self.values), where=_are_above(self.values, rcond))

    def times(self, b: Array) -> Array:
        """V diag(s)^-1 b, for b [.., min(m, n), r]."""
        scaled: Array = np.multiply(b, self._inverses[..., :, None])
        return matmul(self.vh, scaled, op_a="conjugate-transpose")


def _are_above(values: Any, rcond: Any) -> Any:
    """Which singular values are above a multiple of the largest: a number, or one for each matrix."""
    return values > np.asarray(rcond, values.dtype)[..., None] * values[..., :1]


def _count(values: "np.ndarray[Any, np.dtype[Any]]", rcond: Any) -> Any:
    """Of one matrix, or of each matrix of a batch."""
    counts = np.count_nonzero(_are_above(values, rcond), axis=-1)
    return counts if values.ndim > 1 else int(counts)


def _product(a: _core.Array, op_a: str, b: _core.Array, op_b: str = "none", distribution: Any = None) -> _core.Array:
    """Blocking."""
    how = _core.MatmulOptions(op_a=op_a, op_b=op_b, distribution=distribution)
    return _core.matmul(a, b, None, how, no_epilogue_arrays, None)


# --- numbers


@collective
def matrix_rank(A: Array, tol: Optional[float] = None, hermitian: bool = False, *, rtol: Optional[float] = None) -> Any:
    """How many singular values are above a tolerance, on every rank. Collective, blocking.

    Parameters
    ----------
    A : Array
        A matrix [m, n]; or a vector, which has rank 0 if it is 0, otherwise 1; or a batch [.., m, n], with ranks [..], a NumPy array.
    tol : float, optional
        The tolerance.
    rtol : float or NumPy array [..], optional
        The tolerance as a multiple of the largest singular value. Neither: max(m, n) times the distance from 1 to the next number.
    """
    if tol is not None and rtol is not None:
        raise ArgumentError("matrix_rank: tol and rtol exclude each other")
    (matrix,) = prepared(A)
    if matrix.ndim == 1:
        return int(norm(matrix, math.inf) > 0) if matrix.size else 0
    values = singular_values(matrix)
    if tol is not None:
        counts = np.count_nonzero(values > tol, axis=-1)
        return counts if values.ndim > 1 else int(counts)
    return _count(values, _rounding(matrix) if rtol is None else rtol)


@collective
def cond(x: Array, p: Any = None) -> Any:
    """The condition number |A| |A^-1| of a matrix, on every rank; inf for a singular one. Collective, blocking.

    Parameters
    ----------
    x : Array
        A matrix [m, n]; square, unless p is None, 2 or -2. With these also a batch [.., m, n], with condition numbers [..], a NumPy array.
    p : {None, 2, -2, 'fro', 'nuc', 1, -1, inf, -inf}, optional
        The norm. None and 2: the ratio of the largest to the smallest singular value; -2: its inverse; others: by the inverse of A.
    """
    matrix = settled(x)
    if matrix.size == 0:
        raise ArgumentError(f"cond: an empty matrix, {matrix.shape}, has no condition number")
    if p is None or p in (2, -2):
        values = singular_values(matrix).astype(float)
        above, below = values[..., 0], values[..., -1]
        if p == -2:
            above, below = below, above
        ratios = np.divide(above, below, out=np.full(above.shape, math.inf), where=below > 0)
        return ratios if matrix.ndim > 2 else float(ratios)
    if matrix.ndim > 2:
        raise ArgumentError(f"cond: of a batch, {matrix.shape}, only p=None, 2 and -2 are supported, got {p!r}")
    try:
        inverse = Array(_core.inverse(matrix._core), x._package)
    except SingularError:
        return math.inf
    return float(norm(matrix, p) * norm(inverse, p))


# --- pseudo-inverses


@collective
def pinv(a: Array, rcond: Optional[float] = None, hermitian: bool = False, *, rtol: Any = _unset) -> Array:
    """The pseudo-inverse (Moore-Penrose) of a matrix [m, n], which is [n, m], or of each matrix of a batch. Collective, blocking.

    To solve least squares problems, `lstsq` is faster.

    Parameters
    ----------
    a : Array
        A matrix [m, n], or a batch [.., m, n].
    rcond : float or NumPy array [..], optional
        Singular values that are not above this multiple of the largest are taken as 0; of a batch also one for each matrix. Unset: 1e-15, as in NumPy.
    rtol : float, optional
        The same by its newer name; None: max(m, n) times the distance from 1 to the next number, which suits all dtypes.

    Returns
    -------
    Array
        In the distribution of `a` if m = n, otherwise in Slab(0); of a batch in that of a product.
    """
    if rtol is not _unset and rcond is not None:
        raise ArgumentError("pinv: rcond and rtol exclude each other")
    matrix = settled(a)
    if rtol is _unset:
        rtol = 1e-15 if rcond is None else rcond
    if matrix.ndim > 2:
        batch = _TruncatedBatch(matrix, rtol)
        return batch.times(adjoint(batch.u))
    parts, op = _Truncated(matrix, rtol), "conjugate-transpose"
    place = matrix.distribution if matrix.shape[0] == matrix.shape[1] else _core.Slab(0)
    return Array(_product(parts.vh, op, _core.divided(parts.u, parts.s), op, place), a._package)


# --- least squares


@collective
@with_replicas("a", "b")
def lstsq(a: Array, b: Array, rcond: Optional[float] = None, *, stream: Any = None, **options: Any) -> LstsqResult:
    """The X that minimizes the 2-norm of A X - B; of all these the one of the smallest 2-norm. Collective, blocking.

    By singular values, as in NumPy. For a matrix of full rank with m >= n `QR(a).solve(b)` is faster.

    Parameters
    ----------
    a : Array
        A matrix [m, n], or a batch [.., m, n].
    b : Array
        [m] or [m, r]; for a batch also [.., m, r] with the leading dimensions of `a`.
    rcond : float, optional
        Singular values that are not above this multiple of the largest are taken as 0. Unset: max(m, n) times the distance from 1 to the next
        number; negative: that distance.

    Returns
    -------
    LstsqResult
        x, [n] or [n, r], or of a batch [.., n] or [.., n, r]; residuals, rank and s.

    Raises
    ------
    ArgumentError, UnsupportedError, MemoryError
        The same on every rank. ArgumentError also for NaN and infinity in `a`.
    """
    how = _place_of_x(options)
    left, right = prepared(a, b, stream=stream)
    for one in (left, right):
        wait_for(stream, one)
    if left.ndim == 2 and (right.ndim not in (1, 2) or right.shape[0] != left.shape[0]):
        raise ArgumentError(f"lstsq: B must have the shape [{left.shape[0]}] or [{left.shape[0]}, r], but its shape is {right.shape}")
    if rcond is not None and rcond < 0:
        rcond = _epsilon(left)
    if left.ndim > 2:
        return _lstsq_of_batch(left, right, rcond, how)
    parts = _Truncated(left, rcond)
    m, n = left.shape
    how.setdefault("distribution", right.distribution if m == n else _core.Slab(0))
    sides = right
    if right.space != left.space:
        how.setdefault("space", right.space)
        sides = right.copy(space=left.space)
    x = matmul(Array(parts.vh, b._package), parts.quotients(sides), op_a="conjugate-transpose", stream=stream, **how)
    residuals = np.zeros(0, real_dtype(left))
    if m > n and parts.rank == n:
        residuals = _squared_residuals(left, x, right, stream).astype(residuals.dtype)
    return LstsqResult(x, residuals, parts.rank, parts.values)


def _lstsq_of_batch(a: Array, b: Array, rcond: Optional[float], how: Dict[str, Any]) -> LstsqResult:
    m, n = a.shape[-2:]
    is_vector = b.ndim == 1
    if (b.shape[0] if is_vector else b.shape[-2]) != m or (b.ndim > 2 and b.shape[:-2] != a.shape[:-2]):
        raise ArgumentError(f"lstsq: with A of shape {a.shape}, B must be [{m}], [{m}, r] or [.., {m}, r] with A's leading dimensions, but it is {b.shape}")
    parts = _TruncatedBatch(a, rcond)
    sides = b.reshape((m, 1)) if is_vector else b
    if sides.space != a.space:
        how.setdefault("space", sides.space)
        sides = sides.copy(space=a.space)
    x = parts.times(adjoint(parts.u) @ sides)
    residuals = np.zeros(0, real_dtype(a))
    if m > n and np.all(parts.rank == n):
        residuals = on_every_rank(norm(a @ x - sides, axis=-2)._core).astype(residuals.dtype) ** 2
    if is_vector:
        x = x.reshape(x.shape[:-1])
    how.setdefault("distribution", b.distribution if x.shape == b.shape else _core.Slab(0))
    return LstsqResult(redistribute(x, how.pop("distribution"), **how), residuals, parts.rank, parts.values)


def _place_of_x(options: Dict[str, Any]) -> Dict[str, Any]:
    known = ("distribution", "order", "heap", "space")
    for name in options:
        if name not in known:
            raise TypeError(f"lstsq: unknown option {name}; known: {', '.join(known)}")
    return {name: value for name, value in options.items() if value is not None}


def _squared_residuals(a: Array, x: Array, b: Array, stream: Any) -> "np.ndarray[Any, np.dtype[Any]]":
    """By column, on every rank."""
    left = matmul(a, x, c=b, alpha=-1, beta=1, stream=stream)
    if b.ndim == 1:
        return np.array([norm(left, stream=stream) ** 2])
    return on_every_rank(norm(left, axis=0, stream=stream)._core, stream) ** 2


__all__ = ["LstsqResult", "cond", "lstsq", "matrix_rank", "pinv"]
