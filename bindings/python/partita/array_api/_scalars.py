"""Arrays of numbers: results without dimensions, and operands of any kind."""

from __future__ import annotations

from typing import Any, Callable, Optional, cast

import numpy as np

from .. import _core
from .._array import Array
from .._default import fitting, required_default
from .._errors import ArgumentError
from .._replicas import require_equal


def on_every_rank(context: Any, numbers: Any, dtype: Any) -> Array:
    """A number, or a NumPy array that is equal on all ranks, as an array that every rank has."""
    values = np.array(numbers, dtype, order="C")
    return Array(_core.wrap_like(context, _core.Layout(_core.Replicated(), values.shape, context.size), values))


def as_array(found: Any, like: Array, dtype: Any) -> Array:
    """A result of a reduction: numbers as an array, of this dtype."""
    if not isinstance(found, Array):
        return on_every_rank(like._core.context, found, dtype)
    return found if found.dtype == np.dtype(dtype) else found.astype(dtype)


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: Optional[bool] = None) -> Array:
    """An array of numbers, nested sequences or a NumPy array that are equal on all ranks, by the default distribution. Collective, blocking.

    Parameters
    ----------
    obj : Array, number, nested sequence or numpy.ndarray
        The elements.
    dtype : dtype, optional
        Unset: that of the elements.
    device : str, optional
        'cpu' or that of the context.
    copy : bool, optional
        Whether to copy an Array; unset: only to convert it.
    """
    if isinstance(obj, Array):
        if dtype is not None and obj.dtype != np.dtype(dtype):
            if copy is False:
                raise ArgumentError("asarray: a conversion is a copy, but copy is False")
            return obj.astype(dtype)
        return obj.copy() if copy else obj
    if copy is False and not isinstance(obj, np.ndarray):
        raise ArgumentError("asarray: copy=False: only arrays share memory")
    here = required_default("asarray")
    values = np.asarray(_unwrapped(obj), dtype=dtype)
    context = here.context._core
    require_equal("asarray", context, [values])
    layout = _core.Layout(fitting(here.distribution, values.ndim, context.size), values.shape, context.size)
    part = values[np.ix_(*(layout.indices(axis, context.rank) for axis in range(values.ndim)))] if values.ndim else values
    return Array(_core.wrap_like(context, layout, np.array(part, order="C")))


def _unwrapped(obj: Any) -> Any:
    """Nested sequences with the values of arrays of one element."""
    if isinstance(obj, (list, tuple)):
        return [_unwrapped(one) for one in obj]
    return np.asarray(obj.item(), obj.dtype)[()] if isinstance(obj, Array) else obj


def elementwise(ufunc: Any, name: str, text: str) -> Callable[..., Array]:
    """The function of the standard that a ufunc computes."""

    def one(x: Any, /) -> Array:
        return cast(Array, ufunc(x))

    def two(x1: Any, x2: Any, /) -> Array:
        return cast(Array, ufunc(x1, x2))

    function = one if ufunc.nin == 1 else two
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{text} Local if the layouts are equal."
    return function
