"""Eigenvalues of Hermitian matrices, singular values and polar decompositions."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple, Optional, Sequence, Tuple, Union

from . import _core
from ._array import Array
from ._calls import collective
from ._errors import ArgumentError
from ._linear import matmul
from ._matrices import adjoint, settled


class EighResult(NamedTuple):
    """What `eigh` returns."""

    eigenvalues: Array
    eigenvectors: Array


class SVDResult(NamedTuple):
    """What `svd` returns."""

    U: Array
    S: Array
    Vh: Array


def is_upper(UPLO: Any) -> bool:
    """Whether the letter selects the upper triangle."""
    letter = UPLO.upper() if isinstance(UPLO, str) else UPLO
    if letter not in ("L", "U"):
        raise ArgumentError(f"UPLO: expected 'L' or 'U', got {UPLO!r}")
    return bool(letter == "U")


def _chosen(subset_by_index: Any, a: Array) -> Tuple[int, int]:
    """The number of the first eigenvalue, and of how many, -1 for all; SciPy counts the last one in."""
    if subset_by_index is None:
        return 0, -1
    try:
        first, last = map(operator.index, subset_by_index)
    except (TypeError, ValueError):
        raise TypeError(f"subset_by_index: expected the pair (first, last), got {subset_by_index!r}") from None
    if a.ndim >= 2 and not 0 <= first <= last < a.shape[-1]:
        raise ArgumentError(f"subset_by_index: expected 0 <= first <= last < {a.shape[-1]}, got ({first}, {last})")
    return first, last - first + 1


@collective
def eigh(a: Array, UPLO: str = "L", *, subset_by_index: Optional[Sequence[int]] = None, base: int = 0) -> EighResult:
    """Eigenvalues and eigenvectors of a Hermitian matrix: A V = V diag(w). Collective, blocking.

    Parameters
    ----------
    a : Array
        A Hermitian matrix [n, n], of which one triangle is read; or a batch [.., n, n].
    UPLO : {'L', 'U'}, default 'L'
        The lower or the upper one.
    subset_by_index : (int, int), optional
        Numbers of the first and the last eigenvalue that are returned, counted from 0, as in `scipy.linalg.eigh`. Vectors of
        others are not computed, unless one rank does and they are more than a quarter, or on a device.

    Returns
    -------
    EighResult
        eigenvalues [k], ascending, real, replicated; eigenvectors [n, k], column by column: if k = n in the layout of `a`, otherwise in Slab(0).
        Of a batch: [.., k] and [.., n, k], distributed by a leading dimension unless they have the shape of `a`.

    Raises
    ------
    ArgumentError, UnsupportedError, MemoryError
        The same on every rank. ArgumentError also for NaN and infinity.
    """
    upper, (first, count), matrix = is_upper(UPLO), _chosen(subset_by_index, a), settled(a)
    values, vectors = (Array(one, a._package) for one in _core.eigh(matrix._core, upper, base, first, count))
    return EighResult(values, vectors)


@collective
def eigvalsh(a: Array, UPLO: str = "L", *, base: int = 0) -> Array:
    """The eigenvalues of a Hermitian matrix [n], ascending, real, replicated. Collective, blocking.

    Parameters
    ----------
    a : Array
        A Hermitian matrix [n, n], of which one triangle is read; or a batch [.., n, n], with eigenvalues [.., n] distributed by a
        leading dimension.
    UPLO : {'L', 'U'}, default 'L'
        The lower or the upper one.
    """
    upper, matrix = is_upper(UPLO), settled(a)
    return Array(_core.eigvalsh(matrix._core, upper, base), a._package)


@collective
def svd(
    a: Array, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False, *, base: int = 0
) -> Union[SVDResult, Array]:
    """The singular value decomposition A = U diag(S) Vh. Collective, blocking.

    Parameters
    ----------
    a : Array
        A matrix [m, n], or a batch [.., m, n]. Let k = min(m, n).
    full_matrices : bool, default True
        Whether U is [m, m] and Vh [n, n]: one of them has max(m, n)^2 elements, so pass False unless they are needed.
    compute_uv : bool, default True
        False: only S, as `svdvals`.

    Returns
    -------
    SVDResult or Array
        U [m, k] and Vh [k, n], in the layout of `a` where the shape is the same, otherwise in Slab(0); S [k], descending, real, replicated.
        Of a batch: with its leading dimensions, distributed by one of these unless the shape is that of `a`.

    Raises
    ------
    ArgumentError, UnsupportedError, MemoryError
        The same on every rank. ArgumentError also for NaN and infinity.
    """
    if not compute_uv:
        return svdvals(a, base=base)
    u, s, vh = (Array(one, a._package) for one in _core.svd(settled(a)._core, base))
    if full_matrices and u.shape[-2] != vh.shape[-1]:
        from ._whole_matrices import completed

        u, vh = completed(u), adjoint(completed(adjoint(vh)))
    return SVDResult(u, s, vh)


@collective
def svdvals(x: Array, /, *, base: int = 0) -> Array:
    """The singular values of a matrix [m, n]: [min(m, n)], descending, real, replicated. Collective, blocking.

    Parameters
    ----------
    x : Array
        A matrix [m, n]; or a batch [.., m, n], with singular values [.., k] distributed by a leading dimension.
    """
    return Array(_core.svdvals(settled(x)._core, base), x._package)


@collective
def polar(a: Array, side: str = "right") -> Tuple[Array, Array]:
    """The polar decomposition A = U P, or with side='left' A = P U. Collective, blocking.

    Parameters
    ----------
    a : Array
        A matrix [m, n].
    side : {'right', 'left'}, default 'right'
        Where P is.

    Returns
    -------
    u : Array
        [m, n], with orthonormal columns, or for m < n orthonormal rows.
    p : Array
        Hermitian positive semidefinite: [n, n], or [m, m] with side='left'.

    Raises
    ------
    ArgumentError, UnsupportedError, MemoryError
        The same on every rank. ArgumentError also for NaN and infinity.
    """
    if side not in ("right", "left"):
        raise ArgumentError(f"side: expected 'right' or 'left', got {side!r}")
    matrix = settled(a)
    # A^T = U H, so A = H^T U^T.
    from_transpose = matrix.ndim == 2 and (matrix.shape[0] < matrix.shape[1] or (side == "left" and matrix.shape[0] == matrix.shape[1]))
    u, p = (Array(one, a._package) for one in _core.polar((matrix.T if from_transpose else matrix)._core))
    if from_transpose:
        u, p = u.T, p.T
    if from_transpose != (side == "left"):  # the smaller of the two was computed
        op = "conjugate-transpose"
        p = matmul(u, matrix, op_a=op) if side == "right" else matmul(matrix, u, op_b=op)
    return u, p


__all__ = ["EighResult", "SVDResult", "eigh", "eigvalsh", "is_upper", "polar", "svd", "svdvals"]
