"""Collectives of tensors, with derivatives.

Parts of several ranks are concatenated along dimension 0. `counts` must be equal on all ranks. Derivatives are defined for sums, and for
`all_reduce` also with 'min', 'max' and 'product'.
"""

from __future__ import annotations

from typing import List, Optional, Sequence, Tuple

import torch
from torch import Tensor

from .. import _core
from .._context import Context, context_of
from .._errors import ArgumentError, UnsupportedError
from .._packages import fresh
from .._parts import check_root, counts_of, rows_of
from .._streams import stream_of_tensor
from ._operators import collective, like, number_of, only_sums, operator, pairwise, plain


def _rows(x: Tensor, rows: int) -> Tensor:
    """A new tensor with this number of rows."""
    return x.new_empty((rows, *x.shape[1:]))


# --- operators: each with its adjoint


def _call_all_reduce(x: Tensor, context: int, reduction: str) -> Tensor:
    among, x = context_of(context), plain(x)
    found = like(x)
    _core.all_reduce(among._core, x, found, reduction, stream_of_tensor(x))
    return found


def _call_shared_sum(x: Tensor, context: int) -> Tensor:
    return _call_all_reduce(x, context, "sum")


def _call_reduce(x: Tensor, context: int, reduction: str, root: int) -> Tensor:
    among, x = context_of(context), plain(x)
    found = like(x) if among.rank == root else None
    _core.reduce(among._core, x, found, reduction, root, stream_of_tensor(x))
    return torch.zeros_like(x) if found is None else found


def _call_broadcast(x: Tensor, context: int, root: int) -> Tensor:
    among, x = context_of(context), plain(x)
    found = fresh(x.clone()) if among.rank == root else like(x)
    _core.broadcast(among._core, found, root, stream_of_tensor(x))
    return found


def _call_all_gather(x: Tensor, context: int, counts: Sequence[int]) -> Tensor:
    among, x = context_of(context), plain(x)
    found = fresh(_gathered(x, context, counts))
    _core.all_gather(among._core, x, found, counts, stream_of_tensor(x))
    return found


def _call_reduce_scatter(x: Tensor, context: int, counts: Sequence[int], reduction: str) -> Tensor:
    among, x = context_of(context), plain(x)
    found = fresh(_scattered(x, context, counts))
    _core.reduce_scatter(among._core, x, found, counts, reduction, stream_of_tensor(x))
    return found


def _call_gather(x: Tensor, context: int, counts: Sequence[int], root: int) -> Tensor:
    among, x = context_of(context), plain(x)
    found = fresh(_rows(x, sum(counts))) if among.rank == root else None
    _core.gather_memory(among._core, x, found, counts, root, stream_of_tensor(x))
    return _rows(x, 0) if found is None else found


def _call_scatter(x: Tensor, context: int, counts: Sequence[int], root: int) -> Tensor:
    among, x = context_of(context), plain(x)
    found = fresh(_rows(x, counts[among.rank]))
    given = x if among.rank == root else None
    _core.scatter_memory(among._core, given, found, counts, root, stream_of_tensor(x))
    return found


def _call_all_to_all(x: Tensor, context: int, sent: Sequence[int], received: Sequence[int]) -> Tensor:
    among, x = context_of(context), plain(x)
    found = fresh(_rows(x, sum(received))) if received else like(x)
    _core.all_to_all(among._core, x, found, sent, received, stream_of_tensor(x))
    return found


def _call_scan(x: Tensor, context: int, reduction: str, exclusive: bool) -> Tensor:
    among, x = context_of(context), plain(x)
    found = like(x)
    _core.scan(among._core, x, found, reduction, exclusive, stream_of_tensor(x))
    return found


def _call_send_receive(x: Tensor, context: int, to: int, source: int, tag: int, shape: Sequence[int]) -> Tensor:
    among, x = context_of(context), plain(x)
    found = fresh(x.new_empty(tuple(shape)))
    _core.send_receive(among._core, x, to, found, source, tag, stream_of_tensor(x))
    return found


def _same(x: Tensor, *_: object) -> Tensor:
    return x.new_empty(x.shape)


def _gathered(x: Tensor, context: int, counts: Sequence[int]) -> Tensor:
    return _rows(x, sum(counts) if counts else x.shape[0] * context_of(context).size)


