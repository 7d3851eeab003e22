"""Elements that are selected by arrays of indices or of booleans."""

from __future__ import annotations

from typing import Any, Optional, Tuple

import numpy as np

from ._agreement import alike
from ._array import Array
from ._axes import (
    Cuts,
    Destination,
    cuts_of,
    in_blocks,
    in_order,
    has_whole_axes,
    layout_of_blocks,
    moved,
    on_host,
    one_axis,
    slab_cuts,
    values_of,
    with_whole,
    wrapped,
)
from ._core import Replicated
from ._errors import ArgumentError
from ._exchange import answered, of_all, smallest_and_largest

_modes = ("raise", "wrap", "clip")


@alike
def take(
    a: Array,
    indices: Any,
    axis: Optional[int] = None,
    out: None = None,
    mode: str = "raise",
    *,
    distribution: Optional[Destination] = None,
) -> Array:
    """The elements of these indices along an axis, as `numpy.take`. Collective, blocking.

    Parameters
    ----------
    indices : Array, NumPy array or sequence of int
        The indices, negative ones from the end. What is not a distributed array must be the same on all ranks.
    axis : int, optional
        The axis; unset: all elements in row-major order.
    out : None
        Not supported.
    mode : {'raise', 'wrap', 'clip'}
        What indices out of range are: an error, taken modulo the extent, or the nearest index.
    distribution : distribution or Layout, optional
        Distribution of the result. Unset: that of `indices` along their first axis (equal parts if they are not a distributed array), or if
        each rank has the axis completely, blocks along another axis, as in the array.

    Raises
    ------
    ArgumentError
        An index is out of range: on every rank.

    Notes
    -----
    Indices are sent to the ranks that have the elements, which send these back. An axis that each rank has completely is indexed by each
    rank, which gets all indices.
    """
    given = on_host(a)
    if out is not None:
        raise ArgumentError("take: the argument out is not supported")
    if mode not in _modes:
        raise ArgumentError(f"take: mode {mode!r}; known: {', '.join(_modes)}")
    along = None if axis is None else one_axis(axis, given.ndim)
    extent = given.size if along is None else given.shape[along]
    if along is not None and given.ndim > 1 and given._core.context.size > 1 and has_whole_axes(given.layout, (along,)):
        return moved(_of_whole_axis(a, given, _checked(given, _everywhere(indices), extent, mode), along), distribution)
    places, cuts, shape = _divided(given, indices)
    return moved(_of_owners(a, given, _checked(given, places, extent, mode), cuts, shape, along), distribution)


def _require_integers(indices: Any) -> None:
    """That these are an array of indices."""
    if indices.dtype.kind not in "iu":
        raise ArgumentError(f"expected integers as indices, got {indices.dtype}")
    if not indices.ndim:
        raise ArgumentError("expected an array of indices, got one number: a[i:i + 1] is a window, a.at(index) an element")


def _integers(indices: Any) -> Any:
    found = np.asarray(indices)
    found = found if found.size else found.astype(np.int64)  # an empty list
    _require_integers(found)
    return found


def _everywhere(indices: Any) -> Any:
    """The indices, on every rank."""
    if not isinstance(indices, Array):
        return _integers(indices)
    _require_integers(indices)
    return on_host(indices).redistribute(Replicated()).local


def _divided(a: Array, indices: Any) -> Tuple[Any, Cuts, Tuple[int, ...]]:
    """This rank's indices, how the ranks divide their first axis, and the shape of all."""
    context = a._core.context
    if isinstance(indices, Array):
        _require_integers(indices)
        there, cuts = in_blocks(on_host(indices), 0)
        return values_of(there), cuts, indices.shape
    found = _integers(indices)
    cuts = slab_cuts(found.shape[0], context.size)
    return found[cuts[context.rank] : cuts[context.rank + 1]], cuts, found.shape


