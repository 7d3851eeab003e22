"""NumPy's functions of shapes. Views where NumPy has views and the layout of the result can be described; else new arrays."""

from __future__ import annotations

import math
from typing import List, Optional, Sequence, Tuple, Union

from . import _core
from ._agreement import alike
from ._array import Array, axes_of
from ._create import ShapeLike, shape_of
from ._errors import ArgumentError
from ._layouts import Bounds, Shape, box_of, boxes_of, default_layout, flat_boxes, flat_range, is_whole, of_boxes
from ._layouts import regrouped as regrouped_layout
from ._moves import part_of, settled, with_part, with_view

AxisLike = Union[int, Sequence[int]]


# --- reshape


@alike
def reshape(a: Array, shape: ShapeLike, order: str = "C") -> Array:
    """The elements in row-major order, in another shape. Collective, blocking; nothing moves if each rank's elements are contiguous in both.

    Parameters
    ----------
    shape : int or sequence of int
        One extent may be -1, which is inferred.
    order : {'C', 'F'}
        Row-major or column-major order of the elements in both shapes.

    Returns
    -------
    Array
        Each rank has a contiguous range of the elements.
    """
    settled("reshape", a)
    wanted = _inferred(a, shape_of(shape))
    if order == "F":
        return reshape(a.T, wanted[::-1]).T
    if order != "C":
        raise ArgumentError(f"reshape: order: expected 'C' or 'F', got {order!r}")
    if wanted == a.shape:
        return a
    if is_whole(a.layout) or not wanted or not a.shape:
        a = a if is_whole(a.layout) else a.redistribute(_core.Replicated())
        return with_view(a, _core.Layout(_core.Replicated(), wanted, a._core.context.size), part_of(a).reshape(wanted))
    if a.size == 0:
        layout = default_layout(wanted, a._core.context.size)
        return with_part(a, layout, part_of(a).reshape(-1)[:0].reshape(layout.local_shape(a._core.context.rank)))
    line, layout = _ranged(a, wanted)
    return with_view(line, layout, part_of(line).reshape(layout.local_shape(line._core.context.rank)))


def regrouped(a: Array, shape: Sequence[int]) -> Array:
    """As `reshape`, but nothing moves wherever each rank can keep its elements, in whatever order the ranks then have them. Collective."""
    layout = regrouped_layout(a.layout, tuple(shape))
    if layout is None:
        return reshape(a, tuple(shape))
    return with_view(a, layout, part_of(a).reshape(layout.local_shape(a._core.context.rank)))


def _inferred(a: Array, shape: Tuple[int, ...]) -> Shape:
    known = math.prod(extent for extent in shape if extent != -1)
    missing = shape.count(-1)
    if missing == 1 and known:
        shape = tuple(a.size // known if extent == -1 else extent for extent in shape)
    if missing > 1 or math.prod(shape) != a.size or any(extent < 0 for extent in shape):
        raise ArgumentError(f"reshape: an array of shape {a.shape} cannot have shape {shape}")
    return shape


Range = Tuple[int, int]


def _ranges(shape: Shape, boxes: Optional[Sequence[Bounds]]) -> Optional[List[Range]]:
    """Each rank's positions in row-major order; None if they are not contiguous."""
    found = None if boxes is None else [flat_range(shape, one) for one in boxes]
    return None if found is None or None in found else [one for one in found if one is not None]


def _layout_of_ranges(shape: Shape, ranges: Sequence[Range]) -> Optional[_core.Layout]:
    """The layout in which each rank has a range of the positions; None if they are not boxes."""
    boxes = [box_of(shape, one) for one in ranges]
    return None if None in boxes else of_boxes(shape, [one for one in boxes if one is not None])


def _ranged(a: Array, wanted: Shape) -> Tuple[Array, _core.Layout]:
    """The elements in one dimension, where each rank has a range that is a box of the wanted shape, and the layout of the boxes."""
    ranks = a._core.context.size
    ranges, theirs = _ranges(a.shape, boxes_of(a.layout)), _ranges(wanted, flat_boxes(wanted, ranks))
    assert theirs is not None
    if ranges is None:
        layout = _layout_of_ranges(a.shape, theirs)
        ranges = theirs if layout is not None else _ranges(a.shape, flat_boxes(a.shape, ranks))
        assert ranges is not None
        a = a.redistribute(layout or of_boxes(a.shape, flat_boxes(a.shape, ranks)))
    line = with_view(a, _line(a.size, ranges), part_of(a).reshape(-1))
    found = _layout_of_ranges(wanted, ranges)
    if found is not None:
        return line, found
    made = _layout_of_ranges(wanted, theirs)
    assert made is not None
    return line.redistribute(_line(a.size, theirs)), made


def _line(size: int, ranges: Sequence[Range]) -> _core.Layout:
    return of_boxes((size,), [((first,), (last,)) for first, last in ranges])


@alike
def ravel(a: Array, order: str = "C") -> Array:
    """The elements in one dimension; see `reshape`. Collective, blocking.

    Parameters
    ----------
    order : {'C', 'F'}
        Row-major or column-major order of the elements.
    """
    return reshape(a, -1, order)


# --- the order of dimensions; local


def moveaxis(a: Array, source: AxisLike, destination: AxisLike) -> Array:
    """Dimensions at other places; shares memory. Local.

    Parameters
    ----------
    source, destination : int or sequence of int
        Where the dimensions are, and where they are in the result.
    """
    settled("moveaxis", a)
    given, places = axes_of(source, a.ndim), axes_of(destination, a.ndim)
    if len(given) != len(places) or len(set(given)) != len(given) or len(set(places)) != len(places):
        raise ArgumentError(f"moveaxis: source {source} and destination {destination}: expected as many axes, each once")
    order = [axis for axis in range(a.ndim) if axis not in given]
    for place, axis in sorted(zip(places, given)):
        order.insert(place, axis)
    return a.transpose(order)


def swapaxes(a: Array, axis1: int, axis2: int) -> Array:
    """Two dimensions exchanged; shares memory. Local.

    Parameters
    ----------
    axis1, axis2 : int
        The dimensions.
    """
    settled("swapaxes", a)
    first, second = axes_of([axis1, axis2], a.ndim)
    order = list(range(a.ndim))
    order[first], order[second] = second, first
    return a.transpose(order)


def permute_dims(a: Array, axes: Optional[Sequence[int]] = None) -> Array:
    """Dimensions in another order; shares memory. Local.

    Parameters
    ----------
    axes : sequence of int, optional
        Dimension i of the result is dimension axes[i] of the array; unset: the opposite order.
    """
    return settled("permute_dims", a).transpose(axes)


def matrix_transpose(x: Array, /) -> Array:
    """The last two dimensions exchanged; shares memory. Local.

    Parameters
    ----------
    x : Array
        At least two dimensions.
    """
    if settled("matrix_transpose", x).ndim < 2:
        raise ArgumentError(f"matrix_transpose: expected at least two dimensions, got {x.ndim}")
    return swapaxes(x, -1, -2)


__all__ = ["matrix_transpose", "moveaxis", "permute_dims", "ravel", "reshape", "swapaxes"]
