"""Linear algebra of whole matrices with a NamedSharding, as primitives with derivatives.

The formulas are those of `_solves` and `_factors`, which have the parts of one rank; here operands are whole arrays, so no replica counts
twice. In comments dX is the tangent of X.
"""

from __future__ import annotations

from typing import Any, Callable, List, Sequence

import jax  # type: ignore[import-not-found,unused-ignore]
import jax.numpy as jnp  # type: ignore[import-not-found,unused-ignore]
import numpy as np

from .._errors import ArgumentError, UnsupportedError
from .._linear_layouts import check_numbers, check_polar
from ._group import Group
from ._program import ad, no_tangent
from ._sharded import NamedSharding, Operation, Spec, explicit_sharding, linear_of_whole, operation_of, zero_of
from ._whole_arrays import _flipped, _multiply

_jax: Any = jax  # of which not all has types


def _real(dtype: Any) -> Any:
    return np.zeros(0, dtype).real.dtype


def _everywhere(x: Any) -> Any:
    """The sharding in the type of a result that every device has."""
    found = explicit_sharding(x)
    return None if found is None else NamedSharding(found.mesh, Spec())


def _function(
    name: str, operands: Sequence[str], results: int, describe: Callable[..., Any], typed: Callable[..., Any], dimensions: Callable[..., str]
) -> Any:  # fmt: skip
    return operation_of(
        Operation(
            name, "linalg", operands, tuple(f"result{i}" for i in range(results)), lambda *given, **_: describe(*given),
            lambda *given, **_: typed(*given), lambda *given, **_: dimensions(*given),
        )
    )  # fmt: skip


def _words(name: str, group: Group, *, op: str = "none", upper: bool = False, unit_diagonal: bool = False, right: bool = False) -> Any:
    """What the handler reads."""
    words = {"op": op, "upper": int(upper), "unit_diagonal": int(unit_diagonal), "right": int(right)}
    return {"function": name, "group": group, "out": None, **words}


def check(what: str, *arrays: Any, square: bool = True) -> None:
    check_numbers(what, *(np.dtype(one.dtype).name for one in arrays))
    a = arrays[0]
    if a.ndim != 2 or (square and a.shape[0] != a.shape[1]):
        raise ArgumentError(f"{what}: A must be a {'square ' if square else ''}matrix, but its shape is {a.shape}; use jax.vmap for batches")


def check_sides(what: str, a: Any, b: Any, right: bool = False) -> None:
    if b.ndim not in ((2,) if right else (1, 2)) or b.shape[1 if right else 0] != a.shape[0]:
        wanted = f"[r, {a.shape[0]}]" if right else f"[{a.shape[0]}] or [{a.shape[0]}, r]"
        raise ArgumentError(f"{what}: B must have the shape {wanted}, but its shape is {b.shape}")


# --- what derivatives are made of


def _product(group: Group, a: Any, b: Any, op_a: str = "none", op_b: str = "none") -> Any:
    if op_a == "adjoint":
        a, op_a = jnp.conj(a), "transpose"
    if op_b == "adjoint":
        b, op_b = jnp.conj(b), "transpose"
    return _multiply.bind(a, b, group=group, op_a=op_a, op_b=op_b, epilogue="none", bias="", compute="automatic", out=None)


def _swapped(x: Any, **_: Any) -> List[Any]:
    found = explicit_sharding(x)
    return [None if found is None else NamedSharding(found.mesh, Spec(*[*found.spec, None, None][:2][::-1]))]


#: A transposed square matrix, whose rows and columns get each other's sharding.
_exchange: Any = operation_of(
    Operation(
        "redistribute", "redistribute", ("source",), ("destination",), lambda x, **_: [(x.shape, x.dtype)], _swapped, lambda x, **_: "i j -> j i"
    )
)
linear_of_whole(_exchange, lambda cotangent, x, **params: _exchange.bind(cotangent, **params))


def adjoint(x: Any, group: Group) -> Any:
    """X^H of a square matrix, with the sharding of X."""
    return _exchange.bind(jnp.conj(x.T), group=group, out=None)


