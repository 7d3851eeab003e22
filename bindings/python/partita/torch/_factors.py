"""Factorizations of distributed matrices, as operators with derivatives.

Derivatives are made of operators that have derivatives. Sources: Murray, "Differentiation of the Cholesky decomposition" (2016); Walter and
Lehmann, "Algorithmic differentiation of linear algebra functions with application in optimum experimental design" (2010) for QR; Giles
(2008) for eigenvalues; Seeger, Hetzel, Dai, Meissner and Lawrence, "Auto-differentiating linear algebra" (2017); Wan and Zhang, "Automatic
differentiation for complex valued SVD" (2019). A polar factor moves by the solution of a Lyapunov equation, which, other than singular
vectors, has no poles where singular values are equal. In comments X' is the gradient of X.
"""

from __future__ import annotations

from typing import Any, Optional, Tuple

import torch
from torch import Tensor

from .._context import context_of
from .._linear_layouts import check_tall, of_factor, replicated
from ._arrays import _part, _share, _whole
from ._operators import layout_at, number_of_layout, operator
from ._solves import (
    adjoint,
    computed,
    diagonal,
    flipped,
    half_triangle,
    lu,
    product,
    rows_and_columns,
    solve_triangular,
    solve_with,
)

Gradient = Optional[Tensor]


def _keep_results(ctx: Any, inputs: Tuple[Any, ...], output: Any) -> None:
    """A result without a gradient has None for it: its part of the derivative is not computed, which may have poles."""
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(*(output if isinstance(output, tuple) else (output,)))
    ctx.arguments = inputs[1:]


def _wholes(context: int, *given: Tuple[Gradient, int]) -> Tuple[Gradient, ...]:
    return tuple(None if gradient is None else _whole(gradient, layout, context) for gradient, layout in given)


def _real(a: Tensor) -> torch.dtype:
    return torch.float32 if a.dtype in (torch.float32, torch.complex64) else torch.float64


def _of_values(shape: Tuple[int, ...], context: int) -> int:
    return number_of_layout(replicated(min(shape), context_of(context).size))


# --- Cholesky


def _call_cholesky(a: Tensor, context: int, of_a: int, of_l: int, upper: bool) -> Tensor:
    found = _part(a, of_l, context)
    computed("cholesky", [a], [of_a], [found], [of_l], context, upper=upper)
    return found


cholesky = operator("linalg_cholesky", _call_cholesky, lambda a, context, of_a, of_l, upper: _part(a, of_l, context), forward=True)


def _cholesky_gradients(ctx: Any, gradient: Gradient) -> Tuple[Gradient, ...]:
    """Y = L^-H half(tril(L^H L')) L^-1, or Y = U^-1 half(triu(U' U^H)) U^-H; A' = (Y + Y^H) / 2."""
    (factor,) = ctx.saved_tensors
    context, of_a, of_l, upper = ctx.arguments
    if gradient is None:
        return (None,) * 5
    own, given = (factor, of_l), (_whole(gradient, of_l, context), of_l)
    inner = product(context, given, own, of_l, adjoint_b=True) if upper else product(context, own, given, of_l, adjoint_a=True)
    y = half_triangle(inner, of_l, context, upper)
    for right in (False, True):
        conjugated, transpose = (factor.conj(), True) if right == upper else (factor, False)
        y = solve_triangular(conjugated, y, context, of_l, of_l, of_a if right else of_l, transpose, upper, False, right)
    return (_share((y + adjoint(y, context, of_a)) / 2, of_a, context), *[None] * 4)


cholesky.differentiate(_cholesky_gradients, _keep_results)


# --- QR


def _qr_like(a: Tensor, context: int, of_q: int, of_r: int) -> Tuple[Tensor, Tensor]:
    return _part(a, of_q, context), _part(a, of_r, context)


def _call_qr(a: Tensor, context: int, of_a: int, of_q: int, of_r: int) -> Tuple[Tensor, Tensor]:
    found = _qr_like(a, context, of_q, of_r)
    computed("qr", [a], [of_a], found, [of_q, of_r], context)
    return found


qr = operator("linalg_qr", _call_qr, lambda a, context, of_a, of_q, of_r: _qr_like(a, context, of_q, of_r), forward=True)


def _qr_gradients(ctx: Any, by_q: Gradient, by_r: Gradient) -> Tuple[Gradient, ...]:
    """A' = (Q' + Q (T + T^H)) R^-H with T = half(triu(R' R^H - Q^H Q'))."""
    q, r = ctx.saved_tensors
    context, of_a, of_q, of_r = ctx.arguments
    check_tall("qr", layout_at(of_a))
    by_q, by_r = _wholes(context, (by_q, of_q), (by_r, of_r))
    if by_q is None and by_r is None:
        return (None,) * 5
    inner = torch.zeros_like(r)
    if by_r is not None:
        inner = inner + product(context, (by_r, of_r), (r, of_r), of_r, adjoint_b=True)
    if by_q is not None:
        inner = inner - product(context, (q, of_q), (by_q, of_q), of_r, adjoint_a=True)
    t = half_triangle(inner, of_r, context, True)
    y = product(context, (q, of_q), (t + adjoint(t, context, of_r), of_r), of_q)
    if by_q is not None:
        y = y + by_q
    found = solve_triangular(r.conj(), y, context, of_r, of_q, of_a, True, True, False, True)
    return (_share(found, of_a, context), *[None] * 4)


