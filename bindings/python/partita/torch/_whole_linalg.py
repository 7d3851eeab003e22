"""Linear algebra of DTensors: the calls on parts."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

from torch import Tensor
from torch.distributed.tensor import DTensor, Placement, Replicate

from .. import _core
from .._context import Context
from . import _arrays, _orthogonal
from . import linalg as _parts
from ._whole_arrays import Result, Whole, complete, dtensor_of, layout_for, moved, on_dtensors, operands


def _complete(what: str, context: Context, *given: DTensor) -> List[Whole]:
    """The operands, without contributions."""
    return [moved(what, context, one, complete(one.placements)) for one in operands(what, *given)]


def _like(what: str, context: Context, part: Tensor, layout: _core.Layout, of: Whole, placements: Result = None) -> DTensor:
    """The result with this part, and with the placements of the operand or others."""
    chosen = of.placements if placements is None else placements
    to = layout_for(what, of.mesh, chosen, layout.shape)
    return dtensor_of(part if to == layout else _arrays.redistribute(context, part, layout, to), to, context, of.mesh, chosen)


def _everywhere(context: Context, x: Tensor, of: Whole) -> DTensor:
    """What every rank has."""
    placements: Sequence[Placement] = [Replicate()] * of.mesh.ndim
    return dtensor_of(x, layout_for("linalg", of.mesh, placements, x.shape), context, of.mesh, placements)


def _solution_layout(what: str, of: Whole, placements: Result) -> _core.Layout:
    return of.layout if placements is None else layout_for(what, of.mesh, placements, of.layout.shape)


@on_dtensors
def solve(context: Context, a: DTensor, b: DTensor, *, placements: Result = None, transpose_a: bool = False) -> DTensor:
    left, right = _complete("solve", context, a, b)
    to = _solution_layout("solve", right, placements)
    x = _parts.solve(context, left.part, right.part, left.layout, right.layout, to, transpose_a=transpose_a)
    return _like("solve", context, x, to, right, placements)


@on_dtensors
def solve_triangular(
    context: Context, a: DTensor, b: DTensor, *, upper: bool, left: bool = True, unitriangular: bool = False, transpose_a: bool = False,
    placements: Result = None,
) -> DTensor:  # fmt: skip
    matrix, right = _complete("solve_triangular", context, a, b)
    to = _solution_layout("solve_triangular", right, placements)
    x = _parts.solve_triangular(
        context, matrix.part, right.part, matrix.layout, right.layout, to, upper=upper, left=left, unitriangular=unitriangular,
        transpose_a=transpose_a,
    )  # fmt: skip
    return _like("solve_triangular", context, x, to, right, placements)


@on_dtensors
def inv(context: Context, a: DTensor, *, placements: Result = None) -> DTensor:
    (one,) = _complete("inv", context, a)
    to = _solution_layout("inv", one, placements)
    return _like("inv", context, _parts.inv(context, one.part, one.layout, to), to, one, placements)


@on_dtensors
def cholesky(context: Context, a: DTensor, *, upper: bool = False, placements: Result = None) -> DTensor:
    (one,) = _complete("cholesky", context, a)
    to = _solution_layout("cholesky", one, placements)
    return _like("cholesky", context, _parts.cholesky(context, one.part, one.layout, to, upper=upper), to, one, placements)


@on_dtensors
def slogdet(context: Context, a: DTensor) -> _parts.SlogdetResult:
    (one,) = _complete("slogdet", context, a)
    sign, logarithm = _parts.slogdet(context, one.part, one.layout)
    return _parts.SlogdetResult(_everywhere(context, sign, one), _everywhere(context, logarithm, one))


@on_dtensors
def det(context: Context, a: DTensor) -> DTensor:
    (one,) = _complete("det", context, a)
    return _everywhere(context, _parts.det(context, one.part, one.layout), one)


@on_dtensors
def qr(context: Context, a: DTensor) -> _parts.QRResult:
    (one,) = _complete("qr", context, a)
    factors = _parts.qr(context, one.part, one.layout)
    return _parts.QRResult(*_factors("qr", context, factors, _parts.qr_result(one.layout), one))


@on_dtensors
def eigh(context: Context, a: DTensor, UPLO: str = "L") -> _parts.EighResult:
    (one,) = _complete("eigh", context, a)
    values, vectors = _parts.eigh(context, one.part, one.layout, UPLO)
    return _parts.EighResult(_everywhere(context, values, one), _like("eigh", context, vectors, one.layout, one))


@on_dtensors
def svd(context: Context, a: DTensor) -> _parts.SVDResult:
    (one,) = _complete("svd", context, a)
    u, s, vh = _parts.svd(context, one.part, one.layout)
    left, right = _factors("svd", context, (u, vh), _parts.svd_result(one.layout), one)
    return _parts.SVDResult(left, _everywhere(context, s, one), right)


@on_dtensors
def polar(context: Context, a: DTensor) -> _parts.PolarResult:
    (one,) = _complete("polar", context, a)
    factors = _parts.polar(context, one.part, one.layout)
    return _parts.PolarResult(*_factors("polar", context, factors, _parts.polar_result(one.layout), one))


def _factors(what: str, context: Context, parts: Tuple[Tensor, Tensor], layouts: Tuple[Any, Any], of: Whole) -> List[DTensor]:
    return [_like(what, context, part, layout, of) for part, layout in zip(parts, layouts)]


@on_dtensors
def orthogonalize(context: Context, /, x: DTensor, *, placements: Result = None, **named: Any) -> DTensor:
    (one,) = _complete("orthogonalize", context, x.detach())  # type: ignore[arg-type]
    to = _solution_layout("orthogonalize", one, placements)
    part = _orthogonal.orthogonalize(context, one.part, one.layout, to, **named)
    return _like("orthogonalize", context, part, to, one, placements)
