"""Which face a tensor has."""

from typing import Any, Dict, Type

from ...._packages import package_of
from .tensor_ifc import Tensor
from .tensor_ifc_cupy import CupyDistributedTensor
from .tensor_ifc_numpy import NumpyDistributedTensor
from .tensor_ifc_torch import TorchDistributedTensor

_TENSOR_TYPES: Dict[str, Type[Tensor]] = {
    "numpy": NumpyDistributedTensor, "cupy": CupyDistributedTensor, "torch": TorchDistributedTensor,
}  # fmt: skip


def maybe_register_package(package: str) -> None:
    """Nothing to do for a package that is known; ValueError for others."""
    if package not in (*_TENSOR_TYPES, "cuda"):
        raise ValueError(f"unknown package {package!r}; known: {', '.join(_TENSOR_TYPES)}")


def wrap_operand(operand: Any) -> Any:
    """The tensor with its face; TypeError where it is of none of the packages."""
    if isinstance(operand, Tensor):
        return operand
    package = package_of(operand)
    if not hasattr(operand, "dtype") or not hasattr(operand, "shape") or package not in _TENSOR_TYPES:
        raise TypeError(f"expected an operand of {', '.join(_TENSOR_TYPES)}, got {type(operand).__name__}")
    return _TENSOR_TYPES[package](operand)
