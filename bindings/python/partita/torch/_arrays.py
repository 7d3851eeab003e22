"""Distributed arrays as tensors: redistribution, Fourier transforms, products.

A tensor is this rank's part, and a layout (`partita.Layout`: a distribution, the global shape, the number of ranks) describes the
distributed array. For a replicated array each rank's gradient is a share; the sum over ranks is the gradient.
"""

from __future__ import annotations

import functools
from typing import Any, List, Optional, Sequence, Tuple

import torch
from torch import Tensor

from .. import _core
from .._adjoints import as_partial, as_replicated, is_first_replica, of_half_spectrum, opposite_norm
from .._array import axes_or_all, no_epilogue_arrays
from .._context import Context, context_of
from .._dtypes import dtype_name
from .._errors import ArgumentError
from .._packages import fresh
from .._parts import Destination, check_activation, check_part, layout_of, of_product, of_transform
from .._streams import stream_of_tensor
from ._operators import collective, layout_at, number_of, number_of_layout, operator, or_dtensors, plain


def _array(x: Tensor, layout: int, context: Context) -> Any:
    return _core.wrap_like(context._core, layout_at(layout), x)


def _part(x: Tensor, layout: int, context: int, dtype: Optional[torch.dtype] = None) -> Tensor:
    """A new tensor for this rank's part."""
    return x.new_empty(layout_at(layout).local_shape(context_of(context).rank), dtype=dtype or x.dtype)


# --- replicas: their gradients are shares


def _whole(gradient: Tensor, layout: int, context: int) -> Tensor:
    """The shares of replicas, added up on each."""
    if not layout_at(layout).is_replicated:
        return gradient
    return _redistribute(gradient, context, number_of_layout(as_partial(layout_at(layout))), layout)


def counted(gradient: Tensor, counts: bool) -> Tensor:
    """The gradient, or zeros. All ranks have a graph for it: a rank without one would not take part in the collectives of the others."""
    return gradient if counts else gradient.masked_fill(torch.ones((), dtype=torch.bool, device=gradient.device), 0)


def _share(gradient: Tensor, layout: int, context: int) -> Tensor:
    """The first replica has the whole as its share, the others have zero: exact, without communication."""
    return counted(gradient, is_first_replica(layout_at(layout), context_of(context).rank))


def _of_gradient(layout: int) -> int:
    """The layout of an array's gradient: each contribution has the gradient of the sum."""
    return layout if layout_at(layout).partial is None else number_of_layout(as_replicated(layout_at(layout)))


# --- redistribution

_into_ordinary = _core.RedistributeOptions(heap=False)


def _call_redistribute(x: Tensor, context: int, source: int, destination: int) -> Tensor:
    among, x = context_of(context), plain(x)
    result = fresh(_part(x, destination, context))
    stream = stream_of_tensor(x)
    _core.redistribute_into(_array(x, source, among), _array(result, destination, among), _into_ordinary, stream)
    return result


def _redistribute_back(gradient: Tensor, shape: Tuple[int, ...], context: int, source: int, destination: int) -> Tensor:
    origin, result = layout_at(source), layout_at(destination)
    if origin.partial is not None:
        return _redistribute(_whole(gradient, destination, context), context, destination, _of_gradient(source))
    given = number_of_layout(as_partial(result)) if result.is_replicated else destination
    return _share(_redistribute(gradient, context, given, source), source, context)


_redistribute = operator(
    "redistribute",
    _call_redistribute,
    lambda x, context, source, destination: _part(x, destination, context),
    _redistribute_back,
    forward=True,
)


@or_dtensors("._whole_arrays")
@collective
def redistribute(context: Context, x: Tensor, source: _core.Layout, destination: Destination) -> Tensor:
    """This rank's part of the array in another distribution. Collective. Of a DTensor: ``redistribute(x, placements)``.

    Parameters
    ----------
    destination : Layout or distribution
        The layout of the result.
    """
    check_part("redistribute", x.shape, source, context.rank, context.size)
    to = layout_of(destination, source.shape, context.size)
    return _redistribute(x, number_of(context), number_of_layout(source), number_of_layout(to))


