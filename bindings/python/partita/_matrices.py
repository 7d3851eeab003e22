"""Matrices as operands of `partita.linalg`: their dtypes, the streams that have written them, their singular values."""

from __future__ import annotations

import math
from typing import Any, Optional, Tuple

import numpy as np

from . import _core
from ._array import Array, core_given
from ._dtypes import numpy_dtype
from ._errors import ArgumentError
from ._streams import handle_of, settle, stream_of_array

#: What factorizations compute in.
DTYPES = ("float32", "float64", "complex64", "complex128")


def converted(core: _core.Array, dtype: str, stream: Optional[int]) -> _core.Array:
    """In the dtype, if it represents all values of the present one; otherwise as it is, which the library refuses."""
    if core.dtype == dtype or core.dtype.startswith(("bfloat", "float8")):
        return core
    if not np.can_cast(numpy_dtype(core.dtype), numpy_dtype(dtype), "safe"):
        return core
    return _core.astype(core, dtype, "C", True, None, stream)


def _common_dtype(*cores: _core.Array) -> Optional[str]:
    """The dtype that all are converted to; None: the library refuses one of them."""
    names = ["float64" if one.dtype.startswith(("int", "uint", "bool")) else one.dtype for one in cores]
    if any(name not in DTYPES for name in names):
        return None
    return str(np.result_type(*map(numpy_dtype, names)))


def prepared(*arrays: Array, stream: Any = None) -> Tuple[Array, ...]:
    """The arrays in their common dtype, as NumPy converts them."""
    cores = [core_given(one) for one in arrays]
    dtype = _common_dtype(*cores)
    if dtype is None or all(core.dtype == dtype for core in cores):
        return arrays
    return tuple(
        one if core.dtype == dtype else Array(converted(core, dtype, stream_of_array(stream, core, one._package)), one._package)
        for one, core in zip(arrays, cores)
    )


def wait_for(stream: Any, a: Array) -> None:
    """Before a call that takes no stream."""
    handle = None if stream is None else handle_of(stream)
    if handle is None or a._core.on_host:
        settle(a._core, a._package)
    else:
        a._core.context.synchronize(handle)


def settled(a: Array) -> Array:
    """The matrix in a dtype that is computed in, when the stream of its package has written it."""
    (matrix,) = prepared(a)
    wait_for(None, matrix)
    return matrix


def adjoint(a: Array) -> Array:
    """The conjugate transpose of each matrix."""
    axes = [*range(a.ndim - 2), a.ndim - 1, a.ndim - 2]
    conjugate: Any = np.conj
    found: Array = conjugate(Array(a._core.permuted(axes), a._package))
    return found


def norm_word(operation: str, p: Any) -> str:
    """The library's word for the order of a norm."""
    if p not in (1, math.inf):
        raise ArgumentError(f"{operation}: p: expected 1 or inf, got {p!r}")
    return "one" if p == 1 else "infinity"


def real_dtype(a: Array) -> "np.dtype[Any]":
    """Of the parts of the elements, once `prepared`."""
    return np.zeros(0, numpy_dtype(a._core.dtype)).real.dtype


def on_every_rank(values: _core.Array, stream: Any = None) -> "np.ndarray[Any, np.dtype[Any]]":
    """The elements of a small array, in NumPy's."""
    return np.asarray(Array(values).gather(space="host", stream=stream))


def singular_values(a: Array) -> "np.ndarray[Any, np.dtype[Any]]":
    """Of a matrix, descending, on every rank."""
    return on_every_rank(_core.svdvals(settled(a)._core, 0))
