"""Functions of the standard on arrays, by those of the package. Collective unless the layouts say otherwise."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Tuple, Union, cast

import numpy as np

from .. import _elementwise, _extrema, _joining, _places, _reductions, _scan, _search, _shapes, _sort, _take, _views
from .._array import Array, Axis, axes_of
from .._count import nonzero as _nonzero
from .._errors import ArgumentError
from .._like import full_like
from .._linear import matmul as _matmul
from .._moves import part_of, with_part
from .._products import tensordot as _tensordot
from .._products import vecdot as _vecdot
from .._ufuncs import local_call
from ._scalars import as_array, asarray

# --- reductions: without dimensions where NumPy has numbers


def _reduced(name: str, x: Array, axis: Axis, keepdims: bool, kind: Any, **options: Any) -> Array:
    if axis is not None and not isinstance(axis, (int, np.integer)) and len(axis) == 0:  # no axis at all
        return as_array(getattr(_shapes.reshape(x, (1, *x.shape)), name)(0, **options), x, kind)
    if name in ("mean", "std", "var") and not x.size and (axis is None or x.shape[axes_of(axis, x.ndim)[0]] == 0):
        name, options = "sum", {}
        x = x.sum(axis, keepdims=True) * np.nan if axis is not None else full_like(x, np.nan, shape=(1,) * x.ndim)
    if axis is None and keepdims and x.ndim:
        axis = tuple(range(x.ndim))
    return as_array(getattr(x, name)(axis, keepdims=keepdims and axis is not None, **options), x, kind)


def _sum_dtype(x: Array, dtype: Any) -> Any:
    if dtype is not None:
        return np.dtype(dtype)
    return np.dtype({"i": "int64", "u": "uint64", "b": "int64"}.get(x.dtype.kind, x.dtype.name))


def sum(x: Array, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """The sum."""
    kind = _sum_dtype(x, dtype)
    return _reduced("sum", x, axis, keepdims, kind, dtype=kind)


def prod(x: Array, /, *, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """The product."""
    kind = _sum_dtype(x, dtype)
    return _reduced("prod", x, axis, keepdims, kind, dtype=kind)


def max(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The largest element."""
    return _reduced("max", x, axis, keepdims, x.dtype)


