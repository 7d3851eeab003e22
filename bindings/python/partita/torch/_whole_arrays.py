"""Redistribution, Fourier transforms and products of DTensors.

Each call is that on parts. Between them gradients change their meaning: that of a DTensor is of the whole array, the same for all replicas,
and that of a replicated part is a share.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import TYPE_CHECKING, Any, Callable, List, Optional, Sequence, Tuple, TypeVar

import torch
from torch import Size, Tensor
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Partial, Placement, Replicate, Shard
from torch.nn import functional

from .. import _core
from .._adjoints import as_replicated, is_first_replica
from .._context import Context
from .._errors import ArgumentError, UnsupportedError
from .._parts import check_activation
from . import _arrays
from ._contexts import context_of
from ._operators import collective, of_dtensors
from ._placements import Placements, dimension_of, layout_on, names_of_axes, strides_of

if TYPE_CHECKING:
    from typing_extensions import Concatenate, ParamSpec

    Given = ParamSpec("Given")

Found = TypeVar("Found")
#: Of the transformed axes: the array is cut, or extended by zeros, before the transform. None: its own extents.
Lengths = Optional[Sequence[int]]


def layout_for(what: str, mesh: DeviceMesh, placements: Sequence[Placement], shape: Sequence[int]) -> _core.Layout:
    """The layout of an array with these placements, over the ranks of the mesh."""
    extents = tuple(mesh.shape)
    if len(placements) != len(extents):
        raise ArgumentError(f"{what}: {len(placements)} placements for a mesh of {len(extents)} dimensions: {tuple(placements)}")
    whole = [Shard(one.dim + len(shape)) if isinstance(one, Shard) and one.dim < 0 else one for one in placements]
    return layout_on(what, names_of_axes(len(extents)), extents, tuple(whole), tuple(map(int, shape)))  # symbols of compilers, too


@dataclasses.dataclass(frozen=True)
class Whole:
    """A DTensor as this rank's part and its layout."""

    mesh: DeviceMesh
    placements: Placements
    part: Tensor
    layout: _core.Layout


def whole_of(what: str, x: Any) -> Whole:
    """Contributions to averages are added up; those to other reductions are in the layout."""
    if not isinstance(x, DTensor):
        raise ArgumentError(f"{what}: the operands must all be DTensors, or all parts; got {type(x).__name__}")
    if any(isinstance(one, Partial) and one.reduce_op == "avg" for one in x.placements):
        x = x.redistribute(placements=complete(x.placements))
    layout = layout_for(what, x.device_mesh, x.placements, x.shape)
    return Whole(x.device_mesh, tuple(x.placements), x.to_local(grad_placements=[_of_share(one) for one in x.placements]), layout)


def _of_share(placement: Placement) -> Placement:
    """The placement of a gradient of parts: shares of replicas are added, and each contribution has the gradient of the sum."""
    if isinstance(placement, Replicate):
        return Partial()
    return Replicate() if isinstance(placement, Partial) else placement


class _Share(torch.autograd.Function):
    """The part itself, whose gradient counts on one of its replicas alone."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, counts: bool) -> Tensor:
        ctx.counts = counts
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tuple[Tensor, None]:
        return _arrays.counted(gradient, ctx.counts), None


def dtensor_of(part: Tensor, layout: _core.Layout, context: Context, mesh: DeviceMesh, placements: Sequence[Placement]) -> DTensor:
    """The DTensor of which this is the part, without a copy."""
    once = layout if layout.partial is None else as_replicated(layout) if layout.partial == "sum" else None
    if part.requires_grad and once is not None and once.is_replicated:
        part = _Share.apply(part, is_first_replica(once, context.rank))
    shape = Size(layout.shape)
    return DTensor.from_local(part, mesh, list(placements), run_check=False, shape=shape, stride=strides_of(shape))


def complete(placements: Sequence[Placement]) -> List[Placement]:
    """The same without contributions."""
    return [Replicate() if isinstance(one, Partial) else one for one in placements]


def on_dtensors(function: Callable[Concatenate[Context, Given], Found]) -> Callable[Given, Found]:
    """`function(context, x, ...)` without a context: of the first operand's mesh. One node in the graphs of compilers."""
    inner: Any = collective(function)
    module, name = function.__module__, function.__name__

    def of_whole(x: DTensor, *given: Any, **named: Any) -> Any:
        return inner(context_of(x.device_mesh), x, *given, **named)

    @functools.wraps(function)
    def outer(*given: Any, **named: Any) -> Any:
        return of_dtensors(module, name, given, named) if torch.compiler.is_compiling() else of_whole(*given, **named)

    outer.of_whole = of_whole  # type: ignore[attr-defined]
    return outer


