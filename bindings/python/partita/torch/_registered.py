"""torch.fft of DTensors by Partita."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

import torch
from torch.distributed.tensor import DTensor, Partial, Placement

from .._context import Context
from .._registry import Registry
from . import _arrays
from ._contexts import context_of
from ._operators import collective, number_of, number_of_layout
from ._placements import dimension_of, strides_of
from ._whole_arrays import complete, dtensor_of, layout_for, moved, whole_of, without

#: PyTorch's numbers of them, of a transform in one direction, and of one in the other.
_norms = ("backward", "ortho", "forward")
_of_inverse = ("forward", "ortho", "backward")

_torch: Any = torch  # of which not all has types
_registered: Registry[str, Any] = Registry()


def register() -> None:
    """Have `torch.fft` transform DTensors along sharded dimensions by Partita, in this process. Local.

    Without it PyTorch gathers the array on every rank. Results have the placements of the operand; half spectra (`rfft`, ...) are whole along
    their last transformed dimension, and another one is sharded in its place. Derivatives are PyTorch's own, and compiled programs contain the
    calls (`fullgraph=True`). Importing `partita.torch` changes nothing in PyTorch; `unregister` ends this. The rules are those of
    `torch.library.register_torch_dispatch` (PyTorch 2.5 and newer). Transforms of DTensors whose transformed dimensions are whole remain local.
    """

    def made() -> Any:
        library: Any = _torch.library.Library("aten", "FRAGMENT")
        for name, rule in (("_fft_c2c", _c2c), ("_fft_r2c", _r2c), ("_fft_c2r", _c2r)):
            torch.library.register_torch_dispatch(f"aten::{name}", DTensor, rule, lib=library)
        return library

    _registered.find_or_make("fft", made)


def unregister() -> None:
    """End what `register` has begun. Local."""
    library = _registered.take("fft")
    if library is not None:
        library._destroy()


def _c2c(_: Any, function: Any, types: Any, args: Tuple[Any, ...], kwargs: Any) -> DTensor:
    x, dim, norm, forward = args
    return _by_partita(function, args, "c2c", dim, (_norms if forward else _of_inverse)[norm], not forward)


def _r2c(_: Any, function: Any, types: Any, args: Tuple[Any, ...], kwargs: Any) -> DTensor:
    x, dim, norm, one_sided = args
    if one_sided:
        return _by_partita(function, args, "r2c", dim, _norms[norm], False)
    found: DTensor = torch.ops.aten._fft_c2c.default(x.to(torch.promote_types(x.dtype, torch.complex64)), dim, norm, True)
    return found


def _c2r(_: Any, function: Any, types: Any, args: Tuple[Any, ...], kwargs: Any) -> DTensor:
    x, dim, norm, length = args
    return _by_partita(function, args, "c2r", dim, _of_inverse[norm], True, int(length))


def _by_partita(
    function: Any, args: Tuple[Any, ...], kind: str, dim: Sequence[int], norm: str, inverse: bool, length: Optional[int] = None
) -> DTensor:
    x = args[0]
    along = [axis % x.ndim for axis in dim]
    shape = list(x.shape)
    if kind == "r2c":
        shape[along[-1]] = shape[along[-1]] // 2 + 1
    elif length is not None:
        shape[along[-1]] = length
    if any(isinstance(one, Partial) and one.reduce_op != "sum" for one in x.placements):  # of which the transform is no linear map
        x = x.redistribute(placements=complete(x.placements))
    if not any(dimension_of(one) in along for one in x.placements):
        part = function(x._local_tensor, *args[1:]).contiguous()
        return DTensor.from_local(part, x.device_mesh, x.placements, run_check=False, shape=torch.Size(shape), stride=strides_of(shape))
    return _fft(context_of(x.device_mesh), x, kind, inverse, along, norm, shape)


@collective
def _fft(context: Context, x: DTensor, kind: str, inverse: bool, along: List[int], norm: str, shape: List[int]) -> DTensor:
    given = whole_of("fft", x)
    one = moved("fft", context, given, complete(given.placements))
    chosen: Sequence[Placement] = one.placements
    if kind == "r2c":  # PyTorch's derivative of the other direction writes into parts of the last dimension, which must be this rank's memory
        chosen = without(chosen, along[-1], shape)
    to = layout_for("fft", one.mesh, chosen, shape)
    numbers = number_of(context), number_of_layout(one.layout), number_of_layout(to)
    return dtensor_of(_arrays._fft(one.part, *numbers, kind, inverse, along, norm), to, context, one.mesh, chosen)
