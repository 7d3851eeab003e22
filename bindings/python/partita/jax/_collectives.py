"""Collectives in compiled programs.

`x` is this rank's array, or a pytree of arrays (a dictionary, a list, ...): then one call is made per leaf, in the order of the leaves,
and the results have the same tree. Parts of several ranks are concatenated along dimension 0. All calls are collective. Errors are an
ArgumentError during tracing, or a JaxRuntimeError on every rank at run time if only the ranks together can detect them.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Dict, Optional, Sequence, Tuple, TypeVar

import jax  # type: ignore[import-not-found,unused-ignore]
import jax.numpy as jnp  # type: ignore[import-not-found,unused-ignore]
import numpy as np

from .._errors import ArgumentError
from .._parts import check_root, counts_of, rows_of
from ._group import Group, chosen, collective
from ._program import ad, batched, call, linear, local

Shape = Tuple[int, ...]


def _elementwise(axis: int) -> Tuple[int, Optional[int]]:
    return axis, axis


def _behind_rows(axis: int) -> Tuple[int, Optional[int]]:
    return 1, 1


def _same(x: Any, **_: Any) -> Any:
    return x.shape, x.dtype


# --- primitives: of each the shape of its result, its transposed map, its batches

_all_reduce = call("all_reduce", _same)
_reduce = call("reduce", lambda x, group, root, **_: ((int(group.rank == root), *x.shape), x.dtype))
_broadcast = call("broadcast", _same, in_place=True)
_scan = call("scan", _same)
_gather = call(
    "gather", lambda x, group, root, counts: ((sum(counts) if group.rank == root else 0, *x.shape[1:]), x.dtype)
)
_scatter = call("scatter", lambda x, group, root, counts: ((counts[group.rank], *x.shape[1:]), x.dtype))
_all_gather = call("all_gather", lambda x, group, counts: ((sum(counts), *x.shape[1:]), x.dtype))
_reduce_scatter = call("reduce_scatter", lambda x, group, counts, reduction: ((counts[group.rank], *x.shape[1:]), x.dtype))
_all_to_all = call("all_to_all", lambda x, group, sent, received: ((sum(received) if sent else x.shape[0], *x.shape[1:]), x.dtype))

batched(_all_reduce, _elementwise)
batched(_broadcast, _elementwise)
batched(_scan, _elementwise)
batched(_reduce, lambda axis: (axis, axis + 1))
for _primitive in (_gather, _scatter, _all_gather, _reduce_scatter, _all_to_all):
    batched(_primitive, _behind_rows)


def _mirrored_scan(cotangent: Any, x: Any, group: Group, exclusive: int, reduction: str) -> Any:
    from ._messages import mirror

    return mirror(_scan.bind(mirror(cotangent, group), group=group, exclusive=exclusive, reduction=reduction), group)


def _broadcast_back(cotangent: Any, x: Any, group: Group, root: int) -> Any:
    return jnp.sum(_reduce.bind(cotangent, group=group, root=root, reduction="sum"), axis=0)


def _reduce_back(cotangent: Any, x: Any, group: Group, root: int, reduction: str) -> Any:
    return _broadcast.bind(jnp.sum(cotangent, axis=0), group=group, root=root)


def _scatter_back(cotangent: Any, x: Any, group: Group, root: int, counts: Shape) -> Any:
    gathered = _gather.bind(cotangent, group=group, root=root, counts=counts)
    return gathered if group.rank == root else jnp.zeros(x.shape, x.dtype)


linear(_broadcast, _broadcast_back)
linear(_gather, lambda cotangent, x, **params: _scatter.bind(cotangent, **params))
linear(_scatter, _scatter_back)
linear(_all_gather, lambda cotangent, x, **params: _reduce_scatter.bind(cotangent, reduction="sum", **params))
linear(
    _all_to_all,
    lambda cotangent, x, group, sent, received: _all_to_all.bind(cotangent, group=group, sent=received, received=sent),
)
# Of sums; other reductions come below.
linear(_all_reduce, lambda cotangent, x, **params: _all_reduce.bind(cotangent, **params))
_shared_sum = call("all_reduce", _same)
_shared = local("shared")
for _one, _other in ((_shared_sum, _shared), (_shared, _shared_sum)):
    batched(_one, _elementwise)
    linear(_one, lambda cotangent, x, back=_other, **params: back.bind(cotangent, **params))
linear(_reduce, _reduce_back)
linear(
    _reduce_scatter,
    lambda cotangent, x, group, counts, reduction: _all_gather.bind(cotangent, group=group, counts=counts),
)
linear(_scan, _mirrored_scan)


def _of_gathered(primitive: Any, joined: Callable[..., Any]) -> None:
    """The derivative of products, minima and maxima: that of `joined(rows, fold, **params)` of the gathered arrays of all ranks."""
    of_sums = ad.primitive_jvps[primitive]
    folds: Dict[str, Callable[..., Any]] = {"product": jnp.prod, "min": jnp.min, "max": jnp.max}

    def jvp(primals: Any, tangents: Any, **params: Any) -> Any:
        fold = folds.get(params["reduction"])
        if fold is None or isinstance(tangents[0], ad.Zero):
            return of_sums(primals, tangents, **params)
        group = params["group"]

        def reference(x: Any) -> Any:
            rows = _all_gather.bind(x[None], group=group, counts=(1,) * group.size)
            return joined(rows, lambda some: fold(some, axis=0), **params)

        found = primitive.bind(*primals, **params)
        return found, jax.jvp(reference, primals, tangents)[1]

    ad.primitive_jvps[primitive] = jvp


def _scanned(rows: Any, fold: Any, group: Group, exclusive: int, reduction: str) -> Any:
    upto = rows[: group.rank + 1 - exclusive]
    # Nothing depends on anything on the first rank, but other ranks wait for its part in the reverse pass.
    return fold(upto) if upto.shape[0] else jnp.where(False, rows[0], 0)


def _scattered(rows: Any, fold: Any, group: Group, counts: Shape, reduction: str) -> Any:
    begin = sum(counts[: group.rank])
    return fold(rows)[begin : begin + counts[group.rank]]


_of_gathered(_all_reduce, lambda rows, fold, **_: fold(rows))
_of_gathered(_reduce, lambda rows, fold, group, root, reduction: fold(rows)[None][: int(group.rank == root)])
_of_gathered(_reduce_scatter, _scattered)
_of_gathered(_scan, _scanned)


# --- functions

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _of_each_leaf(function: _Function) -> _Function:
    """`function`, extended to pytrees: one call per leaf, in the order of the leaves, with the results in the same tree."""

    @functools.wraps(function)
    def called(x: Any, *given: Any, **named: Any) -> Any:
        if x is None or isinstance(x, (jax.Array, np.ndarray)) or jax.tree_util.all_leaves([x]):
            return function(x, *given, **named)
        return jax.tree_util.tree_map(lambda leaf: function(leaf, *given, **named), x)

    return called  # type: ignore[return-value]



@collective
@_of_each_leaf
def all_reduce(x: Any, reduction: str = "sum", *, shared: bool = False, group: Optional[Group] = None) -> jax.Array:
    """Reduce the arrays of all ranks, with the same bits on every rank. Collective.

    Parameters
    ----------
    shared : bool, default False
        For sums: the result counts as one value that all ranks share, and so does its cotangent, which the reverse passes unchanged, without
        communication. By default each rank's result counts separately, and cotangents are added.
    """
    if shared and reduction != "sum":
        raise ArgumentError(f"all_reduce: shared requires the reduction sum, got {reduction}")
    primitive = _shared_sum if shared else _all_reduce
    found: jax.Array = primitive.bind(jnp.asarray(x), group=chosen(group), reduction=reduction)
    return found


@collective
@_of_each_leaf
def reduce(x: Any, reduction: str = "sum", *, root: int = 0, group: Optional[Group] = None) -> jax.Array:
    """Reduce the arrays of all ranks on the root; zeros elsewhere. Collective."""
    among = chosen(group)
    check_root("reduce", root, among.size)
    found = _reduce.bind(jnp.asarray(x), group=among, root=root, reduction=reduction)
    return found[0] if among.rank == root else jnp.sum(found, axis=0, dtype=found.dtype)


@collective
@_of_each_leaf
def broadcast(x: Any, *, root: int = 0, group: Optional[Group] = None) -> jax.Array:
    """The root's array, on every rank. Collective. Shape and dtype must be equal on all ranks."""
    among = chosen(group)
    check_root("broadcast", root, among.size)
    found: jax.Array = _broadcast.bind(jnp.asarray(x), group=among, root=root)
    return found


