"""What ranks do together with plain memory, and messages between two.

Sources and destinations are arrays of NumPy, PyTorch, CuPy or anything with DLPack or the buffer protocol, of any strides;
of a distributed `Array` the local part is meant. Where no destination is given, a new array like the source is made. Parts
of several ranks stand one after the other along dimension 0. Reductions: 'sum', 'product', 'min', 'max', 'logical_and',
'logical_or', 'logical_xor', 'bit_and', 'bit_or', 'bit_xor'.

Unless said otherwise a call is collective and blocking. Errors are the same on every rank, but for a TypeError (no array) and
a destination that may only be read, which are this rank's alone.
"""

from __future__ import annotations

from typing import Any, Optional, Sequence

import numpy as np

from . import _core
from ._array import Array
from ._context import Context
from ._packages import empty_beside


def _memory(array: Any) -> Any:
    return array.local if isinstance(array, Array) else array


def _like(source: Any, destination: Any, first: Optional[int] = None) -> Any:
    """The destination, or a new one with another extent of dimension 0."""
    if destination is not None:
        return _memory(destination)
    shape = np.shape(source) if first is None else (first, *np.shape(source)[1:])
    return empty_beside(source, tuple(shape))


def _rows(source: Any) -> int:
    return int(np.shape(source)[0]) if np.ndim(source) else 1


def broadcast(context: Context, array: Any, root: int = 0) -> Any:
    """The array of all ranks becomes that of the root. Returns it."""
    _core.broadcast(context._core, _memory(array), root)
    return array


def reduce(context: Context, source: Any, destination: Any = None, *, reduction: str = "sum", root: int = 0) -> Any:
    """All sources joined, on the root. Returns the destination there, None elsewhere."""
    source = _memory(source)
    target = _like(source, destination) if context.rank == root else None
    _core.reduce(context._core, source, target, reduction, root)
    return target


def all_reduce(context: Context, source: Any, destination: Any = None, *, reduction: str = "sum") -> Any:
    """All sources joined, on every rank, the same bits. The destination may be the source. Returns it."""
    source = _memory(source)
    target = _like(source, destination)
    _core.all_reduce(context._core, source, target, reduction)
    return target


def gather(
    context: Context, source: Any, destination: Any = None, *, counts: Sequence[int] = (), root: int = 0
) -> Any:
    """The sources of all ranks, on the root, of `counts[rank]` rows each if they differ. None elsewhere."""
    source = _memory(source)
    target = None
    if context.rank == root:
        target = _like(source, destination, sum(counts) if counts else context.size * _rows(source))
    _core.gather_memory(context._core, source, target, list(counts), root)
    return target


def scatter_from(
    context: Context, source: Any, destination: Any, *, counts: Sequence[int] = (), root: int = 0
) -> Any:
    """The root's source, cut along dimension 0, one part a rank. Returns the destination."""
    given = _memory(source) if context.rank == root else None
    _core.scatter_memory(context._core, given, _memory(destination), list(counts), root)
    return destination


def all_gather(context: Context, source: Any, destination: Any = None, *, counts: Sequence[int] = ()) -> Any:
    """The sources of all ranks, on every rank, of `counts[rank]` rows each if they differ."""
    source = _memory(source)
    target = _like(source, destination, sum(counts) if counts else context.size * _rows(source))
    _core.all_gather(context._core, source, target, list(counts))
    return target


def reduce_scatter(
    context: Context, source: Any, destination: Any = None, *, counts: Sequence[int] = (), reduction: str = "sum"
) -> Any:
    """This rank's part of all sources joined, of `counts[rank]` rows if they differ."""
    source = _memory(source)
    target = _like(source, destination, counts[context.rank] if counts else _rows(source) // context.size)
    _core.reduce_scatter(context._core, source, target, list(counts), reduction)
    return target


def all_to_all(
    context: Context,
    source: Any,
    destination: Any = None,
    *,
    send_counts: Sequence[int] = (),
    receive_counts: Sequence[int] = (),
) -> Any:
    """Part q of the source of rank p becomes part p of the destination of rank q; parts of so many rows, if given."""
    source = _memory(source)
    target = _like(source, destination, sum(receive_counts) if receive_counts else None)
    _core.all_to_all(context._core, source, target, list(send_counts), list(receive_counts))
    return target


def scan(
    context: Context, source: Any, destination: Any = None, *, reduction: str = "sum", exclusive: bool = False
) -> Any:
    """The sources of the ranks up to this one joined, with this one's or without. The destination may be the source."""
    source = _memory(source)
    target = _like(source, destination)
    _core.scan(context._core, source, target, reduction, exclusive)
    return target


def send(context: Context, array: Any, peer: int, tag: int = 0) -> None:
    """The elements to `peer`. Not collective; returns when the array may be overwritten."""
    _core.send(context._core, _memory(array), peer, tag)


def receive(context: Context, array: Any, peer: int, tag: int = 0) -> Any:
    """The oldest message of `peer` with this tag, into the array, which is returned. Not collective; blocking."""
    _core.receive(context._core, _memory(array), peer, tag)
    return array


def send_receive(context: Context, sent: Any, to: int, received: Any, from_rank: int, tag: int = 0) -> Any:
    """Both at once, for rings. Returns what was received. Not collective; blocking."""
    _core.send_receive(context._core, _memory(sent), to, _memory(received), from_rank, tag)
    return received
