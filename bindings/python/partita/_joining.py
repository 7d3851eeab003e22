"""Several arrays made one, and one divided."""

from __future__ import annotations

import operator
from typing import Any, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._agreement import alike
from ._array import Array, axes_of, core_given, require_one_context
from ._dtypes import dtype_name
from ._errors import ArgumentError
from ._layouts import cut_of, laid_out
from ._moves import part_of, settled, with_part
from ._redistribute import redistribute
from ._replicas import replicas
from ._views import expand_dims, with_axis, without_axis

Arrays = Sequence[Any]


def _list(name: str, arrays: Any) -> List[Array]:
    found = replicas(name, [arrays[i] for i in range(arrays.shape[0])] if isinstance(arrays, Array) else list(arrays))
    if not found:
        raise ArgumentError(f"{name}: expected at least one array")
    for one in found:
        core_given(one)
    require_one_context(name, *found)
    return [settled(name, one) for one in found]


@alike
def concatenate(arrays: Arrays, axis: Optional[int] = 0, *, dtype: Any = None) -> Array:
    """Arrays one after the other along an axis. Collective, blocking; nothing moves if the axis is not distributed and the layouts suit.

    Parameters
    ----------
    arrays : sequence of Array
        Equal extents along the other axes; NumPy arrays that are the same on all ranks may be among them.
    axis : int, optional
        None: in row-major order.
    dtype : dtype, optional
        Of the result; unset: NumPy's common dtype.

    Returns
    -------
    Array
        With the distribution of the first array.
    """
    from ._shapes import ravel

    given = _list("concatenate", arrays)
    if axis is None:
        given, axis = [ravel(one) for one in given], 0
    first, along = given[0], axes_of(axis, given[0].ndim)[0]
    for place, one in enumerate(given):
        if one.ndim != first.ndim or any(a != b for axis_, (a, b) in enumerate(zip(one.shape, first.shape)) if axis_ != along):
            raise ArgumentError(f"concatenate: array {place} has shape {one.shape}, array 0 {first.shape}; only the extents along axis {along} may differ")
    wanted = np.result_type(*(one.dtype for one in given)) if dtype is None else dtype
    given = [one if one.dtype == wanted else one.astype(wanted) for one in given]
    shape = tuple(sum(one.shape[along] for one in given) if axis_ == along else n for axis_, n in enumerate(first.shape))
    found = _joined_locally(given, shape, along)
    return found if found is not None else _joined(given, shape, along)


def _joined_locally(given: List[Array], shape: Tuple[int, ...], along: int) -> Optional[Array]:
    """The result of local concatenation, if each rank has whole lines along the axis at the same other indices."""
    layout = laid_out(given[0].layout, shape)
    whole = all(layout.local_shape(rank)[along] == shape[along] or 0 in layout.local_shape(rank) for rank in range(layout.ranks))
    if not whole or not all(one._core.on_host and laid_out(layout, one.shape).equivalent(one.layout) for one in given):
        return None
    mine = layout.local_shape(given[0]._core.context.rank)
    parts = [part for part in map(part_of, given) if part.size]
    return with_part(given[0], layout, np.concatenate(parts, along) if parts else np.empty(mine, given[0].dtype))


def _joined(given: List[Array], shape: Tuple[int, ...], along: int) -> Array:
    """Written into windows of a new array."""
    first = given[0]
    layout = laid_out(first.layout, shape)
    space = "host" if first._core.on_host else "device"
    made = Array(_core.empty_like_layout(first._core.context, layout, dtype_name(first._core.dtype), "C", True, space), first._package)
    start = 0
    for one in given:
        if one.size:
            lower = tuple(start if axis == along else 0 for axis in range(len(shape)))
            redistribute(one, made._seen_as(made._core.window(lower, one.shape)))
        start += one.shape[along]
    return made


@alike
def stack(arrays: Arrays, axis: int = 0, *, dtype: Any = None) -> Array:
    """Arrays of equal shapes along a new axis. Collective, blocking.

    Parameters
    ----------
    arrays : sequence of Array
        Of equal shapes.
    axis : int
        Where the new axis is in the result.
    dtype : dtype, optional
        Of the result; unset: NumPy's common dtype.
    """
    given = _list("stack", arrays)
    if len({one.shape for one in given}) != 1:
        raise ArgumentError(f"stack: the shapes differ: {', '.join(str(one.shape) for one in given)}")
    return concatenate([expand_dims(one, axis) for one in given], axes_of(axis, given[0].ndim + 1)[0], dtype=dtype)


def _raised(name: str, arrays: Any, dimensions: int, last: bool = False) -> List[Array]:
    """With at least so many dimensions."""
    found = []
    for one in _list(name, arrays):
        while one.ndim < dimensions:
            one = with_axis(one, one.ndim if last and one.ndim else 0)
        found.append(one)
    return found


