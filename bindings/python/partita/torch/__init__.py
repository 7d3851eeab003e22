"""Partita in PyTorch: collectives, redistribution, products, Fourier transforms and linear algebra with autograd, and parallel layers.

    import torch, partita as pt, partita.torch as ptt

    with pt.initialize() as ctx:
        x = torch.randn(128, 512, requires_grad=True)        # this rank's tokens
        up = ptt.ColumnParallelLinear(ctx, 512, 2048)        # this rank's part of the weights
        down = ptt.RowParallelLinear(ctx, 2048, 512)
        y = down(torch.nn.functional.gelu(up(x)))            # this rank's tokens again
        y.square().sum().backward()                          # communicates as well

Operands are this rank's tensors, on the CPU or on the context's device, where work is enqueued on PyTorch's current stream. All functions
are collective: all ranks make the same calls in the same order, also in backward passes. Each is differentiated as the linear map on the
tensors of all ranks together: the losses on which the ranks call backward() are added up (docs/torch.md). Under torch.compile the
functions are operators of PyTorch (`torch.ops.partita`), which it does not split. Errors are those of `partita`, the same on every rank.

Redistribution, transforms, products and linear algebra also take DTensors, without a context and layouts (docs/torch.md).
"""

import importlib
import sys
from typing import TYPE_CHECKING, Any

from .. import _documents
from . import linalg as linalg
from ._arrays import fft, irfft, matmul, redistribute, rfft
from ._collectives import (
    all_gather,
    all_reduce,
    all_to_all,
    broadcast,
    gather,
    reduce,
    reduce_scatter,
    scan,
    scatter,
    send_receive,
)
from ._layers import ColumnParallelLinear, RowParallelLinear
from ._orthogonal import orthogonalize

if TYPE_CHECKING:
    from ._contexts import context_of
    from ._dtensor import device_mesh, from_dtensor, layout_of, mesh_of, to_dtensor
    from ._registered import register, unregister
    from ._whole_arrays import fftn, ifft, ifftn, irfftn, rfftn

__all__ = [
    "ColumnParallelLinear", "RowParallelLinear", "all_gather", "all_reduce", "all_to_all", "broadcast", "context_of", "device_mesh", "fft",
    "fftn", "from_dtensor", "gather", "ifft", "ifftn", "irfft", "irfftn", "layout_of", "matmul", "mesh_of", "orthogonalize", "redistribute",
    "reduce", "reduce_scatter", "register", "rfft", "rfftn", "scan", "scatter", "send_receive", "to_dtensor", "unregister",
]  # fmt: skip

# torch.distributed takes as long to import as all the rest, and not every PyTorch has it.
_of_distributed = {
    "_contexts": ("context_of",),
    "_dtensor": ("device_mesh", "from_dtensor", "layout_of", "mesh_of", "to_dtensor"),
    "_registered": ("register", "unregister"),
    "_whole_arrays": ("fftn", "ifft", "ifftn", "irfftn", "rfftn"),
}


def __getattr__(name: str) -> Any:
    owner = next((owner for owner, names in _of_distributed.items() if name in names), None)
    if owner is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f".{owner}", __name__)
    _documents.complete(module, [name], _of_whole if owner == "_whole_arrays" else _tensors)
    return getattr(module, name)


_tensors = {
    "x": ("Tensor", "This rank's tensor."),
    "source": ("Layout", "The layout of the array of which `x` is this rank's part."),
    "destination": ("Layout or distribution", "The distribution of the result; unset: that of the input."),
}
_of_whole = {
    "x": ("DTensor", "The array, with any placements."),
    "n": ("int", "The length of lines: the array is cut, or extended by zeros, along the dimension; for real results, their samples; unset: its own."),
    "s": ("sequence of int", "As `n`, of each dimension."),
    "dim": ("int or sequence of int", "The dimension or dimensions; unset: all, or the last ones that `s` has lengths for."),
    "placements": ("sequence of Placement", "Those of the result; unset: those of the operand, with replicas in the place of contributions."),
}
_documents.complete(sys.modules[__name__], __all__, _tensors)
