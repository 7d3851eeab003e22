"""The calls of mpi4jax. All but `send`, `recv` and `sendrecv` are collective over the communicator."""

from __future__ import annotations

import operator
import sys
from typing import Any

import jax  # type: ignore[import-not-found,unused-ignore]
import jax.numpy as jnp  # type: ignore[import-not-found,unused-ignore]

from ... import _core
from ..._errors import ArgumentError, UnsupportedError
from ...jax import _collectives as collectives
from ...jax import _messages as messages
from ...jax._group import Group
from ._groups import group_of

#: Whether calls return a token, too, where they got none: as 0.7 does.
return_tokens = False

_none: Any = object()
#: Of `notoken`: no token is returned, whatever the version.
no_token: Any = object()
_new_token: Any = jax.lax.create_token
_reductions = {
    "SUM": "sum", "PROD": "product", "MIN": "min", "MAX": "max", "LAND": "logical_and", "LOR": "logical_or",
    "LXOR": "logical_xor", "BAND": "bit_and", "BOR": "bit_or", "BXOR": "bit_xor",
}  # fmt: skip


def _with_token(token: Any, *results: Any) -> Any:
    """What the call returns. Calls are in order without tokens, which are passed on."""
    if token is not no_token and (token is not _none or return_tokens):
        results = (*results, _new_token() if token is _none or token is None else token)
    return results[0] if len(results) == 1 else results or None


def _reduction(op: Any) -> str:
    MPI = sys.modules.get("mpi4py.MPI")
    if MPI is None or not isinstance(op, MPI.Op):
        raise TypeError(f"op: expected an operation of mpi4py.MPI, got {op!r}")
    for name, reduction in _reductions.items():
        if op == getattr(MPI, name):
            return reduction
    raise UnsupportedError(f"op: supported are MPI's operations {', '.join(_reductions)}")


def _number(what: str, given: Any) -> int:
    try:
        return operator.index(given)
    except TypeError:
        raise TypeError(f"{what}: expected an integer, got {given!r}") from None


def _is_any(given: Any, name: str) -> bool:
    """None, or MPI's number of that name."""
    MPI = sys.modules.get("mpi4py.MPI")
    return given is None or (MPI is not None and given == getattr(MPI, name))


def _slices(what: str, x: Any, group: Group) -> Any:
    x = jnp.asarray(x)
    if x.ndim == 0 or x.shape[0] != group.size:
        raise ArgumentError(f"{what}: the first extent of an array of shape {x.shape} is not the number of ranks, {group.size}")
    return x


def allreduce(x: Any, op: Any, *, comm: Any = None, token: Any = _none) -> Any:
    """The arrays of all ranks reduced, on every rank. The reverse of a sum passes every rank's cotangent unchanged, as mpi4jax does."""
    reduction = _reduction(op)
    found = collectives.all_reduce(jnp.asarray(x), reduction, shared=reduction == "sum", group=group_of(comm))
    return _with_token(token, found)


def reduce(x: Any, op: Any, root: int, *, comm: Any = None, token: Any = _none) -> Any:
    """The arrays of all ranks reduced, on the root; elsewhere `x`."""
    group, root, x = group_of(comm), _number("root", root), jnp.asarray(x)
    found = collectives.reduce(x, _reduction(op), root=root, group=group)
    return _with_token(token, found if group.rank == root else x)


def scan(x: Any, op: Any, *, comm: Any = None, token: Any = _none) -> Any:
    """The arrays of the ranks up to and including this one, reduced."""
    return _with_token(token, collectives.scan(jnp.asarray(x), _reduction(op), group=group_of(comm)))


def bcast(x: Any, root: int, *, comm: Any = None, token: Any = _none) -> Any:
    """The root's array, on every rank."""
    return _with_token(token, collectives.broadcast(jnp.asarray(x), root=_number("root", root), group=group_of(comm)))


def allgather(x: Any, *, comm: Any = None, token: Any = _none) -> Any:
    """The arrays of all ranks, on every rank: of shape (ranks, *x.shape)."""
    return _with_token(token, collectives.all_gather(jnp.asarray(x)[None], group=group_of(comm)))


