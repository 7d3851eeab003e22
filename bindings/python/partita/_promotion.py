"""Products of any dtypes and leading dimensions: NumPy's common dtype, exact integers, broadcast batches."""

from __future__ import annotations

from typing import Any, Callable, Tuple, cast

import numpy as np

from . import _core
from ._array import Array
from ._errors import ArgumentError
from ._moves import part_of, settled, with_part
from ._packages import seen_by
from ._places import broadcast_to
from ._views import with_axis, without_axis

#: What the library multiplies, if both operands have it.
_native = {"float16", "bfloat16", "float32", "float64", "complex64", "complex128", "int8", "float8_e4m3fn", "float8_e5m2"}
#: Below it all integers are numbers of double precision.
_exact = 2**53


def is_native(a: Array, b: Array) -> bool:
    """Whether the library multiplies them as they are. (Of 8-bit floating-point numbers it multiplies the two kinds, too.)"""
    mine, other = a._core.dtype, b._core.dtype
    alike = mine == other or (mine.startswith("float8") and other.startswith("float8"))
    return alike and mine in _native and (a.ndim <= 2 or b.ndim <= 2 or a.shape[:-2] == b.shape[:-2])


def promoted(name: str, a: Array, b: Array) -> Tuple[Array, Array]:
    """Both in NumPy's common dtype."""
    settled(name, a), settled(name, b)
    if a._core.dtype == b._core.dtype:
        return a, b
    dtype = np.result_type(a.dtype, b.dtype)
    return (a if a.dtype == dtype else a.astype(dtype)), (b if b.dtype == dtype else b.astype(dtype))


def product(a: Array, b: Array, multiply: Callable[[Array, Array], Array]) -> Array:
    """a @ b, of any dtypes and leading dimensions that broadcast; `multiply` is for what the library multiplies. Collective, blocking."""
    settled("matmul", a), settled("matmul", b)
    if a.ndim and b.ndim and a.shape[-1] != b.shape[-2 if b.ndim > 1 else 0]:
        raise ArgumentError(
            f"cannot multiply arrays of the shapes {a.shape} and {b.shape}: the last extent of the first differs from the number of rows of the second"
        )
    if not a.ndim or not b.ndim:
        raise ArgumentError(f"cannot multiply arrays of the shapes {a.shape} and {b.shape}: each must have a dimension; use *")
    a, b, leading = _batched(a, b)
    dtype = np.result_type(a.dtype, b.dtype)
    if a._core.dtype == b._core.dtype == "int8" or dtype.kind not in "biu":
        found = multiply(*promoted("matmul", a, b))
    else:
        found = _of_integers(a, b, dtype, multiply)
    for _ in range(leading):
        found = with_axis(found, 0)
    return found


def _batched(a: Array, b: Array) -> Tuple[Array, Array, int]:
    """With equal leading dimensions, or none, and how many of extent 1 are to be added to the result."""
    if a.ndim <= 2 or b.ndim <= 2 or a.shape[:-2] == b.shape[:-2]:
        return a, b, 0
    shape = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    for one, other in ((a, b), (b, a)):
        if set(one.shape[:-2]) == {1}:  # the same matrix for all
            while one.ndim > 2:
                one = without_axis(one, 0)
            return (one, other, len(shape) + 2 - other.ndim) if other is b else (other, one, len(shape) + 2 - other.ndim)
    return broadcast_to(a, (*shape, *a.shape[-2:])), broadcast_to(b, (*shape, *b.shape[-2:])), 0


def _of_integers(a: Array, b: Array, dtype: "np.dtype[Any]", multiply: Callable[[Array, Array], Array]) -> Array:
    """By products in double precision where these are exact, else by products of local parts."""
    if dtype.kind == "b" or a.shape[-1] * _largest(a) * _largest(b) < _exact:
        found = multiply(a.astype("float64"), b.astype("float64"))
        if not found._core.on_host:
            return found.astype("int64").astype(dtype) if dtype.kind != "b" else cast(Array, np.not_equal(found, 0))
        values = seen_by("numpy", found._core)
        return with_part(found, found.layout, (values.astype(np.int64) if dtype.kind != "b" else values != 0).astype(dtype))
    return _of_local_rows(a.astype(dtype), b.astype(dtype))


def _largest(a: Array) -> int:
    """A bound of the absolute values."""
    if a.dtype.itemsize <= 2 or not a.size:
        return 1 << 8 * a.dtype.itemsize
    return int(max(abs(a.max()), abs(a.min())))


def _of_local_rows(a: Array, b: Array) -> Array:
    """Each rank multiplies its rows of a and all of b."""
    if a.ndim == 1:
        found = _of_local_rows(with_axis(a, 0), b)
        return without_axis(found, found.ndim - 1 if b.ndim == 1 else found.ndim - 2)
    if b.ndim == 1:
        found = _of_local_rows(a, with_axis(b, 1))
        return without_axis(found, found.ndim - 1)
    if not a._core.on_host:
        return _of_local_rows(a.copy(space="host"), b.copy(space="host")).copy(space="device")
    shape = (*(a.shape[:-2] or b.shape[:-2]), a.shape[-2], b.shape[-1])
    layout = _core.Layout(_core.Slab(len(shape) - 2), shape, a._core.context.size)
    rows, whole = a.redistribute(_core.Slab(a.ndim - 2)), b.redistribute(_core.Replicated())
    part = np.empty(layout.local_shape(a._core.context.rank), a.dtype)
    if part.size:
        np.matmul(part_of(rows), part_of(whole), out=part)
    return with_part(a, layout, part)
