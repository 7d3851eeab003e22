"""Ghost cells."""

from __future__ import annotations

import functools
import itertools
from typing import Any, List, Optional, Sequence, Tuple

import jax  # type: ignore[import-not-found,unused-ignore]
import jax.numpy as jnp  # type: ignore[import-not-found,unused-ignore]
import numpy as np

from .. import _core
from .._errors import ArgumentError
from ._arrays import _part
from ._collectives import all_to_all
from ._group import Group, chosen

Widths = Tuple[int, ...]


def _extended(layout: _core.Layout, rank: int, lower: Widths, upper: Widths, periodic: Tuple[bool, ...]) -> List[Any]:
    """The global indices of a rank's part with its ghost cells, along each dimension; -1 outside of the array."""
    along: List[Any] = []
    for axis, extent in enumerate(layout.shape):
        own = layout.indices(axis, rank)
        if len(own) and own[-1] - own[0] + 1 != len(own):
            raise ArgumentError(f"halo: the part of rank {rank} of {layout} is no box")
        cells = np.arange(own[0] - lower[axis], own[-1] + 1 + upper[axis]) if len(own) else own
        along.append(cells % extent if periodic[axis] else np.where((cells < 0) | (cells >= extent), -1, cells))
    return along


@functools.lru_cache(maxsize=64)
def _exchange(
    layout: _core.Layout, rank: int, lower: Widths, upper: Widths, periodic: Tuple[bool, ...]
) -> Tuple[Any, Any, Tuple[int, ...], Tuple[int, ...], Tuple[int, ...]]:
    """Which elements of its part the rank gives, to which of its extended part it puts what it gets (both as flat indices, by
    rank), how many to and from each rank, and the extended part's shape. From itself a rank takes only what goes round."""
    given: List[Any] = []
    taken: List[Any] = []
    for other in range(layout.ranks):
        given.append(_ghosts(layout, rank, other, lower, upper, periodic)[0])
        taken.append(_ghosts(layout, other, rank, lower, upper, periodic)[1])
    shape = tuple(len(cells) for cells in _extended(layout, rank, lower, upper, periodic))
    counts = [tuple(len(one) for one in side) for side in (given, taken)]
    return np.concatenate(given), np.concatenate(taken), counts[0], counts[1], shape


def _ghosts(layout: _core.Layout, owner: int, taker: int, lower: Widths, upper: Widths, periodic: Tuple[bool, ...]) -> Tuple[Any, Any]:
    """Of the ghost cells of `taker` those that `owner` owns: where they lie in its part, and in the extended part of `taker`."""
    extended = _extended(layout, taker, lower, upper, periodic)
    shapes = layout.local_shape(owner), tuple(map(len, extended))
    places = []
    for axis, cells in enumerate(extended):
        own = layout.indices(axis, owner)
        first = int(own[0]) if len(own) else 0
        there = np.flatnonzero((cells >= first) & (cells < first + len(own)) & (cells >= 0))
        places.append((cells[there] - first, there))
    if 0 in shapes[0] or 0 in shapes[1] or any(len(there) == 0 for _, there in places):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    source: Any = np.ravel_multi_index(np.ix_(*(one for one, _ in places)), shapes[0])
    target: Any = np.ravel_multi_index(np.ix_(*(one for _, one in places)), shapes[1])
    if owner == taker:  # the part itself is no ghost
        own_cells = [(there >= low) & (there < low + n) for (_, there), low, n in zip(places, lower, shapes[0])]
        inside = functools.reduce(np.logical_and, np.meshgrid(*own_cells, indexing="ij"))
        return source[~inside], target[~inside]
    return source.ravel(), target.ravel()


def halo(
    x: Any, layout: _core.Layout, lower: Sequence[int], upper: Optional[Sequence[int]] = None,
    periodic: Optional[Sequence[bool]] = None, *, group: Optional[Group] = None,
) -> jax.Array:  # fmt: skip
    """This rank's part, extended by ghost cells: what its neighbours own. Collective.

    For all distributions whose parts are boxes, of any widths. Corners are filled, too; cells outside of the array are 0. In
    reverse, cotangents of ghost cells are added to those of their owners.

    Parameters
    ----------
    x : array
        This rank's part.
    layout : Layout
    lower, upper : sequence of int
        Ghost cells before and behind the part, along each dimension; `upper` as `lower` by default.
    periodic : sequence of bool
        Whether indices go round, along each dimension; nowhere by default.
    """
    among = chosen(group)
    x = _part("halo", x, layout, among)
    before = tuple(map(int, lower))
    behind = before if upper is None else tuple(map(int, upper))
    round_ = (False,) * x.ndim if periodic is None else tuple(map(bool, periodic))
    if not len(before) == len(behind) == len(round_) == x.ndim or min(itertools.chain(before, behind), default=0) < 0:
        raise ArgumentError(f"halo: widths {before} and {behind} of an array of {x.ndim} dimensions")
    given, taken, sent, received, shape = _exchange(layout, among.rank, before, behind, round_)
    arrived = all_to_all(x.reshape(-1)[given], send_counts=sent, receive_counts=received, group=among)
    extended = jnp.zeros(shape, x.dtype)
    if 0 not in x.shape:
        extended = jax.lax.dynamic_update_slice(extended, x, before)
    return extended.reshape(-1).at[taken].set(arrived, unique_indices=True).reshape(shape)
