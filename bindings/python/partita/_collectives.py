"""Collectives on ordinary memory, and point-to-point messages.

Operands are arrays of NumPy, PyTorch, CuPy or anything with DLPack or the buffer protocol, with any strides; for a distributed `Array`
its local part is used. A source may also be a number, an array without dimensions. Without a destination, a new array like the source
is returned. Parts of several ranks are concatenated along dimension 0; an array without dimensions is one row. float16 and bfloat16 are
reduced in float32 and rounded after each addition. A sum of booleans is true if any of them is, their product if all are.

Unless stated otherwise, calls are collective and blocking, and errors are the same on every rank.

`send`, `receive` and `send_receive` involve two ranks. A wrong argument raises on this rank only, before anything is sent, and the context
remains usable. As under MPI the partner keeps waiting: for the message, if this rank sends it later; until this rank's context fails or
ends (LostPeerError, with this rank's text if its ``with`` block ended by an error); or until this rank makes a collective call
(DisagreementError, within seconds on one node; otherwise at the deadline). If the message has another dtype or size than the receiver
expects, the receiver gets an ArgumentError, and the message is discarded.

For device memory the work is enqueued on `stream` (default: the current stream of the array's package), and the call returns; later work
on the stream follows it.
"""

from __future__ import annotations

import operator
from typing import Any, Iterable, List, Optional, Sequence

import numpy as np

from . import _core
from ._calls import collective, pairwise
from ._array import Array
from ._context import Context
from ._packages import empty_beside
from ._streams import stream_of_memory


def _memory(array: Any) -> Any:
    return array.local if isinstance(array, Array) else array


def _source(array: Any) -> Any:
    """The view that is read; a number is an array without dimensions."""
    return np.asarray(array) if isinstance(array, (bool, int, float, complex, np.generic)) else _memory(array)


def _in_rows(array: Any) -> Any:
    """The view that is divided or concatenated along dimension 0; without dimensions it is one row."""
    return array.reshape(1) if np.ndim(array) == 0 and hasattr(array, "reshape") else array


def _like(source: Any, destination: Any, first: Optional[int] = None) -> Any:
    """The destination, or a new one with another extent of dimension 0."""
    if destination is not None:
        return _memory(destination)
    shape = np.shape(source) if first is None else (first, *np.shape(source)[1:])
    return empty_beside(source, tuple(shape))


def _counts(given: Optional[Iterable[int]]) -> List[int]:
    """A list of integers; empty: equal parts."""
    return [] if given is None else [operator.index(one) for one in given]


def _rows(source: Any) -> int:
    return int(np.shape(source)[0]) if np.ndim(source) else 1


@collective
def broadcast(context: Context, array: Any, root: int = 0, *, stream: Any = None) -> Any:
    """Copy the array of the root to all ranks. Collective, blocking.

    Parameters
    ----------
    array : array
        The source on the root, the destination elsewhere; returned.
    """
    memory = _memory(array)
    _core.broadcast(context._core, memory, root, stream_of_memory(stream, memory, context._core))
    return array


@collective
def reduce(
    context: Context, source: Any, destination: Any = None, *, reduction: str = "sum", root: int = 0, stream: Any = None
) -> Any:
    """Reduce the sources of all ranks on the root. Collective, blocking.

    Returns
    -------
    array or None
        The destination on the root, None elsewhere.
    """
    source = _source(source)
    target = _like(source, destination) if context.rank == root else None
    handle = stream_of_memory(stream, source, context._core)
    _core.reduce(context._core, source, target, reduction, root, handle)
    return target


@collective
def all_reduce(
    context: Context, source: Any, destination: Any = None, *, reduction: str = "sum", stream: Any = None
) -> Any:
    """Reduce the sources of all ranks, with the result on every rank. Collective, blocking.

    The result has the same bits on every rank. The destination may be the source.
    """
    source = _source(source)
    target = _like(source, destination)
    handle = stream_of_memory(stream, source, context._core)
    _core.all_reduce(context._core, source, target, reduction, handle)
    return target


@collective
def gather(
    context: Context, source: Any, destination: Any = None, *, counts: Sequence[int] = (), root: int = 0, stream: Any = None
) -> Any:
    """Concatenate the sources of all ranks on the root. Collective, blocking.

    Returns
    -------
    array or None
        The destination on the root, None elsewhere.
    """
    counts = _counts(counts)
    source = _in_rows(_source(source))
    target = None
    if context.rank == root:
        target = _like(source, destination, sum(counts) if counts else context.size * _rows(source))
    handle = stream_of_memory(stream, source, context._core)
    _core.gather_memory(context._core, source, target, counts, root, handle)
    return target