def gather(x: Any, root: int, *, comm: Any = None, token: Any = _none) -> Any:
    """The arrays of all ranks, on the root: of shape (ranks, *x.shape). Elsewhere `x`."""
    group, root, x = group_of(comm), _number("root", root), jnp.asarray(x)
    found = collectives.gather(x[None], root=root, group=group)
    return _with_token(token, found if group.rank == root else x)


def scatter(x: Any, root: int, *, comm: Any = None, token: Any = _none) -> Any:
    """This rank's slice of the root's array, whose first extent is the number of ranks. Others give an array like theirs."""
    group, root = group_of(comm), _number("root", root)
    given = _slices("scatter", x, group) if group.rank == root else jnp.asarray(x)[None]
    return _with_token(token, collectives.scatter(given, counts=(1,) * group.size, root=root, group=group)[0])


def alltoall(x: Any, *, comm: Any = None, token: Any = _none) -> Any:
    """Slice q of the array of rank p becomes slice p of the result of rank q. The first extent is the number of ranks."""
    group = group_of(comm)
    return _with_token(token, collectives.all_to_all(_slices("alltoall", x, group), group=group))


def barrier(*, comm: Any = None, token: Any = _none) -> Any:
    """What the program calls behind it comes after what all ranks have called before it."""
    collectives.barrier(group=group_of(comm))
    return _with_token(token)


def _source(source: Any, group: Group) -> int:
    if not _is_any(source, "ANY_SOURCE"):
        return _number("source", source)
    if group.size > 2:
        raise UnsupportedError("recv: ANY_SOURCE is not supported with more than two ranks; name the sending rank")
    return group.size - 1 - group.rank


def _filled(status: Any, source: int, tag: int, found: Any) -> None:
    if status is None:
        return
    MPI = sys.modules["mpi4py.MPI"]
    status.Set_source(source)
    status.Set_tag(tag)
    status.Set_elements(MPI.BYTE, int(found.size) * found.dtype.itemsize)


def send(x: Any, dest: int, *, tag: int = 0, comm: Any = None, token: Any = _none) -> Any:
    """The array to rank `dest`. Returns nothing, or a token."""
    messages.send(x, _number("dest", dest), tag=_number("tag", tag), group=group_of(comm))
    return _with_token(token)


def recv(
    x: Any, source: Any = None, *, tag: Any = None, comm: Any = None, status: Any = None, token: Any = _none
) -> Any:  # fmt: skip
    """The message of rank `source`, of the shape and dtype of `x`. Any tag is 0, that of sends which name none."""
    group = group_of(comm)
    peer, known = _source(source, group), 0 if _is_any(tag, "ANY_TAG") else _number("tag", tag)
    found = messages.receive(x, peer, tag=known, group=group)
    _filled(status, peer, known, found)
    return _with_token(token, found)


def sendrecv(
    sendbuf: Any, recvbuf: Any, source: Any, dest: int, *, sendtag: int = 0, recvtag: Any = None, comm: Any = None,
    status: Any = None, token: Any = _none,
) -> Any:  # fmt: skip
    """`sendbuf` to rank `dest`, and what rank `source` sends, of the shape of `recvbuf`, at once."""
    group, tag = group_of(comm), _number("sendtag", sendtag)
    if not _is_any(recvtag, "ANY_TAG") and _number("recvtag", recvtag) != tag:
        raise UnsupportedError(f"sendrecv: two different tags, {tag} and {recvtag}, are not supported; use one for both directions")
    peer = _source(source, group)
    found = messages.send_receive(sendbuf, _number("dest", dest), peer, like=recvbuf, tag=tag, group=group)
    _filled(status, peer, tag, found)
    return _with_token(token, found)


def has_cuda_support() -> bool:
    """Whether this process has a device of CUDA. Local."""
    return bool(_core.device_count())


def has_sycl_support() -> bool:
    """Never. Local."""
    return False
