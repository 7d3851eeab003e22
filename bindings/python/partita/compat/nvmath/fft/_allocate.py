"""Operands with room for their transform."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any, Optional, Sequence

from .... import _core
from ...._create import shape_of
from ...._dtypes import dtype_name
from ...._registry import Registry
from .._agreement import collective, gather_objects
from .._context import current
from .._internal.tensor_wrapper import _TENSOR_TYPES, wrap_operand
from .._memory import allocate, as_symmetric, on_heap
from ..distribution import Slab
from ..distribution._base import Shape
from ._configuration import fft_type_of
from ._layouts import Spec, given_of, settle, transformed_shape

_BYTES = {"float32": 4, "float64": 8, "complex64": 8, "complex128": 16}
#: The flat memory of operands with room, by address.
_buffers: Registry[int, Any] = Registry(weak=True)


def result_dtype(dtype: str, kind: str) -> str:
    """Of the transform."""
    if kind == "C2C":
        return dtype
    bits = int(dtype[-3:].lstrip("abcdefghijklmnopqrstuvwxyz"))
    return f"complex{2 * bits}" if kind == "R2C" else f"float{bits // 2}"


def _root(tensor: Any) -> Any:
    whole, base = tensor.tensor, tensor.base
    return base if isinstance(base, type(whole)) else whole  # an array's base may be what has given the memory


def buffer_of(tensor: Any) -> Any:
    """The flat memory with room that the operand was allocated in; None where it was not."""
    found = _buffers.get(tensor.data_ptr)
    return wrap_operand(found) if found is not None and found is _root(tensor) else None


def _bytes(layout: _core.Layout, shape: Shape, dtype: str) -> int:
    whole = _core.Layout(layout.distribution, shape, layout.ranks)
    return max(whole.local_size(rank) for rank in range(layout.ranks)) * _BYTES[dtype]


def _room(source: _core.Layout, result: _core.Layout, given: Any, dtype: str, kind: str) -> int:
    """Bytes of the largest part of any rank, before or after, whichever the options that are still to come."""
    after = result_dtype(dtype, kind)
    room = max(_bytes(source, tuple(source.shape), dtype), _bytes(result, tuple(result.shape), after))
    if isinstance(given, Slab):
        longest = transformed_shape(tuple(source.shape), kind, "odd")
        for axis in (0, 1):
            slab = _core.Layout(_core.Slab(axis), source.shape, source.ranks)
            room = max(room, _bytes(slab, tuple(source.shape), dtype), _bytes(slab, longest, after))
    return room


@collective
def allocate_operand(
    shape: Sequence[int],
    package: ModuleType,
    *,
    input_dtype: Any = None,
    distribution: Any,
    memory_space: Optional[str] = None,
    fft_type: Optional[str] = None,
    logger: Any = None,
) -> Any:
    """This rank's part of an operand, undefined, in memory that has room for the result, which then takes its place. Collective.

    Operands in other memory work, too; their results that are of another shape or dtype are new arrays.

    Parameters
    ----------
    shape : sequence of int
        Of this rank's part.
    package : module
        numpy, cupy or torch.
    input_dtype
        As of the package, whose default it is otherwise.
    distribution, fft_type
        As of the transform.
    memory_space : 'cpu' or 'cuda', optional
        Of torch: by default where the runtime computes. What is allocated there by default `free_symmetric_memory` frees, as
        what is on a GPU; on the CPU it is freed with its last reference otherwise.
    logger : logging.Logger, optional
        Gets the size.
    """
    name = getattr(package, "__name__", "")
    context = current().partita
    places = {"numpy": ("cpu",), "cupy": ("cuda",), "torch": ("cpu", "cuda")}
    if name not in places:
        raise ValueError(f"package: expected one of {', '.join(places)}, got {package!r}")
    usual = "cpu" if context.device == "cpu" or name == "numpy" else "cuda"
    place = memory_space or (usual if name == "torch" else places[name][0])
    if place not in places[name]:
        raise ValueError(f"memory_space: expected {' or '.join(places[name])} for {name}, got {place!r}")
    default = package.get_default_dtype() if name == "torch" else "float64"
    dtype = dtype_name(default if input_dtype is None else input_dtype)
    extents, kind = shape_of(shape), fft_type_of(dtype, fft_type)
    specs = gather_objects(context, Spec(extents, dtype, name, place, given_of(distribution, len(extents)), kind, ()))
    source, result = settle(specs, True, "odd" if isinstance(distribution, Slab) else _parity(specs))
    room = _room(source, result, specs[0].distribution, dtype, specs[0].fft_type)
    if logger is not None:
        logger.info("allocate_operand: %s of %s in %s bytes", extents, dtype, room)
    capacity = -(-room // 16) * 16 // _BYTES[dtype]  # whole elements of any dtype
    if place == "cuda":
        flat = allocate((capacity,), name, dtype, [0], True, True, False)
    elif context.device == "cpu":
        array = on_heap(context, capacity, name, dtype)
        # Programs free operands of GPUs, which without any are these.
        flat = as_symmetric(array) if name == "torch" and memory_space is None else array.local
    else:
        flat = _TENSOR_TYPES[name]._flat(capacity, "cpu", dtype)
    tensor = wrap_operand(flat)
    _buffers.put(tensor.data_ptr, _root(tensor))
    return flat[: math.prod(extents)].reshape(extents)


def _parity(specs: Sequence[Spec]) -> str:
    """Of the samples that output boxes have along the last axis."""
    uppers = [one.distribution[1].upper[-1] for one in specs if isinstance(one.distribution, tuple)]
    return "odd" if uppers and max(uppers) % 2 else "even"
