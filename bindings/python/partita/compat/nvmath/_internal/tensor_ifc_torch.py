"""Tensors of PyTorch."""

from __future__ import annotations

import contextlib
import importlib
from typing import Any, ContextManager, Tuple

from .tensor_ifc import Device, Tensor


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
        return self.tensor.detach().cpu().resolve_conj().numpy()

    def copy_(self, source: Any, stream_holder: Any = None) -> None:
        given = source.tensor
        self.tensor.copy_(given if source.name == "torch" else self.module.as_tensor(given))

    def as_dtype(self, dtype: str) -> Any:
        return type(self)(self.tensor.view(_torch_dtype(dtype)))


TorchTensor = TorchDistributedTensor
