"""Elements that are set by arrays of indices or of booleans."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from . import _core, _elements
from ._agreement import alike
from ._array import Array
from ._axes import has_whole_axes, layout_of_blocks, moved, on_host, one_axis, values_of, with_whole
from ._errors import ArgumentError
from ._keys import Chosen, all_columns, chosen_by, cuts_of_indices, of_sequence, own_columns
from ._moves import settled
from ._places import broadcast_to
from ._shapes import ravel
from ._take import as_indices, columns_of, take, take_modes
from ._views import indexed, view_of, with_axis, without_axis

# --- values


def converted(given: Array, target: Array) -> Array:
    """The values in the dtype of the array that they are assigned to."""
    if given.dtype == target.dtype:
        return given
    check_cast(given.dtype, target)
    return given.astype(target.dtype)


def check_cast(dtype: Any, target: Array) -> None:
    """ArgumentError if values of the dtype would lose what that of the array does not have."""
    if not np.can_cast(dtype, target.dtype, "same_kind"):
        raise ArgumentError(f"values of {dtype} cannot be assigned to an array of {target.dtype}: convert them with astype")


def number_in(value: Any, target: Array) -> Any:
    """A number in the dtype of the array that it is assigned to, by NumPy's rules of an assignment, on ranks without elements, too."""
    number = np.empty((), target.dtype)
    number[...] = value
    return number


def _fitted(value: Any, target: Array, shape: Sequence[int], new: Sequence[int]) -> Any:
    """A number, or an array of this shape, without its dimensions `new`, which have one element."""
    if isinstance(value, Array):
        value = converted(value, target)
        while value.ndim > len(shape) and value.shape[0] == 1:
            value = without_axis(value, 0)
        value = value if value.shape == tuple(shape) else broadcast_to(value, shape)
        for axis in reversed(new):
            value = without_axis(value, axis)
        return value
    if np.ndim(value) == 0:
        return number_in(value, target)
    check_cast(value.dtype, target)
    while value.ndim > len(shape) and value.shape[0] == 1:
        value = value[0]
    try:
        return np.squeeze(np.broadcast_to(value, tuple(shape)), tuple(new))
    except ValueError:
        raise ArgumentError(f"values of shape {value.shape} cannot be broadcast to {tuple(shape)}") from None


# --- a[key] = value


@alike
def setitem(a: Array, key: Any, value: Any) -> None:
    """``a[key] = value`` with arrays of integers or booleans in the key. Collective, blocking."""
    chosen = chosen_by(a, key)
    slices = [one for one in chosen.window if one is not None]
    view = view_of(a, slices)
    window = indexed(a, slices) if view is None else view
    rest = [axis for axis in range(a.ndim) if axis not in chosen.axes]
    extents, shape, new = iter([window.shape[axis] for axis in rest]), [], []
    place = 0  # in the shape without new dimensions
    for at, one in enumerate(_of_rest(chosen)):
        place += one is not None and at < chosen.place
        shape.append(1 if one is None else next(extents))
        new += [at if at < chosen.place else at + len(chosen.shape)] if one is None else []
    shape[chosen.place : chosen.place] = chosen.shape
    if not chosen.axes:  # booleans without dimensions: all or nothing
        if chosen.shape != (0,):
            window[...] = _fitted(value, a, shape, sorted([*new, chosen.place]))
    else:
        _set(window, chosen._replace(place=place), rest, _fitted(value, a, shape, new))
    if view is None:
        a[tuple(slices)] = window


def _of_rest(chosen: Chosen) -> List[Any]:
    """The slices and None of what is not indexed."""
    axis, found = 0, []
    for one in chosen.window:
        if one is None or axis not in chosen.axes:
            found.append(one)
        axis += one is not None
    return found


def _set(window: Array, chosen: Chosen, rest: Sequence[int], value: Any) -> None:
    """`value`: a number, or an array of the shape of the result, in which the dimensions of the indices are at `chosen.place`."""
    target = on_host(window)
    context, axes, place = target._core.context, chosen.axes, chosen.place
    extents = [target.shape[axis] for axis in axes]
    new = range(place, place + len(chosen.shape))

    def rows(values: Any) -> Any:
        """With the indices, in one sequence, first."""
        first = np.moveaxis(values, new, range(len(new)))
        return first.reshape(-1 if first.size else _size(first.shape[: len(new)]), *first.shape[len(new) :])

    known = not isinstance(value, Array)
    if known and not chosen.is_distributed:
        columns = [one.reshape(-1) for one in all_columns(context, chosen, extents)]
        _elements.write(target, axes, columns, value if np.ndim(value) == 0 else rows(value), True)
    elif not known and rest and has_whole_axes(target.layout, tuple(axes)):
        target, cut = with_whole(target, axes)
        kept = 0 if cut.axis is None else rest.index(cut.axis)
        values = values_of(moved(on_host(value), cut.layout(value.shape, kept if kept < place else kept + len(new))))
        columns = [one.reshape(-1) for one in all_columns(context, chosen, extents)]
        if len(columns[0]) and target.layout.local_size(context.rank):
            np.moveaxis(values_of(target), axes, range(len(axes)))[tuple(columns)] = rows(values)
    else:
        cuts = cuts_of_indices(context, chosen)
        columns = own_columns(context, chosen, extents, cuts)
        if not known:
            value = rows(values_of(moved(on_host(value), layout_of_blocks(value.shape, place, cuts))))
        elif np.ndim(value):
            value = rows(value[(slice(None),) * place + (slice(cuts[context.rank], cuts[context.rank + 1]),)])
        _elements.write(target, axes, columns, value, False)
    _back(target, window)


