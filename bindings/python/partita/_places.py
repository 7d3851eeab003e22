"""Elements at other places: broadcast, rolled, flipped, repeated, padded. New arrays, by the distribution of the array."""

from __future__ import annotations

import operator
from typing import Any, List, Optional, Sequence, Union

import numpy as np

from . import _core
from ._agreement import alike
from ._array import Array, axes_of, distinct_axes_of
from ._create import ShapeLike, shape_of
from ._errors import ArgumentError
from ._layouts import is_whole, laid_out
from ._moves import Affine, Map, as_index, listed, part_of, picked, settled, with_part
from ._packages import empty_beside
from ._shapes import AxisLike, ravel, reshape, swapaxes
from ._views import with_axis


def identity(array: Array) -> List[Map]:
    """For `picked`: each dimension as it is."""
    return [Affine(extent) for extent in array.shape]


@alike
def broadcast_to(array: Array, shape: ShapeLike) -> Array:
    """A copy that is repeated along new dimensions and those of extent 1. Collective, blocking.

    Parameters
    ----------
    shape : int or sequence of int
        The shape of the result.
    """
    settled("broadcast_to", array)
    wanted = shape_of(shape)
    extents = (1,) * (len(wanted) - array.ndim) + array.shape
    if len(extents) != len(wanted) or any(mine not in (1, extent) for mine, extent in zip(extents, wanted)):
        raise ArgumentError(f"broadcast_to: an array of shape {array.shape} cannot be broadcast to {wanted}")
    while array.ndim < len(wanted):
        array = with_axis(array, 0)
    layout = None
    if not is_whole(array.layout) and all(array.shape[axis] == 1 or array.shape[axis] == wanted[axis] for axis in range(len(wanted))):
        layout = laid_out(array.layout, wanted)
    return picked(array, [Affine(extent, step=int(mine == extent)) for mine, extent in zip(array.shape, wanted)], layout)


@alike
def roll(a: Array, shift: AxisLike, axis: Optional[AxisLike] = None) -> Array:
    """Elements moved along axes; those past the end reappear at the beginning. Collective, blocking.

    Parameters
    ----------
    shift : int or sequence of int
        By how many places.
    axis : int or sequence of int, optional
        Along which axes; unset: in row-major order, over all.
    """
    settled("roll", a)
    if axis is None:
        return reshape(roll(ravel(a), shift, 0), a.shape) if a.ndim != 1 else roll(a, shift, 0)
    axes, shifts = np.broadcast_arrays(axes_of(axis, a.ndim), shift)
    moved = [0] * a.ndim
    for one, by in zip(axes, shifts):
        moved[one] += operator.index(by)
    return picked(a, [Affine(n, -by % n if n else 0, 1, n) for n, by in zip(a.shape, moved)])


@alike
def flip(m: Array, axis: Optional[AxisLike] = None) -> Array:
    """Elements in the opposite order along axes, in the layout of the array. Collective, blocking.

    ``a[::-1]`` shares memory instead: each rank keeps its elements.

    Parameters
    ----------
    m : Array
        The array.
    axis : int or sequence of int, optional
        The axes; unset: all.
    """
    settled("flip", m)
    axes = range(m.ndim) if axis is None else distinct_axes_of(axis, m.ndim)
    return picked(m, [Affine(n, n - 1, -1) if one in axes and n else Affine(n) for one, n in enumerate(m.shape)])


@alike
def fliplr(m: Array) -> Array:
    """Columns in the opposite order. Collective, blocking; see `flip`.

    Parameters
    ----------
    m : Array
        At least two dimensions.
    """
    return flip(m, 1)


@alike
def flipud(m: Array) -> Array:
    """Rows in the opposite order. Collective, blocking; see `flip`.

    Parameters
    ----------
    m : Array
        At least one dimension.
    """
    return flip(m, 0)


@alike
def rot90(m: Array, k: int = 1, axes: Sequence[int] = (0, 1)) -> Array:
    """The array rotated by 90 degrees in the plane of two axes. Collective, blocking.

    Parameters
    ----------
    m : Array
        At least two dimensions.
    k : int
        How many times.
    axes : sequence of int
        From the first to the second.
    """
    first, second = axes_of(axes, settled("rot90", m).ndim)
    if first == second:
        raise ArgumentError(f"rot90: axes {tuple(axes)}: expected two different axes")
    if k % 4 == 0:
        return m.copy()
    if k % 4 == 2:
        return flip(m, (first, second))
    return swapaxes(flip(m, second if k % 4 == 1 else first), first, second)


