"""Linear systems and determinants of distributed matrices, as primitives with derivatives.

The derivative of a call is a call that is linear in the tangents, and has a transpose: so forward and reverse derivatives have any order.
Formulas are those of Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation" (2008). In
comments dX is the tangent of X.
"""

from __future__ import annotations

from typing import Any, List, Sequence, Tuple

import jax  # type: ignore[import-not-found,unused-ignore]
import jax.numpy as jnp  # type: ignore[import-not-found,unused-ignore]
import numpy as np

from .. import _core
from .._linear_layouts import places, replicated, transposed
from ._arrays import _exact, _flipped, _local, _multiply, _redistribute, _share, _whole
from ._collectives import _all_reduce, _shared_sum
from ._group import Group
from ._program import ad, batched_in_turn, call, no_tangent

_jax: Any = jax  # of which not all has types
Layouts = Tuple[_core.Layout, ...]


def function(name: str, dtypes: Any, several: bool = False) -> Any:
    """The primitive of a function of `run_linear`, whose params `linear_params` makes. `dtypes(dtype of the first operand)`: of results."""

    def result(*operands: Any, **params: Any) -> Any:
        of_results = dtypes(operands[0].dtype)
        found = [(_local(params[f"result{i}"], params["group"]), dtype) for i, dtype in enumerate(of_results)]
        return found if several else found[0]

    made = call(name, result, handler="linalg", several=several)
    batched_in_turn(made)
    return made


def linear_params(
    name: str, group: Group, operands: Sequence[_core.Layout], results: Sequence[_core.Layout], *, op: str = "none", upper: bool = False,
    unit_diagonal: bool = False, right: bool = False,
) -> Any:  # fmt: skip
    """What the handler reads."""
    layouts = {f"operand{i}": one for i, one in enumerate(operands)} | {f"result{i}": one for i, one in enumerate(results)}
    words = {"op": op, "upper": int(upper), "unit_diagonal": int(unit_diagonal), "right": int(right)}
    return {"function": name, "group": group, **layouts, **words}


def real(dtype: Any) -> Any:
    return np.zeros(0, dtype).real.dtype


def same(dtype: Any) -> List[Any]:
    return [dtype]


# --- what derivatives are made of


def adjoint(x: Any, group: Group, layout: _core.Layout) -> Any:
    """X^H of a square matrix, in its own layout."""
    return _redistribute.bind(jnp.conj(x.T), group=group, source=transposed(layout), destination=layout)


def product(
    group: Group, a: Tuple[Any, _core.Layout], b: Tuple[Any, _core.Layout], to: _core.Layout, op_a: str = "none", op_b: str = "none"
) -> Any:
    """With 'adjoint' in addition to the operations of the library."""
    (left, of_left), (right, of_right) = a, b
    if op_a == "adjoint":
        left, op_a = jnp.conj(left), "transpose"
    if op_b == "adjoint":
        right, op_b = jnp.conj(right), "transpose"
    return _multiply.bind(left, right, group=group, layout_a=of_left, layout_b=of_right, d=to, op_a=op_a, op_b=op_b, **_exact)


def triangle(x: Any, group: Group, layout: _core.Layout, upper: bool, unit: bool = False) -> Any:
    """Zeros in the other triangle, and on the diagonal if `unit` is set."""
    rows, columns = places(layout, group.rank)
    above = (jnp.asarray(columns) - rows) * (1 if upper else -1)
    return jnp.where(above > 0 if unit else above >= 0, x, 0)


def on_diagonal(group: Group, layout: _core.Layout) -> Any:
    """Which elements of the rank's part are on the diagonal."""
    rows, columns = places(layout, group.rank)
    return jnp.asarray(rows) == columns


def diagonal(x: Any, group: Group, layout: _core.Layout) -> Any:
    """The diagonal of a square matrix, on every rank; replicas count once."""
    own = _share(jnp.sum(jnp.where(on_diagonal(group, layout), x, 0), axis=0), layout, group)
    whole = jnp.zeros(layout.shape[:1], x.dtype).at[places(layout, group.rank)[1]].add(own)
    return _all_reduce.bind(_depending(whole, own), group=group, reduction="sum")


