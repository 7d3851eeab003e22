"""What ranks do together with plain memory, and messages between two.

Sources and destinations are arrays of NumPy, PyTorch, CuPy or anything with DLPack or the buffer protocol, of any strides;
of a distributed `Array` the local part is meant. Sources may be numbers, too, which are arrays without dimensions. Where no
destination is given, a new array like the source is made. Parts of several ranks stand one after the other along dimension 0;
of an array without dimensions a part is one row. float16 and bfloat16 are joined in float32 and rounded each time that two
contributions are; a sum of booleans is whether any is true, their product whether all are. Reductions: 'sum', 'product', 'min', 'max', 'logical_and',
'logical_or', 'logical_xor', 'bit_and', 'bit_or', 'bit_xor'.

Unless said otherwise a call is collective and blocking, and errors are the same on every rank.

`send`, `receive` and `send_receive` are between two ranks, and so are their errors: what is wrong with the arguments is raised
on this rank alone, of the classes of the family, before anything is sent, and the context goes on. As under MPI the partner goes on
waiting: for the message, if this rank sends it after all, or until this rank's context fails or ends (LostPeerError, with this
rank's text where a ``with`` block ended by it), or this rank comes to a collective call, which the partner is not in
(DisagreementError, within seconds on one node; else the deadline). A message of another dtype or size than is received is an
ArgumentError of the receiver, and gone.

Of device memory the work goes into a stream (`stream`; by default the current one of the array's package), and the call
returns: what the stream does next comes after it.
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
    """What is read; a number is an array without dimensions."""
    return np.asarray(array) if isinstance(array, (bool, int, float, complex, np.generic)) else _memory(array)


def _in_rows(array: Any) -> Any:
    """What is cut or put together along dimension 0: without dimensions it is one row."""
    return array.reshape(1) if np.ndim(array) == 0 and hasattr(array, "reshape") else array


def _like(source: Any, destination: Any, first: Optional[int] = None) -> Any:
    """The destination, or a new one with another extent of dimension 0."""
    if destination is not None:
        return _memory(destination)
    shape = np.shape(source) if first is None else (first, *np.shape(source)[1:])
    return empty_beside(source, tuple(shape))


def _counts(given: Optional[Iterable[int]]) -> List[int]:
    """Of any sequence of whole numbers; empty: equal parts."""
    return [] if given is None else [operator.index(one) for one in given]


def _rows(source: Any) -> int:
    return int(np.shape(source)[0]) if np.ndim(source) else 1


@collective
def broadcast(context: Context, array: Any, root: int = 0, *, stream: Any = None) -> Any:
    """The array of all ranks becomes that of the root. Returns it."""
    memory = _memory(array)
    _core.broadcast(context._core, memory, root, stream_of_memory(stream, memory, context._core))
    return array


@collective
def reduce(
    context: Context, source: Any, destination: Any = None, *, reduction: str = "sum", root: int = 0, stream: Any = None
) -> Any:
    """All sources joined, on the root. Returns the destination there, None elsewhere."""
    source = _source(source)
    target = _like(source, destination) if context.rank == root else None
    handle = stream_of_memory(stream, source, context._core)
    _core.reduce(context._core, source, target, reduction, root, handle)
    return target


@collective
def all_reduce(
    context: Context, source: Any, destination: Any = None, *, reduction: str = "sum", stream: Any = None
) -> Any:
    """All sources joined, on every rank, the same bits. The destination may be the source. Returns it."""
    source = _source(source)
    target = _like(source, destination)
    handle = stream_of_memory(stream, source, context._core)
    _core.all_reduce(context._core, source, target, reduction, handle)
    return target


@collective
def gather(
    context: Context, source: Any, destination: Any = None, *, counts: Sequence[int] = (), root: int = 0, stream: Any = None
) -> Any:
    """The sources of all ranks, on the root, of `counts[rank]` rows each if they differ. None elsewhere."""
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
    """The root's source, cut along dimension 0, one part a rank. Returns the destination."""
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
    """The sources of all ranks, on every rank, of `counts[rank]` rows each if they differ."""
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
    """This rank's part of all sources joined, of `counts[rank]` rows if they differ."""
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
    """Part q of the source of rank p becomes part p of the destination of rank q; parts of so many rows, if given."""
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
    """The sources of the ranks up to this one joined, with this one's or without. The destination may be the source."""
    source = _source(source)
    target = _like(source, destination)
    handle = stream_of_memory(stream, source, context._core)
    _core.scan(context._core, source, target, reduction, exclusive, handle)
    return target


@pairwise
def send(context: Context, array: Any, peer: int, tag: int = 0, *, stream: Any = None) -> None:
    """The elements to `peer`. Not collective; returns when the array may be overwritten.

    Raises
    ------
    ArgumentError, TypeError
        Of this rank alone, and nothing was sent: `peer` goes on waiting (see the top of this page).
    """
    memory = _memory(array)
    _core.send(context._core, memory, peer, tag, stream_of_memory(stream, memory, context._core))


@pairwise
def receive(context: Context, array: Any, peer: int, tag: int = 0, *, stream: Any = None) -> Any:
    """The oldest message of `peer` with this tag, into the array, which is returned. Not collective; blocking.

    Raises
    ------
    ArgumentError, TypeError
        Of this rank alone. Where the message has another dtype or number of elements it is gone; else it can be received yet.
    DisagreementError
        `peer` is in a collective call, and no such message was sent before. The context has failed.
    """
    memory = _memory(array)
    _core.receive(context._core, memory, peer, tag, stream_of_memory(stream, memory, context._core))
    return array


@pairwise
def send_receive(
    context: Context, sent: Any, to: int, received: Any, from_rank: int, tag: int = 0, *, stream: Any = None
) -> Any:
    """Both at once, for rings. Returns what was received. Not collective; blocking.

    Raises
    ------
    ArgumentError, TypeError
        Of this rank alone, and nothing was sent, but for a message that does not fit what is received: as of `receive`.
    """
    target = _memory(received)
    handle = stream_of_memory(stream, target, context._core)
    _core.send_receive(context._core, _memory(sent), to, target, from_rank, tag, handle)
    return received