@alike
def repeat(a: Array, repeats: Any, axis: Optional[int] = None) -> Array:
    """Each element several times in succession. Collective, blocking.

    Parameters
    ----------
    repeats : int or sequence of int
        How many times, for all or for each index along the axis.
    axis : int, optional
        Unset: in row-major order, over all.
    """
    settled("repeat", a)
    if axis is None:
        return repeat(ravel(a), repeats, 0)
    along, maps = axes_of(axis, a.ndim)[0], identity(a)
    counts, extent = np.asarray(repeats), a.shape[along]
    if counts.size == 1:
        times = operator.index(counts.reshape(())[()])
        if times < 0:
            raise ArgumentError(f"repeat: repeats is {times}, and must not be negative")
        maps[along] = Affine(extent * times, repeats=max(1, times))
    else:
        if counts.shape != (extent,) or (counts < 0).any():
            raise ArgumentError(f"repeat: repeats: expected {extent} numbers that are not negative, one per index along axis {along}")
        maps[along] = listed(np.repeat(np.arange(extent), counts))
    return picked(a, maps)


@alike
def tile(A: Array, reps: Union[int, Sequence[int]]) -> Array:
    """The array repeated along each axis. Collective, blocking.

    Parameters
    ----------
    A : Array
        The array.
    reps : int or sequence of int
        How many times, for the last axes.
    """
    settled("tile", A)
    times = shape_of(reps)
    if any(one < 0 for one in times):
        raise ArgumentError(f"tile: reps {times}: expected numbers that are not negative")
    while A.ndim < len(times):
        A = with_axis(A, 0)
    times = (1,) * (A.ndim - len(times)) + times
    return picked(A, [Affine(n * by, modulus=n) for n, by in zip(A.shape, times)])


_padded = ("edge", "reflect", "symmetric", "wrap")


@alike
def pad(array: Array, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0) -> Array:
    """The array with more elements around it. Collective, blocking.

    Parameters
    ----------
    pad_width : int or sequence
        How many at each side: one number, (before, after), or one such pair per axis.
    mode : {'constant', 'edge', 'empty', 'reflect', 'symmetric', 'wrap'}
        What they are; see numpy.pad.
    constant_values : number or sequence
        The values of the new elements, for the mode 'constant': one number, (before, after), or one such pair per axis.
    """
    settled("pad", array)
    widths = [(int(a), int(b)) for a, b in np.broadcast_to(np.asarray(pad_width), (array.ndim, 2))]
    if any(one < 0 for pair in widths for one in pair):
        raise ArgumentError(f"pad: pad_width {pad_width}: expected numbers that are not negative")
    if mode in _padded:
        return picked(array, [listed(np.pad(np.arange(n), pair, mode)) for n, pair in zip(array.shape, widths)])  # type: ignore[call-overload]
    if mode not in ("constant", "empty"):
        raise ArgumentError(f"pad: mode {mode!r}: supported are 'constant', 'empty', {', '.join(map(repr, _padded))}")
    if array.size:
        found = picked(array, [listed(np.clip(np.arange(-a, n + b), 0, max(0, n - 1))) for n, (a, b) in zip(array.shape, widths)])
    else:
        found = new_like(array, laid_out(array.layout, tuple(n + sum(pair) for n, pair in zip(array.shape, widths))), 0)
    values = np.broadcast_to(np.asarray(constant_values), (array.ndim, 2)) if mode == "constant" else ()
    for axis, pair in enumerate(values):
        places = found.indices(axis) - widths[axis][0]
        for outside, value in zip((places < 0, places >= array.shape[axis]), pair):
            _fill(found, axis, np.flatnonzero(outside), value.item())
    return found


def _fill(array: Array, axis: int, places: Any, value: Any) -> None:
    """Indices of the local part along an axis."""
    if len(places):
        part = part_of(array)
        part[(slice(None),) * axis + (as_index(part, places),)] = value


def new_like(array: Array, layout: _core.Layout, value: Any) -> Array:
    """An array of the dtype, package and space of `array`, filled. Nothing is communicated."""
    part = empty_beside(part_of(array), layout.local_shape(array._core.context.rank))
    part[...] = value
    return with_part(array, layout, part)


__all__ = ["broadcast_to", "flip", "fliplr", "flipud", "pad", "repeat", "roll", "rot90", "tile"]
