"""Parts in device memory that no other package shows: as much of an array as moving elements takes, by the library's copies.

Everything is put into the context's own stream.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Optional, Sequence, Tuple

import numpy as np

from . import _core
from ._dtypes import numpy_dtype


#: NumPy since 2.1; there is nothing to copy, since the memory is not there.
_reshapes_in_place = np.lib.NumpyVersion(np.__version__) >= "2.1.0"


#: Elements among which bounds of others are looked for.
_samples = 1 << 16


class DevicePart:
    """Elements of this rank in device memory. Keys with several arrays are looked up on the host, for which the elements are copied."""

    __slots__ = ("core",)

    def __init__(self, core: _core.Array) -> None:
        self.core = core  # replicated: all of it is this part

    @classmethod
    def of(cls, core: _core.Array) -> DevicePart:
        """Of an array that is distributed in any way."""
        return cls(_core.seen_as(core, _whole(core, core.local_shape), 0, core.local_strides, False))

    def seen_in(self, layout: _core.Layout, dense: bool, model: _core.Array) -> _core.Array:
        """As this rank's part of an array, a result of `model`: what ranks compute, some of them without elements, may be of other arrays."""
        return _core.seen_as(self.core, layout, 0, self.core.local_strides, dense, model)

    # --- what it is

    @property
    def shape(self) -> Tuple[int, ...]:
        return self.core.local_shape

    @property
    def ndim(self) -> int:
        return len(self.core.local_shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def dtype(self) -> "np.dtype[Any]":
        return numpy_dtype(self.core.dtype)

    @property
    def __cuda_array_interface__(self) -> Any:
        return self.core.__cuda_array_interface__

    # --- views

    def _seen(self, view: Callable[[Any], Any]) -> Optional[DevicePart]:
        """What `view` makes of NumPy's arrays. It sees one with these extents and strides at an address where there is nothing to read."""
        item = self.dtype.itemsize
        strides = tuple(item * one for one in self.core.local_strides)
        here = np.lib.stride_tricks.as_strided(np.empty(1, np.dtype((np.void, item))), self.shape, strides)
        there = view(here)
        if there is None:
            return None
        offset = (there.__array_interface__["data"][0] - here.__array_interface__["data"][0]) // item if there.size else 0
        return DevicePart(_core.seen_as(self.core, _whole(self.core, there.shape), offset, tuple(one // item for one in there.strides), False))

    def reshape(self, *shape: Any) -> DevicePart:
        wanted = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        if wanted == self.shape or (wanted == (-1,) and self.ndim == 1):
            return self

        def view(here: Any) -> Any:
            try:
                if _reshapes_in_place:
                    return np.reshape(here, wanted, copy=False)
                here.shape = wanted
            except (AttributeError, ValueError):  # it would have to be copied
                return None
            return here

        found = self._seen(view)
        if found is None:
            found = self.copy()._seen(view)
        assert found is not None, (self.shape, wanted)
        return found

    def diagonal(self, *which: int) -> DevicePart:
        found = self._seen(lambda here: here.diagonal(*which))
        assert found is not None
        return found

    def moveaxis(self, source: Any, destination: Any) -> DevicePart:
        if source == destination:
            return self
        found = self._seen(lambda here: np.moveaxis(here, source, destination))
        assert found is not None
        return found

    def dense(self) -> DevicePart:
        """The elements in row-major order without gaps: these, or a copy."""
        if not self.size:
            return self.empty(self.shape)
        after = 1
        for extent, stride in zip(self.shape[::-1], self.core.local_strides[::-1]):
            if extent != 1 and stride != after:
                return self.copy()
            after *= extent
        return self

    def __getitem__(self, key: Any) -> DevicePart:
        if _is_advanced(key):
            keys = key if isinstance(key, tuple) else (key,)
            one = [axis for axis, part in enumerate(keys) if not (isinstance(part, slice) and part == slice(None))]
            if len(one) == 1 and isinstance(keys[one[0]], np.ndarray) and keys[one[0]].dtype.kind == "i" and keys[one[0]].ndim == 1:
                return self.taken_along(one[0], self.filled(keys[one[0]], "int64"), "wrap")[0]
            return self.filled(self.on_host()[key])
        keys = key if isinstance(key, tuple) else (key,)
        found = self._seen(lambda here: here[keys if Ellipsis in keys else (*keys, ...)])
        assert found is not None
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        if _is_advanced(key):
            all_ = self.on_host()
            all_[key] = value.on_host() if isinstance(value, DevicePart) else value
            key, value = ..., self.filled(all_)
        target = self[key]
        if not isinstance(value, DevicePart) and np.ndim(value) == 0:
            _core.fill(target.core, value, None)
        else:
            _core.copy((value if isinstance(value, DevicePart) else self.filled(value)).reshape(target.shape).core, target.core, None)

    # --- order

    @property
    def is_sorted_here(self) -> bool:
        """Whether the device sorts elements of the dtype."""
        return not self.core.dtype.startswith(("complex", "float8"))

    def ordered(self, descending: bool = False, order: Optional[DevicePart] = None) -> DevicePart:
        """The elements of one dimension, sorted; where they were is written into `order`, of int64."""
        made = self.empty(self.shape)
        _core.sort_part(self.dense().core, made.core, None if order is None else order.core, descending)
        return made

    def candidates(self, many: int, largest: bool) -> Optional[DevicePart]:
        """Positions, increasing, of a few elements among which the `many` largest or smallest ones are; None if not found. Blocking.

        Those from a bound on that is estimated: an element of a sorted sample.
        """
        step = self.size // _samples
        if step < 16 or many > self.size // 64 or self.dtype.kind not in "iuf" or self.dtype == np.uint64:
            return None
        place = 2 * many // step + 64
        bound = self[::step].ordered(largest)[place : place + 1].on_host().item()
        if largest and self.dtype.kind == "f":  # with NaNs, which are the largest
            found = self.joined("less", bound, "bool").joined("equal", False)
        else:
            found = self.joined("greater_equal" if largest else "less_equal", bound, "bool")
        positions = found.true_positions()
        return positions if many <= positions.size <= self.size // 4 else None

    def distinct(self, equal_nan: bool = True) -> Tuple[Any, Any]:
        """The distinct elements, sorted, and how often each occurs, in NumPy's arrays. Blocking."""
        ordered = self.reshape(-1).ordered()
        after = ordered[1:]
        starts = after.joined("not_equal", ordered[:-1], "bool").true_positions()
        values = np.concatenate([ordered[:1].on_host(), after.taken(starts).on_host()])
        places = np.concatenate([np.zeros(min(1, ordered.size), np.int64), starts.on_host() + 1])
        if equal_nan and values.dtype.kind == "f" and len(values) and np.isnan(values[-1]):
            many = int(np.argmax(np.isnan(values))) + 1  # the NaNs are last
            values, places = values[:many], places[:many]
        return values, np.diff(np.append(places, ordered.size))

    def counted(self, bins: int, edges: Any = None, weights: Optional[DevicePart] = None) -> Any:
        """How many elements are between edges, or without them how often 0, 1, ... occur, in NumPy's array; with weights their sums. Blocking."""
        made = self.empty((bins,), "int64" if weights is None else "float64")
        if not bins:
            return np.empty(0, made.dtype)
        exact = edges is not None and edges.dtype.kind in "iu"
        ends = None if edges is None else self.filled(edges, "int64" if exact and self.dtype.kind in "iu" else "float64").core
        heavy = None if weights is None else weights.converted("float64").dense().core
        _core.count_part(self.dense().core, ends, heavy, made.core, None)
        return made.on_host()

    def places(self, wanted: DevicePart, side: Any) -> DevicePart:
        """As `numpy.searchsorted`, in sorted elements, in whose dtype elements are compared."""
        return self._looked_up(wanted, "int64", side == "right")

    def contains(self, wanted: DevicePart) -> DevicePart:
        """Which of these are among the elements, which are sorted, and in whose dtype they are compared."""
        return self._looked_up(wanted, "bool", False)

    def _looked_up(self, wanted: DevicePart, dtype: str, after: bool) -> DevicePart:
        made = self.empty(wanted.shape, dtype)
        if not (self.dtype == np.float64 or (self.dtype == np.int64 and wanted.dtype.kind != "f" and wanted.dtype != np.uint64)):
            wanted = wanted.converted(self.core.dtype)
        if made.size:
            _core.search_part(self.dense().core, wanted.dense().core, made.core, after)
        return made

    # --- selection

    def gathered(self, axes: Sequence[int], columns: Sequence[Any]) -> DevicePart:
        """The elements at these indices of some axes, with a first axis for the indices, which are 0 or more."""
        rows = self.moveaxis(axes, range(len(axes)))
        extents = rows.shape[: len(axes)]
        places = columns[0] if len(axes) == 1 or not len(columns[0]) else np.ravel_multi_index(tuple(columns), extents)
        return rows.reshape((int(np.prod(extents, dtype=np.int64)), *rows.shape[len(axes) :])).taken(self.filled(places, "int64"))

    def taken_along(self, axis: int, indices: DevicePart, mode: str) -> Tuple[DevicePart, bool]:
        """The elements of indices of int64 along an axis, of one dimension or one for each element, and whether all are in range. Blocking."""
        shape = indices.shape if indices.ndim == self.ndim > 1 else (*self.shape[:axis], indices.size, *self.shape[axis + 1 :])
        made = self.empty(shape)
        rule = "refuse" if mode == "raise" else mode
        return made, _core.take_part(self.dense().core, indices.dense().core, made.core, axis, rule, None)

    def taken(self, rows: DevicePart) -> DevicePart:
        """These rows; positions in device memory."""
        made = self.empty((rows.size, *self.shape[1:]))
        if made.size:
            _core.gather_part(self.dense().core, rows.core, made.core, None)
        return made

    def true_positions(self) -> DevicePart:
        """Of booleans, in row-major order. Blocking."""
        return DevicePart(_core.true_positions(self.dense().core, None))

    def joined(self, function: str, other: Any, dtype: Optional[str] = None) -> DevicePart:
        """The results of one of the library's functions of two operands."""
        made = self.empty(self.shape, dtype)
        if made.size:
            _core.join(function, self.core, other.core if isinstance(other, DevicePart) else other, made.core, None)
        return made

    # --- copies

    def empty(self, shape: Tuple[int, ...], dtype: Optional[str] = None) -> DevicePart:
        """New memory, by default of the same dtype."""
        return DevicePart(_core.empty_beside(self.core, _whole(self.core, shape), dtype or self.core.dtype))

    def copy(self) -> DevicePart:
        made = self.empty(self.shape)
        _core.copy(self.core, made.core, None)
        return made

    def converted(self, dtype: str) -> DevicePart:
        """In another dtype: these elements, or a copy."""
        if self.core.dtype == dtype:
            return self
        made = self.empty(self.shape, dtype)
        if made.size:
            _core.convert(self.core, made.core, None)
        return made

    def on_host(self) -> Any:
        """The elements as an array of NumPy's. Blocking."""
        made = np.empty(self.shape, self.dtype)
        _core.copy(self.core, _core.wrap_like(self.core.context, self.core.layout, made), None)
        return made

    def filled(self, values: Any, dtype: Optional[str] = None) -> DevicePart:
        """New memory with the elements of an array of NumPy's, by default of the same dtype. Blocking."""
        values = np.asarray(values, self.dtype if dtype is None else dtype, order="C")
        made = self.empty(values.shape, dtype)
        _core.copy(_core.wrap_like(self.core.context, made.core.layout, values), made.core, None)
        return made


def _whole(core: _core.Array, shape: Tuple[int, ...]) -> _core.Layout:
    return _core.Layout(_core.Replicated(), shape, core.context.size)


def _is_advanced(key: Any) -> bool:
    return any(not (one is None or one is Ellipsis or isinstance(one, (slice, int, np.integer))) for one in (key if isinstance(key, tuple) else (key,)))
