"""One face of tensors of NumPy, CuPy and PyTorch."""

from __future__ import annotations

import contextlib
import importlib
import math
from typing import Any, ClassVar, ContextManager, Dict, Iterable, List, Optional, Sequence, Tuple, Union

import numpy as np

from ...._dtypes import dtype_name, numpy_dtype

Device = Union[int, str]


def dense(shape: Sequence[int], fastest_first: Iterable[int]) -> Tuple[int, ...]:
    """Strides in elements."""
    strides, step = [0] * len(shape), 1
    for axis in fastest_first:
        strides[axis] = step
        step *= shape[axis]
    return tuple(strides)


def order_of(shape: Sequence[int], strides: Sequence[int]) -> List[int]:
    """The dimensions from fastest to slowest; those of extent 1 stand where a row-major array has them."""
    axes = range(len(shape))
    return sorted(reversed(axes), key=lambda axis: strides[axis] if shape[axis] > 1 else 0)


class Tensor:
    """A tensor of its package, and what is to be known of it. `device` is 'cpu' or 'cuda'; strides are in elements."""

    name: ClassVar[str]
    name_to_dtype: ClassVar[Dict[str, Any]] = {}

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor

    @property
    def module(self) -> Any:
        return importlib.import_module(self.name)

    @property
    def dtype(self) -> str:
        return dtype_name(self.tensor.dtype)

    @property
    def shape(self) -> Tuple[int, ...]:
        return tuple(int(extent) for extent in self.tensor.shape)

    @property
    def strides(self) -> Tuple[int, ...]:
        return tuple(step // self.itemsize for step in self.tensor.strides)

    @property
    def itemsize(self) -> int:
        return int(self.tensor.dtype.itemsize)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def device_id(self) -> Device:
        return "cpu"

    @property
    def device(self) -> str:
        return "cpu" if self.device_id == "cpu" else "cuda"

    @property
    def data_ptr(self) -> int:
        return int(self.tensor.ctypes.data)

    @property
    def base(self) -> Any:
        """What it is a view of; None where it is none."""
        return self.tensor.base

    @property
    def is_conjugate(self) -> bool:
        """Whether a conjugation is still to be done (PyTorch's lazy one)."""
        return False

    @property
    def is_symmetric_memory(self) -> bool:
        from .._memory import is_symmetric

        return is_symmetric(self)

    @property
    def axis_order(self) -> List[int]:
        """From fastest to slowest."""
        return order_of(self.shape, self.strides)

    @property
    def is_dense(self) -> bool:
        """Without gaps, in the order of `axis_order`."""
        wanted = dense(self.shape, self.axis_order)
        return all(a == b or extent <= 1 for a, b, extent in zip(self.strides, wanted, self.shape)) or self.size == 0

    def _goes(self, fastest_first: bool) -> bool:
        axes = [axis for axis in self.axis_order if self.shape[axis] > 1]
        return self.is_dense and (self.size == 0 or axes == sorted(axes, reverse=not fastest_first))

    @property
    def is_row_major(self) -> bool:
        """Dense, the last dimension fastest."""
        return self._goes(False)

    @property
    def is_column_major(self) -> bool:
        """Dense, the first dimension fastest."""
        return self._goes(True)

    def on_device(self) -> ContextManager[Any]:
        """Within it the package computes on the tensor's device."""
        return contextlib.nullcontext()

    # --- new ones

    @classmethod
    def _flat(cls, size: int, device_id: Device, dtype: str) -> Any:
        return np.empty(size, numpy_dtype(dtype))

    @classmethod
    def empty(
        cls,
        shape: Sequence[int],
        device_id: Device = "cpu",
        *,
        dtype: str = "float32",
        strides: Optional[Sequence[int]] = None,
        symmetric_memory: Any = False,
        make_symmetric: bool = False,
        skip_symmetric_check: bool = False,
        logger: Any = None,
        stream_holder: Any = None,
    ) -> Any:
        """Undefined contents, dense in the order of the strides; on the symmetric heap, which is collective, if asked for."""
        axes = order_of(shape, dense(shape, reversed(range(len(shape)))) if strides is None else strides)
        if symmetric_memory:
            from .._memory import allocate

            return cls(allocate(shape, cls.name, dtype, axes, make_symmetric, skip_symmetric_check, device_id == "cpu"))
        return cls(shaped(cls._flat(math.prod(shape), device_id, dtype), shape, axes))

    def to(self, device_id: Device, stream_holder: Any = None, symmetric_memory: Any = False) -> Any:
        """A copy on that device."""
        kind = type(self) if device_id == "cpu" else self._on_gpu()
        copied = kind.empty(self.shape, device_id, dtype=self.dtype, strides=self.strides, symmetric_memory=symmetric_memory)
        copied.copy_(self, stream_holder)
        return copied

    def _on_gpu(self) -> Any:
        return type(self)

    def to_numpy(self) -> Any:
        """On the host, as an array of NumPy; on the same memory where that is possible."""
        return self.tensor

    def copy_(self, source: Any, stream_holder: Any = None) -> None:
        """The elements of another one of the same shape, in any memory."""
        self.tensor[...] = source.to_numpy()

    def reshape(self, shape: Sequence[int], *, copy: Optional[bool] = None) -> Any:
        """In another shape; on the same memory, or ValueError, where `copy` is False."""
        seen = type(self)(self.tensor.reshape(tuple(shape)))
        if copy is False and self.size and seen.data_ptr != self.data_ptr:
            raise ValueError(f"a tensor of shape {self.shape} and strides {self.strides} cannot be reshaped to {tuple(shape)} without a copy")
        return seen

    def as_dtype(self, dtype: str) -> Any:
        """The same bytes, of a flat tensor, as other elements."""
        return type(self)(self.tensor.view(numpy_dtype(dtype)))

    def free_symmetric(self) -> None:
        """See `free_symmetric_memory`. Collective."""
        from .._memory import free

        free([self])


DistributedTensor = TensorHolder = Tensor


def shaped(flat: Any, shape: Sequence[int], fastest_first: Sequence[int]) -> Any:
    """Flat memory as an array with its dimensions in this order of speed."""
    slowest_first = list(reversed(fastest_first))
    array = flat[: math.prod(shape)].reshape([shape[axis] for axis in slowest_first])
    places = [slowest_first.index(axis) for axis in range(len(shape))]
    return array.permute(places) if hasattr(array, "permute") else array.transpose(places)
