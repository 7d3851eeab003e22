"""Elements that are selected by arrays of indices or of booleans."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple, cast

import numpy as np

from . import _elements
from ._agreement import alike
from ._array import Array
from ._axes import (
    Destination,
    all_values_of,
    cuts_of,
    finished,
    has_whole_axes,
    in_blocks,
    layout_of_blocks,
    moved,
    on_host,
    one_axis,
    reduced,
    values_of,
    with_whole,
    wrapped,
)
from ._device_parts import DevicePart
from ._errors import ArgumentError, IndexError
from ._exchange import of_all, total
from ._keys import Chosen, all_columns, checked, chosen_by, cuts_of_indices, in_int64, of_sequence, own_columns
from ._places import broadcast_to
from ._views import indexed, with_axis, without_axis

take_modes = ("raise", "wrap", "clip")


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
    indices : Array, NumPy array, sequence of int or int
        The indices, negative ones from the end. What is not a distributed array must be the same on all ranks. One number removes the axis.
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
    if out is not None:
        raise ArgumentError("take: the argument out is not supported")
    if mode not in take_modes:
        raise ArgumentError(f"take: mode {mode!r}; known: {', '.join(take_modes)}")
    along = None if axis is None else one_axis(axis, a.ndim)
    if np.ndim(indices) == 0:
        one = with_axis(indices, 0) if isinstance(indices, Array) else np.reshape(indices, 1)
        return moved(without_axis(take(a, one, axis, mode=mode), along or 0), distribution)
    index = as_indices(indices)
    if not (a.size if along is None else a.shape[along]) and 0 not in index.shape:
        raise IndexError("take: elements of an empty axis")
    if along is None:
        return moved(_of_sequence(a, index, mode), distribution)
    return moved(_of_axes(a, reduced(a), Chosen([], [along], [index], index.shape, along), mode), distribution)


@alike
def getitem(a: Array, key: Any) -> Array:
    """``a[key]`` with arrays of integers or booleans in the key. Collective, blocking."""
    if not isinstance(key, tuple) and isinstance(key, (Array, np.ndarray)) and key.dtype == np.bool_ and key.ndim:
        if key.shape != a.shape[: key.ndim]:
            raise IndexError(f"a mask of shape {key.shape} for dimensions of shape {a.shape[: key.ndim]}")
        return where_true(a, key)
    chosen = chosen_by(a, key)
    if not chosen.axes:  # booleans without dimensions: all or nothing, with a new dimension
        found = indexed(a, [*chosen.window[: chosen.place], None, *chosen.window[chosen.place :]])
        return found[(slice(None),) * chosen.place + (slice(chosen.shape[0]),)].copy()
    window = a if all(one == slice(None) for one in chosen.window) else indexed(a, chosen.window)
    places = [place for place, one in enumerate(chosen.window) if one is not None]
    return _of_axes(a, reduced(window), chosen._replace(axes=[places[axis] for axis in chosen.axes]), "raise")


def _of_axes(like: Array, a: Array, chosen: Chosen, mode: str) -> Array:
    """The elements of indices of some axes."""
    context, axes, place = a._core.context, chosen.axes, chosen.place
    extents = [a.shape[axis] for axis in axes]
    rest = [axis for axis in range(a.ndim) if axis not in axes]
    new = range(place, place + len(chosen.shape))
    shape = [a.shape[axis] for axis in rest]
    shape[place:place] = chosen.shape
    if rest and context.size > 1 and has_whole_axes(a.layout, tuple(axes)):
        there, cut = with_whole(a, axes)
        if _is_taken_there(there, chosen):
            found = _taken_there(there, values_of(there), chosen, mode)
        else:
            columns = [one.reshape(-1) for one in all_columns(context, chosen, extents, mode)]
            found = _elements.rows_of(there, axes, columns)
            found = found.reshape(*chosen.shape, *found.shape[1:])
        kept = 0 if cut.axis is None else rest.index(cut.axis)
        layout = cut.layout(shape, kept if kept < place else kept + len(new))
    else:
        cuts = cuts_of_indices(context, chosen)
        if context.size == 1 and _is_taken_there(a, chosen):
            found = _taken_there(a, values_of(a), chosen, mode)
        else:
            found = _elements.read(a, axes, own_columns(context, chosen, extents, cuts, mode))
            found = found.reshape(cuts[context.rank + 1] - cuts[context.rank], *chosen.shape[1:], *found.shape[1:])
        layout = layout_of_blocks(shape, place, cuts)
    found = found.moveaxis(range(len(new)), new) if isinstance(found, DevicePart) else np.moveaxis(found, range(len(new)), new)
    return wrapped(like, layout, found)


def _of_sequence(a: Array, index: Any, mode: str) -> Array:
    """The elements at positions in row-major order."""
    given = reduced(a if a.ndim else with_axis(a, 0))
    context, chosen = given._core.context, of_sequence(index)
    cuts = cuts_of_indices(context, chosen)
    if context.size == 1 and _is_taken_there(given, chosen):
        found = _taken_there(given, values_of(given).reshape(-1), chosen, mode)
        return wrapped(a, layout_of_blocks(index.shape, 0, cuts), found)
    (mine,) = own_columns(context, chosen, [given.size], cuts, mode)
    found = _elements.read(given, range(given.ndim), columns_of(mine, given.shape))
    return wrapped(a, layout_of_blocks(index.shape, 0, cuts), found.reshape(cuts[context.rank + 1] - cuts[context.rank], *index.shape[1:]))


def _is_taken_there(a: Array, chosen: Chosen) -> bool:
    """Whether a device gathers the elements of its part: of indices of one axis, which fit into the integers that it takes."""
    return not a._core.on_host and a.size > 0 and len(chosen.axes) == 1 and getattr(chosen.indices[0], "dtype", None) != np.uint64


def _taken_there(a: Array, part: DevicePart, chosen: Chosen, mode: str) -> DevicePart:
    """The elements of all indices of an axis that each rank has completely, with first axes for the indices. Collective, blocking."""
    (axis,), (index,), many = chosen.axes, chosen.indices, len(chosen.shape)
    if isinstance(index, Array):
        index = all_values_of(reduced(index))
    else:
        index = np.broadcast_to(index, chosen.shape)
    found, inside = part.taken_along(axis, _indices_there(part, index).reshape(-1), mode)
    if not _inside_everywhere(a._core.context, inside):
        checked(a._core.context, index.on_host() if isinstance(index, DevicePart) else index, part.shape[axis], mode, True)
    found = found.reshape((*part.shape[:axis], *chosen.shape, *part.shape[axis + 1 :]))
    return found.moveaxis(range(axis, axis + many), range(many))


def _indices_there(part: DevicePart, index: Any) -> DevicePart:
    """Indices in int64 in the memory of `part`; those of NumPy's arrays are copied at once."""
    return index.converted("int64") if isinstance(index, DevicePart) else part.filled(in_int64(np.asarray(index)), "int64")