def min(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The smallest element."""
    return _reduced("min", x, axis, keepdims, x.dtype)


def mean(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The mean."""
    return _reduced("mean", x, axis, keepdims, x.dtype)


def std(x: Array, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """The standard deviation."""
    return _reduced("std", x, axis, keepdims, x.dtype, ddof=correction)


def var(x: Array, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """The variance."""
    return _reduced("var", x, axis, keepdims, x.dtype, ddof=correction)


def all(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Whether all elements are not 0."""
    return _reduced("all", x, axis, keepdims, bool)


def any(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Whether any element is not 0."""
    return _reduced("any", x, axis, keepdims, bool)


def count_nonzero(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """How many elements are not 0."""
    return _reduced("sum", cast(Array, np.not_equal(x, 0)), axis, keepdims, np.int64)


def argmax(x: Array, /, *, axis: Optional[int] = None, keepdims: bool = False) -> Array:
    """The index of the largest element."""
    return as_array(_extrema.argmax(x, axis, keepdims=keepdims), x, np.int64)


def argmin(x: Array, /, *, axis: Optional[int] = None, keepdims: bool = False) -> Array:
    """The index of the smallest element."""
    return as_array(_extrema.argmin(x, axis, keepdims=keepdims), x, np.int64)


def cumulative_sum(x: Array, /, *, axis: Optional[int] = None, dtype: Any = None, include_initial: bool = False) -> Array:
    """The sums of the elements up to each."""
    return _scan.cumulative_sum(x, axis=axis, dtype=_sum_dtype(x, dtype), include_initial=include_initial)


def cumulative_prod(x: Array, /, *, axis: Optional[int] = None, dtype: Any = None, include_initial: bool = False) -> Array:
    """The products of the elements up to each."""
    return _scan.cumulative_prod(x, axis=axis, dtype=_sum_dtype(x, dtype), include_initial=include_initial)


def diff(x: Array, /, n: int = 1, axis: int = -1, *, prepend: Optional[Array] = None, append: Optional[Array] = None) -> Array:
    """Differences of neighbours along an axis."""
    return _scan.diff(x, n, axis, prepend, append)


# --- elements


def clip(x: Array, /, min: Any = None, max: Any = None) -> Array:
    """Elements limited to an interval, in the dtype of the array. Local if the layouts and the dtypes are equal."""
    found = _elementwise.clip(x, min, max)
    return found if found.dtype == x.dtype else found.astype(x.dtype)


def where(condition: Array, x1: Any = None, x2: Any = None, /) -> Any:
    """Elements of x1 where the condition is true, of x2 elsewhere. Local if the layouts are equal.

    Without x1 and x2 the indices where the condition is true: collective, blocking.
    """
    return _elementwise.where(condition, x1, x2)


def round(x: Array, /) -> Array:
    """Elements rounded to integers, halves to even. Local; of integers, which are copied, collective."""
    return _elementwise.round(x) if x.dtype.kind in "fc" else x.copy()


def signbit(x: Array, /) -> Array:
    """Whether the sign is set."""
    return cast(Array, np.signbit(x))


def sign(x: Array, /) -> Array:
    """-1, 0 or 1; of complex numbers x / |x|."""
    return cast(Array, local_call("sign", np.sign, [x]))


def real(x: Array, /) -> Array:
    """The real part."""
    return x.real


def imag(x: Array, /) -> Array:
    """The imaginary part."""
    return x.imag


def conj(x: Array, /) -> Array:
    """The complex conjugate."""
    return x.conj()


# --- shapes


def broadcast_to(x: Array, /, shape: Sequence[int]) -> Array:
    """The array repeated along new dimensions and those of extent 1."""
    return _places.broadcast_to(x, shape)


def broadcast_arrays(*arrays: Array) -> Tuple[Array, ...]:
    """The arrays in their common shape."""
    shape = broadcast_shapes(*(one.shape for one in arrays))
    return tuple(one if one.shape == shape else _places.broadcast_to(one, shape) for one in arrays)


def broadcast_shapes(*shapes: Tuple[int, ...]) -> Tuple[int, ...]:
    """The common shape. Local; ArgumentError if there is none."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise ArgumentError(f"broadcast_shapes: {', '.join(map(str, shapes))} have no common shape") from None


def concat(arrays: Sequence[Array], /, *, axis: Optional[int] = 0) -> Array:
    """Arrays one after the other."""
    return _joining.concatenate(arrays, axis)


def stack(arrays: Sequence[Array], /, *, axis: int = 0) -> Array:
    """Arrays along a new axis."""
    return _joining.stack(arrays, axis)


def expand_dims(x: Array, /, axis: Union[int, Tuple[int, ...]] = 0) -> Array:
    """With dimensions of extent 1."""
    return _views.expand_dims(x, axis)


def squeeze(x: Array, /, axis: Union[int, Tuple[int, ...]]) -> Array:
    """Without dimensions of extent 1."""
    return _views.squeeze(x, axis)


def flip(x: Array, /, *, axis: Axis = None) -> Array:
    """Elements in the opposite order."""
    return _places.flip(x, axis)


def moveaxis(x: Array, source: Any, destination: Any, /) -> Array:
    """Dimensions at other places."""
    return _shapes.moveaxis(x, source, destination)


def permute_dims(x: Array, /, axes: Tuple[int, ...]) -> Array:
    """Dimensions in another order."""
    return _shapes.permute_dims(x, axes)


def repeat(x: Array, repeats: Any, /, *, axis: Optional[int] = None) -> Array:
    """Each element several times."""
    return _places.repeat(x, repeats.gather(space="host") if isinstance(repeats, Array) else repeats, axis)


def reshape(x: Array, /, shape: Tuple[int, ...], *, copy: Optional[bool] = None) -> Array:
    """The elements in another shape."""
    found = _shapes.reshape(x, shape)
    return found.copy() if copy else found


def roll(x: Array, /, shift: Any, *, axis: Any = None) -> Array:
    """Elements moved along axes."""
    return _places.roll(x, shift, axis)


def tile(x: Array, repetitions: Tuple[int, ...], /) -> Array:
    """The array repeated along each axis."""
    return _places.tile(x, repetitions) if len(repetitions) else x.copy()


# --- searching and sorting


def nonzero(x: Array, /) -> Tuple[Array, ...]:
    """The indices of the elements that are not 0."""
    return _nonzero(x)


def searchsorted(x1: Array, x2: Any, /, *, side: str = "left", sorter: Optional[Array] = None) -> Array:
    """Where x2 would be inserted into x1."""
    given = x1 if sorter is None else _take.take(x1, sorter, 0)
    return as_array(_search.searchsorted(given, asarray(x2), side), x1, np.int64)


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Array:
    """Which elements of x1 are among those of x2."""
    return _search.isin(asarray(x1), x2, invert=invert)


def sort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The elements in increasing order."""
    return _sort.sort(x, axis, descending=descending)


def argsort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The indices that sort the array."""
    return _sort.argsort(x, axis, descending=descending)


def take(x: Array, indices: Array, /, *, axis: Optional[int] = None) -> Array:
    """The elements of indices."""
    return _take.take(x, indices, 0 if axis is None else axis)


def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Array:
    """The elements of indices of each line."""
    return _take.take_along_axis(x, indices, axis)


# --- products


def matmul(x1: Array, x2: Array, /) -> Array:
    """The matrix product, in the common dtype."""
    dtype = np.result_type(x1.dtype, x2.dtype)
    found = _matmul(x1, x2)
    return found if found.dtype == dtype else with_part(found, found.layout, part_of(found).astype(dtype))


def matrix_transpose(x: Array, /) -> Array:
    """The last two dimensions exchanged."""
    return _shapes.matrix_transpose(x)


def tensordot(x1: Array, x2: Array, /, *, axes: Any = 2) -> Array:
    """The sums of products over some axes."""
    return as_array(_tensordot(x1, x2, axes), x1, np.result_type(x1.dtype, x2.dtype))


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """The sums of conj(x1) x2 along an axis."""
    return as_array(_vecdot(x1, x2, axis=axis), x1, np.result_type(x1.dtype, x2.dtype))
