"""Arrays of NumPy."""

from typing import Any

from .tensor_ifc import Tensor


class NumpyDistributedTensor(Tensor):
    """In host memory."""

    name = "numpy"

    def _on_gpu(self) -> Any:
        from .tensor_ifc_cupy import CupyDistributedTensor

        return CupyDistributedTensor


NumpyTensor = NumpyDistributedTensor


class CudaDistributedTensor(Tensor):
    """Device memory of no package: no tensor is one here."""

    name = "cuda"