def _inside_everywhere(context: Any, inside: bool) -> bool:
    """Whether no rank has found indices out of range. Collective, blocking."""
    return inside if context.size == 1 else bool(total(context, [int(inside)], "min")[0])


def columns_of(positions: Any, shape: Sequence[int]) -> List[Any]:
    """Positions in row-major order as indices for each axis."""
    return list(np.unravel_index(positions, tuple(shape))) if len(positions) else [positions] * len(shape)


def as_indices(indices: Any) -> Any:
    """An array of indices."""
    found = indices if isinstance(indices, Array) else np.asarray(indices)
    if not isinstance(indices, (Array, np.ndarray)) and not found.size:
        found = found.astype(np.int64)  # an empty list
    if found.dtype.kind not in "iu":
        raise IndexError(f"expected integers as indices, got {found.dtype}")
    if not found.ndim:
        raise ArgumentError("expected an array of indices, got one number: a[i:i + 1] is a window, a.at(index) an element")
    return found


def where_true(a: Array, mask: Any, distribution: Optional[Destination] = None) -> Array:
    """The elements where a mask of the first dimensions is true, in row-major order."""
    given = reduced(a)
    context, on_device = given._core.context, not given._core.on_host
    if isinstance(mask, Array):
        there, cuts = in_blocks(finished(given, on_host(mask)) if on_device and mask._core.on_host else reduced(mask) if on_device else on_host(mask), 0)
        here = values_of(there)
        given = moved(given, layout_of_blocks(given.shape, 0, cuts))
    else:
        given, cuts = in_blocks(given, 0)
        here = mask[cuts[context.rank] : cuts[context.rank + 1]]
    part = values_of(given)
    if isinstance(part, DevicePart):
        places = here.reshape(-1).true_positions() if isinstance(here, DevicePart) else part.filled(np.flatnonzero(here), "int64")
        found = part.reshape((here.size, *part.shape[here.ndim :])).taken(places)
    else:
        found = part[here]
    sizes = cuts_of(of_all(context, [found.shape[0]])[:, 0])
    return moved(wrapped(a, layout_of_blocks((sizes[-1], *found.shape[1:]), 0, sizes), found), distribution)


