"""Linear systems and determinants of distributed matrices, as operators with derivatives.

Derivatives are those of Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation" (2008), made
of operators that have derivatives, so that all orders are defined. In comments X' is the gradient of X.
"""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

import torch
from torch import Tensor

from .. import _core
from .._context import context_of
from .._linear_layouts import places, replicated, transposed
from .._packages import fresh
from .._streams import stream_of_tensor
from ._arrays import _array, _matmul, _part, _redistribute, _share, _whole
from ._collectives import _all_reduce
from ._operators import layout_at, number_of_layout, operator, plain


def computed(
    function: str, operands: Sequence[Tensor], layouts: Sequence[int], results: Sequence[Tensor], of_results: Sequence[int], context: int,
    **words: Any,
) -> None:  # fmt: skip
    """The library's function on these parts. The layouts of results are numbers, too."""
    among, given = context_of(context), [plain(x) for x in operands]
    arrays = [_array(x, layout, among) for x, layout in zip(given, layouts)]
    into = [_array(fresh(x), layout, among) for x, layout in zip(results, of_results)]
    _core.run_linear(function, arrays, into, stream=stream_of_tensor(given[0]), **words)


# --- what derivatives are made of


def flipped(layout: int) -> int:
    return number_of_layout(transposed(layout_at(layout)))


def adjoint(x: Tensor, context: int, layout: int) -> Tensor:
    """X^H of a square matrix, in its own layout."""
    return _redistribute(x.mT.conj(), context, flipped(layout), layout)


def product(
    context: int, a: Tuple[Tensor, int], b: Tuple[Tensor, int], to: int, adjoint_a: bool = False, adjoint_b: bool = False
) -> Tensor:
    left = a[0].conj() if adjoint_a else a[0]
    right = b[0].conj() if adjoint_b else b[0]
    return _matmul(left, right, context, a[1], b[1], to, adjoint_a, adjoint_b, "")


def rows_and_columns(layout: int, context: int, like: Tensor) -> Tuple[Tensor, Tensor]:
    """The global indices of this rank's elements."""
    rows, columns = places(layout_at(layout), context_of(context).rank)
    return torch.as_tensor(rows, device=like.device), torch.as_tensor(columns, device=like.device)


def triangle(x: Tensor, layout: int, context: int, upper: bool, unit: bool = False) -> Tensor:
    """Zeros in the other triangle, and on the diagonal if `unit` is set."""
    rows, columns = rows_and_columns(layout, context, x)
    above = columns - rows if upper else rows - columns
    return torch.where(above > 0 if unit else above >= 0, x, 0)


def half_triangle(x: Tensor, layout: int, context: int, upper: bool) -> Tensor:
    """Zeros in the other triangle, and half of the real parts on the diagonal."""
    rows, columns = rows_and_columns(layout, context, x)
    real = x.real.to(x.dtype) if x.is_complex() else x
    return torch.where(columns > rows if upper else rows > columns, x, torch.where(rows == columns, real / 2, 0))


def diagonal(values: Tensor, x: Tensor, layout: int, context: int) -> Tensor:
    """X with these values, which every rank has, on its diagonal."""
    rows, columns = rows_and_columns(layout, context, x)
    return torch.where(rows == columns, values[columns].to(x.dtype), x)


# --- factors that derivatives use again


def _factors_like(a: Tensor, layout: int, context: int) -> Tuple[Tensor, Tensor]:
    return _part(a, layout, context), a.new_empty(layout_at(layout).shape[:1], dtype=torch.int32)


def of_pivots(layout: int, context: int) -> int:
    return number_of_layout(replicated(layout_at(layout).shape[0], context_of(context).size))


def _call_lu(a: Tensor, context: int, layout: int) -> Tuple[Tensor, Tensor]:
    found = _factors_like(a, layout, context)
    computed("lu", [a], [layout], found, [layout, of_pivots(layout, context)], context)
    return found


#: P A = L U in one matrix, in the layout of A, and the pivots. Without a derivative: what is computed with them has that by A.
lu = operator("linalg_lu", _call_lu, lambda a, context, layout: _factors_like(a, layout, context))


# --- solve


def _call_solve(a: Tensor, b: Tensor, context: int, of_a: int, of_b: int, of_x: int, transpose: bool) -> Tensor:
    x = _part(b, of_x, context)
    computed("solve", [a, b], [of_a, of_b], [x], [of_x], context, op="transpose" if transpose else "none")
    return x


#: Without a derivative.
solve_once = operator(
    "linalg_solve", _call_solve, lambda a, b, context, of_a, of_b, of_x, transpose: _part(b, of_x, context)
)


def _call_solve_with(
    a: Tensor, b: Tensor, packed: Tensor, pivots: Tensor, context: int, of_a: int, of_b: int, of_x: int, transpose: bool
) -> Tensor:
    x = _part(b, of_x, context)
    layouts = [of_a, of_pivots(of_a, context), of_b]
    computed("lu_solve", [packed, pivots, b], layouts, [x], [of_x], context, op="transpose" if transpose else "none")
    return x


#: The X of op(A) X = B, with the factors of A, which is there for its derivative.
solve_with = operator(
    "linalg_solve_with",
    _call_solve_with,
    lambda a, b, packed, pivots, context, of_a, of_b, of_x, transpose: _part(b, of_x, context),
    forward=True,
)


def _keep_system(ctx: Any, inputs: Tuple[Any, ...], output: Tensor) -> None:
    a, _, packed, pivots = inputs[:4]
    ctx.save_for_backward(a, packed, pivots, output)
    ctx.arguments = inputs[4:]