# --- redistribution


@on_dtensors
def redistribute(context: Context, x: DTensor, placements: Sequence[Placement]) -> DTensor:
    origin = whole_of("redistribute", x)
    to = layout_for("redistribute", origin.mesh, placements, x.shape)
    return dtensor_of(_arrays.redistribute(context, origin.part, origin.layout, to), to, context, origin.mesh, placements)


def moved(what: str, context: Context, one: Whole, placements: Sequence[Placement]) -> Whole:
    """The same array with other placements."""
    if tuple(placements) == one.placements:
        return one
    to = layout_for(what, one.mesh, placements, one.layout.shape)
    return Whole(one.mesh, tuple(placements), _arrays.redistribute(context, one.part, one.layout, to), to)


# --- Fourier transforms


def _axes(dim: Optional[Sequence[int]], lengths: Lengths, dimensions: int) -> List[int]:
    if dim is None:
        dim = range(0 if lengths is None else dimensions - len(lengths), dimensions)
    along = [int(axis) + dimensions if axis < 0 else int(axis) for axis in dim]
    if not along or not all(0 <= axis < dimensions for axis in along) or len(set(along)) < len(along):
        raise ArgumentError(f"fft: dim {tuple(dim)} of an array of {dimensions} dimensions: expected different dimensions, at least one")
    if lengths is not None and len(lengths) != len(along):
        raise ArgumentError(f"fft: {len(lengths)} lengths for {len(along)} dimensions")
    return along


def without(placements: Sequence[Placement], dimension: int, shape: Sequence[int]) -> List[Placement]:
    """The same with this dimension whole on each rank, and the longest one that is whole cut in its place."""
    cut = {dimension_of(one) for one in placements}
    free = [(extent, axis) for axis, extent in enumerate(shape) if axis != dimension and axis not in cut]
    instead: Placement = Shard(max(free)[1]) if free else Replicate()
    return [instead if dimension_of(one) == dimension else one for one in placements]


def _resized(context: Context, one: Whole, wanted: Sequence[int], along: Sequence[int]) -> Whole:
    """Cut, or extended by zeros, to the wanted extents of these dimensions, each of which is whole on the ranks meanwhile."""
    given = one.placements
    for axis, length in zip(along, wanted):
        shape = list(one.layout.shape)
        if length == shape[axis]:
            continue
        one = moved("fft", context, one, without(one.placements, axis, shape))
        after = [0] * (2 * (len(shape) - 1 - axis))
        part = functional.pad(one.part, [*after, 0, length - shape[axis]]) if length > shape[axis] else one.part.narrow(axis, 0, length)
        shape[axis] = length
        one = Whole(one.mesh, one.placements, part, layout_for("fft", one.mesh, one.placements, shape))
    return moved("fft", context, one, given) if one.placements != given else one


@on_dtensors
def _fft(
    context: Context, x: DTensor, kind: str, inverse: bool, dim: Optional[Sequence[int]], lengths: Lengths, norm: Optional[str],
    placements: Optional[Sequence[Placement]],
) -> DTensor:  # fmt: skip
    if kind == "r2c" and x.is_complex():
        raise ArgumentError(f"fft: expected real numbers, got {x.dtype}, which rfft and rfftn do not transform")
    if kind == "r2c" and not x.is_floating_point():
        x = x.to(torch.get_default_dtype())  # type: ignore[assignment]
    along = _axes(dim, lengths, x.ndim)
    wanted = list(lengths) if lengths is not None else [x.shape[axis] for axis in along]
    samples = None
    if kind == "c2r":
        samples = wanted[-1] if lengths is not None else 2 * (x.shape[along[-1]] - 1)
        wanted[-1] = samples // 2 + 1
    if min([*wanted, 1 if samples is None else samples]) < 1:
        raise ArgumentError(f"fft: a length is {min([*wanted, samples or 0])}, but a line has at least one element")
    given = whole_of("fft", x)
    one = _resized(context, moved("fft", context, given, complete(given.placements)), wanted, along)
    shape = list(one.layout.shape)
    if kind == "r2c":
        shape[along[-1]] = shape[along[-1]] // 2 + 1
    elif samples is not None:
        shape[along[-1]] = samples
    chosen = one.placements if placements is None else tuple(placements)
    to = layout_for("fft", one.mesh, chosen, shape)
    part = _arrays._transformed(context, one.part, one.layout, to, along, norm, kind, inverse, samples)
    return dtensor_of(part, to, context, one.mesh, chosen)


Result = Optional[Sequence[Placement]]


def _line(n: Optional[int]) -> Lengths:
    return None if n is None else (n,)