# --- Fourier transforms


def _precision(x: Tensor, kind: str) -> torch.dtype:
    if kind == "r2c":
        return torch.complex128 if x.dtype == torch.float64 else torch.complex64
    if kind == "c2r":
        return torch.float64 if x.dtype == torch.complex128 else torch.float32
    return x.dtype


def _call_fft(
    x: Tensor, context: int, source: int, destination: int, kind: str, inverse: bool, axes: Sequence[int], norm: str
) -> Tensor:
    among, x = context_of(context), plain(x)
    result = fresh(_part(x, destination, context, _precision(x, kind)))
    to = layout_at(destination)
    last = to.shape[axes[-1]] if kind == "c2r" else None
    options = _core.FftOptions(
        kind=kind, axes=list(axes), inverse=inverse and kind == "c2c", norm=norm, last_length=last, output="given",
        distribution=to.distribution, heap=False,
    )  # fmt: skip
    array, made = _array(x, source, among), _array(result, destination, among)
    _core.transform_into(array, made, options, stream_of_tensor(x))
    return result


def _fft_back(
    gradient: Tensor, shape: Tuple[int, ...], context: int, source: int, destination: int, kind: str, inverse: bool, axes: List[int],
    norm: str,
) -> Tensor:  # fmt: skip
    given = _whole(gradient, destination, context)
    rank, opposite, last = context_of(context).rank, opposite_norm(norm), axes[-1]
    origin, result = layout_at(source), layout_at(destination)

    def back(x: Tensor, kind: str, inverse: bool) -> Tensor:
        return _fft(x, context, destination, source, kind, inverse, axes, opposite)

    def weights(spectrum: _core.Layout, length: int, inside: float) -> Tensor:
        real = gradient.real if gradient.is_complex() else gradient
        return torch.as_tensor(of_half_spectrum(spectrum, length, last, inside, rank), dtype=real.dtype, device=gradient.device)

    if kind == "c2c":
        found = back(given, kind, not inverse)
    elif kind == "r2c":
        found = back(given * weights(result, origin.shape[last], 0.5), "c2r", True)
    else:
        found = back(given, "r2c", False) * weights(origin, result.shape[last], 2.0)
    return _share(found, source, context)


_fft = operator(
    "fft",
    _call_fft,
    lambda x, context, source, destination, kind, *_: _part(x, destination, context, _precision(x, kind)),
    _fft_back,
)


def _transformed(
    context: Context, x: Tensor, source: _core.Layout, destination: Optional[Destination], axes: Optional[Sequence[int]],
    norm: Optional[str], kind: str, inverse: bool = False, last_length: Optional[int] = None,
) -> Tensor:  # fmt: skip
    check_part("fft", x.shape, source, context.rank, context.size)
    if kind == "r2c" and x.is_complex():
        raise ArgumentError(f"rfft: expected real numbers, got {x.dtype}; fft transforms complex ones")
    if kind != "r2c" and not x.is_complex():
        x = x.to(torch.complex128 if x.dtype == torch.float64 or not x.is_floating_point() else torch.complex64)
    along = axes_or_all(axes, x.ndim)
    to = of_transform(source, destination, along, kind, last_length)
    numbers = number_of(context), number_of_layout(source), number_of_layout(to)
    return _fft(x, *numbers, kind, inverse, along, norm or "backward")


@or_dtensors("._whole_arrays")
@collective
def fft(
    context: Context, x: Tensor, source: _core.Layout, destination: Optional[Destination] = None, *,
    axes: Optional[Sequence[int]] = None, norm: Optional[str] = None, inverse: bool = False,
) -> Tensor:  # fmt: skip
    """This rank's part of the Fourier transform of complex or real numbers. Collective.

    Of a DTensor, along one dimension: ``fft(x, n=None, dim=-1, norm=None, placements=None)``, as `torch.fft.fft`.

    Parameters
    ----------
    inverse : bool, default False
        Compute the inverse.
    """
    return _transformed(context, x, source, destination, axes, norm, "c2c", inverse)