def _triangle(x: Any, upper: bool, unit: bool = False) -> Any:
    """Zeros in the other triangle, and on the diagonal if `unit` is set."""
    return jnp.triu(x, int(unit)) if upper else jnp.tril(x, -int(unit))


def _is_diagonal(x: Any) -> Any:
    return jnp.arange(x.shape[0])[:, None] == jnp.arange(x.shape[1])


def _diagonal(x: Any) -> Any:
    return jnp.sum(jnp.where(_is_diagonal(x), x, 0), axis=0)


def _is_zero(tangent: Any) -> bool:
    return isinstance(tangent, ad.Zero)


def _zeros(found: Sequence[Any]) -> Any:
    return list(found), [no_tangent(one) for one in found]


def _total(terms: List[Any]) -> Any:
    return sum(terms[1:], terms[0])


# --- solve: the factors are kept for derivatives

_like_b = (lambda a, b: [(b.shape, b.dtype)], lambda a, b: [explicit_sharding(b)], lambda a, b: "i j, k l -> k l")
_solve = _function("solve", ("operand0", "operand1"), 1, *_like_b)
_lu = _function(
    "lu", ("operand0",), 2, lambda a: [(a.shape, a.dtype), (a.shape[:1], np.dtype(np.int32))],
    lambda a: [explicit_sharding(a), _everywhere(a)], lambda a: "i j -> i j, k",
)  # fmt: skip
#: The X of op(A) X = B, of packed factors, pivots, B, and A, which is there for its derivative.
_solve_with = _function(
    "lu_solve", ("operand0", "operand1", "operand2", "differentiated"), 1, lambda packed, pivots, b, a: [(b.shape, b.dtype)],
    lambda packed, pivots, b, a: [explicit_sharding(b)], lambda packed, pivots, b, a: "i j, p, k l, m n -> k l",
)  # fmt: skip


def _factors_of(a: Any, group: Group) -> Any:
    return _lu.bind(_jax.lax.stop_gradient(a), **_words("lu", group))


