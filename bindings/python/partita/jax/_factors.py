"""Factorizations of distributed matrices, as primitives with derivatives.

Sources: Murray, "Differentiation of the Cholesky decomposition" (2016); Walter and Lehmann, "Algorithmic differentiation of linear algebra
functions with application in optimum experimental design" (2010) for QR; Giles (2008) for eigenvalues; Seeger, Hetzel, Dai, Meissner and
Lawrence, "Auto-differentiating linear algebra" (2017); Wan and Zhang, "Automatic differentiation for complex valued SVD" (2019). A polar
factor moves by the solution of a Lyapunov equation, which, other than singular vectors, has no poles where singular values are equal. In
comments dX is the tangent of X.
"""

from __future__ import annotations

from typing import Any, List, Sequence, Tuple

import jax  # type: ignore[import-not-found,unused-ignore]
import jax.numpy as jnp  # type: ignore[import-not-found,unused-ignore]

from .. import _core
from .._linear_layouts import check_tall, of_factor, of_polar, of_qr, of_svd, places, replicated, transposed
from ._arrays import _share, _whole
from ._group import Group
from ._program import ad, no_tangent
from ._solves import (
    adjoint,
    at,
    diagonal,
    function,
    is_zero,
    linear_params,
    on_diagonal,
    product,
    real,
    same,
    solve_linearly,
    solve_triangular,
    triangle,
)

_jax: Any = jax  # of which not all has types


def half_triangle(x: Any, group: Group, layout: _core.Layout, upper: bool) -> Any:
    """Zeros in the other triangle, and half of the diagonal."""
    return triangle(x, group, layout, upper) - jnp.where(on_diagonal(group, layout), x / 2, 0)


def _zeros(found: Sequence[Any]) -> Tuple[List[Any], List[Any]]:
    return list(found), [no_tangent(one) for one in found]


# --- Cholesky

_cholesky = function("cholesky", same)


def cholesky(a: Any, group: Group, layout: _core.Layout, to: _core.Layout, upper: bool) -> Any:
    return _cholesky.bind(a, **linear_params("cholesky", group, [layout], [to], upper=upper))


def _cholesky_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    """dL = L half(tril(L^-1 dA L^-H)), dU = half(triu(U^-H dA U^-1)) U"""
    (da,), group, of_a, of_l, upper = tangents, params["group"], params["operand0"], params["result0"], bool(params["upper"])
    factor = _cholesky.bind(*primals, **params)
    if is_zero(da):
        return factor, no_tangent(factor)
    inner = da
    for right in (False, True):
        by, op = (jnp.conj(factor), "transpose") if right != upper else (factor, "none")
        layouts = (of_l, of_l if right else of_a, of_l)
        inner = solve_triangular(by, inner, group, layouts, op=op, upper=upper, right=right)
    half, own = (half_triangle(inner, group, of_l, upper), of_l), (factor, of_l)
    return factor, product(group, half, own, of_l) if upper else product(group, own, half, of_l)


ad.primitive_jvps[_cholesky] = _cholesky_jvp

# --- QR

_qr = function("qr", lambda dtype: [dtype, dtype], several=True)


def qr(a: Any, group: Group, layout: _core.Layout) -> Any:
    return _qr.bind(a, **linear_params("qr", group, [layout], of_qr(layout)))


def _qr_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    """With X = dA R^-1, K = Q^H X and W = tril(K, -1) - tril(K, -1)^H + i Im(diag(K)): dQ = Q (W - K) + X, dR = (K - W) R"""
    (da,), group, of_a, of_q, of_r = tangents, params["group"], params["operand0"], params["result0"], params["result1"]
    q, r = _qr.bind(*primals, **params)
    if is_zero(da):
        return _zeros((q, r))
    check_tall("qr", of_a)
    x = solve_triangular(r, da, group, (of_r, of_a, of_q), upper=True, right=True)
    k = product(group, (q, of_q), (x, of_q), of_r, "adjoint")
    below = triangle(k, group, of_r, False, True)
    w = below - adjoint(below, group, of_r)
    if jnp.iscomplexobj(k):
        w = w + jnp.where(on_diagonal(group, of_r), k - jnp.real(k), 0)
    dq = product(group, (q, of_q), (w - k, of_r), of_q) + x
    return [q, r], [dq, product(group, (k - w, of_r), (r, of_r), of_r)]


ad.primitive_jvps[_qr] = _qr_jvp

# --- eigenvalues

_eigh = function("eigh", lambda dtype: [real(dtype), dtype], several=True)


def eigh(a: Any, group: Group, layout: _core.Layout, upper: bool) -> Any:
    values = replicated(layout.shape[0], group.size)
    return _eigh.bind(a, **linear_params("eigh", group, [layout], [values, layout], upper=upper))


def _inverse_gaps(values: Any, group: Group, layout: _core.Layout) -> Any:
    """1 / (value[j] - value[i]) where the rank has the element (i, j), and 0 on the diagonal."""
    rows, columns = places(layout, group.rank)
    unit = on_diagonal(group, layout)
    return jnp.where(unit, 0, 1 / jnp.where(unit, 1, at(values, columns) - at(values, rows)))


