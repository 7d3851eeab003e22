"""Arrays of CuPy."""

from __future__ import annotations

import importlib
from typing import Any, ContextManager

from ...._dtypes import numpy_dtype
from .tensor_ifc import Device, Tensor
from .tensor_ifc_numpy import NumpyDistributedTensor as HostDistributedTensor

__all__ = ["CupyDistributedTensor", "CupyTensor", "HostDistributedTensor"]


class CupyDistributedTensor(Tensor):
    """In device memory."""

    name = "cupy"

    @property
    def device_id(self) -> Device:
        return int(self.tensor.device.id)

    @property
    def data_ptr(self) -> int:
        return int(self.tensor.data.ptr)

    def on_device(self) -> ContextManager[Any]:
        device: ContextManager[Any] = self.module.cuda.Device(self.device_id)
        return device

    @classmethod
    def _flat(cls, size: int, device_id: Device, dtype: str) -> Any:
        cupy = importlib.import_module("cupy")
        with cupy.cuda.Device(device_id):
            return cupy.empty(size, numpy_dtype(dtype))

    def to(self, device_id: Device, stream_holder: Any = None, symmetric_memory: Any = False) -> Any:
        if device_id == "cpu":
            return HostDistributedTensor(self.to_numpy())
        return super().to(device_id, stream_holder, symmetric_memory)

    def to_numpy(self) -> Any:
        with self.on_device():
            return self.module.asnumpy(self.tensor, order="A")

    def copy_(self, source: Any, stream_holder: Any = None) -> None:
        with self.on_device():
            self.tensor[...] = self.module.asarray(source.tensor)


CupyTensor = CupyDistributedTensor