@alike
def take_along_axis(arr: Array, indices: Any, axis: Optional[int] = -1, *, distribution: Optional[Destination] = None) -> Array:
    """The elements of other indices in each line along an axis, as `numpy.take_along_axis`. Collective, blocking.

    Parameters
    ----------
    arr : Array
        The array.
    indices : Array or NumPy array
        Indices along the axis, such as a result of `argsort`; negative ones from the end. The other extents broadcast against those of the
        array.
    axis : int or None, default -1
        The axis; None: positions in row-major order, as for `take`.
    distribution : distribution or Layout, optional
        Distribution of the result. Unset: the layout of `indices` if that has the shape of the result.

    Notes
    -----
    Both arrays are redistributed so that each rank has whole lines, if they do not have them; of one dimension, this is `take`.
    """
    index = as_indices(indices)
    if axis is None:
        return take(arr, index, None, distribution=distribution)
    along = one_axis(axis, arr.ndim)
    shape = _others_of_lines(arr, index, along)
    if arr.ndim == 1:
        return take(arr, index, 0, distribution=distribution)
    spread = reduced(_broadcast(arr, shape, along))
    there, cut = with_whole(spread if spread.size and index.dtype != np.uint64 else on_host(spread), [along])
    given, context = _broadcast(index, shape, along), there._core.context
    layout = cut.layout(given.shape, cut.axis or 0)
    if isinstance(given, Array):
        given = reduced(given) if not there._core.on_host else on_host(given)
        places = values_of(moved(given, layout))
    else:
        places = given[np.ix_(*(layout.indices(one, context.rank) for one in range(given.ndim)))]
    part, found = values_of(there), cast(Any, None)
    if isinstance(part, DevicePart):
        found, inside = part.taken_along(along, _indices_there(part, places), "raise")
        if not _inside_everywhere(context, inside):
            checked(context, places.on_host() if isinstance(places, DevicePart) else places, arr.shape[along])
    else:
        found = np.take_along_axis(part, checked(context, places, arr.shape[along]), along)
    wanted = index.layout if distribution is None and isinstance(index, Array) and index.shape == given.shape else distribution
    return moved(wrapped(arr, layout, found), wanted)


def _others_of_lines(arr: Array, index: Any, along: int) -> Tuple[int, ...]:
    """The extents of arrays and indices, broadcast; along the axis those of the indices."""
    if index.ndim == arr.ndim and all(a == b or 1 in (a, b) for one, (a, b) in enumerate(zip(arr.shape, index.shape)) if one != along):
        return tuple(b if one == along or a == 1 else a for one, (a, b) in enumerate(zip(arr.shape, index.shape)))
    raise ArgumentError(f"take_along_axis: the array has shape {arr.shape}, but indices {index.shape}, for axis {along}")


def _broadcast(a: Any, shape: Sequence[int], along: int) -> Any:
    wanted = (*shape[:along], a.shape[along], *shape[along + 1 :])
    if a.shape == wanted:
        return a
    return broadcast_to(a, wanted) if isinstance(a, Array) else np.broadcast_to(a, wanted)


__all__ = ["take", "take_along_axis"]
