"""Linear algebra of distributed matrices in compiled programs: `jax.numpy.linalg` on this rank's parts.

    rows = pt.Layout(pt.Slab(0), (n, n), ctx.size)
    x = pj.linalg.solve(a, b, rows, pt.Layout(pt.Slab(0), (n,), ctx.size))            # this rank's part of X
    sign, logarithm = pj.linalg.slogdet(a, rows, shared=True)                         # on every rank

Operands are this rank's arrays and the layouts of the matrices, in any distribution, or without layouts whole arrays with a NamedSharding,
as are the results then: float32, float64, complex64 or complex128. All
functions are collective. They have forward and reverse derivatives of any order, through `jit`, loops and `jax.checkpoint`; `vmap` makes
one call per element. On a GPU the host waits in a call, because factorizations report on it whether they succeeded. Errors are those of
`partita.linalg`: a singular matrix is a JaxRuntimeError with the text of the SingularError, on every rank.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple, Optional, Tuple, cast

import jax  # type: ignore[import-not-found,unused-ignore]
import jax.numpy as jnp  # type: ignore[import-not-found,unused-ignore]
import numpy as np

from .. import _core, _documents
from .._eigen import is_upper
from .._linear_layouts import (
    check_matrix,
    check_numbers,
    check_square,
    of_columns,
    of_polar,
    of_qr,
    of_solution,
    of_svd,
    places,
    result_layout,
)
from .._parts import Destination
from . import _factors, _solves, _whole_linalg
from ._arrays import _check_kind, _part, _redistribute
from ._group import Group, chosen, collective


class EighResult(NamedTuple):
    """What `eigh` returns."""

    eigenvalues: jax.Array
    eigenvectors: jax.Array


class PolarResult(NamedTuple):
    """What `polar` returns."""

    U: jax.Array
    P: jax.Array


class QRResult(NamedTuple):
    """What `qr` returns."""

    Q: jax.Array
    R: jax.Array


class SlogdetResult(NamedTuple):
    """What `slogdet` returns."""

    sign: jax.Array
    logabsdet: jax.Array


class SVDResult(NamedTuple):
    """What `svd` returns."""

    U: jax.Array
    S: jax.Array
    Vh: jax.Array


def _checked(what: str, group: Group, *parts: Tuple[Any, _core.Layout]) -> Any:
    arrays = [_part(what, x, layout, group) for x, layout in parts]
    check_numbers(what, *(np.dtype(x.dtype).name for x in arrays))
    return arrays


def _as_columns(b: Any, group: Group, layout: _core.Layout, to: _core.Layout) -> Tuple[Any, _core.Layout, _core.Layout]:
    """The right-hand sides as a matrix, with its layout and that of the solutions."""
    if len(layout.shape) == 2:
        return b, layout, to
    vector, matrix = of_columns(layout)
    if layout != vector:
        b = _redistribute.bind(b, group=group, source=layout, destination=vector)
    return b.reshape(*b.shape, 1), matrix, matrix


def _as_given(x: Any, group: Group, to: _core.Layout) -> Any:
    """And back."""
    if len(to.shape) == 2:
        return x
    vector, _ = of_columns(to)
    x = x.reshape(x.shape[:1])
    return x if to == vector else _redistribute.bind(x, group=group, source=vector, destination=to)


def _symmetrized(a: Any, group: Group, layout: _core.Layout) -> Any:
    return (a + _solves.adjoint(a, group, layout)) / 2


@collective
def solve(
    a: Any, b: Any, layout_a: Optional[_core.Layout] = None, layout_b: Optional[_core.Layout] = None,
    destination: Optional[Destination] = None, *, transpose_a: bool = False, group: Optional[Group] = None,
) -> jax.Array:  # fmt: skip
    """This rank's part of the X with A X = B, by LU with partial pivoting. Collective.

    Differentiated, the factors are kept: a derivative takes O(n^2) per right-hand side and a product.

    Parameters
    ----------
    a : array
        This rank's part of A [n, n].
    b : array
        That of B, [n] or [n, r].
    layout_a, layout_b : Layout, optional
        The layouts of A and B.
    destination : Layout or distribution, optional
        The distribution of X; unset: that of B.
    transpose_a : bool, default False
        Solve A^T X = B.
    """
    among = chosen(group)
    _check_kind("solve", layout_a is None or layout_b is None, {"layout_a": layout_a, "layout_b": layout_b, "destination": destination}, {})
    if layout_a is None or layout_b is None:
        return cast(jax.Array, _whole_linalg.solve(jnp.asarray(a), jnp.asarray(b), among, transpose_a))
    a, b = _checked("solve", among, (a, layout_a), (b, layout_b))
    to = of_solution("solve", layout_a, layout_b, destination)
    sides, of_b, of_x = _as_columns(b, among, layout_b, to)
    found: jax.Array = _as_given(_solves.solve(a, sides, among, (layout_a, of_b, of_x), transpose_a), among, to)
    return found


@collective
def inv(a: Any, layout: Optional[_core.Layout] = None, destination: Optional[Destination] = None, *, group: Optional[Group] = None) -> jax.Array:
    """This rank's part of the inverse of A, by `solve`. Collective.

    Parameters
    ----------
    a : array
        This rank's part of A [n, n].
    layout : Layout, optional
        Its layout.
    destination : Layout or distribution, optional
        The distribution of the inverse; unset: that of A.
    """
    among = chosen(group)
    _check_kind("inv", layout is None, {"destination": destination}, {})
    if layout is None:
        return cast(jax.Array, _whole_linalg.inv(jnp.asarray(a), among))
    (a,) = _checked("inv", among, (a, layout))
    check_square("inv", layout)
    to = result_layout("inv", layout if destination is None else destination, layout.shape, among.size)
    rows, columns = places(to, among.rank)
    unit = (jnp.asarray(rows) == columns).astype(a.dtype)
    found: jax.Array = _solves.solve(a, unit, among, (layout, to, to), False)
    return found


@collective
def solve_triangular(
    a: Any, b: Any, layout_a: Optional[_core.Layout] = None, layout_b: Optional[_core.Layout] = None,
    destination: Optional[Destination] = None, *, lower: bool = False, left: bool = True, unit_diagonal: bool = False,
    transpose_a: bool = False, group: Optional[Group] = None,
) -> jax.Array:  # fmt: skip
    """This rank's part of the X with A X = B, or with left=False of X A = B, for a triangular A. Collective.

    Parameters
    ----------
    a : array
        This rank's part of A [n, n]; the other triangle is not read.
    b : array
        That of B: [n] or [n, r], with left=False [r, n].
    layout_a, layout_b : Layout, optional
        The layouts of A and B.
    destination : Layout or distribution, optional
        The distribution of X; unset: that of B.
    lower : bool, default False
        Whether the lower triangle is read, or the upper one, as in `jax.scipy.linalg`.
    left : bool, default True
        The side of A.
    unit_diagonal : bool, default False
        The diagonal is 1, and is not read.
    transpose_a : bool, default False
        A^T in the place of A. A^H is that of `jnp.conj(a)`.
    """
    among = chosen(group)
    _check_kind("solve_triangular", layout_a is None or layout_b is None, {"layout_a": layout_a, "layout_b": layout_b, "destination": destination}, {})
    if layout_a is None or layout_b is None:
        return cast(jax.Array, _whole_linalg.solve_triangular(jnp.asarray(a), jnp.asarray(b), among, lower, left, unit_diagonal, transpose_a))
    a, b = _checked("solve_triangular", among, (a, layout_a), (b, layout_b))
    to = of_solution("solve_triangular", layout_a, layout_b, destination, not left)
    sides, of_b, of_x = _as_columns(b, among, layout_b, to)
    op = "transpose" if transpose_a else "none"
    words = {"op": op, "upper": not lower, "unit_diagonal": unit_diagonal, "right": not left}
    found: jax.Array = _as_given(_solves.solve_triangular(a, sides, among, (layout_a, of_b, of_x), **words), among, to)
    return found


@collective
def slogdet(a: Any, layout: Optional[_core.Layout] = None, *, shared: bool = False, group: Optional[Group] = None) -> SlogdetResult:
    """Sign and logarithm of the absolute value of the determinant, on every rank. Collective.

    Of a singular matrix they are 0 and -inf; its derivatives are an error.

    Parameters
    ----------
    a : array
        This rank's part of A [n, n].
    layout : Layout, optional
        Its layout.
    shared : bool, default False
        The results count as one value that all ranks share, and so do their cotangents, which must then be equal on all ranks. By default
        each rank's results count separately, and cotangents are added.
    """
    among = chosen(group)
    if layout is None:
        return SlogdetResult(*_whole_linalg.slogdet(jnp.asarray(a), among))
    (a,) = _checked("slogdet", among, (a, layout))
    check_square("slogdet", layout)
    return SlogdetResult(*_solves.slogdet(a, among, layout, shared))


@collective
def det(a: Any, layout: Optional[_core.Layout] = None, *, shared: bool = False, group: Optional[Group] = None) -> jax.Array:
    """The determinant, on every rank, by `slogdet`. Collective. It overflows and underflows sooner than `slogdet`.

    Parameters
    ----------
    a : array
        This rank's part of A [n, n].
    layout : Layout, optional
        Its layout.
    shared : bool, default False
        See `slogdet`.
    """
    sign, logarithm = slogdet(a, layout, shared=shared, group=group)
    return sign * jnp.exp(logarithm)


@collective
def cholesky(
    a: Any, layout: Optional[_core.Layout] = None, destination: Optional[Destination] = None, *, upper: bool = False,
    symmetrize_input: bool = True, group: Optional[Group] = None,
) -> jax.Array:  # fmt: skip
    """This rank's part of the L of A = L L^H, or with `upper` of the U of A = U^H U. Collective.

    A matrix that is not positive definite is an error (a JaxRuntimeError with the text of the SingularError), not NaN.

    Parameters
    ----------
    a : array
        This rank's part of a Hermitian positive definite A [n, n].
    layout : Layout, optional
        Its layout.
    destination : Layout or distribution, optional
        The distribution of the result; unset: that of A.
    upper : bool, default False
        Compute U.
    symmetrize_input : bool, default True
        Replace A by (A + A^H) / 2, which redistributes A. False: the triangle of the result is read, and tangents must be Hermitian.
    """
    among = chosen(group)
    _check_kind("cholesky", layout is None, {"destination": destination}, {})
    if layout is None:
        return cast(jax.Array, _whole_linalg.cholesky(jnp.asarray(a), among, upper, symmetrize_input))
    (a,) = _checked("cholesky", among, (a, layout))
    check_square("cholesky", layout)
    to = result_layout("cholesky", layout if destination is None else destination, layout.shape, among.size)
    matrix = _symmetrized(a, among, layout) if symmetrize_input else a
    found: jax.Array = _factors.cholesky(matrix, among, layout, to, upper)
    return found


def qr_result(layout: _core.Layout) -> Tuple[_core.Layout, _core.Layout]:
    """The layouts of the Q and R of `qr`: that of A where the shape is the same, or its distribution if that is Slab(0), Slab(1) or
    Replicated(), otherwise Slab(0). Local.

    Parameters
    ----------
    layout : Layout
        The layout of A.
    """
    return of_qr(layout)


@collective
def qr(a: Any, layout: Optional[_core.Layout] = None, *, group: Optional[Group] = None) -> QRResult:
    """This rank's parts of the Q [m, k] and R [k, n] of A = Q R, with k = min(m, n). Collective.

    Derivatives are defined for m >= n and full rank (otherwise an UnsupportedError during tracing).

    Parameters
    ----------
    a : array
        This rank's part of A [m, n].
    layout : Layout, optional
        Its layout; `qr_result` returns those of Q and R.
    """
    among = chosen(group)
    if layout is None:
        return QRResult(*_whole_linalg.qr(jnp.asarray(a), among))
    (a,) = _checked("qr", among, (a, layout))
    check_matrix("qr", layout)
    return QRResult(*_factors.qr(a, among, layout))


@collective
def eigh(
    a: Any, layout: Optional[_core.Layout] = None, UPLO: str = "L", *, symmetrize_input: bool = True, group: Optional[Group] = None
) -> EighResult:
    """The eigenvalues [n] of a Hermitian A, ascending, on every rank, and this rank's part of the eigenvectors. Collective.

    Derivatives are defined as in JAX: of eigenvalues always, of vectors if all eigenvalues differ and the result does not depend on the
    signs (or phases) of the vectors.

    Parameters
    ----------
    a : array
        This rank's part of A [n, n].
    layout : Layout, optional
        The layout of A and of the vectors, which are columns.
    UPLO : {'L', 'U'}, default 'L'
        The triangle that is read.
    symmetrize_input : bool, default True
        Replace A by (A + A^H) / 2, which redistributes A. False: tangents must be Hermitian.
    """
    among = chosen(group)
    if layout is None:
        return EighResult(*_whole_linalg.eigh(jnp.asarray(a), among, is_upper(UPLO), symmetrize_input))
    (a,) = _checked("eigh", among, (a, layout))
    check_square("eigh", layout)
    matrix = _symmetrized(a, among, layout) if symmetrize_input else a
    return EighResult(*_factors.eigh(matrix, among, layout, is_upper(UPLO)))


def svd_result(layout: _core.Layout) -> Tuple[_core.Layout, _core.Layout]:
    """The layouts of the U and V^H of `svd`, chosen as by `qr_result`. Local.

    Parameters
    ----------
    layout : Layout
        The layout of A.
    """
    return of_svd(layout)


@collective
def svd(a: Any, layout: Optional[_core.Layout] = None, *, group: Optional[Group] = None) -> SVDResult:
    """This rank's parts of the U [m, k] and V^H [k, n] of A = U diag(S) V^H, and S [k], descending, on every rank; k = min(m, n).
    Collective.

    Derivatives are defined as in JAX: of singular values always, of vectors if all singular values differ and are not 0, and the result does
    not depend on the signs (or phases) of pairs of vectors.

    Parameters
    ----------
    a : array
        This rank's part of A [m, n].
    layout : Layout, optional
        Its layout; `svd_result` returns those of U and V^H.
    """
    among = chosen(group)
    if layout is None:
        return SVDResult(*_whole_linalg.svd(jnp.asarray(a), among))
    (a,) = _checked("svd", among, (a, layout))
    check_matrix("svd", layout)
    return SVDResult(*_factors.svd(a, among, layout))


def polar_result(layout: _core.Layout) -> Tuple[_core.Layout, _core.Layout]:
    """The layouts of the U and P of `polar`, chosen as by `qr_result`. Local.

    Parameters
    ----------
    layout : Layout
        The layout of A.
    """
    return of_polar(layout)


@collective
def polar(a: Any, layout: Optional[_core.Layout] = None, *, group: Optional[Group] = None) -> PolarResult:
    """This rank's parts of the U [m, n], with orthonormal columns, and of the Hermitian P [n, n] of A = U P. Collective.

    Derivatives are defined for full rank, also where singular values are equal.

    Parameters
    ----------
    a : array
        This rank's part of A [m, n], m >= n.
    layout : Layout, optional
        The layout of A and U; `polar_result` returns that of P, too.
    """
    among = chosen(group)
    if layout is None:
        return PolarResult(*_whole_linalg.polar(jnp.asarray(a), among))
    (a,) = _checked("polar", among, (a, layout))
    return PolarResult(*_factors.polar(a, among, layout))


__all__ = [
    "EighResult", "PolarResult", "QRResult", "SVDResult", "SlogdetResult", "cholesky", "det", "eigh", "inv", "polar", "polar_result", "qr",
    "qr_result", "slogdet", "solve", "solve_triangular", "svd", "svd_result",
]  # fmt: skip

_documents.complete(sys.modules[__name__], __all__)