@collective
@_of_each_leaf
def gather(x: Any, *, counts: Optional[Sequence[int]] = None, root: int = 0, group: Optional[Group] = None) -> jax.Array:
    """Concatenate the arrays of all ranks on the root; no rows elsewhere. A number is one row. Collective."""
    among, x = chosen(group), jnp.atleast_1d(jnp.asarray(x))
    check_root("gather", root, among.size)
    rows = counts_of("gather", counts, among.size, rows_of("gather", x.shape) * among.size)
    found: jax.Array = _gather.bind(x, group=among, root=root, counts=rows)
    return found


@collective
@_of_each_leaf
def scatter(x: Any, *, counts: Optional[Sequence[int]] = None, root: int = 0, group: Optional[Group] = None) -> jax.Array:
    """This rank's part of the root's array. Collective.

    On other ranks only the dtype and the shape after dimension 0 matter; without counts the whole shape.
    """
    among, x = chosen(group), jnp.asarray(x)
    check_root("scatter", root, among.size)
    found: jax.Array = _scatter.bind(x, group=among, root=root, counts=counts_of("scatter", counts, among.size, rows_of("scatter", x.shape)))
    return found


@collective
@_of_each_leaf
def all_gather(x: Any, *, counts: Optional[Sequence[int]] = None, group: Optional[Group] = None) -> jax.Array:
    """Concatenate the arrays of all ranks, on every rank. A number is one row. Collective."""
    among, x = chosen(group), jnp.atleast_1d(jnp.asarray(x))
    rows = counts_of("all_gather", counts, among.size, rows_of("all_gather", x.shape) * among.size)
    found: jax.Array = _all_gather.bind(x, group=among, counts=rows)
    return found