@alike
def vstack(tup: Arrays) -> Array:
    """Arrays one below the other; a vector is a row. Collective, blocking.

    Parameters
    ----------
    tup : sequence of Array
        The arrays.
    """
    return concatenate(_raised("vstack", tup, 2), 0)


@alike
def hstack(tup: Arrays) -> Array:
    """Arrays next to each other; vectors one after the other. Collective, blocking.

    Parameters
    ----------
    tup : sequence of Array
        The arrays.
    """
    given = _raised("hstack", tup, 1)
    return concatenate(given, 0 if given[0].ndim == 1 else 1)


@alike
def dstack(tup: Arrays) -> Array:
    """Arrays along the third axis. Collective, blocking.

    Parameters
    ----------
    tup : sequence of Array
        The arrays.
    """
    return concatenate([one if one.ndim > 2 else with_axis(one, 2) for one in _raised("dstack", tup, 2)], 2)


@alike
def column_stack(tup: Arrays) -> Array:
    """Vectors as the columns of a matrix. Collective, blocking.

    Parameters
    ----------
    tup : sequence of Array
        Vectors and matrices.
    """
    return concatenate(_raised("column_stack", tup, 2, last=True), 1)


@alike
def append(arr: Array, values: Any, axis: Optional[int] = None) -> Array:
    """Elements after those of an array, as `numpy.append`. Collective, blocking; see `concatenate`.

    Parameters
    ----------
    arr : Array
        The array.
    values : Array, or what NumPy makes an array of
        The elements.
    axis : int, optional
        The axis; unset: both in one dimension, in row-major order.
    """
    return concatenate([arr, values if isinstance(values, Array) else np.asarray(values)], axis)


Sections = Union[int, Sequence[int]]


def array_split(ary: Array, indices_or_sections: Sections, axis: int = 0) -> List[Array]:
    """Windows, which share memory, of nearly equal extents. Local.

    Parameters
    ----------
    ary : Array
        The array.
    indices_or_sections : int or sequence of int
        How many, or where to cut.
    axis : int
        The axis that is divided.
    """
    along = axes_of(axis, settled("array_split", ary).ndim)[0]
    extent = ary.shape[along]
    if isinstance(indices_or_sections, (int, np.integer)):
        count = operator.index(indices_or_sections)
        if count <= 0:
            raise ArgumentError(f"array_split: {count} sections; expected at least one")
        cuts = [cut_of(extent, count, part) for part in range(count + 1)]
    else:
        cuts = [0, *(operator.index(one) for one in indices_or_sections), extent]
    return [ary[(slice(None),) * along + (slice(a, b),)] for a, b in zip(cuts, cuts[1:])]


def split(ary: Array, indices_or_sections: Sections, axis: int = 0) -> List[Array]:
    """Windows, which share memory, of equal extents. Local.

    Parameters
    ----------
    ary : Array
        The array.
    indices_or_sections : int or sequence of int
        How many, or where to cut.
    axis : int
        The axis that is divided.
    """
    along = axes_of(axis, settled("split", ary).ndim)[0]
    if isinstance(indices_or_sections, (int, np.integer)) and (indices_or_sections <= 0 or ary.shape[along] % indices_or_sections):
        raise ArgumentError(f"split: {ary.shape[along]} elements cannot be divided into {indices_or_sections} equal parts; use array_split")
    return array_split(ary, indices_or_sections, axis)


def hsplit(ary: Array, indices_or_sections: Sections) -> List[Array]:
    """Groups of columns, which share memory; of a vector, groups of elements. Local.

    Parameters
    ----------
    ary : Array
        The array.
    indices_or_sections : int or sequence of int
        How many, or where to cut.
    """
    return split(ary, indices_or_sections, 1 if settled("hsplit", ary).ndim > 1 else 0)


def vsplit(ary: Array, indices_or_sections: Sections) -> List[Array]:
    """Groups of rows, which share memory. Local.

    Parameters
    ----------
    ary : Array
        At least two dimensions.
    indices_or_sections : int or sequence of int
        How many, or where to cut.
    """
    if settled("vsplit", ary).ndim < 2:
        raise ArgumentError(f"vsplit: expected at least two dimensions, got {ary.ndim}")
    return split(ary, indices_or_sections, 0)


@alike
def unstack(x: Array, /, *, axis: int = 0) -> Tuple[Array, ...]:
    """The arrays of which `stack` makes the array. Collective; shares memory where the distribution has a form without the axis.

    Parameters
    ----------
    x : Array
        The array.
    axis : int
        The axis that is removed.
    """
    along = axes_of(axis, settled("unstack", x).ndim)[0]
    return tuple(without_axis(x[(slice(None),) * along + (slice(i, i + 1),)], along) for i in range(x.shape[along]))


__all__ = [
    "array_split", "column_stack", "concatenate", "dstack", "hsplit", "hstack", "split", "stack", "unstack", "vsplit", "vstack",
]  # fmt: skip
