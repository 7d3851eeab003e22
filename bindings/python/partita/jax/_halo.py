"""Ghost cells."""

from __future__ import annotations

from typing import Any, Dict, Optional, Sequence, Tuple

import jax  # type: ignore[import-not-found,unused-ignore]
import jax.numpy as jnp  # type: ignore[import-not-found,unused-ignore]

from .. import _core
from .._errors import ArgumentError
from . import _whole_halo
from ._arrays import _check_kind, _local, _part
from ._group import Group, chosen, collective
from ._program import batched_in_turn, call, linear

# The extended part with what the neighbours own in its ghost cells, in place; and the adjoint: this rank's part with what
# all ranks' ghost cells hold of it. Between the two a part is set into zeros.
_refresh = call("halo", lambda extended, **_: (extended.shape, extended.dtype), in_place=True)
_accumulate = call("halo_accumulate", lambda extended, group, layout, **_: (_local(layout, group), extended.dtype))


def _extended(x: Any, group: Group, layout: _core.Layout, lower: Tuple[int, ...], upper: Tuple[int, ...], periodic: Tuple[int, ...]) -> Any:
    """The part, surrounded by zeros. A part without elements has no ghost cells."""
    shape = _core.halo_shape(layout, group.rank, lower, upper, [bool(one) for one in periodic])
    if 0 in x.shape:
        return jax.lax.slice(x, (0,) * x.ndim, shape)
    return jax.lax.pad(x, jnp.zeros((), x.dtype), [(low, high, 0) for low, high in zip(lower, upper)])


def _refresh_back(cotangent: Any, x: Any, **params: Any) -> Any:
    if params["layout"].is_replicated:
        raise ArgumentError(f"halo: sums into the replicated array {params['layout']} would be added once per rank; redistribute it first")
    return _extended(_accumulate.bind(cotangent, **params), **params)


def _accumulate_back(cotangent: Any, x: Any, **params: Any) -> Any:
    return _refresh.bind(_extended(cotangent, **params), **params)


linear(_refresh, _refresh_back)
linear(_accumulate, _accumulate_back)
batched_in_turn(_refresh)
batched_in_turn(_accumulate)


@collective
def halo(
    x: Any, layout: Optional[_core.Layout] = None, lower: Sequence[int] = (), upper: Optional[Sequence[int]] = None,
    periodic: Optional[Sequence[bool]] = None, *, sharding: Any = None, group: Optional[Group] = None,
) -> jax.Array:  # fmt: skip
    """This rank's part, extended by ghost cells: elements of its neighbours; or a whole array of such parts. Collective.

    For all distributions whose parts are boxes, with any widths. Corners are filled too; cells outside of the array are 0. In
    reverse, cotangents of ghost cells are added to those of their owners.

    Of a whole array, the result is sharded as the array is, and each device's part is the device's part of the array, extended: a dimension of n
    elements that is cut into p parts has n + p (lower + upper) in the result. `jax.shard_map` with the same spec passes the extended parts to a
    function of one device.

    Parameters
    ----------
    x : array
        This rank's part; without `layout` a whole array with a NamedSharding, whose parts have the same size.
    layout : Layout, optional
        The layout of the array.
    lower, upper : sequence of int
        Number of ghost cells before and after the part, along each dimension; `upper` defaults to `lower`.
    periodic : sequence of bool, optional
        Whether indices wrap around, along each dimension; unset: nowhere.
    sharding : NamedSharding or PartitionSpec, optional
        Of a whole array, how it is sharded; needed inside `jit` and `grad`, unless the mesh has explicit axes. Unset: as it is.
    """
    among = chosen(group)
    _check_kind("halo", layout is None, {}, {"sharding": sharding})
    x = jnp.asarray(x) if layout is None else _part("halo", x, layout, among)
    before = tuple(map(int, lower))
    behind = before if upper is None else tuple(map(int, upper))
    round_ = (0,) * x.ndim if periodic is None else tuple(int(bool(one)) for one in periodic)
    if not len(before) == len(behind) == len(round_) == x.ndim:
        raise ArgumentError(f"halo: widths {before} and {behind} for an array of {x.ndim} dimensions")
    if min((*before, *behind, 0)) < 0:
        raise ArgumentError(f"halo: a width is negative: {before} and {behind}")
    if layout is None:
        return _whole_halo.extended(x, before, behind, round_, sharding, among)
    params: Dict[str, Any] = {"group": among, "layout": layout, "lower": before, "upper": behind, "periodic": round_}
    found: jax.Array = _refresh.bind(_extended(x, **params), **params)
    return found