@or_dtensors("._whole_arrays")
@collective
def rfft(
    context: Context, x: Tensor, source: _core.Layout, destination: Optional[Destination] = None, *,
    axes: Optional[Sequence[int]] = None, norm: Optional[str] = None,
) -> Tensor:  # fmt: skip
    """The transform of real numbers: half the spectrum along the last of the axes. Collective. Of a DTensor as `fft`."""
    return _transformed(context, x, source, destination, axes, norm, "r2c")


@or_dtensors("._whole_arrays")
@collective
def irfft(
    context: Context, x: Tensor, source: _core.Layout, destination: Optional[Destination] = None, *,
    axes: Optional[Sequence[int]] = None, norm: Optional[str] = None, last_length: Optional[int] = None,
) -> Tensor:  # fmt: skip
    """The inverse of `rfft`. Collective. Of a DTensor as `fft`.

    Parameters
    ----------
    last_length : int, optional
        Samples along the last of the axes; unset: the even number.
    """
    return _transformed(context, x, source, destination, axes, norm, "c2r", True, last_length)


# --- products

@functools.lru_cache(maxsize=64)
def _options(transpose_a: bool, transpose_b: bool, epilogue: str, reduce_dtype: str) -> _core.MatmulOptions:
    """The library's options; an empty `reduce_dtype` means the dtype of the sums."""
    op_a, op_b = ("transpose" if transposed else "none" for transposed in (transpose_a, transpose_b))
    return _core.MatmulOptions(op_a=op_a, op_b=op_b, epilogue=epilogue, reduce_dtype=reduce_dtype or None, heap=False)


def _call_matmul(
    a: Tensor, b: Tensor, context: int, layout_a: int, layout_b: int, destination: int, transpose_a: bool, transpose_b: bool,
    reduce_dtype: str,
) -> Tensor:  # fmt: skip
    among, a, b = context_of(context), plain(a), plain(b)
    result = fresh(_part(a, destination, context))
    options = _options(transpose_a, transpose_b, "none", reduce_dtype)
    left, right = _array(a, layout_a, among), _array(b, layout_b, among)
    stream = stream_of_tensor(a)
    _core.matmul_into(left, right, None, _array(result, destination, among), options, no_epilogue_arrays, stream)
    return result


_matmul = operator(
    "matmul", _call_matmul, lambda a, b, context, layout_a, layout_b, destination, *_: _part(a, destination, context), forward=True
)


