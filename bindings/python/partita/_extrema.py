"""Where the largest and smallest elements are."""

from __future__ import annotations

import functools
import math
from typing import Any, Optional, Sequence, Tuple, cast

import numpy as np

from . import _core
from ._agreement import alike
from ._array import Array, axes_of
from ._axes import finished, has_whole_axes, moved, on_host, values_of, wrapped
from ._errors import ArgumentError
from ._exchange import total
from ._layouts import laid_out
from ._masked import count_of, readable
from ._moves import part_of, settled, with_part
from ._reductions import refuse_out
from ._views import without_axis


@alike
def argmax(a: Array, axis: Optional[int] = None, out: None = None, *, keepdims: bool = False) -> Any:
    """The index of the largest element, the first of several, or of the first NaN. Collective, blocking.

    Parameters
    ----------
    axis : int, optional
        The axis that is reduced; unset: the index is that of the elements in row-major order.

    Returns
    -------
    int or Array
        A number on every rank if `axis` is None, else an array of int64.
    """
    refuse_out("argmax", out)
    return extreme("argmax", a, axis, keepdims)


@alike
def argmin(a: Array, axis: Optional[int] = None, out: None = None, *, keepdims: bool = False) -> Any:
    """The index of the smallest element, the first of several, or of the first NaN. Collective, blocking; see `argmax`.

    Parameters
    ----------
    axis : int, optional
        The axis that is reduced; unset: the index is that of the elements in row-major order.
    """
    refuse_out("argmin", out)
    return extreme("argmin", a, axis, keepdims)


def extreme(name: str, a: Array, axis: Optional[int], keepdims: bool) -> Any:
    settled(name, a)
    if count_of(a, axis) == 0:
        raise ArgumentError(f"{name}: the array {a.shape} has no elements{'' if axis is None else ' along the axis'}")
    on_device = not a._core.on_host
    if on_device and a.dtype.kind == "c":  # which the library does not order
        found = extreme(name, on_host(a), axis, keepdims)
        return finished(a, found) if isinstance(found, Array) else found
    if axis is None or a.ndim == 1:
        number = _position_on_device(name, a) if on_device else _position(name, a)
        return number if axis is None and not keepdims else _of_number(number, a, (1,) * a.ndim if keepdims else ())
    along = axes_of(axis, a.ndim)[0]
    if on_device:
        return Array(_core.places_along(a._core, along, name == "argmin", keepdims), a._package)
    largest, layout = name == "argmax", with_one_index(a.layout, along)
    if layout is not None:
        local = layout.local_shape(a._core.context.rank)
        found = wrapped(a, layout, np.empty(local, np.int64) if 0 in local else _places(a, along, largest))
    elif a.dtype.kind != "c" and has_whole_axes(a.layout, tuple(one for one in range(a.ndim) if one != along)):
        places = _among_ranks(a, along, largest)
        found = wrapped(a, _core.Layout(_core.Replicated(), places.shape, a.layout.ranks), places)
    else:
        return _by_minimum(a, _at_extreme(name, a, along), along, keepdims)
    return found if keepdims else without_axis(found, along)


def _at_extreme(name: str, a: Array, along: int) -> Array:
    """Where the elements are the largest or smallest of the axis, or NaN."""
    best: Any = readable(a, (a.max if name == "argmax" else a.min)(along, keepdims=True))
    found: Any = np.equal(a, best)
    return cast(Array, np.logical_or(found, np.isnan(a)) if a.dtype.kind in "fc" else found)


@alike
def extreme_of_complex(a: Array, reduction: str, axes: Sequence[int], keepdims: bool) -> Array:
    """The largest or smallest complex numbers of these axes; NaN where an element is. Collective: two reductions."""
    given = on_host(a)
    if count_of(given, tuple(axes)) == 0:
        raise ArgumentError(f"{reduction}: the array {a.shape} has no elements along the axes")
    if not axes:
        return a.copy()
    real: Any = np.where(np.isnan(given), math.nan, given.real)
    best = getattr(real, reduction)(tuple(axes), keepdims=True)
    behind: Any = np.where(np.equal(real, readable(real, best)), given.imag, -math.inf if reduction == "max" else math.inf)
    second = moved(getattr(behind, reduction)(tuple(axes), keepdims=True), best.layout)
    part = np.empty(values_of(best).shape, a.dtype)
    part.real, part.imag = values_of(best), np.where(np.isnan(values_of(best)), math.nan, values_of(second))
    found = wrapped(a, best.layout, part)
    for axis in () if keepdims else sorted(axes, reverse=True):
        found = without_axis(found, axis)
    return found


