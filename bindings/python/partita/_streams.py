"""In which stream of a device work is put.

`stream=` takes a stream of CuPy or PyTorch, anything with `__cuda_stream__`, or the number of a cudaStream_t, which means what CUDA
means by it: 0 and 1 its default stream, 2 that of the calling thread, others the address of one that is there. Nothing said:
the current stream of the package that the array came from; where that has none (NumPy, JAX), the context's own.
Work on arrays in device memory is then in order with what the stream does before and after; where no stream is found, and where
other arrays of the call are in host memory, a call is done when it returns. In host memory there are no streams: any that is
given is an UnsupportedError.
"""

from __future__ import annotations

import operator
import sys
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from . import _core
from ._errors import ArgumentError
from ._packages import package_of

if TYPE_CHECKING:
    from ._array import Array


# Numbers of cudaStreamLegacy and cudaStreamPerThread, and above them addresses at which nothing is ever stored.
_last_special, _first_address, _past_addresses = 2, 4096, 1 << 64


def handle_of(stream: Any) -> int:
    """The number of a stream's cudaStream_t.

    CUDA does not check whether a stream exists: it reads the memory at the address. Numbers that cannot be addresses are refused here.
    """
    number = _number_of(stream)
    if not 0 <= number < _past_addresses or _last_special < number < _first_address:
        raise ArgumentError(f"stream: {number} is not a cudaStream_t")
    return number


def _number_of(stream: Any) -> int:
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        return int((protocol() if callable(protocol) else protocol)[1])
    for name in ("cuda_stream", "ptr"):  # PyTorch, CuPy
        if hasattr(stream, name):
            return int(getattr(stream, name))
    try:
        if not isinstance(stream, bool):
            return operator.index(stream)
    except TypeError:
        pass
    raise TypeError(
        "stream: expected a stream of CuPy or PyTorch, the number of a cudaStream_t, or an object with __cuda_stream__, "
        f"got {type(stream).__name__}"
    )


def current(package: str, device: str) -> Optional[int]:
    """The package's current stream on the device ('cuda:0'); None: it has none."""
    if package == "torch":
        return int(sys.modules["torch"].cuda.current_stream(device).cuda_stream)
    if package == "cupy":
        return int(sys.modules["cupy"].cuda.get_current_stream().ptr)
    return None


def stream_of_tensor(tensor: Any) -> Optional[int]:
    """PyTorch's current stream on the device of a tensor; None for host memory."""
    if not tensor.is_cuda:
        return None
    torch = sys.modules["torch"]
    # What compiled programs of PyTorch call, too: to make an object of a stream takes longer than all else here.
    number = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    if number is None:
        return int(torch.cuda.current_stream(tensor.device).cuda_stream)
    return int(number(tensor.get_device()))


def stream_of_array(stream: Any, core: _core.Array, package: str) -> Optional[int]:
    """For work on a distributed array."""
    if stream is not None:
        return handle_of(stream)
    return None if core.on_host else current(package, core.context.device)


def stream_of_arrays(stream: Any, *arrays: Optional[Array]) -> Optional[int]:
    """For work on several arrays. If some are in device memory and others in host memory, no work is stream-ordered: what the
    streams of their packages hold is waited for here."""
    if stream is not None:
        return handle_of(stream)
    for one in arrays:
        if one is not None and not one._core.on_host:
            break
    else:
        return None
    given = [one for one in arrays if one is not None]
    on_device = [one for one in given if not one._core.on_host]
    context = on_device[0]._core.context
    handles = [current(one._package, context.device) for one in on_device]
    stays = len(on_device) == len(given)
    for handle in set(handles) - {handles[0] if stays else None, None}:
        context.synchronize(handle)
    return handles[0] if stays else None


def stream_of_memory(stream: Any, memory: Any, context: _core.Context) -> Optional[int]:
    """For work on plain memory of any package."""
    if stream is not None:
        return handle_of(stream)
    if type(memory) is np.ndarray:
        return None
    package = package_of(memory)
    if package == "torch":
        return stream_of_tensor(memory)
    if package == "cupy":
        return current(package, context.device)
    if package == "jax":
        memory.block_until_ready()
        return None
    interface = getattr(memory, "__cuda_array_interface__", None)
    found = None if interface is None else interface.get("stream")
    return None if found is None else handle_of(found)


def settle(core: _core.Array, package: str) -> None:
    """Before a call that takes no stream: wait for what the array's package is doing. Nothing to do in host memory."""
    if not core.on_host:
        stream = current(package, core.context.device)
        if stream is not None:
            core.context.synchronize(stream)