@collective
@_of_each_leaf
def reduce_scatter(
    x: Any, reduction: str = "sum", *, counts: Optional[Sequence[int]] = None, group: Optional[Group] = None
) -> jax.Array:
    """Reduce the arrays of all ranks and return this rank's part. Collective."""
    among, x = chosen(group), jnp.asarray(x)
    rows = counts_of("reduce_scatter", counts, among.size, rows_of("reduce_scatter", x.shape))
    found: jax.Array = _reduce_scatter.bind(x, group=among, counts=rows, reduction=reduction)
    return found


@collective
@_of_each_leaf
def all_to_all(
    x: Any,
    *,
    send_counts: Optional[Sequence[int]] = None,
    receive_counts: Optional[Sequence[int]] = None,
    group: Optional[Group] = None,
) -> jax.Array:
    """Send part q of the array to rank q, which receives it as part p, p being this rank. Collective.

    Parameters
    ----------
    send_counts, receive_counts : sequence of int, optional
        Rows of the parts sent to and received from each rank; unset: equal parts.
    """
    among, x = chosen(group), jnp.asarray(x)
    rows = rows_of("all_to_all", x.shape)
    if (send_counts is None) != (receive_counts is None):
        raise ArgumentError("all_to_all: pass the counts of sent and of received rows together")
    sent, received = (counts_of("all_to_all", counts, among.size, rows) for counts in (send_counts, receive_counts))
    if send_counts is None:
        sent = received = ()
    found: jax.Array = _all_to_all.bind(x, group=among, sent=sent, received=received)
    return found


@collective
@_of_each_leaf
def scan(x: Any, reduction: str = "sum", *, exclusive: bool = False, group: Optional[Group] = None) -> jax.Array:
    """Reduce the arrays of the ranks up to this one. Collective.

    Parameters
    ----------
    exclusive : bool, default False
        Exclude this rank's array (rank 0 then gets the identity).
    """
    found: jax.Array = _scan.bind(jnp.asarray(x), group=chosen(group), exclusive=int(exclusive), reduction=reduction)
    return found


_barrier = call("barrier", lambda group: None)


@collective
def barrier(*, group: Optional[Group] = None) -> None:
    """Later calls of the program follow the calls that all ranks made before. Collective."""
    _barrier.bind(group=chosen(group))
