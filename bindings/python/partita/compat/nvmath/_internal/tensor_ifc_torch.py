"""Tensors of PyTorch."""

from __future__ import annotations

import contextlib
import importlib
from typing import Any, ContextManager, Tuple

from ...._dtypes import _of_ml_dtypes, numpy_dtype
from .tensor_ifc import Device, Tensor


#: What PyTorch and NumPy hand each other in the place of dtypes that they do not share.
_bits = {1: "int8", 2: "int16"}


def _torch_dtype(name: str) -> Any:
    return getattr(importlib.import_module("torch"), name)


class TorchDistributedTensor(Tensor):
    """In host or device memory."""

    name = "torch"

    @property
    def strides(self) -> Tuple[int, ...]:
        return tuple(self.tensor.stride())

    @property
    def itemsize(self) -> int:
        return int(self.tensor.element_size())

    @property
    def device_id(self) -> Device:
        return int(self.tensor.device.index) if self.tensor.is_cuda else "cpu"

    @property
    def data_ptr(self) -> int:
        return int(self.tensor.data_ptr())

    @property
    def base(self) -> Any:
        return self.tensor._base

    @property
    def is_conjugate(self) -> bool:
        return bool(self.tensor.is_conj())

    def on_device(self) -> ContextManager[Any]:
        if self.device_id == "cpu":
            return contextlib.nullcontext()
        device: ContextManager[Any] = self.module.cuda.device(self.device_id)
        return device

    @classmethod
    def _flat(cls, size: int, device_id: Device, dtype: str) -> Any:
        place = device_id if device_id == "cpu" else f"cuda:{device_id}"
        return importlib.import_module("torch").empty(size, dtype=_torch_dtype(dtype), device=place)

    def to_numpy(self) -> Any:
        held = self.tensor.detach().cpu().resolve_conj()
        if self.dtype not in _of_ml_dtypes:
            return held.numpy()
        return held.view(_torch_dtype(_bits[self.itemsize])).numpy().view(numpy_dtype(self.dtype))

    def copy_(self, source: Any, stream_holder: Any = None) -> None:
        given = source.tensor
        if source.name != "torch" and source.dtype in _of_ml_dtypes:
            given = self.module.as_tensor(given.view(_bits[source.itemsize])).view(_torch_dtype(source.dtype))
        self.tensor.copy_(given if source.name == "torch" else self.module.as_tensor(given))

    def as_dtype(self, dtype: str) -> Any:
        return type(self)(self.tensor.view(_torch_dtype(dtype)))


TorchTensor = TorchDistributedTensor
