"""The extension `linalg` of the array API standard, by `partita.linalg`. Of factorizations and what they give, one matrix. Collective, blocking."""

from __future__ import annotations

from typing import Any, Optional, Tuple

import numpy as np

from .. import _diagonals, _products
from .. import linalg as _linalg
from .._array import Array, axes_of
from .._linear import matrix_norm as _matrix_norm
from .._linear import vector_norm as _vector_norm
from .._products import cross
from ._functions import matmul, matrix_transpose, tensordot, vecdot
from ._scalars import as_array


def _real(x: Array) -> Any:
    return {"complex64": np.dtype("float32"), "complex128": np.dtype("float64")}.get(x.dtype.name, x.dtype)


def _numbers(rtol: Any) -> Any:
    """As NumPy has them."""
    return rtol.gather(space="host") if isinstance(rtol, Array) else rtol


def cholesky(x: Array, /, *, upper: bool = False) -> Array:
    """The triangular factor of a Hermitian matrix."""
    return _linalg.cholesky(x, upper=upper)


def det(x: Array, /) -> Array:
    """The determinant."""
    return as_array(_linalg.det(x), x, x.dtype)


def diagonal(x: Array, /, *, offset: int = 0) -> Array:
    """The elements on a diagonal of the last two dimensions."""
    return _diagonals.diagonal(x, offset, -2, -1)


def eig(x: Array, /) -> Any:
    """Eigenvalues and eigenvectors of a general matrix."""
    return _linalg.eig(x)


def eigvals(x: Array, /) -> Array:
    """Eigenvalues of a general matrix."""
    return _linalg.eigvals(x)


def eigh(x: Array, /) -> Any:
    """Eigenvalues and eigenvectors of a Hermitian matrix."""
    return _linalg.eigh(x)


def eigvalsh(x: Array, /) -> Array:
    """Eigenvalues of a Hermitian matrix."""
    return _linalg.eigvalsh(x)


def inv(x: Array, /) -> Array:
    """The inverse."""
    return _linalg.inv(x)


def matrix_norm(x: Array, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """The norm of matrices."""
    return as_array(_matrix_norm(x, keepdims=keepdims, ord=ord), x, _real(x))


def matrix_power(x: Array, n: int, /) -> Array:
    """The product of n equal factors."""
    return _linalg.matrix_power(x, n)


def matrix_rank(x: Array, /, *, rtol: Any = None) -> Array:
    """How many singular values are not negligible."""
    return as_array(_linalg.matrix_rank(x, rtol=_numbers(rtol)), x, np.int64)


def outer(x1: Array, x2: Array, /) -> Array:
    """All products of elements of two vectors."""
    return _products.outer_of_vectors(x1, x2)


def pinv(x: Array, /, *, rtol: Any = None) -> Array:
    """The pseudo-inverse."""
    return _linalg.pinv(x, rtol=_numbers(rtol))


def qr(x: Array, /, *, mode: str = "reduced") -> Any:
    """The factors Q and R."""
    return _linalg.qr(x, mode)


def slogdet(x: Array, /) -> Any:
    """The sign and the logarithm of the absolute value of the determinant."""
    found: Any = _linalg.slogdet(x)
    return type(found)(as_array(found[0], x, x.dtype), as_array(found[1], x, _real(x)))


def solve(x1: Array, x2: Array, /) -> Array:
    """The solution of a linear system."""
    return _linalg.solve(x1, x2)


def svd(x: Array, /, *, full_matrices: bool = True) -> Any:
    """Singular values and vectors."""
    return _linalg.svd(x, full_matrices)


def svdvals(x: Array, /) -> Array:
    """Singular values."""
    return _linalg.svdvals(x)


def trace(x: Array, /, *, offset: int = 0, dtype: Any = None) -> Array:
    """The sum of the elements on a diagonal of the last two dimensions."""
    from ._functions import _sum_dtype

    kind = _sum_dtype(x, dtype)
    return as_array(_diagonals.trace(x, offset, -2, -1, kind), x, kind)


def vector_norm(x: Array, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Array:
    """The norm of vectors."""
    if keepdims and axis is None:
        axis = tuple(range(x.ndim))
    if axis is not None and not isinstance(axis, int) and len(axis) > 1 and ord not in (None, 2):
        order: Tuple[int, ...] = tuple(one for one in range(x.ndim) if one not in axes_of(axis, x.ndim))
        flat = x.transpose([*order, *axes_of(axis, x.ndim)]).reshape([*(x.shape[one] for one in order), -1])
        found = _vector_norm(flat, axis=-1, ord=ord)
        shape: Optional[Any] = [1 if one not in order else x.shape[one] for one in range(x.ndim)] if keepdims else None
        found = as_array(found, x, _real(x))
        return found if shape is None else found.reshape(shape)
    return as_array(_vector_norm(x, axis=axis, keepdims=keepdims, ord=ord), x, _real(x))


__all__ = [
    "cholesky", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "matmul", "matrix_norm", "matrix_power", "matrix_rank",
    "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot", "trace", "vecdot", "vector_norm",
]  # fmt: skip
