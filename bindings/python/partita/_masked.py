"""Reductions of the elements that a mask selects (`where=`), and of a number with them (`initial=`)."""

from __future__ import annotations

import math
from typing import Any, Dict, Optional, Tuple, cast

import numpy as np

from . import _core
from ._array import Array, Axis, axes_of, core_given
from ._axes import finished, moved, on_host
from ._errors import ArgumentError, TypeError
from ._freed_memory import blocks
from ._like import zeros_like
from ._moves import part_of, settled, with_part
from ._replicas import replicas
from ._ufuncs import local_call

#: By reduction, the ufunc that adds one element, and the element that changes nothing.
_ufuncs: Dict[str, Tuple[np.ufunc, Any]] = {
    "sum": (np.add, 0),
    "prod": (np.multiply, 1),
    "any": (np.logical_or, 0),
    "all": (np.logical_and, 1),
    "min": (np.minimum, None),
    "max": (np.maximum, None),
}


def readable(a: Array, small: Any) -> Any:
    """What a reduction with keepdims has left of `a`, so that ufuncs combine it with `a`."""
    if not isinstance(small, Array) or a.layout.reads_locally(small.layout):
        return small
    return small.redistribute(_core.Replicated())


def count_of(a: Array, axis: Axis) -> int:
    return math.prod(a.shape) if axis is None else math.prod(a.shape[one] for one in axes_of(axis, a.ndim))


def number_of(found: Any) -> Any:
    """A number as Python has it."""
    return found.item() if isinstance(found, np.generic) else found


def squared(deviation: Any) -> Any:
    """|x|^2, of a temporary array of real numbers in its memory."""
    if deviation.dtype.kind == "c":
        return deviation.real**2 + deviation.imag**2
    return np.multiply(deviation, deviation, out=deviation) if deviation._package in ("numpy", "cupy", "none") else deviation * deviation


def divided(total: Any, count: Any) -> Any:
    """A total by a number of elements, in the dtype of the total; NumPy takes the number for 0 if it is negative."""
    if not isinstance(count, Array) and count > 0:
        return total / np.float64(count) if not isinstance(total, Array) else total / float(count)
    with np.errstate(divide="ignore", invalid="ignore"):
        if not isinstance(total, Array):
            return np.divide(total, np.float64(count if count > 0 else 0))
        if isinstance(count, Array):
            real = {"complex64": "float32", "complex128": "float64"}.get(total._core.dtype, total._core.dtype)
            return total / np.maximum(count, 0).astype(real)
        return total / float(count if count > 0 else 0)


def numbers_in(a: Array) -> Optional[Array]:
    """The mask of the elements that are not NaN; None if an array of this dtype cannot have any."""
    return cast(Array, np.equal(a, a)) if a.dtype.kind in "fc" else None


def mask_of(name: str, a: Array, where: Any) -> Array:
    """The mask in the shape and layout of the array."""
    (mask,) = replicas(name, [where], [a], numbers=True)
    core_given(mask)
    if mask.dtype != np.bool_:
        raise TypeError(f"{name}: where: expected booleans, got {mask.dtype}")
    if mask.shape == a.shape:
        return moved(mask, a.layout)
    if mask.ndim > a.ndim or any(m not in (1, n) for m, n in zip(mask.shape[::-1], a.shape[::-1])):
        raise ArgumentError(f"{name}: where: a mask of shape {mask.shape} cannot be broadcast to {a.shape}")
    return cast(Array, np.logical_or(zeros_like(a, bool), moved(mask, _core.Replicated())))


def selected(a: Array, mask: Optional[Array], value: Any) -> Array:
    """The array with a value in the place of the elements that the mask does not select."""
    if mask is None:
        return a
    if not a._core.on_host:
        return cast(Array, local_call("where", np.where, [mask, a, value]))
    part = part_of(a)
    filled = blocks.empty(part.shape, part.dtype)
    filled[...] = value
    np.copyto(filled, part, where=part_of(mask))
    return with_part(a, a.layout, filled)


def count_selected(a: Array, mask: Optional[Array], axis: Axis, **how: Any) -> Any:
    """How many elements the mask selects."""
    return count_of(a, axis) if mask is None else mask.sum(axis, **how)


def mean_selected(a: Array, mask: Optional[Array], axis: Axis, **how: Any) -> Any:
    """Their mean."""
    return number_of(divided(selected(a, mask, 0).sum(axis, **how), count_selected(a, mask, axis, **how)))


def variance_selected(a: Array, mask: Optional[Array], axis: Axis, less: float, **how: Any) -> Tuple[Any, Any]:
    """Their variance, and the divisor: how many they are minus `less`."""
    centre = mean_selected(a, mask, axis, keepdims=axis is not None)
    deviation = selected(cast(Array, a - readable(a, centre)), mask, 0)
    count = count_selected(a, mask, axis, **how) - less
    if isinstance(count, Array):
        count = count.astype("float64")
    return divided(squared(deviation).sum(axis, **how), count), count


def reduced_with(a: Array, reduction: str, axis: Axis, initial: Any, where: Any, dtype: Any, **how: Any) -> Any:
    """A reduction of the library, of the elements that `where` selects and of `initial`."""
    if initial is None and where is None:
        return a._reduce(reduction, axis, dtype=dtype, **how)
    ufunc, neutral = _ufuncs[reduction]
    settled(reduction, a)
    value = None if initial is None else np.array(initial, _dtype_of(reduction, a, dtype))[()]
    if where is not None:
        neutral = value if neutral is None else neutral
        if neutral is None:
            raise ArgumentError(f"{reduction}: where needs initial, the result if no element is selected")
        a = selected(a, mask_of(reduction, a, where), neutral)
    if value is None:
        return a._reduce(reduction, axis, dtype=dtype, **how)
    if reduction in ("min", "max") and not count_of(a, axis):
        return _with_number(a._reduce("sum", axis, dtype=a.dtype, **how), np.add, value)
    return _with_number(a._reduce(reduction, axis, dtype=dtype, **how), ufunc, value)


def _dtype_of(reduction: str, a: Array, dtype: Any) -> "np.dtype[Any]":
    """That of the result."""
    if reduction not in ("sum", "prod"):
        return np.dtype(bool) if reduction in ("any", "all") else a.dtype
    wide = {"b": "int64", "i": "int64", "u": "uint64"}.get(a.dtype.kind, "float32" if a.dtype.itemsize == 2 else a.dtype.name)
    made: "np.dtype[Any]" = np.dtype(wide if dtype is None else dtype)
    return made


def _with_number(found: Any, ufunc: np.ufunc, value: Any) -> Any:
    if not isinstance(found, Array):
        return np.asarray(ufunc(np.array(found, value.dtype), value)).astype(value.dtype).item()
    made = cast(Array, ufunc(found if value.dtype.kind != "c" else on_host(found), value))  # devices do not order complex numbers
    return finished(found, made if made.dtype == value.dtype else made.astype(value.dtype))