def solve_adjoint(
    a: Tensor, packed: Tensor, pivots: Tensor, given: Tensor, context: int, of_a: int, of_given: int, to: int, transpose: bool = False
) -> Tensor:
    """The Y of op(A)^H Y = G."""
    return solve_with(a, given.conj(), packed, pivots, context, of_a, of_given, to, not transpose).conj()


def _solve_gradients(ctx: Any, gradient: Tensor) -> Tuple[Optional[Tensor], ...]:
    """op(A)^H B' = X', and A' = -B' X^H, or of the transpose -conj(X) B'^T."""
    a, packed, pivots, x = ctx.saved_tensors
    context, of_a, of_b, of_x, transpose = ctx.arguments
    y = solve_adjoint(a, packed, pivots, _whole(gradient, of_x, context), context, of_a, of_x, of_b, transpose)
    by_a = None
    if ctx.needs_input_grad[0]:
        left, right = ((x.conj(), of_x), (y.conj(), of_b)) if transpose else ((y, of_b), (x, of_x))
        by_a = _share(-product(context, left, right, of_a, adjoint_b=True), of_a, context)
    return (by_a, _share(y, of_b, context), *[None] * (2 + len(ctx.arguments)))


solve_with.differentiate(_solve_gradients, _keep_system)


# --- solve_triangular


def _call_triangular(
    t: Tensor, b: Tensor, context: int, of_t: int, of_b: int, of_x: int, transpose: bool, upper: bool, unit: bool, right: bool
) -> Tensor:
    x = _part(b, of_x, context)
    computed(
        "solve_triangular", [t, b], [of_t, of_b], [x], [of_x], context, op="transpose" if transpose else "none", upper=upper,
        unit_diagonal=unit, right=right,
    )  # fmt: skip
    return x


#: The X of op(T) X = B, or with `right` of X op(T) = B.
solve_triangular = operator(
    "linalg_solve_triangular", _call_triangular, lambda t, b, context, of_t, of_b, of_x, *_: _part(b, of_x, context), forward=True
)


def _keep_triangle(ctx: Any, inputs: Tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(inputs[0], output)
    ctx.arguments = inputs[2:]


def _triangular_gradients(ctx: Any, gradient: Tensor) -> Tuple[Optional[Tensor], ...]:
    """As of `solve`; of the right side T' = -X^H B'. Only of the triangle that is read."""
    t, x = ctx.saved_tensors
    context, of_t, of_b, of_x, transpose, upper, unit, right = ctx.arguments
    given = _whole(gradient, of_x, context)
    y = solve_triangular(t, given.conj(), context, of_t, of_x, of_b, not transpose, upper, unit, right).conj()
    by_t = None
    if ctx.needs_input_grad[0]:
        left, second, adjoint_left = ((x, of_x), (y, of_b), True) if right else ((y, of_b), (x, of_x), False)
        if transpose:  # conj(L R^H) = (R L^H)^T, with the sides exchanged
            left, second = (second[0].conj(), second[1]), (left[0].conj(), left[1])
        found = product(context, left, second, of_t, adjoint_a=adjoint_left, adjoint_b=not adjoint_left)
        by_t = _share(-triangle(found, of_t, context, upper, unit), of_t, context)
    return (by_t, _share(y, of_b, context), *[None] * len(ctx.arguments))


solve_triangular.differentiate(_triangular_gradients, _keep_triangle)


# --- determinants


def _determinant_like(a: Tensor) -> Tuple[Tensor, Tensor]:
    real = torch.float32 if a.dtype in (torch.float32, torch.complex64) else torch.float64
    return a.new_empty(()), a.new_empty((), dtype=real)


def _of_numbers(context: int) -> List[int]:
    return [number_of_layout(_core.Layout(_core.Replicated(), (), context_of(context).size))] * 2


def _call_slogdet(a: Tensor, context: int, layout: int) -> Tuple[Tensor, Tensor]:
    found = _determinant_like(a)
    computed("slogdet", [a], [layout], found, _of_numbers(context), context)
    return found


#: Without a derivative.
slogdet_once = operator("linalg_slogdet", _call_slogdet, lambda a, *_: _determinant_like(a))


def _call_slogdet_with(
    a: Tensor, packed: Tensor, pivots: Tensor, context: int, layout: int, shared: bool
) -> Tuple[Tensor, Tensor]:
    found = _determinant_like(a)
    computed("lu_slogdet", [packed, pivots], [layout, of_pivots(layout, context)], found, _of_numbers(context), context)
    return found


#: Of A with its factors. `shared`: each rank's result is one value that all share.
slogdet_with = operator("linalg_slogdet_with", _call_slogdet_with, lambda a, *_: _determinant_like(a), forward=True)


def _keep_determinant(ctx: Any, inputs: Tuple[Any, ...], output: Tuple[Tensor, Tensor]) -> None:
    ctx.save_for_backward(*inputs[:3], output[0])
    ctx.arguments = inputs[3:]


def _determinant_gradients(ctx: Any, by_sign: Tensor, by_logarithm: Tensor) -> Tuple[Optional[Tensor], ...]:
    """A' = c A^-H with c = log' - i Im(conj(sign') sign)."""
    a, packed, pivots, sign = ctx.saved_tensors
    context, layout, shared = ctx.arguments
    factor = by_logarithm.to(a.dtype)
    if a.is_complex():
        factor = torch.complex(by_logarithm, -(by_sign.conj() * sign).imag)
    if not shared:
        factor = _all_reduce(factor, context, "sum")
    rows, columns = rows_and_columns(layout, context, a)
    unit = torch.where(rows == columns, factor, 0)
    y = solve_adjoint(a, packed, pivots, unit, context, layout, layout, layout)
    return (_share(y, layout, context), *[None] * (2 + len(ctx.arguments)))


slogdet_with.differentiate(_determinant_gradients, _keep_determinant)
