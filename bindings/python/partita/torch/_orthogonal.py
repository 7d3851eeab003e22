"""Nearest matrices with orthogonal rows or columns, approximately: what the optimizer Muon makes of gradients."""

from __future__ import annotations

import functools
from typing import Any, Optional, Sequence, Tuple

import torch
from torch import Tensor

from .. import _core
from .._array import no_epilogue_arrays
from .._context import Context, context_of
from .._dtypes import dtype_name
from .._errors import ArgumentError
from .._linear_layouts import check_matrix
from .._packages import fresh
from .._parts import Destination, check_part, layout_of
from .._streams import stream_of_tensor
from . import _arrays
from ._collectives import _all_reduce
from ._operators import collective, layout_at, number_of, number_of_layout, operator, or_dtensors, plain

#: Of the quintic polynomial a x + b x^3 + c x^5 that Jordan et al. chose for Muon (2024, https://kellerjordan.github.io/posts/muon).
_quintic = (3.4445, -4.7750, 2.0315)


@functools.lru_cache(maxsize=64)
def _options(alpha: float, beta: float, op_a: str, op_b: str, reduce_dtype: str) -> _core.MatmulOptions:
    return _core.MatmulOptions(op_a=op_a, op_b=op_b, alpha=alpha, beta=beta, reduce_dtype=reduce_dtype, heap=False)


class _Products:
    """D = alpha op(A) op(B) + beta C of arrays of one dtype, on one stream."""

    def __init__(self, context: Context, like: Tensor) -> None:
        self._core, self._like, self._stream = context._core, like, stream_of_tensor(like)
        self._rank, self._dtype = context.rank, dtype_name(like.dtype)

    def array(self, layout: _core.Layout, part: Optional[Tensor] = None) -> Any:
        return _core.wrap_like(self._core, layout, fresh(self._like.new_empty(layout.local_shape(self._rank))) if part is None else part)

    def multiply(
        self, alpha: float, a: Any, b: Any, d: Any, beta: float = 0.0, c: Any = None, op_a: str = "none", op_b: str = "none"
    ) -> None:
        # What ranks exchange is rounded to the dtype of the iteration, which corrects such errors.
        _core.matmul_into(a, b, c, d, _options(alpha, beta, op_a, op_b, self._dtype), no_epilogue_arrays, self._stream)


def _call_iterated(x: Tensor, norm: Tensor, context: int, layout: int, steps: int, coefficients: Sequence[float]) -> Tensor:
    """Of X / norm, a matrix whose longer dimension is distributed: each step has three products, of which the first adds up what ranks have,
    and the others gather squares of the shorter one."""
    among, whole = context_of(context), layout_at(layout)
    m, n = whole.shape
    part = plain(x) / norm
    products = _Products(among, part)
    square = _core.Layout(_core.Slab(0), (min(m, n),) * 2, among.size)
    gram, polynomial = products.array(square), products.array(square)
    other = fresh(torch.empty_like(part))
    now, then = products.array(whole, part), products.array(whole, other)
    a, b, c = coefficients
    for _ in range(steps):
        if m <= n:  # X = a X + (b X X^T + c (X X^T)^2) X
            products.multiply(1.0, now, now, gram, op_b="transpose")
            products.multiply(c, gram, gram, polynomial, b, gram)
            products.multiply(1.0, polynomial, now, then, a, now)
        else:
            products.multiply(1.0, now, now, gram, op_a="transpose")
            products.multiply(c, gram, gram, polynomial, b, gram)
            products.multiply(1.0, now, polynomial, then, a, now)
        now, then, part, other = then, now, other, part
    return part


_iterated = operator("orthogonalize", _call_iterated, lambda x, *_: torch.empty_like(x, memory_format=torch.contiguous_format))


@or_dtensors("._whole_linalg")
@collective
def orthogonalize(
    context: Context, x: Tensor, layout: _core.Layout, destination: Optional[Destination] = None, *, steps: int = 5,
    coefficients: Tuple[float, float, float] = _quintic, eps: float = 1e-7, dtype: Optional[torch.dtype] = torch.bfloat16,
) -> Tensor:  # fmt: skip
    """This rank's part of X with its singular values moved near 1, by a Newton-Schulz iteration. Collective.

    X / |X| with Frobenius' norm, and then `steps` times a X + b (X X^T) X + c (X X^T)^2 X: the update of Muon, as `torch.optim.Muon` computes it
    of whole matrices. With the defaults singular values come to between 0.7 and 1.2; those of (15/8, -10/8, 3/8) converge to 1. The longer
    dimension is distributed meanwhile, and all products overlap their transfers. Of a DTensor: ``orthogonalize(x, steps=5, ...)``, with its
    placements. There are no derivatives.

    Parameters
    ----------
    x : Tensor
        This rank's part of a real matrix [m, n], or a DTensor.
    layout : Layout
        Its layout.
    destination : Layout or distribution, optional
        The distribution of the result; unset: that of X.
    steps : int, default 5
        Iterations.
    coefficients : (float, float, float)
        a, b and c; by default those of Muon.
    eps : float, default 1e-7
        The least norm by which it is divided.
    dtype : torch.dtype, optional
        That of the iteration, whose products have sums in float32 if it is bfloat16, the default. None: that of X. The result has that of X.

    Raises
    ------
    ArgumentError
        X is not a real matrix; a number of steps below 0.
    """
    check_part("orthogonalize", x.shape, layout, context.rank, context.size)
    check_matrix("orthogonalize", layout)
    if not x.is_floating_point() or steps < 0 or len(coefficients) != 3:
        raise ArgumentError(f"orthogonalize: expected real numbers, steps from 0 and three coefficients, got {x.dtype}, {steps} and {coefficients}")
    to = layout_of(layout.distribution if destination is None else destination, layout.shape, context.size)
    m, n = layout.shape
    with torch.no_grad():
        part = x.detach() if dtype is None else x.to(dtype)
        spread = _core.Layout(_core.Slab(0 if m > n else 1), (m, n), context.size)
        part = part if layout == spread else _arrays.redistribute(context, part, layout, spread)
        squares = torch.linalg.vector_norm(part, dtype=torch.float32 if part.element_size() < 4 else None).square()
        norm = _all_reduce(squares, number_of(context), "sum").sqrt()
        numbers = number_of(context), number_of_layout(spread)
        part = _iterated(part, norm.clamp(min=eps).to(part.dtype), *numbers, steps, list(coefficients))
        part = part if to == spread else _arrays.redistribute(context, part, spread, to)
        return part.to(x.dtype)