def fft(x: DTensor, n: Optional[int] = None, dim: int = -1, norm: Optional[str] = None, *, placements: Result = None) -> DTensor:
    return _fft(x, "c2c", False, (dim,), _line(n), norm, placements)


def rfft(x: DTensor, n: Optional[int] = None, dim: int = -1, norm: Optional[str] = None, *, placements: Result = None) -> DTensor:
    return _fft(x, "r2c", False, (dim,), _line(n), norm, placements)


def irfft(x: DTensor, n: Optional[int] = None, dim: int = -1, norm: Optional[str] = None, *, placements: Result = None) -> DTensor:
    return _fft(x, "c2r", True, (dim,), _line(n), norm, placements)


def ifft(x: DTensor, n: Optional[int] = None, dim: int = -1, norm: Optional[str] = None, *, placements: Result = None) -> DTensor:
    """The inverse of `fft` of a DTensor, along one dimension. Collective."""
    return _fft(x, "c2c", True, (dim,), _line(n), norm, placements)


def fftn(
    x: DTensor, s: Lengths = None, dim: Optional[Sequence[int]] = None, norm: Optional[str] = None, *, placements: Result = None
) -> DTensor:
    """The Fourier transform of a DTensor, as `torch.fft.fftn`. Collective."""
    return _fft(x, "c2c", False, dim, s, norm, placements)


def ifftn(
    x: DTensor, s: Lengths = None, dim: Optional[Sequence[int]] = None, norm: Optional[str] = None, *, placements: Result = None
) -> DTensor:
    """The inverse of `fftn`. Collective."""
    return _fft(x, "c2c", True, dim, s, norm, placements)


def rfftn(
    x: DTensor, s: Lengths = None, dim: Optional[Sequence[int]] = None, norm: Optional[str] = None, *, placements: Result = None
) -> DTensor:
    """The transform of a DTensor of real numbers: half the spectrum along the last of the dimensions. Collective."""
    return _fft(x, "r2c", False, dim, s, norm, placements)


def irfftn(
    x: DTensor, s: Lengths = None, dim: Optional[Sequence[int]] = None, norm: Optional[str] = None, *, placements: Result = None
) -> DTensor:
    """The inverse of `rfftn`; without `s`, an even number of samples along the last of the dimensions. Collective."""
    return _fft(x, "c2r", True, dim, s, norm, placements)


# --- products


def _of_product(a: Placements, b: Placements, rows: int, columns: int) -> List[Placement]:
    """Rows are cut as those of A, columns as those of B; what is cut along sums gets rows, which are added up on their way."""
    found: List[Placement] = []
    for left, right in zip(a, b):
        if dimension_of(left) == rows:
            found.append(Shard(0))
        elif dimension_of(right) == columns:
            found.append(Shard(1))
        else:
            found.append(Replicate() if dimension_of(left) is None and dimension_of(right) is None else Shard(0))
    return found


def _product(
    context: Context, left: Whole, right: Whole, placements: Result, transpose_a: bool, transpose_b: bool, bias: Optional[Tensor],
    activation: Optional[str], reduce_dtype: Optional[torch.dtype],
) -> Whole:  # fmt: skip
    """Of matrices."""
    rows, columns = int(transpose_a), 1 - int(transpose_b)
    chosen = _of_product(left.placements, right.placements, rows, columns) if placements is None else list(placements)
    to = layout_for("matmul", left.mesh, chosen, (left.layout.shape[rows], right.layout.shape[columns]))
    part = _arrays.matmul(
        context, left.part, right.part, left.layout, right.layout, to, transpose_a=transpose_a, transpose_b=transpose_b, bias=bias,
        activation=activation, reduce_dtype=reduce_dtype,
    )  # fmt: skip
    return Whole(left.mesh, tuple(chosen), part, to)


def _batch_of(a: DTensor, b: DTensor) -> Tuple[int, ...]:
    """The leading dimensions of the product."""
    found = {tuple(one.shape[:-2]) for one in (a, b) if one.ndim > 2}
    if min(a.ndim, b.ndim) < 2 or len(found) > 1:
        raise ArgumentError(
            f"matmul: expected matrices, or arrays of them with the same leading dimensions, got DTensors of shapes {tuple(a.shape)} and "
            f"{tuple(b.shape)}"
        )
    return found.pop() if found else ()


def _ranks_along(mesh: DeviceMesh, placements: Sequence[Placement], dimension: int) -> int:
    return math.prod(size for size, one in zip(mesh.shape, placements) if dimension_of(one) == dimension)


