"""Dtypes by NumPy's names."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ._errors import ArgumentError, UnsupportedError

_names = (
    "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 bfloat16 float32 float64 complex64 complex128 "
    "float8_e4m3fn float8_e5m2"
).split()


_of_ml_dtypes = ("bfloat16", "float8_e4m3fn", "float8_e5m2")


def dtype_name(dtype: Any) -> str:
    """NumPy's name of what names a dtype: a dtype of NumPy, CuPy or PyTorch, a type, or a text."""
    name = str(dtype).rpartition(".")[2] if type(dtype).__module__ == "torch" else dtype
    if name not in _of_ml_dtypes:
        try:
            found = np.dtype(name)
            name = found.name if found.isnative else found.str
        except (TypeError, ValueError):  # a text that is no UTF-8 is the latter
            pass
    if name not in _names:
        raise ArgumentError(f"dtype {dtype!r} is not supported; supported are: {', '.join(_names)}")
    return str(name)


@functools.lru_cache(maxsize=None)
def numpy_dtype(name: str) -> "np.dtype[Any]":
    """The dtype of that name; those that NumPy lacks are of the package ml_dtypes."""
    if name not in _of_ml_dtypes:
        return np.dtype(name)
    try:
        import ml_dtypes  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError as missing:
        raise UnsupportedError(f"{name}: NumPy supports it with the package ml_dtypes, which is not installed") from missing
    dtype: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
    return dtype
