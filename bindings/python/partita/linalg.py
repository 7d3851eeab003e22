"""Dense linear algebra: linear systems, factorizations, least squares, eigenvalues, singular values and norms, as in NumPy and SciPy.

Functions have the order, names and defaults of `numpy.linalg` (`solve`, `inv`, `det`, `slogdet`, `cholesky`, `qr`, `lstsq`, `eigh`,
`eigvalsh`, `svd`, `svdvals`, `pinv`, `cond`, `matrix_rank`, `matrix_power`, `eig`, `eigvals`, norms) and of `scipy.linalg` (`solve`, `lu_factor`, `lu_solve`,
`cho_factor`, `cho_solve`, `solve_triangular`, `polar`). `LU`, `Cholesky` and `QR` factorize once and solve many times. All functions are
collective and blocking.

Matrices are distributed arrays of two dimensions, in any distribution, order and memory space, of any size from 0; right-hand sides have
one or two dimensions. `solve`, `solve_triangular`, `lstsq`, `pinv`, `cholesky`, `inv`, `det`, `slogdet`, `qr`, `eig`, `eigvals`, `eigh`, `eigvalsh`, `svd`,
`svdvals`, `matrix_power`, `matrix_rank` and `cond` also take batches [.., m, n]: small matrices are distributed by a leading dimension, and each is computed by one rank on the host. Computed is in float32, float64, complex64 and complex128: integers are converted to float64, and operands of two
dtypes to their common one, in a copy. There is no check_finite: NaN and infinities spread as in LAPACK; eigenvalues, singular values and
what is computed from them (`lstsq`, `pinv`, `cond`, `matrix_rank`, `polar`) are an ArgumentError then.

Options of solves, for a new result: distribution (unset: that of B if the shapes are equal, otherwise rows over all ranks), order, heap,
space; and memory_limit, the maximum scratch of a rank in bytes.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Tuple, Union

import numpy as np

from . import _core
from ._array import Array, core_given, writable
from ._by_svd import LstsqResult, cond, lstsq, matrix_rank, pinv
from ._calls import collective
from ._eigen import EighResult, SVDResult, eigh, eigvalsh, polar, svd, svdvals
from ._errors import ArgumentError, UnsupportedError
from ._factors import LU, QR, Cholesky, FactorArray, Factorization, SlogdetResult, solve_options
from ._linear import matrix_norm, norm, vector_norm
from ._matrices import prepared, wait_for
from ._places import pad
from ._powers import matrix_power, multi_dot
from ._redistribute import redistribute
from ._refined import RefinedResult, condition, rank_k_update, solve_refined
from ._replicas import with_replicas
from ._streams import stream_of_arrays
from ._whole_matrices import EigResult, completed, eig, eigvals

__all__ = [
    "Cholesky", "EigResult", "EighResult", "LU", "LstsqResult", "QR", "QRResult", "RefinedResult", "SVDResult", "SlogdetResult", "cho_factor",
    "cho_solve", "cholesky", "cond", "condition", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lstsq", "lu_factor", "lu_solve", "matrix_norm",
    "matrix_power", "matrix_rank", "multi_dot", "norm", "pinv", "polar", "qr", "rank_k_update", "slogdet", "solve", "solve_refined",
    "solve_triangular", "svd", "svdvals", "vector_norm",
]  # fmt: skip


class QRResult(NamedTuple):
    """The factors of `qr`."""

    Q: Array
    R: Array


# --- operands


def _op_of(trans: Any) -> str:
    """BLAS's op of SciPy's number or letter."""
    for op, names in (("none", (0, "N")), ("transpose", (1, "T")), ("conjugate-transpose", (2, "C"))):
        if trans in names:
            return op
    raise ArgumentError(f"trans: expected 0, 1, 2, 'N', 'T' or 'C', got {trans!r}")


def _target(b: Array, overwrite_b: bool, out: Optional[Array]) -> Optional[Array]:
    """The array for the result; None: a new one."""
    if out is None and overwrite_b:
        writable("b", b)
        return b
    return out


# --- linear systems

#: What solves with a matrix of this structure, by SciPy's words.
_structures = {
    None: "lu", "general": "lu", "gen": "lu", "banded": "lu", "tridiagonal": "lu", "diagonal": "lu",
    "positive definite": "cholesky", "pos": "cholesky", "lower triangular": "lower", "upper triangular": "upper",
    "symmetric": "", "sym": "", "hermitian": "", "her": "",
}  # fmt: skip


@collective
@with_replicas("a", "b")
def solve(
    a: Array, b: Array, lower: bool = False, overwrite_a: bool = False, overwrite_b: bool = False, *, assume_a: Optional[str] = None,
    transposed: bool = False, refine: bool = False, out: Optional[Array] = None, stream: Any = None, **options: Any,
) -> Array:  # fmt: skip
    """The X with A X = B. Collective, blocking.

    Parameters
    ----------
    a : Array
        A square matrix [n, n]; or with a general or triangular structure a batch [.., n, n].
    b : Array
        [n] or [n, r]; for a batch also [.., n, r] with the leading dimensions of `a`.
    lower : bool, default False
        With a positive definite matrix: read its lower triangle; otherwise the upper one is read.
    overwrite_a : bool, default False
        Permit that the factors take the place of `a`.
    overwrite_b : bool, default False
        Write X into `b`, and return it.
    assume_a : str, optional
        'general' (LU with partial pivoting), 'positive definite' (Cholesky), 'lower triangular' or 'upper triangular', with SciPy's
        short names; the structure is not detected, so None means 'general', as do 'diagonal', 'tridiagonal' and 'banded'. UnsupportedError for
        'symmetric' and 'hermitian', of which SciPy reads one triangle: use 'general', which needs the whole matrix.
    transposed : bool, default False
        Solve A^T X = B.
    refine : bool, default False
        Factorize in lower precision, and refine X, as `solve_refined`, which also reports how. With a positive definite matrix both
        triangles are read. ArgumentError for triangular matrices.

    Raises
    ------
    ArgumentError, SingularError, UnsupportedError, DisagreementError, MemoryError
        The same on every rank. SingularError: A is singular, or not positive definite.
    """
    if assume_a not in _structures:
        raise ArgumentError(f"assume_a: {assume_a!r} is not known; known are {', '.join(repr(name) for name in _structures)}")
    method, op = _structures[assume_a], "transpose" if transposed else "none"
    if not method:
        raise UnsupportedError(
            f"assume_a: there is no factorization for {assume_a!r}, of which one triangle is read; use 'general', which needs the whole matrix"
        )
    left, right = prepared(a, b, stream=stream)
    wait_for(stream, left)
    if right is not b:
        overwrite_b = out is None  # a copy
    if right.ndim < left.ndim - 1:  # X has the leading dimensions of A
        overwrite_b = False
    target = _target(right, overwrite_b, out)
    if refine:
        structure = {"lu": "general", "cholesky": "positive definite"}.get(method, assume_a)
        x = solve_refined(left, right, assume_a=structure, op=op, stream=stream, **options).x
        return x if target is None else redistribute(x, target)
    if left.ndim > 2 and method not in ("lower", "upper"):
        if method != "lu":
            raise UnsupportedError(f"assume_a: {assume_a!r} is not supported for batches; use 'general', which needs the whole matrices")
        handle = stream_of_arrays(stream, left, right)
        x = Array(_core.solve(left._core, right._core, solve_options(op, options), handle), b._package)
        return x if target is None else redistribute(x, target)
    if method in ("lower", "upper"):
        x = _triangular_solution(left, right, op, method == "upper", False, stream, options)
        return x if target is None else redistribute(x, target)
    factors: Factorization
    limit = options.get("memory_limit", 0)
    if method == "cholesky":
        factors = Cholesky(left, lower=lower, overwrite=overwrite_a, memory_limit=limit)
    else:
        factors = LU(left, overwrite=overwrite_a, memory_limit=limit)
    return factors.solve(right, op=op, out=target, stream=stream, **options)


def _triangular_solution(
    a: Array, b: Array, op: str, upper: bool, unit_diagonal: bool, stream: Any, options: "dict[str, Any]"
) -> Array:
    how = solve_options(op, {**options, "upper": upper, "unit_diagonal": unit_diagonal})
    handle = stream_of_arrays(stream, a, b)
    return Array(_core.solve_triangular(core_given(a), core_given(b), how, handle), b._package)


@collective
@with_replicas("a", "b")
def solve_triangular(
    a: Array, b: Array, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False, *, stream: Any = None, **options: Any
) -> Array:
    """The X with op(A) X = B for a triangular matrix A. Collective, blocking.

    Parameters
    ----------
    a : Array
        [n, n], or a batch [.., n, n]; the other triangle is not read.
    b : Array
        [n] or [n, r]; for a batch also [.., n, r] with the leading dimensions of `a`.
    trans : {0, 1, 2, 'N', 'T', 'C'}, default 0
        Solve A X = B, A^T X = B or A^H X = B.
    lower : bool, default False
        Whether the lower triangle is read, or the upper one.
    unit_diagonal : bool, default False
        The diagonal is 1, and is not read.

    Raises
    ------
    SingularError
        An element of the diagonal is 0.
    """
    left, right = prepared(a, b, stream=stream)
    return _triangular_solution(left, right, _op_of(trans), not lower, bool(unit_diagonal), stream, options)


# --- factors as pairs of arrays


@collective
def lu_factor(a: Array, overwrite_a: bool = False, **options: Any) -> Tuple[Array, Array]:
    """P A = L U with partial pivoting, for `lu_solve`. Collective, blocking.

    `LU` has the same factors without a copy of them in LAPACK's form.

    Parameters
    ----------
    a : Array
        A matrix [m, n].
    overwrite_a : bool, default False
        The factors are written into `a`.
    **options
        As for `LU`: block, grid, pivoting, memory_limit.

    Returns
    -------
    lu : Array
        L below the diagonal (its own is 1) and U on and above it, in the layout of `a`. Read-only.
    piv : Array
        int32 [min(m, n)], replicated: row i was exchanged with row piv[i]. Read-only.
    """
    (matrix,) = prepared(a)
    target = None
    if overwrite_a:
        writable("a", a)
        target = matrix
    factors = LU(matrix, **options)
    piv = Array(factors.pivots()._core, a._package, read_only=True)
    return FactorArray(factors.packed(target)._core, factors, piv), piv


def _pair(what: str, given: Any, parts: str) -> Tuple[Any, Any]:
    try:
        first, second = given
    except (TypeError, ValueError):
        raise TypeError(f"{what}: expected the pair {parts}, got {type(given).__name__}") from None
    core_given(first)
    return first, second


@collective
@with_replicas("b")
def lu_solve(
    lu_and_piv: Tuple[Array, Array], b: Array, trans: Any = 0, overwrite_b: bool = False, *, out: Optional[Array] = None,
    stream: Any = None, **options: Any,
) -> Array:  # fmt: skip
    """The X with op(A) X = B, with the factors of `lu_factor`. Collective, blocking.

    Parameters
    ----------
    lu_and_piv : (Array, Array)
        What `lu_factor` has returned; or the same factors in any layout, of which a copy is made in each call.
    b : Array
        [n] or [n, r].
    trans : {0, 1, 2, 'N', 'T', 'C'}, default 0
        Solve A X = B, A^T X = B or A^H X = B.
    overwrite_b : bool, default False
        Write X into `b`, and return it.

    Raises
    ------
    SingularError
        A is singular. (SciPy divides by zero.)
    """
    lu, piv = _pair("lu_and_piv", lu_and_piv, "(lu, piv)")
    reused = isinstance(lu, FactorArray) and lu._pair is piv
    factors = lu._factors if reused else LU.from_packed(lu, piv)
    return factors.solve(b, op=_op_of(trans), out=_target(b, overwrite_b, out), stream=stream, **options)


@collective
def cho_factor(a: Array, lower: bool = False, overwrite_a: bool = False) -> Tuple[Array, bool]:
    """A = U^H U, or with `lower` A = L L^H, of a Hermitian positive definite matrix, for `cho_solve`. Collective, blocking.

    Parameters
    ----------
    a : Array
        [n, n]; only the upper triangle is read, or with `lower` the lower one.
    lower : bool, default False
        Compute L.
    overwrite_a : bool, default False
        Permit that the factors take the place of `a`.

    Returns
    -------
    c : Array
        U or L, with zeros in the other triangle, in the layout of `a`. Read-only.
    lower : bool
        As given.
    """
    (matrix,) = prepared(a)
    factors = Cholesky(matrix, lower=lower, overwrite=overwrite_a)
    return FactorArray(factors.factor()._core, factors, bool(lower)), bool(lower)


@collective
@with_replicas("b")
def cho_solve(
    c_and_lower: Tuple[Array, bool], b: Array, overwrite_b: bool = False, *, out: Optional[Array] = None, stream: Any = None,
    **options: Any,
) -> Array:  # fmt: skip
    """The X with A X = B, with the factor of `cho_factor`. Collective, blocking.

    Parameters
    ----------
    c_and_lower : (Array, bool)
        What `cho_factor` has returned; or such a factor in any layout, of which a copy is made in each call.
    b : Array
        [n] or [n, r].
    overwrite_b : bool, default False
        Write X into `b`, and return it.
    """
    c, lower = _pair("c_and_lower", c_and_lower, "(c, lower)")
    reused = isinstance(c, FactorArray) and isinstance(c._factors, Cholesky) and c._pair == bool(lower)
    factors = c._factors if reused else Cholesky.from_factor(c, lower)
    return factors.solve(b, out=_target(b, overwrite_b, out), stream=stream, **options)


# --- factors


def _exchanged(a: Array) -> Array:
    """The last two dimensions exchanged, in the same memory."""
    axes = list(range(a.ndim))
    axes[-2:] = axes[:-3:-1]
    return Array(a._core.permuted(axes), a._package)


@collective
def cholesky(a: Array, /, *, upper: bool = False) -> Array:
    """The L of A = L L^H, or with `upper` the U of A = U^H U, of a Hermitian positive definite matrix. Collective, blocking.

    Parameters
    ----------
    a : Array
        [n, n], or a batch [.., n, n]; only the triangle of the result is read. By default this is the lower one, as in `numpy.linalg`.
    upper : bool, default False
        Compute U.

    Raises
    ------
    SingularError
        A is not positive definite. Also a numpy.linalg.LinAlgError.
    """
    (matrix,) = prepared(a)
    if matrix.ndim > 2:
        wait_for(None, matrix)
        # The upper triangle of A is the lower one of its transpose, conj(A) = L L^H, so that A = conj(L) L^T.
        factor = Array(_core.cholesky((_exchanged(matrix) if upper else matrix)._core), a._package)
        return _exchanged(factor) if upper else factor
    return Cholesky(matrix, lower=not upper).factor()


@collective
def qr(a: Array, mode: str = "reduced") -> Union[Array, QRResult, Tuple[Array, Array]]:
    """A = Q R. Collective, blocking.

    Parameters
    ----------
    a : Array
        A matrix [m, n], or a batch [.., m, n].
    mode : {'reduced', 'complete', 'r', 'raw'}, default 'reduced'
        'reduced': Q [m, min(m, n)] and R [min(m, n), n]; 'complete': Q [m, m], which `QR.multiply_q` applies without having it, and R [m, n];
        'r': R; 'raw': LAPACK's reflectors, transposed, and their factors, as in NumPy.

    Notes
    -----
    With 'reduced', at most 512 columns and many more rows, ranks keep their own rows (CholeskyQR2, or TSQR where that is not accurate), and
    R may differ from LAPACK's, which the other modes return, in the signs of its rows.
    """
    if mode not in ("reduced", "r", "raw", "complete"):
        raise ArgumentError(f"mode: {mode!r} is not known; known are 'reduced', 'complete', 'r' and 'raw'")
    (matrix,) = prepared(a)
    batch = matrix.ndim > 2
    if batch and mode == "raw":
        raise UnsupportedError("mode: 'raw' is not supported for batches; use 'reduced'")
    if batch or mode in ("reduced", "complete"):
        wait_for(None, matrix)
        q, r = (Array(one, a._package) for one in _core.qr(matrix._core))
        more = matrix.shape[-2] - r.shape[-2]
        if mode == "complete" and more:
            return QRResult(completed(q), pad(r, [(0, 0)] * (r.ndim - 2) + [(0, more), (0, 0)]))
        return r if mode == "r" else QRResult(q, r)
    factors = QR(matrix)
    if mode == "r":
        return factors.r()
    return factors.packed().T, factors.factors()


# --- functions of one matrix


@collective
def inv(a: Array) -> Array:
    """The inverse, in the layout of `a`, by LU. Collective, blocking.

    To solve linear systems, `solve` is faster and more accurate.

    Parameters
    ----------
    a : Array
        A square matrix [n, n], or a batch [.., n, n].

    Raises
    ------
    SingularError
        A is singular. Also a numpy.linalg.LinAlgError.
    """
    (matrix,) = prepared(a)
    wait_for(None, matrix)
    return Array(_core.inverse(matrix._core), matrix._package)


@collective
def slogdet(a: Array) -> SlogdetResult:
    """Sign and logarithm of the determinant, by LU, on every rank. Collective, blocking.

    Parameters
    ----------
    a : Array
        A square matrix [n, n]; or a batch [.., n, n], whose results are arrays [..], distributed by a leading dimension.
    """
    (matrix,) = prepared(a)
    if matrix.ndim > 2:
        wait_for(None, matrix)
        return SlogdetResult(*(Array(one, a._package) for one in _core.log_determinants(matrix._core)))
    return LU(matrix).log_determinant()


@collective
def det(a: Array) -> Any:
    """The determinant, by LU, on every rank. Collective, blocking. It overflows and underflows sooner than `slogdet`.

    Parameters
    ----------
    a : Array
        A square matrix [n, n]; or a batch [.., n, n], whose determinants are an array [..], distributed by a leading dimension.
    """
    sign, logarithm = slogdet(a)
    if isinstance(logarithm, Array):
        exponential: Any = np.exp
        sizes: Array = exponential(logarithm)
        return sign * (sizes if sizes.dtype == sign.dtype else sizes.astype(sign.dtype))
    with np.errstate(over="ignore", under="ignore"):
        return sign * float(np.exp(logarithm))