def _as_rows(mesh: DeviceMesh, placements: Sequence[Placement], shape: Sequence[int]) -> List[Placement]:
    """The nearest placements of an array whose leading dimensions are the rows of a matrix: parts must be whole rows behind one another."""
    last = len(shape) - 1
    even = shape[0] % _ranks_along(mesh, placements, 0) == 0
    kept = [dimension_of(one) == last or (dimension_of(one) == 0 and even and type(one) is Shard) for one in placements]
    return [one if keep else Replicate() for one, keep in zip(placements, kept)]


def _renamed(placements: Sequence[Placement], before: int, after: int) -> List[Placement]:
    """The last dimension has another number."""
    return [Shard(after) if dimension_of(one) == before else one for one in placements]


def _by_a_matrix(
    context: Context, a: Whole, b: Whole, placements: Result, transpose_b: bool, bias: Optional[Tensor], activation: Optional[str],
    reduce_dtype: Optional[torch.dtype],
) -> Whole:  # fmt: skip
    """The leading dimensions of A are rows of a matrix."""
    *leading, k = a.layout.shape
    last, count = len(leading), math.prod(leading)
    a = moved("matmul", context, a, _as_rows(a.mesh, a.placements, a.layout.shape))
    flat = tuple(_renamed(a.placements, last, 1))
    left = Whole(a.mesh, flat, a.part.flatten(0, -2), layout_for("matmul", a.mesh, flat, (count, k)))
    wanted = _of_product(flat, b.placements, 0, 1 - int(transpose_b)) if placements is None else list(placements)
    whole = wanted if placements is not None else _renamed(wanted, 1, last)
    shape = (*leading, b.layout.shape[1 - int(transpose_b)])
    nearest = _as_rows(a.mesh, whole, shape)
    found = _product(context, left, b, _renamed(nearest, last, 1), False, transpose_b, bias, activation, reduce_dtype)
    to = layout_for("matmul", a.mesh, nearest, shape)
    made = Whole(a.mesh, tuple(nearest), found.part.reshape(to.local_shape(context.rank)), to)
    return made if placements is None else moved("matmul", context, made, whole)


def _of_batches(context: Context, a: Whole, b: Whole, placements: Result, transpose_a: bool, transpose_b: bool) -> Whole:
    """Each rank multiplies its part of the leading dimension."""
    cut: List[Placement] = [Shard(0)] * a.mesh.ndim
    parts = []
    for one, transpose in ((a, transpose_a), (b, transpose_b)):
        there = moved("matmul", context, one, cut if len(one.layout.shape) > 2 else [Replicate()] * a.mesh.ndim)
        parts.append(there.part.mT if transpose else there.part)
    leading = (a if len(a.layout.shape) > 2 else b).layout.shape[:-2]
    shape = (*leading, a.layout.shape[-1 if transpose_a else -2], b.layout.shape[-2 if transpose_b else -1])
    made = Whole(a.mesh, tuple(cut), parts[0] @ parts[1], layout_for("matmul", a.mesh, cut, shape))
    return moved("matmul", context, made, cut if placements is None else placements)


@on_dtensors
def matmul(
    context: Context, a: DTensor, b: DTensor, *, placements: Result = None, transpose_a: bool = False, transpose_b: bool = False,
    bias: Optional[DTensor] = None, activation: Optional[str] = None, reduce_dtype: Optional[torch.dtype] = None,
) -> DTensor:  # fmt: skip
    check_activation("matmul", activation)
    batch = _batch_of(a, b)
    left, right = (moved("matmul", context, one, complete(one.placements)) for one in operands("matmul", a, b))
    in_batches = b.ndim > 2 or (batch and transpose_a)
    if in_batches and (bias is not None or activation is not None):
        raise UnsupportedError("matmul: a bias and an activation need a matrix B, and an A of more dimensions that is not transposed")
    added = None
    if bias is not None:
        _, given = operands("matmul", a, bias)
        added = moved("matmul", context, given, [Replicate()] * left.mesh.ndim).part
    if in_batches:
        found = _of_batches(context, left, right, placements, transpose_a, transpose_b)
    elif batch:
        found = _by_a_matrix(context, left, right, placements, transpose_b, added, activation, reduce_dtype)
    else:
        found = _product(context, left, right, placements, transpose_a, transpose_b, added, activation, reduce_dtype)
    return dtensor_of(found.part, found.layout, context, found.mesh, found.placements)


def operands(what: str, *given: Any) -> List[Whole]:
    """DTensors on one mesh."""
    found = [whole_of(what, one) for one in given]
    if any(one.mesh != found[0].mesh for one in found):
        raise UnsupportedError(f"{what}: the operands have different meshes: {', '.join(str(one.mesh) for one in found)}")
    return found