@collective
def scatter_from(
    context: Context, source: Any, destination: Any, *, counts: Sequence[int] = (), root: int = 0, stream: Any = None
) -> Any:
    """Divide the root's source along dimension 0 into one part per rank. Collective, blocking.

    Parameters
    ----------
    source : array
        Used on the root only.
    destination : array
        This rank's part; returned.
    """
    counts = _counts(counts)
    given = _source(source) if context.rank == root else None
    target = _in_rows(_memory(destination))
    handle = stream_of_memory(stream, target, context._core)
    _core.scatter_memory(context._core, given, target, counts, root, handle)
    return destination


@collective
def all_gather(
    context: Context, source: Any, destination: Any = None, *, counts: Sequence[int] = (), stream: Any = None
) -> Any:
    """Concatenate the sources of all ranks, with the result on every rank. Collective, blocking."""
    counts = _counts(counts)
    source = _in_rows(_source(source))
    target = _like(source, destination, sum(counts) if counts else context.size * _rows(source))
    handle = stream_of_memory(stream, source, context._core)
    _core.all_gather(context._core, source, target, counts, handle)
    return target


@collective
def reduce_scatter(
    context: Context,
    source: Any,
    destination: Any = None,
    *,
    counts: Sequence[int] = (),
    reduction: str = "sum",
    stream: Any = None,
) -> Any:
    """Reduce the sources of all ranks and return this rank's part. Collective, blocking."""
    counts = _counts(counts)
    source = _in_rows(_source(source))
    target = _in_rows(_like(source, destination, counts[context.rank] if counts else _rows(source) // context.size))
    handle = stream_of_memory(stream, source, context._core)
    _core.reduce_scatter(context._core, source, target, counts, reduction, handle)
    return target


@collective
def all_to_all(
    context: Context,
    source: Any,
    destination: Any = None,
    *,
    send_counts: Sequence[int] = (),
    receive_counts: Sequence[int] = (),
    stream: Any = None,
) -> Any:
    """Send part q of the source to rank q, which receives it as part p, p being this rank. Collective, blocking.

    Parameters
    ----------
    send_counts, receive_counts : sequence of int
        Rows of the parts sent to and received from each rank; unset: equal parts.
    """
    send_counts = _counts(send_counts)
    receive_counts = _counts(receive_counts)
    source = _memory(source)
    target = _like(source, destination, sum(receive_counts) if receive_counts else None)
    handle = stream_of_memory(stream, source, context._core)
    _core.all_to_all(context._core, source, target, send_counts, receive_counts, handle)
    return target


@collective
def scan(
    context: Context, source: Any, destination: Any = None, *, reduction: str = "sum", exclusive: bool = False, stream: Any = None
) -> Any:
    """Reduce the sources of the ranks up to this one. Collective, blocking. The destination may be the source.

    Parameters
    ----------
    exclusive : bool, default False
        Exclude this rank's source.
    """
    source = _source(source)
    target = _like(source, destination)
    handle = stream_of_memory(stream, source, context._core)
    _core.scan(context._core, source, target, reduction, exclusive, handle)
    return target


@pairwise
def send(context: Context, array: Any, peer: int, tag: int = 0, *, stream: Any = None) -> None:
    """Send the elements of an array to rank `peer`. Not collective; returns when the array may be overwritten.

    Raises
    ------
    ArgumentError, TypeError
        On this rank only; nothing was sent, and `peer` keeps waiting (see the top of this page).
    """
    memory = _memory(array)
    _core.send(context._core, memory, peer, tag, stream_of_memory(stream, memory, context._core))


@pairwise
def receive(context: Context, array: Any, peer: int, tag: int = 0, *, stream: Any = None) -> Any:
    """Receive the oldest message of rank `peer` with this tag. Not collective; blocking.

    Parameters
    ----------
    array : array
        The destination; returned.

    Raises
    ------
    ArgumentError, TypeError
        On this rank only. A message with another dtype or number of elements is discarded; in other cases it can still be received.
    DisagreementError
        `peer` is in a collective call and has not sent such a message. The context has failed.
    """
    memory = _memory(array)
    _core.receive(context._core, memory, peer, tag, stream_of_memory(stream, memory, context._core))
    return array


@pairwise
def send_receive(
    context: Context, sent: Any, to: int, received: Any, from_rank: int, tag: int = 0, *, stream: Any = None
) -> Any:
    """Send one message and receive another concurrently. Not collective; blocking.

    Parameters
    ----------
    sent : array
        The elements to send.
    to : int
        The rank that gets them.
    received : array
        The destination; returned.
    from_rank : int
        The rank from which to receive.

    Raises
    ------
    ArgumentError, TypeError
        On this rank only; nothing was sent, except if the received message does not fit, as for `receive`.
    """
    target = _memory(received)
    handle = stream_of_memory(stream, target, context._core)
    _core.send_receive(context._core, _memory(sent), to, target, from_rank, tag, handle)
    return received
