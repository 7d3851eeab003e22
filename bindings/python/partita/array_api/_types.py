"""Dtypes: their limits, kinds, promotion, and what the namespace says of itself."""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple, Union, cast

import numpy as np

from .._array import Array
from .._default import current_default
from .._errors import ArgumentError

names = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "complex64", "complex128",
)  # fmt: skip
_kinds: Dict[str, Tuple[str, ...]] = {
    "bool": ("bool",),
    "signed integer": names[1:5],
    "unsigned integer": names[5:9],
    "integral": names[1:9],
    "real floating": names[9:11],
    "complex floating": names[11:],
    "numeric": names[1:],
}


def _dtype_of(one: Any) -> Any:
    return one.dtype if isinstance(one, Array) else np.dtype(one)


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype is of a kind: a dtype, a word of the standard, or a tuple of those. Local."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    if isinstance(kind, str):
        if kind not in _kinds:
            raise ArgumentError(f"isdtype: kind {kind!r}; known: {', '.join(_kinds)}")
        return np.dtype(dtype).name in _kinds[kind]
    return bool(np.dtype(dtype) == np.dtype(kind))


def can_cast(from_: Any, to: Any, /) -> bool:
    """Whether promotion converts a dtype, or that of an array, to another. Local."""
    return bool(np.can_cast(_dtype_of(from_), to))


def result_type(*arrays_and_dtypes: Any) -> "np.dtype[Any]":
    """The common dtype of arrays, dtypes and Python numbers. Local."""
    return np.result_type(*(one if isinstance(one, (bool, int, float, complex)) else _dtype_of(one) for one in arrays_and_dtypes))


class Limits:
    """Of a dtype, as `finfo` and `iinfo` return them, in Python's numbers."""

    def __init__(self, **limits: Any) -> None:
        self.__dict__.update(limits)


def finfo(type: Any, /) -> Limits:
    """The limits of a floating-point dtype, or that of an array. Local."""
    found = np.finfo(_dtype_of(type))
    values = {name: float(getattr(found, name)) for name in ("eps", "max", "min", "smallest_normal")}
    return Limits(bits=int(found.bits), dtype=found.dtype, **values)


def iinfo(type: Any, /) -> Limits:
    """The limits of an integer dtype, or that of an array. Local."""
    found = np.iinfo(_dtype_of(type))
    return Limits(bits=int(found.bits), dtype=found.dtype, max=int(found.max), min=int(found.min))


def astype(x: Array, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Array:
    """The array in another dtype. Collective, blocking."""
    if x.dtype.kind == "c" and np.dtype(dtype).kind != "c":
        raise ArgumentError(f"astype: complex numbers cannot become {np.dtype(dtype)}: use real, imag or abs")
    return x if not copy and x.dtype == np.dtype(dtype) else x.astype(dtype)


class Information:
    """What the namespace says of itself."""

    def capabilities(self) -> Dict[str, Any]:
        """Indices of booleans and results whose shape depends on the data are supported; at most 8 dimensions."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 8}

    def default_device(self) -> str:
        """That of the default context."""
        here = current_default()
        return "cpu" if here is None else here.context.device

    def default_dtypes(self, *, device: Any = None) -> Dict[str, Any]:
        """Those of NumPy."""
        kinds = {"real floating": "float64", "complex floating": "complex128", "integral": "int64", "indexing": "int64"}
        return {kind: np.dtype(name) for kind, name in kinds.items()}

    def devices(self) -> Tuple[str, ...]:
        """The host, and the device of the default context."""
        return tuple(dict.fromkeys(["cpu", self.default_device()]))

    def dtypes(self, *, device: Any = None, kind: Optional[Union[str, Tuple[str, ...]]] = None) -> Dict[str, Any]:
        """By name, of a kind or all."""
        return {name: np.dtype(name) for name in names if kind is None or isdtype(np.dtype(name), cast(Any, kind))}


def information() -> Information:
    """The inspection interface of the standard. Local."""
    return Information()
