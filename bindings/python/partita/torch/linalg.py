"""Linear algebra of distributed matrices, with derivatives: `torch.linalg` on this rank's parts.

    rows = pt.Layout(pt.Slab(0), (n, n), ctx.size)
    x = ptt.linalg.solve(ctx, a, b, rows, pt.Layout(pt.Slab(0), (n,), ctx.size))      # this rank's part of X
    sign, logarithm = ptt.linalg.slogdet(ctx, a, rows, shared=True)                   # on every rank
    (logarithm + ...).backward()

Operands are this rank's tensors and the layouts of the matrices, in any distribution: float32, float64, complex64 or complex128. All
functions are collective and blocking, on GPUs too, where they wait for the current stream first. Gradients have any order and, for
complex numbers, PyTorch's convention; they have the layouts of the operands. `torch.autograd.forward_ad` gives forward derivatives, where all
ranks give tangents of the same operands. Functions also take DTensors, without a context and layouts, with
`placements` in the place of a destination: ``solve(a, b)``, ``cholesky(a, upper=True)``. Errors are those of `partita.linalg`, the same on every rank,
in the backward pass too.
"""

from __future__ import annotations

import sys
from typing import NamedTuple, Optional, Tuple

import torch
from torch import Tensor

from .. import _core, _documents
from .._context import Context
from .._dtypes import dtype_name
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
from .._parts import Destination, check_part
from . import _factors, _solves
from ._arrays import _redistribute
from ._operators import collective, has_tangents, number_of, number_of_layout, or_dtensors


