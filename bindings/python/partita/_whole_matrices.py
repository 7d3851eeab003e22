"""What NumPy computes of whole matrices: eigenvalues of general ones, and more orthonormal columns."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple, Sequence, Tuple

import numpy as np

from . import _core
from ._array import Array
from ._axes import moved, on_host, values_of, with_whole, wrapped
from ._calls import collective
from ._create import eye
from ._errors import ArgumentError
from ._exchange import total
from ._factors import QR
from ._joining import concatenate
from ._matrices import DTYPES, settled


class EigResult(NamedTuple):
    """What `eig` returns."""

    eigenvalues: Array
    eigenvectors: Array


def _of_each(a: Array, function: Callable[[Any], Sequence[Any]]) -> Tuple[Array, ...]:
    """Results of all matrices [.., m, n], which have as many leading dimensions: each matrix is computed by the rank that has it. Those
    that all ranks have are computed by the first one."""
    there, cut = with_whole(on_host(a), [a.ndim - 2, a.ndim - 1])
    context, values = a._core.context, values_of(there)
    found = [np.array(one, order="C") for one in function(values)]
    for one in found if cut.axis is None and context.size > 1 else []:
        _core.broadcast(context, one, 0, None)
    leading = a.shape[: a.ndim - 2]
    shapes = [(*leading, *one.shape[a.ndim - 2 :]) for one in found]
    return tuple(wrapped(a, cut.layout(shape, cut.axis or 0), one) for shape, one in zip(shapes, found))


def _eigen(name: str, a: Array, function: Callable[[Any], Sequence[Any]]) -> Tuple[Array, ...]:
    """By LAPACK's dgeev and its relatives."""
    matrix = settled(a)
    if matrix.ndim < 2 or matrix.shape[-2] != matrix.shape[-1]:
        raise ArgumentError(f"{name}: A must be square, but its shape is {matrix.shape}")
    if matrix._core.dtype not in DTYPES:
        raise ArgumentError(f"{name}: the dtype {matrix._core.dtype} is not supported: convert the array with astype")
    if total(matrix._core.context, [int(not np.isfinite(values_of(on_host(matrix))).all())], "max")[0]:
        raise ArgumentError(f"{name}: A contains NaN or infinity")
    kind = np.result_type(matrix.dtype, np.complex64)
    return _of_each(matrix, lambda values: [one.astype(kind) for one in function(values)])


@collective
def eig(a: Array) -> EigResult:
    """Eigenvalues and right eigenvectors of a general matrix: A V = V diag(w). Collective, blocking.

    A matrix is computed by one rank, on the host: it must fit into the memory of each, and only batches are divided among the ranks.
    `eigh` divides single matrices, too.

    Parameters
    ----------
    a : Array
        A square matrix [n, n], or a batch [.., n, n].

    Returns
    -------
    EigResult
        eigenvalues [n], replicated, in no order; eigenvectors [n, n], column by column, of norm 1, in the layout of `a`. Of a batch: [.., n]
        and [.., n, n], distributed by a leading dimension. Both are complex, also where NumPy's are real.

    Raises
    ------
    ArgumentError, UnsupportedError, MemoryError
        The same on every rank. ArgumentError also for NaN and infinity.
    """
    values, vectors = _eigen("eig", a, np.linalg.eig)
    return EigResult(values, vectors if a.ndim > 2 else moved(vectors, a.layout))


@collective
def eigvals(a: Array) -> Array:
    """The eigenvalues of a general matrix [n], replicated; of a batch [.., n], distributed by a leading dimension. Collective, blocking.

    Parameters
    ----------
    a : Array
        A square matrix [n, n], or a batch [.., n, n]. See `eig`.
    """
    return _eigen("eigvals", a, lambda values: [np.linalg.eigvals(values)])[0]


def completed(u: Array) -> Array:
    """[.., m, m]: the columns of [.., m, k], which are orthonormal, and m - k more. Collective, blocking."""
    m, k = u.shape[-2:]
    if m == k:
        return u
    if u.ndim > 2:
        more = _of_each(u, lambda values: [np.linalg.qr(values, "complete")[0][..., k:]])[0]
    else:
        units = eye(u.context, m, m - k, distribution=_core.Slab(0), dtype=u.dtype, diagonal=-k, space=u.space)
        more = QR(u).multiply_q(units)
    return concatenate([u, more], -1)


__all__ = ["EigResult", "completed", "eig", "eigvals"]