def _scattered(x: Tensor, context: int, counts: Sequence[int], *_: object) -> Tensor:
    among = context_of(context)
    return _rows(x, counts[among.rank] if counts else x.shape[0] // among.size)


_all_reduce = operator("all_reduce", _call_all_reduce, _same)  # its derivative is below: it needs more than the gradient
_shared_sum = operator("shared_sum", _call_shared_sum, _same, lambda gradient, shape, context: gradient)


def _reduce_back(gradient: Tensor, shape: Tuple[int, ...], context: int, reduction: str, root: int) -> Tensor:
    only_sums("reduce", reduction)
    return _broadcast(gradient, context, root)


def _broadcast_back(gradient: Tensor, shape: Tuple[int, ...], context: int, root: int) -> Tensor:
    return _reduce(gradient, context, "sum", root)


_reduce = operator("reduce", _call_reduce, _same, _reduce_back)
_broadcast = operator("broadcast", _call_broadcast, _same, _broadcast_back)


def _all_gather_back(gradient: Tensor, shape: Tuple[int, ...], context: int, counts: List[int]) -> Tensor:
    return _reduce_scatter(gradient, context, counts, "sum")


def _reduce_scatter_back(gradient: Tensor, shape: Tuple[int, ...], context: int, counts: List[int], reduction: str) -> Tensor:
    only_sums("reduce_scatter", reduction)
    return _all_gather(gradient, context, counts)


_all_gather = operator("all_gather", _call_all_gather, _gathered, _all_gather_back)
_reduce_scatter = operator("reduce_scatter", _call_reduce_scatter, _scattered, _reduce_scatter_back)


def _gather_back(gradient: Tensor, shape: Tuple[int, ...], context: int, counts: List[int], root: int) -> Tensor:
    return _scatter(gradient, context, counts, root)


def _scatter_back(gradient: Tensor, shape: Tuple[int, ...], context: int, counts: List[int], root: int) -> Tensor:
    gathered = _gather(gradient, context, counts, root)
    if context_of(context).rank == root:
        return gathered
    return gradient.new_zeros(shape) + gathered.sum()  # of nothing; with the graph that the root has


_gather = operator("gather", _call_gather, lambda x, context, counts, root: _rows(x, sum(counts) if context_of(context).rank == root else 0), _gather_back
)
_scatter = operator("scatter", _call_scatter, _scattered, _scatter_back)


def _all_to_all_back(gradient: Tensor, shape: Tuple[int, ...], context: int, sent: List[int], received: List[int]) -> Tensor:
    return _all_to_all(gradient, context, received, sent)


_all_to_all = operator("all_to_all", _call_all_to_all, lambda x, context, sent, received: _rows(x, sum(received) if received else x.shape[0]), _all_to_all_back
)


def _send_receive_back(gradient: Tensor, shape: Tuple[int, ...], context: int, to: int, source: int, tag: int, _: List[int]) -> Tensor:
    return _send_receive(gradient, context, source, to, tag, list(shape))


_send_receive = operator("send_receive", _call_send_receive, lambda x, context, to, source, tag, shape: x.new_empty(tuple(shape)), _send_receive_back
)


def _mirrored(x: Tensor, context: int) -> Tensor:
    """The tensor of rank size - 1 - rank."""
    among = context_of(context)
    other = among.size - 1 - among.rank
    return x if other == among.rank else _send_receive(x, context, other, other, _mirror_tag, list(x.shape))


_mirror_tag = -1  # none of the caller's


def _scan_back(gradient: Tensor, shape: Tuple[int, ...], context: int, reduction: str, exclusive: bool) -> Tensor:
    """Sums over the ranks from this one on, computed as a scan in mirrored order."""
    only_sums("scan", reduction)
    return _mirrored(_scan(_mirrored(gradient, context), context, "sum", exclusive), context)


_scan = operator("scan", _call_scan, _same, _scan_back)


# --- all_reduce, of more than sums


def _keep_all(ctx, inputs, output) -> None:  # type: ignore[no-untyped-def]
    x, ctx.context, ctx.reduction = inputs
    if ctx.reduction != "sum":
        ctx.save_for_backward(x, output)


def _all_reduce_gradients(ctx, gradient):  # type: ignore[no-untyped-def]
    context, reduction = ctx.context, ctx.reduction
    whole = _all_reduce(gradient, context, "sum")
    if reduction == "sum":
        return whole, None, None
    x, result = ctx.saved_tensors
    if reduction in ("min", "max"):  # where several have it, in equal shares
        here = (x == result).to(x.dtype)
        return whole * here / _all_reduce(here, context, "sum"), None, None
    if reduction == "product":
        among = context_of(context)
        rows = _all_gather(x[None], context, [])
        others = torch.cat([rows[: among.rank], rows[among.rank + 1 :]])
        return whole * others.prod(0).conj(), None, None
    raise UnsupportedError(f"all_reduce: the reduction {reduction!r} has no derivative")


_all_reduce.differentiate(_all_reduce_gradients, _keep_all)


# --- functions


def _uneven(what: str, counts: Optional[Sequence[int]], context: Context, rows: int) -> Tuple[int, ...]:
    """The checked counts; empty for equal parts, which need no comparison between ranks."""
    parts = counts_of(what, counts, context.size, rows)
    return () if counts is None else parts


@collective
def all_reduce(context: Context, x: Tensor, reduction: str = "sum", *, shared: bool = False) -> Tensor:
    """Reduce the tensors of all ranks, with the same bits on every rank. Collective.

    Parameters
    ----------
    shared : bool, default False
        For sums: the result counts as one value that all ranks share, and so does its gradient, which backward passes unchanged, without
        communication. By default each rank's result counts separately, and gradients are added.
    """
    if not shared:
        return _all_reduce(x, number_of(context), reduction)
    if reduction != "sum":
        raise ArgumentError(f"all_reduce: shared requires the reduction sum, got {reduction}")
    return _shared_sum(x, number_of(context))


@collective
def reduce(context: Context, x: Tensor, reduction: str = "sum", *, root: int = 0) -> Tensor:
    """Reduce the tensors of all ranks on the root; zeros elsewhere. Collective."""
    return _reduce(x, number_of(context), reduction, check_root("reduce", root, context.size))


@collective
def broadcast(context: Context, x: Tensor, *, root: int = 0) -> Tensor:
    """The root's tensor, on every rank. Collective. Shape and dtype must be equal on all ranks."""
    return _broadcast(x, number_of(context), check_root("broadcast", root, context.size))


@collective
def gather(context: Context, x: Tensor, *, counts: Optional[Sequence[int]] = None, root: int = 0) -> Tensor:
    """Concatenate the tensors of all ranks on the root; no rows elsewhere. A number is one row. Collective."""
    x = x if x.ndim else x.reshape(1)
    rows = counts_of("gather", counts, context.size, rows_of("gather", x.shape) * context.size)
    return _gather(x, number_of(context), rows, check_root("gather", root, context.size))


@collective
def scatter(context: Context, x: Tensor, *, counts: Optional[Sequence[int]] = None, root: int = 0) -> Tensor:
    """This rank's part of the root's tensor. Collective.

    On other ranks only the dtype and the shape after dimension 0 matter; without counts the whole shape.
    """
    rows = counts_of("scatter", counts, context.size, rows_of("scatter", x.shape))
    return _scatter(x, number_of(context), rows, check_root("scatter", root, context.size))


@collective
def all_gather(context: Context, x: Tensor, *, counts: Optional[Sequence[int]] = None) -> Tensor:
    """Concatenate the tensors of all ranks, on every rank. A number is one row. Collective."""
    x = x if x.ndim else x.reshape(1)
    return _all_gather(x, number_of(context), _uneven("all_gather", counts, context, rows_of("all_gather", x.shape) * context.size))


@collective
def reduce_scatter(context: Context, x: Tensor, reduction: str = "sum", *, counts: Optional[Sequence[int]] = None) -> Tensor:
    """Reduce the tensors of all ranks and return this rank's part. Collective."""
    rows = _uneven("reduce_scatter", counts, context, rows_of("reduce_scatter", x.shape))
    return _reduce_scatter(x, number_of(context), rows, reduction)


@collective
def all_to_all(
    context: Context, x: Tensor, *, send_counts: Optional[Sequence[int]] = None, receive_counts: Optional[Sequence[int]] = None
) -> Tensor:
    """Send part q of the tensor to rank q, which receives it as part p, p being this rank. Collective.

    Parameters
    ----------
    send_counts, receive_counts : sequence of int, optional
        Rows of the parts sent to and received from each rank; unset: equal parts.
    """
    if (send_counts is None) != (receive_counts is None):
        raise ArgumentError("all_to_all: pass the counts of sent and of received rows together")
    sent = _uneven("all_to_all", send_counts, context, rows_of("all_to_all", x.shape))
    received = _uneven("all_to_all", receive_counts, context, 0)
    return _all_to_all(x, number_of(context), sent, received)


@collective
def scan(context: Context, x: Tensor, reduction: str = "sum", *, exclusive: bool = False) -> Tensor:
    """Reduce the tensors of the ranks up to this one. Collective.

    Parameters
    ----------
    exclusive : bool, default False
        Exclude this rank's tensor (rank 0 then gets the identity).
    """
    return _scan(x, number_of(context), reduction, exclusive)


@pairwise
def send_receive(
    context: Context, x: Tensor, to: int, source: int, *, shape: Optional[Sequence[int]] = None, tag: int = 0
) -> Tensor:
    """Send a tensor to one rank and receive one from another; gradients travel in the opposite direction. Not collective.

    Errors are as for `partita.send_receive`.

    Parameters
    ----------
    to : int
        The rank that gets the tensor.
    source : int
        The rank from which to receive.
    shape : sequence of int, optional
        Shape of the received tensor; unset: that of `x`.
    """
    return _send_receive(x, number_of(context), to, source, tag, list(x.shape if shape is None else shape))