qr.differentiate(_qr_gradients, _keep_results)


# --- eigenvalues


def _eigh_like(a: Tensor, context: int, layout: int) -> Tuple[Tensor, Tensor]:
    return a.new_empty(layout_at(layout).shape[:1], dtype=_real(a)), _part(a, layout, context)


def _call_eigh(a: Tensor, context: int, layout: int, upper: bool) -> Tuple[Tensor, Tensor]:
    found = _eigh_like(a, context, layout)
    computed("eigh", [a], [layout], found, [_of_values(layout_at(layout).shape, context), layout], context, upper=upper)
    return found


eigh = operator("linalg_eigh", _call_eigh, lambda a, context, layout, upper: _eigh_like(a, context, layout), forward=True)


def _differences(values: Tensor, x: Tensor, layout: int, context: int) -> Tensor:
    """value[j] - value[i] where the rank has the element (i, j), and 1 on the diagonal."""
    rows, columns = rows_and_columns(layout, context, x)
    return torch.where(rows == columns, 1, values[columns] - values[rows])


def _eigh_gradients(ctx: Any, by_values: Gradient, by_vectors: Gradient) -> Tuple[Gradient, ...]:
    """A' = V M V^H with M[i, j] = (V^H V')[i, j] / (w[j] - w[i]), and w' on the diagonal."""
    w, v = ctx.saved_tensors
    context, layout, _ = ctx.arguments
    by_values, by_vectors = _wholes(context, (by_values, _of_values(layout_at(layout).shape, context)), (by_vectors, layout))
    if by_values is None and by_vectors is None:
        return (None,) * 4
    values = torch.zeros_like(w) if by_values is None else by_values
    if by_vectors is None:
        _, columns = rows_and_columns(layout, context, v)
        left = v * values[columns]
    else:
        inner = product(context, (v, layout), (by_vectors, layout), layout, adjoint_a=True)
        inner = diagonal(values, inner / _differences(w, inner, layout, context), layout, context)
        left = product(context, (v, layout), (inner, layout), layout)
    found = product(context, (left, layout), (v, layout), layout, adjoint_b=True)
    return (_share(found, layout, context), *[None] * 3)


eigh.differentiate(_eigh_gradients, _keep_results)


# --- singular values


def _svd_like(a: Tensor, context: int, of_a: int, of_u: int, of_vh: int) -> Tuple[Tensor, Tensor, Tensor]:
    values = a.new_empty((min(layout_at(of_a).shape),), dtype=_real(a))
    return _part(a, of_u, context), values, _part(a, of_vh, context)


def _call_svd(a: Tensor, context: int, of_a: int, of_u: int, of_vh: int) -> Tuple[Tensor, Tensor, Tensor]:
    found = _svd_like(a, context, of_a, of_u, of_vh)
    computed("svd", [a], [of_a], found, [of_u, _of_values(layout_at(of_a).shape, context), of_vh], context)
    return found


svd = operator("linalg_svd", _call_svd, _svd_like, forward=True)


def _svd_gradients(ctx: Any, by_u: Gradient, by_values: Gradient, by_vh: Gradient) -> Tuple[Gradient, ...]:
    """A' = U M V^H, and the parts of U' and V' outside of the spaces of U and V over S. For K = U^H U' and L = V^H V', M is
    (K - K^H) / E S + S (L - L^H) / E with E[i, j] = S[j]^2 - S[i]^2, and S' + i Im(K[i, i]) / S on the diagonal."""
    u, s, vh = ctx.saved_tensors
    context, of_a, of_u, of_vh = ctx.arguments
    (m, n), k = layout_at(of_a).shape, min(layout_at(of_a).shape)
    by_u, by_values, by_vh = _wholes(context, (by_u, of_u), (by_values, _of_values((m, n), context)), (by_vh, of_vh))
    if by_u is None and by_values is None and by_vh is None:
        return (None,) * 5
    values = torch.zeros_like(s) if by_values is None else by_values
    if by_u is None and by_vh is None:
        left = u * values[rows_and_columns(of_u, context, u)[1]]
        return (_share(product(context, (left, of_u), (vh, of_vh), of_a), of_a, context), *[None] * 4)

    of_k = number_of_layout(of_factor(layout_at(of_a), (k, k)))
    rows, columns = rows_and_columns(of_k, context, u)
    gaps = torch.where(rows == columns, 1, s[columns] ** 2 - s[rows] ** 2)
    middle = torch.zeros(gaps.shape, dtype=u.dtype, device=u.device)
    on_diagonal = values.to(u.dtype)[columns]
    by_u_inside = None
    if by_u is not None:
        by_u_inside = product(context, (u, of_u), (by_u, of_u), of_k, adjoint_a=True)
        middle = middle + (by_u_inside - adjoint(by_u_inside, context, of_k)) / gaps * s[columns]
        if u.is_complex():
            on_diagonal = on_diagonal + torch.complex(torch.zeros_like(by_u_inside.real), by_u_inside.imag) / s[columns]
    if by_vh is not None:
        inside = product(context, (vh, of_vh), (by_vh, of_vh), of_k, adjoint_b=True)
        middle = middle + s[rows] * (inside - adjoint(inside, context, of_k)) / gaps
    middle = torch.where(rows == columns, on_diagonal, middle)

    if n > k and by_vh is not None:
        over = 1 / s[rows_and_columns(of_vh, context, vh)[0]]
        inside = product(context, (by_vh, of_vh), (vh, of_vh), of_k, adjoint_b=True)
        outside = by_vh - product(context, (inside, of_k), (vh, of_vh), of_vh)
        right = product(context, (middle, of_k), (vh, of_vh), of_vh) + over * outside
        found = product(context, (u, of_u), (right, of_vh), of_a)
    else:
        left = product(context, (u, of_u), (middle, of_k), of_u)
        if m > k and by_u is not None and by_u_inside is not None:
            outside = by_u - product(context, (u, of_u), (by_u_inside, of_k), of_u)
            left = left + outside / s[rows_and_columns(of_u, context, u)[1]]
        found = product(context, (left, of_u), (vh, of_vh), of_a)
    return (_share(found, of_a, context), *[None] * 4)