def _keep_factors(ctx: Any, inputs: Tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(inputs[0], inputs[1])
    ctx.arguments = inputs[2:]


def _matmul_gradients(ctx: Any, gradient: Tensor) -> Tuple[Any, ...]:
    a, b = ctx.saved_tensors
    return (*_of_factors(ctx, a, b, gradient, *ctx.arguments), *[None] * len(ctx.arguments))


def _of_factors(
    ctx: Any, a: Tensor, b: Tensor, gradient: Tensor, context: int, of_a: int, of_b: int, of_d: int, transpose_a: bool,
    transpose_b: bool, reduce_dtype: str,
) -> Tuple[Optional[Tensor], Optional[Tensor]]:  # fmt: skip
    """A' = D' op(B)^H and B' = op(A)^H D', transposed where the operand is."""
    d = (_whole(gradient, of_d, context), of_d)

    def product(left: Tuple[Tensor, int], right: Tuple[Tensor, int], to: int, *transpose: bool) -> Tensor:
        result = _of_gradient(to)
        found = _matmul(left[0], right[0], context, left[1], right[1], result, *transpose, reduce_dtype)
        return found if result != to else _share(found, to, context)

    by_a = by_b = None
    if ctx.needs_input_grad[0]:
        other = (b.conj(), of_b)
        by_a = product(other, d, of_a, transpose_b, True) if transpose_a else product(d, other, of_a, False, not transpose_b)
    if ctx.needs_input_grad[1]:
        other = (a.conj(), of_a)
        by_b = product(d, other, of_b, True, transpose_a) if transpose_b else product(other, d, of_b, not transpose_a, False)
    return by_a, by_b


_matmul.differentiate(_matmul_gradients, _keep_factors)


# --- products with an epilogue


def _call_epilogue(
    a: Tensor, b: Tensor, bias: Optional[Tensor], context: int, layout_a: int, layout_b: int, layout_bias: int, destination: int,
    transpose_a: bool, transpose_b: bool, reduce_dtype: str, activation: str, keeps: bool,
) -> Tuple[Tensor, Tensor]:  # fmt: skip
    """The result, and the input of the activation if `keeps` is set because a derivative needs it.

    The library's bias has one number per row, and PyTorch's one per column, so D^T = op(B)^T op(A)^T is computed, in D's memory.
    """
    among, a, b = context_of(context), plain(a), plain(b)
    result, before = map(fresh, _epilogue_results(a, context, destination, activation, keeps))

    def turned(x: Tensor) -> Any:
        return _array(x, destination, among).permuted([1, 0])

    auxiliary = turned(before) if activation == "gelu" and keeps else None
    arrays = _core.EpilogueArrays(
        bias=None if bias is None else _array(plain(bias), layout_bias, among), auxiliary=auxiliary
    )
    words = [activation] if activation else []
    words += ["bias"] if bias is not None else []
    words += ["aux"] if auxiliary is not None else []
    options = _options(not transpose_b, not transpose_a, "-".join(words), reduce_dtype)
    left, right = _array(b, layout_b, among), _array(a, layout_a, among)
    _core.matmul_into(left, right, None, turned(result), options, arrays, stream_of_tensor(a))
    return result, before


def _epilogue_results(a: Tensor, context: int, destination: int, activation: str, keeps: bool) -> Tuple[Tensor, Tensor]:
    before = _part(a, destination, context) if activation == "gelu" and keeps else a.new_empty(0)
    return _part(a, destination, context), before


_epilogue = operator(
    "matmul_epilogue",
    _call_epilogue,
    lambda a, b, bias, context, layout_a, layout_b, layout_bias, destination, transpose_a, transpose_b, reduce_dtype, *how: (
        _epilogue_results(a, context, destination, *how)
    ),
)


def _keep_epilogue(ctx: Any, inputs: Tuple[Any, ...], output: Tuple[Tensor, Tensor]) -> None:
    ctx.set_materialize_grads(False)
    ctx.arguments = inputs[3:]
    ctx.save_for_backward(*inputs[:2], *output)


def _epilogue_gradients(ctx: Any, gradient: Optional[Tensor], of_before: Optional[Tensor]) -> Tuple[Any, ...]:
    """The gradients of the product, from those that pass the activation."""
    a, b, result, before = ctx.saved_tensors
    context, layout_a, layout_b, layout_bias, destination, *how, activation, keeps = ctx.arguments
    given = gradient
    if gradient is not None and activation == "relu":
        given = gradient * (result > 0)
    elif gradient is not None and activation == "gelu":
        given = torch.ops.aten.gelu_backward(gradient, before, approximate="tanh")
    if of_before is not None and activation == "gelu" and keeps:  # compilers give zeros for what is not kept
        given = of_before if given is None else given + of_before
    if given is None:
        return (None,) * (3 + len(ctx.arguments))
    factors = _of_factors(ctx, a, b, given, context, layout_a, layout_b, destination, *how)
    of_bias = _of_columns(given, destination, layout_bias, context) if ctx.needs_input_grad[2] else None
    return (*factors, of_bias, *[None] * len(ctx.arguments))


def _of_columns(given: Tensor, destination: int, layout_bias: int, context: int) -> Tensor:
    """This rank's share of the sums over rows, with the layout of the bias."""
    sums, bias = given.sum(0), layout_at(layout_bias)
    if sums.shape == bias.local_shape(context_of(context).rank):
        return sums
    columns = layout_at(destination).indices(1, context_of(context).rank)
    return sums.new_zeros(bias.shape).index_copy(0, torch.as_tensor(columns, device=sums.device), sums)


_epilogue.differentiate(_epilogue_gradients, _keep_epilogue)


def matmul_in_layout(
    context: Context, a: Tensor, b: Tensor, layout_a: _core.Layout, layout_b: _core.Layout, to: _core.Layout,
    transposed: Tuple[bool, bool], reduce_dtype: Optional[torch.dtype], bias: Optional[Tensor] = None,
    of_bias: Optional[_core.Layout] = None, activation: Optional[str] = None,
) -> Tensor:  # fmt: skip
    """The product of checked operands. `of_bias`: the layout of a vector for the columns of D, complete on every rank, or distributed as they are."""
    numbers = [number_of_layout(one) for one in (layout_a, layout_b, to)]
    reduced = "" if reduce_dtype is None else dtype_name(reduce_dtype)
    if bias is None and activation is None:
        return _matmul(a, b, number_of(context), *numbers, *transposed, reduced)
    whole = _core.Layout(_core.Replicated(), (to.shape[1],), context.size) if of_bias is None else of_bias
    numbers.insert(2, number_of_layout(whole))
    keeps = torch.is_grad_enabled() and any(x is not None and x.requires_grad for x in (a, b, bias))
    found, _ = _epilogue(a, b, bias, number_of(context), *numbers, *transposed, reduced, activation or "", keeps)
    return found


@or_dtensors("._whole_arrays")
@collective
def matmul(
    context: Context, a: Tensor, b: Tensor, layout_a: _core.Layout, layout_b: _core.Layout,
    destination: Optional[Destination] = None, *, transpose_a: bool = False, transpose_b: bool = False,
    bias: Optional[Tensor] = None, activation: Optional[str] = None, reduce_dtype: Optional[torch.dtype] = None,
) -> Tensor:  # fmt: skip
    """This rank's part of the product of two matrices in any distributions, with an epilogue. Collective.

    Of DTensors on one mesh, the bias too: ``matmul(a, b, placements=None, transpose_a=False, ...)``.

    Parameters
    ----------
    a, b : Tensor
        This rank's parts, with one dtype.
    layout_a, layout_b : Layout
        The layouts of the operands.
    destination : Layout or distribution, optional
        The distribution of the product; unset: that of `a`.
    transpose_a, transpose_b : bool, default False
        Transpose the operand.
    bias : Tensor, optional
        One number per column of the product, complete on every rank; a rank's gradient is a share.
    activation : {'relu', 'gelu'}, optional
        Applied after the bias; gelu is the form with tanh.
    reduce_dtype : torch.dtype, optional
        Dtype of partial sums exchanged between the ranks of GPUs, forward and backward, as for `partita.matmul`. Unset: that of the sums;
        the dtype of 16-bit operands halves the bytes.
    """
    check_activation("matmul", activation)
    check_part("matmul", a.shape, layout_a, context.rank, context.size)
    check_part("matmul", b.shape, layout_b, context.rank, context.size)
    if a.dtype != b.dtype:
        raise ArgumentError(f"matmul: the dtypes {a.dtype} and {b.dtype} differ or are not supported")
    to = of_product(layout_a, layout_b, destination, transpose_a, transpose_b)
    if bias is not None and (bias.shape != to.shape[1:] or bias.dtype != a.dtype):
        raise ArgumentError(f"matmul: the bias has dtype {bias.dtype} and shape {tuple(bias.shape)}, but {to} has dtype {a.dtype}")
    return matmul_in_layout(
        context, a, b, layout_a, layout_b, to, (transpose_a, transpose_b), reduce_dtype, bias, None, activation
    )