def _eigh_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    """With M = V^H dA V: dw = diag(M), dV = V (M / (w[j] - w[i]))"""
    (da,), group, layout = tangents, params["group"], params["operand0"]
    w, v = _eigh.bind(*primals, **params)
    if is_zero(da):
        return _zeros((w, v))
    m = product(group, (v, layout), (product(group, (da, layout), (v, layout), layout), layout), layout, "adjoint")
    scaled = _inverse_gaps(w, group, layout).astype(m.dtype) * m
    return [w, v], [jnp.real(diagonal(m, group, layout)), product(group, (v, layout), (scaled, layout), layout)]


ad.primitive_jvps[_eigh] = _eigh_jvp

# --- singular values

_svd = function("svd", lambda dtype: [dtype, real(dtype), dtype], several=True)


def svd(a: Any, group: Group, layout: _core.Layout) -> Any:
    of_u, of_vh = of_svd(layout)
    results = [of_u, replicated(min(layout.shape), group.size), of_vh]
    return _svd.bind(a, **linear_params("svd", group, [layout], results))


def _svd_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    """With K = U^H dA V and F[i, j] = 1 / (S[j]^2 - S[i]^2): dS = Re(diag(K)), dU = U (F (K S + S K^H) + i Im(diag(K)) / S),
    dV^H = -F (S K + K^H S) V^H, and the parts of dA V and U^H dA outside of the spaces of U and V over S."""
    (da,), group, of_a, of_u, of_vh = tangents, *(params[name] for name in ("group", "operand0", "result0", "result2"))
    u, s, vh = _svd.bind(*primals, **params)
    if is_zero(da):
        return _zeros((u, s, vh))
    (m, n), k = of_a.shape, min(of_a.shape)
    of_k = of_factor(of_a, (k, k))
    projected = product(group, (u, of_u), (da, of_a), of_vh, "adjoint")
    inner = product(group, (projected, of_vh), (vh, of_vh), of_k, op_b="adjoint")
    (rows, columns), unit = places(of_k, group.rank), on_diagonal(group, of_k)
    left, right = at(s, rows).astype(inner.dtype), at(s, columns).astype(inner.dtype)
    gaps = _inverse_gaps(s**2, group, of_k).astype(inner.dtype)
    conjugate = adjoint(inner, group, of_k)
    of_phase = jnp.where(unit, (inner - jnp.conj(inner)) / 2 / right, 0)
    du = product(group, (u, of_u), (gaps * (inner * right + left * conjugate) + of_phase, of_k), of_u)
    dvh = product(group, (-gaps * (left * inner + conjugate * right), of_k), (vh, of_vh), of_vh)
    if m > k:
        moved = product(group, (da, of_a), (vh, of_vh), of_u, op_b="adjoint")
        outside = moved - product(group, (u, of_u), (inner, of_k), of_u)
        du = du + outside / at(s, places(of_u, group.rank)[1]).astype(outside.dtype)
    if n > k:
        outside = projected - product(group, (inner, of_k), (vh, of_vh), of_vh)
        dvh = dvh + outside / at(s, places(of_vh, group.rank)[0]).astype(outside.dtype)
    return [u, s, vh], [du, jnp.real(diagonal(inner, group, of_k)), dvh]


ad.primitive_jvps[_svd] = _svd_jvp

# --- polar decompositions

_polar = function("polar", lambda dtype: [dtype, dtype], several=True)


def polar(a: Any, group: Group, layout: _core.Layout) -> Any:
    return _polar.bind(a, **linear_params("polar", group, [layout], of_polar(layout)))


def _lyapunov(p: Any, c: Any, group: Group, layout: _core.Layout) -> Any:
    """The X of P X + X P = C, P Hermitian and positive definite."""
    w, v = eigh(_jax.lax.stop_gradient(p), group, layout, False)
    rows, columns = places(layout, group.rank)
    sums = at(w, columns) + at(w, rows)

    def times(x: Any, y: Any, *ops: str) -> Any:
        return product(group, (x, layout), (y, layout), layout, *ops)

    def solved(v: Any, c: Any) -> Any:
        inner = times(v, times(c, v), "adjoint") / sums.astype(c.dtype)
        return times(times(v, inner), v, "none", "adjoint")

    def solved_back(_: Any, c: Any) -> Any:
        return _share(solved(jnp.conj(v), _whole(c, layout, group)), layout, group)

    return _jax.lax.custom_linear_solve(lambda x: times(p, x) + times(x, p), c, lambda _, c: solved(v, c), solved_back)


def _polar_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    """With K = U^H dA and the X of P X + X P = K - K^H: dU = U X + (dA - U K) P^-1, dP = K - X P"""
    (da,), group, of_a, of_p = tangents, params["group"], params["operand0"], params["result1"]
    u, p = _polar.bind(*primals, **params)
    if is_zero(da):
        return _zeros((u, p))
    k = product(group, (u, of_a), (da, of_a), of_p, "adjoint")
    x = _lyapunov(p, k - adjoint(k, group, of_p), group, of_p)
    du = product(group, (u, of_a), (x, of_p), of_a)
    if of_a.shape[0] > of_a.shape[1]:
        outside, sides = da - product(group, (u, of_a), (k, of_p), of_a), transposed(of_a)
        du = du + jnp.conj(solve_linearly(p, jnp.conj(outside.T), group, (of_p, sides, sides)).T)
    return [u, p], [du, k - product(group, (x, of_p), (p, of_p), of_p)]


ad.primitive_jvps[_polar] = _polar_jvp