svd.differentiate(_svd_gradients, _keep_results)


# --- polar decompositions


def _call_lyapunov(p: Tensor, c: Tensor, context: int, layout: int) -> Tensor:
    values, vectors = _eigh_like(p, context, layout)
    computed("eigh", [p], [layout], [values, vectors], [_of_values(layout_at(layout).shape, context), layout], context)
    rows, columns = rows_and_columns(layout, context, p)
    v = (vectors, layout)
    inner = product(context, v, (product(context, (c, layout), v, layout), layout), layout, adjoint_a=True)
    left = product(context, v, (inner / (values[columns] + values[rows]), layout), layout)
    return product(context, (left, layout), v, layout, adjoint_b=True)


#: The X of P X + X P = C, P Hermitian and positive definite.
_lyapunov = operator("linalg_lyapunov", _call_lyapunov, lambda p, c, context, layout: _part(c, layout, context), forward=True)


def _keep_equation(ctx: Any, inputs: Tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(inputs[0], output)
    ctx.arguments = inputs[2:]


def _lyapunov_gradients(ctx: Any, gradient: Tensor) -> Tuple[Gradient, ...]:
    """P C' + C' P = X', and P' = -(C' X^H + X^H C')."""
    p, x = ctx.saved_tensors
    context, layout = ctx.arguments
    by_c = _lyapunov(p, _whole(gradient, layout, context), context, layout)
    own, other = (by_c, layout), (x, layout)
    by_p = -product(context, own, other, layout, adjoint_b=True) - product(context, other, own, layout, adjoint_a=True)
    return (_share(by_p, layout, context), _share(by_c, layout, context), None, None)


_lyapunov.differentiate(_lyapunov_gradients, _keep_equation)


def _call_polar(a: Tensor, context: int, of_a: int, of_p: int) -> Tuple[Tensor, Tensor]:
    found = _qr_like(a, context, of_a, of_p)
    computed("polar", [a], [of_a], found, [of_a, of_p], context)
    return found


polar = operator("linalg_polar", _call_polar, lambda a, context, of_a, of_p: _qr_like(a, context, of_a, of_p), forward=True)


def _polar_gradients(ctx: Any, by_u: Gradient, by_p: Gradient) -> Tuple[Gradient, ...]:
    """A' = U (X + P') + (U' - U U^H U') P^-1, for G = U^H U' - P' P and the X of P X + X P = G - G^H."""
    u, p = ctx.saved_tensors
    context, of_a, of_p = ctx.arguments
    by_u, by_p = _wholes(context, (by_u, of_a), (by_p, of_p))
    if by_u is None and by_p is None:
        return (None,) * 4
    inside = torch.zeros_like(p) if by_u is None else product(context, (u, of_a), (by_u, of_a), of_p, adjoint_a=True)
    middle = inside if by_p is None else inside - product(context, (by_p, of_p), (p, of_p), of_p)
    middle = _lyapunov(p, middle - adjoint(middle, context, of_p), context, of_p)
    found = product(context, (u, of_a), (middle if by_p is None else middle + by_p, of_p), of_a)
    m, n = layout_at(of_a).shape
    if m > n and by_u is not None:
        outside = by_u - product(context, (u, of_a), (inside, of_p), of_a)
        sides = flipped(of_a)
        found = found + solve_with(p, outside.mT.conj(), *lu(p.detach(), context, of_p), context, of_p, sides, sides, False).mT.conj()
    return (_share(found, of_a, context), *[None] * 3)


polar.differentiate(_polar_gradients, _keep_results)