def _size(shape: Sequence[int]) -> int:
    return int(np.prod(shape, dtype=np.int64))


def _back(target: Array, window: Array) -> None:
    """What was written to a copy, to the array itself."""
    if target is not window and target._core is not window._core:
        there = moved(target, window.layout)
        there = there if window._core.on_host else there.copy(space="device")
        _core.copy(there._core, window._core, None)


# --- functions


@alike
def put(a: Array, ind: Any, v: Any, mode: str = "raise") -> None:
    """Sets the elements at positions in row-major order, as `numpy.put`. Collective, blocking.

    Of equal positions the last one counts.

    Parameters
    ----------
    ind : Array, NumPy array or sequence of int
        The positions, negative ones from the end. What is not a distributed array must be the same on all ranks.
    v : Array, NumPy array, sequence or number
        The values, used repeatedly if there are fewer than positions.
    mode : {'raise', 'wrap', 'clip'}
        What positions out of range are: an error, taken modulo the size, or the nearest position.
    """
    if mode not in take_modes:
        raise ArgumentError(f"put: mode {mode!r}; known: {', '.join(take_modes)}")
    index = np.atleast_1d(ind) if np.ndim(ind) == 0 and not isinstance(ind, Array) else ind
    chosen = of_sequence(as_indices(index))
    count = _size(chosen.shape)
    values = v if isinstance(v, Array) else np.asarray(v) if np.ndim(v) else number_in(v, a)
    if not values.size or not count:
        return
    if isinstance(values, Array):
        values = converted(values, a)
        every = np.arange(count).reshape(chosen.shape) % values.size
        values = ravel(values) if values.shape == chosen.shape and values.ndim == 1 else take(values, every)
    else:
        check_cast(values.dtype, a)
        values = np.resize(values, chosen.shape)
    _put_positions(a, chosen, values, mode)


def _put_positions(a: Array, chosen: Chosen, values: Any, mode: str) -> None:
    """`values`: an array of the shape of the positions."""
    _require_written(a)
    window = a if a.ndim else with_axis(a, 0)
    target = on_host(window)
    context = target._core.context
    cuts = cuts_of_indices(context, chosen)
    (mine,) = own_columns(context, chosen, [target.size], cuts, mode)
    if isinstance(values, Array):
        values = values_of(moved(on_host(values), layout_of_blocks(chosen.shape, 0, cuts)))
    else:
        values = values[cuts[context.rank] : cuts[context.rank + 1]]
    _elements.write(target, range(target.ndim), columns_of(mine, target.shape), values.reshape(-1), False)
    _back(target, window)
    if not a.ndim:  # whose window may be a copy
        _back(without_axis(window, 0), a)


def _require_written(a: Array) -> None:
    if a._read_only:
        raise ArgumentError("the array is read-only, like the memory it was made from")
    settled("put", a)


@alike
def put_along_axis(arr: Array, indices: Any, values: Any, axis: Optional[int]) -> None:
    """Sets the elements of other indices in each line along an axis, as `numpy.put_along_axis`. Collective, blocking.

    Of equal indices the last one counts.

    Parameters
    ----------
    arr : Array
        The array.
    indices : Array or NumPy array
        Indices along the axis, negative ones from the end; its other extents are those of the array, or 1.
    values : Array, NumPy array or number
        The values, which broadcast to the indices.
    axis : int or None
        The axis; None: positions in row-major order.
    """
    _require_written(arr)
    index = as_indices(indices)
    if axis is None:
        chosen = of_sequence(index)
        value = _fitted(values if isinstance(values, Array) else np.asarray(values), arr, index.shape, [])
        _put_positions(arr, chosen, value if isinstance(value, Array) else np.broadcast_to(value, index.shape), "raise")
        return
    setitem(arr, key_along(arr, index, one_axis(axis, arr.ndim)), values)


def key_along(arr: Array, index: Any, axis: int) -> Tuple[Any, ...]:
    """The key for which NumPy's functions of lines along an axis stand."""
    if index.ndim != arr.ndim:
        raise ArgumentError(f"the array has {arr.ndim} dimensions, but indices {index.ndim}")
    mesh: List[Any] = [np.arange(n).reshape([-1 if one == place else 1 for one in range(arr.ndim)]) for place, n in enumerate(arr.shape)]
    mesh[axis] = index
    return tuple(mesh)


__all__ = ["put", "put_along_axis"]