def _depending(x: Any, on: Any) -> Any:
    """X, with a graph for the other array. JAX reads and writes no elements without the array, where other ranks, which read some, make
    calls for its derivative."""
    return x + jnp.where(False, jnp.sum(on), 0)


def at(values: Any, indices: Any) -> Any:
    """Elements of a vector that every rank has."""
    return _depending(values[indices], values)


def is_zero(tangent: Any) -> bool:
    return isinstance(tangent, ad.Zero)


# --- factors that derivatives use again

#: P A = L U in one matrix, in the layout of A, and the pivots. Without a derivative: what is computed with them has that by A.
_lu = function("lu", lambda dtype: [dtype, np.dtype(np.int32)], several=True)


def factors(a: Any, group: Group, layout: _core.Layout) -> Tuple[Any, Any]:
    pivots = replicated(layout.shape[0], group.size)
    packed, found = _lu.bind(_jax.lax.stop_gradient(a), **linear_params("lu", group, [layout], [layout, pivots]))
    return packed, found


def _no_tangents(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    found = _lu.bind(*primals, **params)
    return found, [no_tangent(one) for one in found]


ad.primitive_jvps[_lu] = _no_tangents

# --- solve

_solve = function("solve", same)
#: The X of op(A) X = B, of packed factors, pivots, B, and A, which is there for its derivative.
_solve_with = function("lu_solve", same)


def solve(a: Any, b: Any, group: Group, layouts: Layouts, transpose: bool) -> Any:
    """Of A, B and X."""
    op = "transpose" if transpose else "none"
    return _solve.bind(a, b, **linear_params("solve", group, layouts[:2], layouts[2:], op=op))


def with_factors(group: Group, layouts: Layouts, op: str = "none") -> Any:
    """The params of `_solve_with`: of A, B and X."""
    of_a, of_b, of_x = layouts
    return linear_params("lu_solve", group, [of_a, replicated(of_a.shape[0], group.size), of_b], [of_x], op=op)


def solve_linearly(a: Any, b: Any, group: Group, layouts: Layouts) -> Any:
    """`solve`, for a B that is linear in tangents."""
    return _solve_with.bind(*factors(a, group, layouts[0]), b, a, **with_factors(group, layouts))


def _solve_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    (a, b), (da, db), group = primals, tangents, params["group"]
    layouts = (params["operand0"], params["operand1"], params["result0"])
    packed, pivots = factors(a, group, layouts[0])
    return _solve_with_jvp((packed, pivots, b, a), (None, None, db, da), **with_factors(group, layouts, params["op"]))


def _solve_with_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    """dX = op(A)^-1 (dB - op(dA) X)"""
    (packed, pivots, _, a), (_, _, db, da) = primals, tangents
    group, of_a, of_b, of_x = params["group"], params["operand0"], params["operand2"], params["result0"]
    x = _solve_with.bind(*primals, **params)
    terms = [] if is_zero(db) else [db]
    terms += [] if is_zero(da) else [-product(group, (da, of_a), (x, of_x), of_b, params["op"])]
    if not terms:
        return x, no_tangent(x)
    return x, _solve_with.bind(packed, pivots, sum(terms[1:], terms[0]), a, **params)


def _solve_with_back(cotangent: Any, packed: Any, pivots: Any, b: Any, a: Any, **params: Any) -> Any:
    """op(A)^T B' = X'"""
    group, of_b, of_x = params["group"], params["operand2"], params["result0"]
    given = _whole(ad.instantiate_zeros(cotangent), of_x, group)
    back = {**params, "operand2": of_x, "result0": of_b, "op": _flipped[params["op"]]}
    return None, None, _share(_solve_with.bind(packed, pivots, given, a, **back), of_b, group), None


ad.primitive_jvps[_solve] = _solve_jvp
ad.primitive_jvps[_solve_with] = _solve_with_jvp
ad.primitive_transposes[_solve_with] = _solve_with_back

# --- solve_triangular

_triangular = function("solve_triangular", same)


def solve_triangular(t: Any, b: Any, group: Group, layouts: Layouts, **words: Any) -> Any:
    """Of T, B and X; the words are those of `linear_params`."""
    return _triangular.bind(t, b, **linear_params("solve_triangular", group, layouts[:2], layouts[2:], **words))


def _triangular_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    """As of `solve`, or dX = (dB - X op(dT)) op(T)^-1; of the triangle that is read."""
    (t, b), (dt, db) = primals, tangents
    group, of_t, of_b, of_x = params["group"], params["operand0"], params["operand1"], params["result0"]
    x = _triangular.bind(t, b, **params)
    terms = [] if is_zero(db) else [db]
    if not is_zero(dt):
        dt = (triangle(dt, group, of_t, bool(params["upper"]), bool(params["unit_diagonal"])), of_t)
        if params["right"]:
            terms.append(-product(group, (x, of_x), dt, of_b, op_b=params["op"]))
        else:
            terms.append(-product(group, dt, (x, of_x), of_b, params["op"]))
    if not terms:
        return x, no_tangent(x)
    return x, _triangular.bind(t, sum(terms[1:], terms[0]), **params)


def _triangular_back(cotangent: Any, t: Any, b: Any, **params: Any) -> Any:
    group, of_b, of_x = params["group"], params["operand1"], params["result0"]
    given = _whole(ad.instantiate_zeros(cotangent), of_x, group)
    back = {**params, "operand1": of_x, "result0": of_b, "op": _flipped[params["op"]]}
    return None, _share(_triangular.bind(t, given, **back), of_b, group)


ad.primitive_jvps[_triangular] = _triangular_jvp
ad.primitive_transposes[_triangular] = _triangular_back

# --- determinants


def _of_numbers(dtype: Any) -> List[Any]:
    return [dtype, real(dtype)]


_slogdet = function("slogdet", _of_numbers, several=True)
#: Of packed factors, pivots, and A, which is there for its derivative.
_slogdet_with = function("lu_slogdet", _of_numbers, several=True)


def slogdet(a: Any, group: Group, layout: _core.Layout, shared: bool) -> Any:
    """`shared`: the results are one value that all ranks share."""
    numbers = [_core.Layout(_core.Replicated(), (), group.size)] * 2
    return _slogdet.bind(a, **linear_params("slogdet", group, [layout], numbers), shared=int(shared))


def _slogdet_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    (a,), (da,), group, layout = primals, tangents, params["group"], params["operand0"]
    layouts = [layout, replicated(layout.shape[0], group.size)]
    how = linear_params("lu_slogdet", group, layouts, [params["result0"], params["result1"]])
    return _slogdet_with_jvp((*factors(a, group, layout), a), (None, None, da), **how, shared=params["shared"])


def _slogdet_with_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    """dlog + i dphase = tr(A^-1 dA)"""
    (packed, pivots, a), da, group, layout = primals, tangents[2], params["group"], params["operand0"]
    sign, logarithm = _slogdet_with.bind(*primals, **params)
    if is_zero(da):
        return [sign, logarithm], [no_tangent(one) for one in (sign, logarithm)]
    quotient = _solve_with.bind(packed, pivots, da, a, **with_factors(group, (layout,) * 3))
    own = _share(jnp.sum(jnp.where(on_diagonal(group, layout), quotient, 0)), layout, group)
    trace = (_shared_sum if params["shared"] else _all_reduce).bind(own, group=group, reduction="sum")
    if not jnp.iscomplexobj(a):
        return [sign, logarithm], [no_tangent(sign), trace]
    return [sign, logarithm], [sign * (1j * jnp.imag(trace)).astype(sign.dtype), jnp.real(trace)]


ad.primitive_jvps[_slogdet] = _slogdet_jvp
ad.primitive_jvps[_slogdet_with] = _slogdet_with_jvp