@functools.lru_cache(maxsize=256)
def with_one_index(layout: _core.Layout, along: int) -> Optional[_core.Layout]:
    """That of an array with one index of an axis that each rank has completely; None if it is divided, or no rule describes the layout."""
    if not has_whole_axes(layout, (along,)):
        return None
    found = laid_out(layout, (*layout.shape[:along], 1, *layout.shape[along + 1 :]))
    sizes = (layout.local_size(rank) == found.local_size(rank) * layout.shape[along] for rank in range(layout.ranks))
    return found if layout.reads_locally(found) and all(sizes) else None


def _places(given: Array, along: int, largest: bool) -> Any:
    """NumPy's positions in the local part, which has elements."""
    part = part_of(given)
    return np.expand_dims(part.argmax(along) if largest else part.argmin(along), along)


def _among_ranks(given: Array, along: int, largest: bool) -> Any:
    """The positions along an axis that is divided among ranks, on every rank, which has the other axes completely: two reductions."""
    context, extent, part = given._core.context, given.shape[along], part_of(given)
    if part.dtype == np.bool_:
        part = part.view(np.uint8)
    limits: Any = np.iinfo(part.dtype) if part.dtype.kind in "iu" else None
    ends = (-math.inf, math.inf) if limits is None else (limits.min, limits.max)
    shape = (*given.shape[:along], 1, *given.shape[along + 1 :])
    values, indices = np.full(shape, ends[0 if largest else 1], part.dtype), np.full(shape, extent, np.int64)
    if 0 not in part.shape:
        places = _places(given, along, largest)
        values, indices = np.take_along_axis(part, places, along), given.indices(along)[places]
    best = total(context, values, "max" if largest else "min")
    return total(context, np.where((values == best) | (values != values), indices, extent), "min")


def _by_minimum(a: Array, at_extreme: Array, along: int, keepdims: bool) -> Array:
    """The smallest of the indices at which a mask of the array is true."""
    part = part_of(at_extreme)
    indices = a.indices(along).reshape([-1 if one == along else 1 for one in range(a.ndim)])
    places = np.where(part, indices, a.shape[along]) if 0 not in part.shape else np.empty(part.shape, np.int64)
    return cast(Array, with_part(at_extreme, a.layout, places).min(along, keepdims=keepdims))


def _of_number(number: int, a: Array, shape: Tuple[int, ...]) -> Array:
    layout = _core.Layout(_core.Replicated(), shape, a._core.context.size)
    return wrapped(a, layout, np.full(shape, number, np.int64))


def _position(name: str, a: Array) -> int:
    """The position in row-major order, by one all-gather of a value and a position of each rank."""
    core, part = a._core, part_of(a)
    mine = np.full(3, -1)  # the position, and the value in 16 bytes
    if 0 not in part.shape:
        flat = part.reshape(-1)
        place = int(flat.argmax() if name == "argmax" else flat.argmin())
        mine[0], mine[1:].view(a.dtype)[0] = _global_position(a, part.shape, place), flat[place].item()
    if core.context.size == 1:
        return int(mine[0])
    everyone = np.empty(3 * core.context.size, np.int64)
    _core.all_gather(core.context, mine, everyone, [])
    rows = everyone.reshape(-1, 3)
    rows = rows[rows[:, 0] >= 0]
    values = np.ascontiguousarray(rows[:, 1:]).view(a.dtype)[:, 0]
    best = values[getattr(np, name)(values)]
    equal = (values == best) | (values != values) if best != best else values == best
    return int(rows[equal, 0].min())


def _position_on_device(name: str, a: Array) -> int:
    return int(np.ravel_multi_index(_core.place_of_all(a._core, name == "argmin"), a.shape)) if a.ndim else 0


def _global_position(a: Array, shape: Sequence[int], place: int) -> int:
    """The position among all elements of one at a position in this rank's part, both in row-major order."""
    index = []
    for extent in reversed(shape):
        place, one = divmod(place, extent)
        index.append(one)
    found = 0
    for one, extent in zip(a.layout.to_global(a._core.context.rank, tuple(reversed(index))), a.shape):
        found = found * extent + one
    return found


__all__ = ["argmax", "argmin"]