def _no_tangents(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    return _zeros(_lu.bind(*primals, **params))


def _solve_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    (a, b), (da, db), group = primals, tangents, params["group"]
    how = _words("lu_solve", group, op=params["op"])
    return _solve_with_jvp((*_factors_of(a, group), b, a), (None, None, db, da), **how)


def _solve_with_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    """dX = op(A)^-1 (dB - op(dA) X)"""
    (packed, pivots, _, a), (_, _, db, da) = primals, tangents
    x = _solve_with.bind(*primals, **params)
    terms = [] if _is_zero(db) else [db]
    terms += [] if _is_zero(da) else [-_product(params["group"], da, x, params["op"])]
    if not terms:
        return x, no_tangent(x)
    return x, _solve_with.bind(packed, pivots, _total(terms), a, **params)


def _solve_with_back(cotangent: Any, packed: Any, pivots: Any, b: Any, a: Any, **params: Any) -> Any:
    """op(A)^T B' = X'"""
    if isinstance(cotangent, ad.Zero):
        return None, None, zero_of(b), None
    return None, None, _solve_with.bind(packed, pivots, cotangent, a, **{**params, "op": _flipped[params["op"]]}), None


ad.primitive_jvps[_lu] = _no_tangents
ad.primitive_jvps[_solve] = _solve_jvp
ad.primitive_jvps[_solve_with] = _solve_with_jvp
ad.primitive_transposes[_solve_with] = _solve_with_back


def solve(a: Any, b: Any, group: Group, transpose: bool) -> Any:
    check("solve", a, b)
    check_sides("solve", a, b)
    sides = b[:, None] if b.ndim == 1 else b
    return _solve.bind(a, sides, **_words("solve", group, op="transpose" if transpose else "none")).reshape(b.shape)


def inv(a: Any, group: Group) -> Any:
    check("inv", a)
    return _solve.bind(a, jnp.where(_is_diagonal(a), jnp.ones_like(a), 0), **_words("solve", group))


# --- solve_triangular

_triangular = _function("solve_triangular", ("operand0", "operand1"), 1, *_like_b)


def _triangular_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    """As of `solve`, or dX = (dB - X op(dT)) op(T)^-1; of the triangle that is read."""
    (t, b), (dt, db), group = primals, tangents, params["group"]
    x = _triangular.bind(t, b, **params)
    terms = [] if _is_zero(db) else [db]
    if not _is_zero(dt):
        dt = _triangle(dt, bool(params["upper"]), bool(params["unit_diagonal"]))
        terms.append(-(_product(group, x, dt, op_b=params["op"]) if params["right"] else _product(group, dt, x, params["op"])))
    return x, (_triangular.bind(t, _total(terms), **params) if terms else no_tangent(x))


def _triangular_back(cotangent: Any, t: Any, b: Any, **params: Any) -> Any:
    if isinstance(cotangent, ad.Zero):
        return None, zero_of(b)
    return None, _triangular.bind(t, cotangent, **{**params, "op": _flipped[params["op"]]})


ad.primitive_jvps[_triangular] = _triangular_jvp
ad.primitive_transposes[_triangular] = _triangular_back


def solve_triangular(a: Any, b: Any, group: Group, lower: bool, left: bool, unit_diagonal: bool, transpose: bool) -> Any:
    check("solve_triangular", a, b)
    check_sides("solve_triangular", a, b, not left)
    sides = b[:, None] if b.ndim == 1 else b
    op = "transpose" if transpose else "none"
    words = _words("solve_triangular", group, op=op, upper=not lower, unit_diagonal=unit_diagonal, right=not left)
    return _triangular.bind(a, sides, **words).reshape(b.shape)


# --- determinants: numbers as arrays of one element

_numbers = (lambda a, *_: [((1,), a.dtype), ((1,), _real(a.dtype))], lambda a, *_: [_everywhere(a)] * 2)
_slogdet = _function("slogdet", ("operand0",), 2, *_numbers, lambda a: "i j -> k, l")
_slogdet_with = _function("lu_slogdet", ("operand0", "operand1", "differentiated"), 2, *_numbers, lambda *_: "i j, p, m n -> k, l")


def _slogdet_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    (a,), (da,), group = primals, tangents, params["group"]
    return _slogdet_with_jvp((*_factors_of(a, group), a), (None, None, da), **_words("lu_slogdet", group))


def _slogdet_with_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    """dlog + i dphase = tr(A^-1 dA)"""
    (packed, pivots, a), da, group = primals, tangents[2], params["group"]
    sign, logarithm = _slogdet_with.bind(*primals, **params)
    if _is_zero(da):
        return _zeros((sign, logarithm))
    trace = jnp.sum(_diagonal(_solve_with.bind(packed, pivots, da, a, **_words("lu_solve", group))))[None]
    if not jnp.iscomplexobj(a):
        return [sign, logarithm], [no_tangent(sign), trace]
    return [sign, logarithm], [sign * (1j * jnp.imag(trace)).astype(sign.dtype), jnp.real(trace)]


ad.primitive_jvps[_slogdet] = _slogdet_jvp
ad.primitive_jvps[_slogdet_with] = _slogdet_with_jvp


def slogdet(a: Any, group: Group) -> Any:
    check("slogdet", a)
    return [one[0] for one in _slogdet.bind(a, **_words("slogdet", group))]


# --- Cholesky

_cholesky = _function("cholesky", ("operand0",), 1, lambda a: [(a.shape, a.dtype)], lambda a: [explicit_sharding(a)], lambda a: "i j -> i j")


def _cholesky_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    """dL = L half(tril(L^-1 dA L^-H)), dU = half(triu(U^-H dA U^-1)) U"""
    (da,), group, upper = tangents, params["group"], bool(params["upper"])
    factor = _cholesky.bind(*primals, **params)
    if _is_zero(da):
        return factor, no_tangent(factor)
    inner = da
    for right in (False, True):
        by, op = (jnp.conj(factor), "transpose") if right != upper else (factor, "none")
        inner = _triangular.bind(by, inner, **_words("solve_triangular", group, op=op, upper=upper, right=right))
    half = _triangle(inner, upper) - jnp.where(_is_diagonal(inner), inner / 2, 0)
    return factor, _product(group, half, factor) if upper else _product(group, factor, half)


ad.primitive_jvps[_cholesky] = _cholesky_jvp


def _symmetrized(a: Any, group: Group) -> Any:
    return (a + adjoint(a, group)) / 2


def cholesky(a: Any, group: Group, upper: bool, symmetrize_input: bool) -> Any:
    check("cholesky", a)
    return _cholesky.bind(_symmetrized(a, group) if symmetrize_input else a, **_words("cholesky", group, upper=upper))


# --- QR


def _of_qr(a: Any) -> Any:
    (m, n), k = a.shape, min(a.shape)
    return [((m, k), a.dtype), ((k, n), a.dtype)]


_qr = _function(
    "qr", ("operand0",), 2, _of_qr, lambda a: [explicit_sharding(a) if a.shape[0] >= a.shape[1] else _everywhere(a), _everywhere(a)],
    lambda a: "i j -> i j, k l" if a.shape[0] >= a.shape[1] else "i j -> i k, l j",
)  # fmt: skip


def _qr_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    """With X = dA R^-1, K = Q^H X and W = tril(K, -1) - tril(K, -1)^H + i Im(diag(K)): dQ = Q (W - K) + X, dR = (K - W) R"""
    (a,), (da,), group = primals, tangents, params["group"]
    q, r = _qr.bind(a, **params)
    if _is_zero(da):
        return _zeros((q, r))
    if a.shape[0] < a.shape[1]:
        raise UnsupportedError(f"qr: derivatives require at least as many rows as columns, but the shape of A is {a.shape}")
    x = _triangular.bind(r, da, **_words("solve_triangular", group, upper=True, right=True))
    k = _product(group, q, x, "adjoint")
    below = _triangle(k, False, True)
    w = below - adjoint(below, group)
    if jnp.iscomplexobj(k):
        w = w + jnp.where(_is_diagonal(k), k - jnp.real(k), 0)
    return [q, r], [_product(group, q, w - k) + x, _product(group, k - w, r)]


ad.primitive_jvps[_qr] = _qr_jvp


def qr(a: Any, group: Group) -> Any:
    check("qr", a, square=False)
    return _qr.bind(a, **_words("qr", group))


# --- eigenvalues and singular values

_eigh = _function(
    "eigh", ("operand0",), 2, lambda a: [(a.shape[:1], _real(a.dtype)), (a.shape, a.dtype)],
    lambda a: [_everywhere(a), explicit_sharding(a)], lambda a: "i j -> k, i j",
)  # fmt: skip


def _inverse_gaps(values: Any, dtype: Any) -> Any:
    """1 / (value[j] - value[i]), and 0 on the diagonal."""
    unit = jnp.arange(len(values))[:, None] == jnp.arange(len(values))
    return jnp.where(unit, 0, 1 / jnp.where(unit, 1, values[None, :] - values[:, None])).astype(dtype)


def _eigh_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    """With M = V^H dA V: dw = diag(M), dV = V (M / (w[j] - w[i]))"""
    (da,), group = tangents, params["group"]
    w, v = _eigh.bind(*primals, **params)
    if _is_zero(da):
        return _zeros((w, v))
    m = _product(group, v, _product(group, da, v), "adjoint")
    return [w, v], [jnp.real(_diagonal(m)), _product(group, v, _inverse_gaps(w, m.dtype) * m)]


ad.primitive_jvps[_eigh] = _eigh_jvp


def eigh(a: Any, group: Group, upper: bool, symmetrize_input: bool) -> Any:
    check("eigh", a)
    return _eigh.bind(_symmetrized(a, group) if symmetrize_input else a, **_words("eigh", group, upper=upper))


def _of_svd(a: Any) -> Any:
    (m, n), k = a.shape, min(a.shape)
    return [((m, k), a.dtype), ((k,), _real(a.dtype)), ((k, n), a.dtype)]


_svd = _function(
    "svd", ("operand0",), 3, _of_svd,
    lambda a: [explicit_sharding(a) if a.shape[0] >= a.shape[1] else _everywhere(a), _everywhere(a), _everywhere(a)],
    lambda a: "i j -> i j, s, k l" if a.shape[0] >= a.shape[1] else "i j -> i k, s, l j",
)  # fmt: skip


def _svd_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    """With K = U^H dA V and F[i, j] = 1 / (S[j]^2 - S[i]^2): dS = Re(diag(K)), dU = U (F (K S + S K^H) + i Im(diag(K)) / S),
    dV^H = -F (S K + K^H S) V^H, and the parts of dA V and U^H dA outside of the spaces of U and V over S."""
    (a,), (da,), group = primals, tangents, params["group"]
    u, s, vh = _svd.bind(a, **params)
    if _is_zero(da):
        return _zeros((u, s, vh))
    projected = _product(group, u, da, "adjoint")
    inner = _product(group, projected, vh, op_b="adjoint")
    left, right = s[:, None].astype(inner.dtype), s[None, :].astype(inner.dtype)
    gaps, conjugate = _inverse_gaps(s**2, inner.dtype), adjoint(inner, group)
    of_phase = jnp.where(_is_diagonal(inner), (inner - jnp.conj(inner)) / 2 / right, 0)
    du = _product(group, u, gaps * (inner * right + left * conjugate) + of_phase)
    dvh = _product(group, -gaps * (left * inner + conjugate * right), vh)
    if a.shape[0] > len(s):
        du = du + (_product(group, da, vh, op_b="adjoint") - _product(group, u, inner)) / right
    if a.shape[1] > len(s):
        dvh = dvh + (projected - _product(group, inner, vh)) / left
    return [u, s, vh], [du, jnp.real(_diagonal(inner)), dvh]


ad.primitive_jvps[_svd] = _svd_jvp


def svd(a: Any, group: Group) -> Any:
    check("svd", a, square=False)
    return _svd.bind(a, **_words("svd", group))


# --- polar decompositions

_polar = _function(
    "polar", ("operand0",), 2, lambda a: [(a.shape, a.dtype), ((a.shape[1],) * 2, a.dtype)],
    lambda a: [explicit_sharding(a), _everywhere(a)], lambda a: "i j -> i j, k l",
)  # fmt: skip


def _lyapunov(p: Any, c: Any, group: Group) -> Any:
    """The X of P X + X P = C, P Hermitian and positive definite."""
    w, v = _eigh.bind(_jax.lax.stop_gradient(p), **_words("eigh", group))
    sums = w[:, None] + w[None, :]

    def solved(v: Any, c: Any) -> Any:
        inner = _product(group, v, _product(group, c, v), "adjoint") / sums.astype(c.dtype)
        return _product(group, _product(group, v, inner), v, op_b="adjoint")

    def matvec(x: Any) -> Any:
        return _product(group, p, x) + _product(group, x, p)

    return _jax.lax.custom_linear_solve(matvec, c, lambda _, c: solved(v, c), lambda _, c: solved(jnp.conj(v), c))


def _polar_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    """With K = U^H dA and the X of P X + X P = K - K^H: dU = U X + (dA - U K) P^-1, dP = K - X P"""
    (a,), (da,), group = primals, tangents, params["group"]
    u, p = _polar.bind(a, **params)
    if _is_zero(da):
        return _zeros((u, p))
    k = _product(group, u, da, "adjoint")
    x = _lyapunov(p, k - adjoint(k, group), group)
    du = _product(group, u, x)
    if a.shape[0] > a.shape[1]:
        outside = da - _product(group, u, k)
        du = du + jnp.conj(_solve_with.bind(*_factors_of(p, group), jnp.conj(outside.T), p, **_words("lu_solve", group)).T)
    return [u, p], [du, k - _product(group, x, p)]


ad.primitive_jvps[_polar] = _polar_jvp


def polar(a: Any, group: Group) -> Any:
    check("polar", a, square=False)
    check_polar(a.shape)
    return _polar.bind(a, **_words("polar", group))
