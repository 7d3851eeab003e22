"""Arrays of other packages: made, and seen on memory of ours, by package."""

from __future__ import annotations

import importlib
import sys
from typing import Any, Tuple, TypeVar, Union

import numpy as np

from . import _core
from ._device_parts import DevicePart
from ._dtypes import _of_ml_dtypes, numpy_dtype
from ._errors import UnsupportedError

Tensor = TypeVar("Tensor")

_known = {"torch": "torch", "cupy": "cupy", "jax": "jax", "jaxlib": "jax"}


def package_of(array: Any) -> str:
    """'torch', 'cupy' or 'jax' where the array is theirs, else 'numpy'."""
    return _known.get(type(array).__module__.partition(".")[0], "numpy")


def package_for(core: Union[_core.Array, _core.SymmetricPart], wanted: str) -> str:
    """The package of a local part: the requested one, unless it does not support the memory. 'none': no package for device memory."""
    if core.on_host:
        return "numpy" if wanted in ("cupy", "none") else wanted
    if wanted not in ("numpy", "none"):
        return wanted
    for package in ("cupy", "torch"):
        if package in sys.modules and _has_devices(sys.modules[package]):
            return package
    return "none"


def _has_devices(module: Any) -> bool:
    return bool(module.cuda.is_available())


def seen_by(package: str, part: Union[_core.Array, _core.SymmetricPart]) -> Any:
    """An array of the package on the memory of a local part or of symmetric memory, without a copy but for some of JAX's."""
    if package == "none":
        raise UnsupportedError(
            "the part is in device memory, which NumPy cannot access: import CuPy or PyTorch, or use "
            "a.copy(space='host')"
        )
    small = part.dtype in _of_ml_dtypes
    if package == "numpy":
        array = np.asarray(part)
        return array if not small else array.view(numpy_dtype(part.dtype))
    module = importlib.import_module(package)
    if package == "torch" and (isinstance(part, _core.SymmetricPart) or part.dtype.startswith("float8")):
        # By the bits: not every PyTorch knows DLPack's numbers of 8 bits.
        bits = module.as_tensor(part, device="cuda") if not part.on_host else module.from_numpy(np.asarray(part))
        return bits.view(getattr(module, part.dtype)) if small else bits
    if isinstance(part, _core.SymmetricPart):
        return importlib.import_module("cupy").asarray(part)
    if package == "jax":
        return _for_programs(importlib.import_module("jax.dlpack").from_dlpack(part), module)
    return module.from_dlpack(part)


def _for_programs(array: Any, jax: Any) -> Any:
    """The array of JAX's, or a copy where its programs on GPUs refuse the address, as of a window's first element."""
    if array.device.platform == "cpu" or array.size == 0 or array.unsafe_buffer_pointer() % 16 == 0:
        return array
    return jax.device_put(np.asarray(array), array.device)


def fresh(made: Tensor) -> Tensor:
    """A new tensor of PyTorch's, which does not ask for huge pages, as NumPy does."""
    tensor: Any = made
    if tensor.is_cpu:
        _core.advise_huge_pages(tensor.data_ptr(), tensor.nbytes)
    return made


def empty_beside(array: Any, shape: Tuple[int, ...]) -> Any:
    """A new array of the package, dtype and device of `array`."""
    if isinstance(array, DevicePart):
        return array.empty(shape)
    package = package_of(array)
    if package == "torch":
        return fresh(array.new_empty(shape))
    if package == "cupy":
        return importlib.import_module("cupy").empty(shape, array.dtype)
    return np.empty(shape, np.asarray(array).dtype)


def zeros_beside(array: Any, shape: Tuple[int, ...]) -> Any:
    """The same, with zeros in it."""
    if isinstance(array, DevicePart):
        made = array.empty(shape)
        made[...] = 0
        return made
    package = package_of(array)
    if package == "torch":
        return array.new_zeros(shape)
    if package == "cupy":
        return importlib.import_module("cupy").zeros(shape, array.dtype)
    return np.zeros(shape, np.asarray(array).dtype)
