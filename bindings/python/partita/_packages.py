"""Arrays of other packages: made, and seen on memory of ours, by package."""

from __future__ import annotations

import importlib
from typing import Any, Tuple

import numpy as np

from . import _core
from ._dtypes import _of_ml_dtypes, numpy_dtype

_known = {"torch": "torch", "cupy": "cupy", "jax": "jax", "jaxlib": "jax"}


def package_of(array: Any) -> str:
    """'torch', 'cupy' or 'jax' where the array is theirs, else 'numpy'."""
    return _known.get(type(array).__module__.partition(".")[0], "numpy")


def seen_by(package: str, part: Any) -> Any:
    """An array of the package on the memory of a local part or of symmetric memory, without a copy."""
    if package == "numpy" or isinstance(part, _core.SymmetricPart):
        array = np.asarray(part)
        return array if part.dtype not in _of_ml_dtypes else array.view(numpy_dtype(part.dtype))
    module = importlib.import_module("jax.dlpack" if package == "jax" else package)
    return module.from_dlpack(part)


def empty_beside(array: Any, shape: Tuple[int, ...]) -> Any:
    """A new array of the package, dtype and device of `array`."""
    package = package_of(array)
    if package == "torch":
        return array.new_empty(shape)
    if package == "cupy":
        return importlib.import_module("cupy").empty(shape, array.dtype)
    return np.empty(shape, np.asarray(array).dtype)