class EighResult(NamedTuple):
    """What `eigh` returns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class PolarResult(NamedTuple):
    """What `polar` returns."""

    U: Tensor
    P: Tensor


class QRResult(NamedTuple):
    """What `qr` returns."""

    Q: Tensor
    R: Tensor


class SlogdetResult(NamedTuple):
    """What `slogdet` returns."""

    sign: Tensor
    logabsdet: Tensor


class SVDResult(NamedTuple):
    """What `svd` returns."""

    U: Tensor
    S: Tensor
    Vh: Tensor


def _checked(what: str, context: Context, *parts: Tuple[Tensor, _core.Layout]) -> None:
    for x, layout in parts:
        check_part(what, x.shape, layout, context.rank, context.size)
    check_numbers(what, *(dtype_name(x.dtype) for x, _ in parts))


def _recorded(*tensors: Tensor) -> bool:
    """Whether there is something to differentiate, backward or forward."""
    return has_tangents(tensors) or (torch.is_grad_enabled() and any([x.requires_grad for x in tensors]))


def _as_columns(
    context: Context, b: Tensor, layout: _core.Layout, to: _core.Layout
) -> Tuple[Tensor, _core.Layout, _core.Layout]:
    """The right-hand sides as a matrix, with its layout and that of the solutions."""
    if len(layout.shape) == 2:
        return b, layout, to
    vector, matrix = of_columns(layout)
    if layout != vector:
        b = _redistribute(b, number_of(context), number_of_layout(layout), number_of_layout(vector))
    return b[:, None], matrix, matrix


def _as_given(context: Context, x: Tensor, layout: _core.Layout, to: _core.Layout) -> Tensor:
    """And back."""
    if len(to.shape) == 2:
        return x
    vector, _ = of_columns(to)
    return x[:, 0] if to == vector else _redistribute(x[:, 0], number_of(context), number_of_layout(vector), number_of_layout(to))


def _solution(
    context: Context, a: Tensor, b: Tensor, layout_a: _core.Layout, layout_b: _core.Layout, to: _core.Layout, transpose_a: bool
) -> Tensor:
    sides, of_b, of_x = _as_columns(context, b, layout_b, to)
    group, *layouts = number_of(context), *map(number_of_layout, (layout_a, of_b, of_x))
    if _recorded(a, sides):
        factors = _solves.lu(a.detach(), group, layouts[0])
        x = _solves.solve_with(a, sides, *factors, group, *layouts, transpose_a)
    else:
        x = _solves.solve_once(a.detach(), sides.detach(), group, *layouts, transpose_a)
    return _as_given(context, x, of_x, to)


@or_dtensors("._whole_linalg")
@collective
def solve(
    context: Context, a: Tensor, b: Tensor, layout_a: _core.Layout, layout_b: _core.Layout,
    destination: Optional[Destination] = None, *, transpose_a: bool = False,
) -> Tensor:  # fmt: skip
    """This rank's part of the X with A X = B, by LU with partial pivoting. Collective, blocking.

    If gradients are recorded, the factors are kept for the backward pass, which takes O(n^2) per right-hand side and a product.

    Parameters
    ----------
    a : Tensor
        This rank's part of A [n, n].
    b : Tensor
        That of B, [n] or [n, r].
    layout_a, layout_b : Layout
        The layouts of A and B.
    destination : Layout or distribution, optional
        The distribution of X; unset: that of B.
    transpose_a : bool, default False
        Solve A^T X = B.

    Raises
    ------
    ArgumentError, SingularError, UnsupportedError, DisagreementError, MemoryError
        The same on every rank. SingularError: A is singular.
    """
    _checked("solve", context, (a, layout_a), (b, layout_b))
    to = of_solution("solve", layout_a, layout_b, destination)
    return _solution(context, a, b, layout_a, layout_b, to, transpose_a)


@or_dtensors("._whole_linalg")
@collective
def inv(context: Context, a: Tensor, layout: _core.Layout, destination: Optional[Destination] = None) -> Tensor:
    """This rank's part of the inverse of A, by `solve`. Collective, blocking.

    Parameters
    ----------
    a : Tensor
        This rank's part of A [n, n].
    layout : Layout
        Its layout.
    destination : Layout or distribution, optional
        The distribution of the inverse; unset: that of A.

    Raises
    ------
    SingularError
        A is singular.
    """
    _checked("inv", context, (a, layout))
    check_square("inv", layout)
    to = result_layout("inv", layout if destination is None else destination, layout.shape, context.size)
    rows, columns = places(to, context.rank)
    unit = torch.as_tensor(rows == columns, device=a.device).to(a.dtype)
    return _solution(context, a, unit, layout, to, to, False)


@or_dtensors("._whole_linalg")
@collective
def solve_triangular(
    context: Context, a: Tensor, b: Tensor, layout_a: _core.Layout, layout_b: _core.Layout,
    destination: Optional[Destination] = None, *, upper: bool, left: bool = True, unitriangular: bool = False,
    transpose_a: bool = False,
) -> Tensor:  # fmt: skip
    """This rank's part of the X with A X = B, or with left=False of X A = B, for a triangular A. Collective, blocking.

    Parameters
    ----------
    a : Tensor
        This rank's part of A [n, n]; the other triangle is not read, and its gradient is 0.
    b : Tensor
        That of B: [n] or [n, r], with left=False [r, n].
    layout_a, layout_b : Layout
        The layouts of A and B.
    destination : Layout or distribution, optional
        The distribution of X; unset: that of B.
    upper : bool
        Whether the upper triangle is read, or the lower one.
    left : bool, default True
        The side of A.
    unitriangular : bool, default False
        The diagonal is 1, and is not read.
    transpose_a : bool, default False
        A^T in the place of A. A^H is that of `a.conj()`.

    Raises
    ------
    SingularError
        An element of the diagonal is 0.
    """
    _checked("solve_triangular", context, (a, layout_a), (b, layout_b))
    to = of_solution("solve_triangular", layout_a, layout_b, destination, not left)
    sides, of_b, of_x = _as_columns(context, b, layout_b, to)
    layouts = map(number_of_layout, (layout_a, of_b, of_x))
    x = _solves.solve_triangular(a, sides, number_of(context), *layouts, transpose_a, upper, unitriangular, not left)
    return _as_given(context, x, of_x, to)


@or_dtensors("._whole_linalg")
@collective
def slogdet(context: Context, a: Tensor, layout: _core.Layout, *, shared: bool = False) -> SlogdetResult:
    """Sign and logarithm of the absolute value of the determinant, on every rank. Collective, blocking.

    Parameters
    ----------
    a : Tensor
        This rank's part of A [n, n].
    layout : Layout
        Its layout.
    shared : bool, default False
        The results count as one value that all ranks share, and so do their gradients, which must then be equal on all ranks. By default
        each rank's results count separately, and gradients are added.

    Raises
    ------
    SingularError
        In the backward pass: A is singular. Forward, sign is 0 and the logarithm -inf.
    """
    _checked("slogdet", context, (a, layout))
    check_square("slogdet", layout)
    group, of_a = number_of(context), number_of_layout(layout)
    if not _recorded(a):
        return SlogdetResult(*_solves.slogdet_once(a.detach(), group, of_a))
    factors = _solves.lu(a.detach(), group, of_a)
    # Forward there is nothing to count: the gradients whose adjoint is taken are those of separate results.
    return SlogdetResult(*_solves.slogdet_with(a, *factors, group, of_a, shared and not has_tangents([a])))


@or_dtensors("._whole_linalg")
@collective
def det(context: Context, a: Tensor, layout: _core.Layout, *, shared: bool = False) -> Tensor:
    """The determinant, on every rank, by `slogdet`. Collective, blocking. It overflows and underflows sooner than `slogdet`.

    Parameters
    ----------
    a : Tensor
        This rank's part of A [n, n].
    layout : Layout
        Its layout.
    shared : bool, default False
        See `slogdet`.

    Raises
    ------
    SingularError
        In the backward pass: A is singular.
    """
    sign, logarithm = slogdet(context, a, layout, shared=shared)
    return sign * logarithm.exp()


@or_dtensors("._whole_linalg")
@collective
def cholesky(
    context: Context, a: Tensor, layout: _core.Layout, destination: Optional[Destination] = None, *, upper: bool = False
) -> Tensor:
    """This rank's part of the L of A = L L^H, or with `upper` of the U of A = U^H U. Collective, blocking.

    Parameters
    ----------
    a : Tensor
        This rank's part of a Hermitian positive definite A [n, n], of which the triangle of the result is read. The gradient is
        Hermitian.
    layout : Layout
        Its layout.
    destination : Layout or distribution, optional
        The distribution of the result; unset: that of A.
    upper : bool, default False
        Compute U.

    Raises
    ------
    SingularError
        A is not positive definite.
    """
    _checked("cholesky", context, (a, layout))
    check_square("cholesky", layout)
    to = result_layout("cholesky", layout if destination is None else destination, layout.shape, context.size)
    return _factors.cholesky(a, number_of(context), number_of_layout(layout), number_of_layout(to), upper)


def qr_result(layout: _core.Layout) -> Tuple[_core.Layout, _core.Layout]:
    """The layouts of the Q and R of `qr`: that of A where the shape is the same, or its distribution if that is Slab(0), Slab(1) or
    Replicated(), otherwise Slab(0). Local.

    Parameters
    ----------
    layout : Layout
        The layout of A.
    """
    return of_qr(layout)


@or_dtensors("._whole_linalg")
@collective
def qr(context: Context, a: Tensor, layout: _core.Layout) -> QRResult:
    """This rank's parts of the Q [m, k] and R [k, n] of A = Q R, with k = min(m, n). Collective, blocking.

    Gradients are defined for m >= n and full rank (UnsupportedError in the backward pass otherwise).

    Parameters
    ----------
    a : Tensor
        This rank's part of A [m, n].
    layout : Layout
        Its layout; `qr_result` returns those of Q and R.
    """
    _checked("qr", context, (a, layout))
    layouts = map(number_of_layout, (layout, *of_qr(layout)))
    return QRResult(*_factors.qr(a, number_of(context), *layouts))


@or_dtensors("._whole_linalg")
@collective
def eigh(context: Context, a: Tensor, layout: _core.Layout, UPLO: str = "L") -> EighResult:
    """The eigenvalues [n] of a Hermitian A, ascending, on every rank, and this rank's part of the eigenvectors. Collective, blocking.

    Gradients are defined as in PyTorch: of eigenvalues always, of vectors if all eigenvalues differ and the result does not depend on
    the signs (or phases) of the vectors.

    Parameters
    ----------
    a : Tensor
        This rank's part of A [n, n], of which one triangle is read.
    layout : Layout
        The layout of A and of the vectors, which are columns.
    UPLO : {'L', 'U'}, default 'L'
        The lower or the upper triangle.
    """
    _checked("eigh", context, (a, layout))
    check_square("eigh", layout)
    return EighResult(*_factors.eigh(a, number_of(context), number_of_layout(layout), is_upper(UPLO)))


def svd_result(layout: _core.Layout) -> Tuple[_core.Layout, _core.Layout]:
    """The layouts of the U and V^H of `svd`, chosen as by `qr_result`. Local.

    Parameters
    ----------
    layout : Layout
        The layout of A.
    """
    return of_svd(layout)


@or_dtensors("._whole_linalg")
@collective
def svd(context: Context, a: Tensor, layout: _core.Layout) -> SVDResult:
    """This rank's parts of the U [m, k] and V^H [k, n] of A = U diag(S) V^H, and S [k], descending, on every rank; k = min(m, n).
    Collective, blocking.

    Gradients are defined as in PyTorch: of singular values always, of vectors if all singular values differ and are not 0, and the result
    does not depend on the signs (or phases) of pairs of vectors.

    Parameters
    ----------
    a : Tensor
        This rank's part of A [m, n].
    layout : Layout
        Its layout; `svd_result` returns those of U and V^H.
    """
    _checked("svd", context, (a, layout))
    check_matrix("svd", layout)
    layouts = map(number_of_layout, (layout, *of_svd(layout)))
    return SVDResult(*_factors.svd(a, number_of(context), *layouts))


def polar_result(layout: _core.Layout) -> Tuple[_core.Layout, _core.Layout]:
    """The layouts of the U and P of `polar`, chosen as by `qr_result`. Local.

    Parameters
    ----------
    layout : Layout
        The layout of A.
    """
    return of_polar(layout)


@or_dtensors("._whole_linalg")
@collective
def polar(context: Context, a: Tensor, layout: _core.Layout) -> PolarResult:
    """This rank's parts of the U [m, n], with orthonormal columns, and of the Hermitian P [n, n] of A = U P. Collective, blocking.

    Gradients are defined for full rank, also where singular values are equal.

    Parameters
    ----------
    a : Tensor
        This rank's part of A [m, n], m >= n.
    layout : Layout
        The layout of A and U; `polar_result` returns that of P, too.
    """
    _checked("polar", context, (a, layout))
    return PolarResult(*_factors.polar(a, number_of(context), *map(number_of_layout, of_polar(layout))))


__all__ = [
    "EighResult", "PolarResult", "QRResult", "SVDResult", "SlogdetResult", "cholesky", "det", "eigh", "inv", "polar", "polar_result", "qr",
    "qr_result", "slogdet", "solve", "solve_triangular", "svd", "svd_result",
]  # fmt: skip

_documents.complete(sys.modules[__name__], __all__)