def _checked(a: Array, indices: Any, extent: int, mode: str) -> Any:
    """Indices from 0 to below the extent. Errors are those of all ranks, which may have other indices."""
    if indices.dtype == np.uint64:
        indices = np.minimum(indices, np.uint64(np.iinfo(np.int64).max))
    found = indices.astype(np.int64)
    if mode == "clip":
        return np.clip(found, 0, max(extent - 1, 0))
    if mode == "raise":
        least, most = smallest_and_largest(a._core.context, found)
        if least <= most and (most >= extent or least < -extent):
            raise ArgumentError(f"index {most if most >= extent else least} is out of range for {extent} elements")
        return np.where(found < 0, found + extent, found)
    return found % max(extent, 1)


def _of_whole_axis(like: Array, a: Array, indices: Any, axis: int) -> Array:
    there, cut = with_whole(a, [axis])
    found = np.take(values_of(there), indices, axis)
    shape = (*a.shape[:axis], *indices.shape, *a.shape[axis + 1 :])
    place = cut.axis or 0
    return wrapped(like, cut.layout(shape, place if place < axis else place + indices.ndim - 1), found)


def _of_owners(like: Array, a: Array, indices: Any, cuts: Cuts, shape: Tuple[int, ...], axis: Optional[int]) -> Array:
    """Elements, or rows of those, of other ranks."""
    context = a._core.context
    if axis is None:
        one = in_order(a)
        rows, owned, place = one.values, one.cuts, 0
    else:
        there, owned = in_blocks(a, axis)
        rows, place = np.moveaxis(values_of(there), axis, 0), axis
    flat = indices.reshape(-1)
    owners = np.searchsorted(owned, flat, "right") - 1
    first = owned[context.rank]
    found = answered(context, flat, owners, lambda asked: rows[asked - first])
    found = found.reshape(*indices.shape, *rows.shape[1:])
    dimensions = range(indices.ndim)
    found = np.moveaxis(found, dimensions, [place + one for one in dimensions])
    return wrapped(like, layout_of_blocks((*a.shape[:place], *shape, *(() if axis is None else a.shape[place + 1 :])), place, cuts), found)


def where_true(a: Array, mask: Any, distribution: Optional[Destination] = None) -> Array:
    """The elements where a mask of the first dimensions is true, in row-major order."""
    given = on_host(a)
    context = given._core.context
    if isinstance(mask, Array):
        there, cuts = in_blocks(on_host(mask), 0)
        here = values_of(there)
        given = moved(given, layout_of_blocks(given.shape, 0, cuts))
    else:
        given, cuts = in_blocks(given, 0)
        here = mask[cuts[context.rank] : cuts[context.rank + 1]]
    found = values_of(given)[here]
    sizes = cuts_of(of_all(context, [len(found)])[:, 0])
    return moved(wrapped(a, layout_of_blocks((sizes[-1], *found.shape[1:]), 0, sizes), found), distribution)


@alike
def take_along_axis(arr: Array, indices: Array, axis: int = -1, *, distribution: Optional[Destination] = None) -> Array:
    """The elements of other indices in each line along an axis, as `numpy.take_along_axis`. Collective, blocking.

    Parameters
    ----------
    arr : Array
        The array.
    indices : Array
        Indices along the axis, such as a result of `argsort`; negative ones from the end. Its other extents are those of the array.
    axis : int, default -1
        The axis.
    distribution : distribution or Layout, optional
        Distribution of the result. Unset: the layout of `indices`.

    Notes
    -----
    Both arrays are redistributed so that each rank has whole lines, if they do not have them; of one dimension, this is `take`.
    """
    along = one_axis(axis, arr.ndim)
    _require_integers(indices)
    if indices.ndim != arr.ndim or any(mine != other for one, (mine, other) in enumerate(zip(arr.shape, indices.shape)) if one != along):
        raise ArgumentError(f"take_along_axis: the array has shape {arr.shape}, but indices {indices.shape}, for axis {along}")
    if arr.ndim == 1:
        return take(arr, indices, 0, distribution=distribution)
    there, cut = with_whole(on_host(arr), [along])
    given = on_host(indices)
    places = moved(given, cut.layout(given.shape, cut.axis or 0))
    found = np.take_along_axis(values_of(there), _checked(there, values_of(places), arr.shape[along], "raise"), along)
    return moved(wrapped(arr, places.layout, found), given.layout if distribution is None else distribution)


__all__ = ["take", "take_along_axis"]
