"""Memory at the same place of every process, and new memory for results."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any, List, Sequence, Union

from ... import _core
from ..._array import Array
from ..._context import Context
from ..._create import empty, from_local, shape_of
from ..._dtypes import dtype_name
from ..._registry import Registry
from ._agreement import collective, gather_objects
from ._context import current
from ._internal.tensor_ifc import shaped
from ._internal.tensor_wrapper import _TENSOR_TYPES, wrap_operand

#: What belongs to programs until they free it, by address. Ranks that are threads share it.
resource_registry: Registry[int, Array] = Registry()


def is_symmetric(tensor: Any) -> bool:
    """Whether it is what `allocate_symmetric_memory`, or an operation on such memory, has given."""
    return tensor.data_ptr in resource_registry


def _registered(array: Array, tensor: Any) -> Any:
    resource_registry.put(wrap_operand(tensor).data_ptr, array)
    return tensor


def on_heap(context: Context, size: int, package: str, dtype: str) -> Array:
    """So many elements at the same place of every rank, flat. Collective."""
    return Array(empty(context, (max(size, 1),), _core.Replicated(), dtype)._core, package)


def as_symmetric(array: Array) -> Any:
    """The local part of flat memory of the heap, which is the program's to free from now on."""
    return _registered(array, array.local)


def allocate(
    shape: Sequence[int], package: str, dtype: str, axes: List[int], make_symmetric: bool, trusted: bool, on_host: bool
) -> Any:
    """`axes`: from fastest to slowest. `trusted`: sizes are not compared. Collective."""
    context = current().partita
    size = math.prod(shape)
    sizes = [size] * context.size if trusted and not make_symmetric else gather_objects(context, size)
    if len(set(sizes)) != 1 and not make_symmetric:
        raise ValueError(f"symmetric memory must have one size on all ranks, got {sizes} elements: see make_symmetric")
    if on_host != (context.device == "cpu"):
        raise ValueError(f"symmetric memory of {package} {'on the host' if on_host else 'on a GPU'}is not available: the runtime uses {context.device}")
    array = on_heap(context, max(sizes), package, dtype)
    return _registered(array, shaped(array.local, shape, axes))


@collective
def allocate_symmetric_memory(
    shape: Union[int, Sequence[int]],
    package: ModuleType,
    *,
    dtype: Any = None,
    axis_order: Union[str, Sequence[int]] = "C",
    make_symmetric: bool = False,
    skip_symmetric_check: bool = False,
    logger: Any = None,
) -> Any:
    """A tensor with undefined contents, which the ranks of a node see in each other's memory. Collective, blocking.

    It is on the runtime's GPU; without one it is in host memory, and belongs to NumPy or PyTorch.

    Parameters
    ----------
    shape : int or sequence of int
        Of this rank's tensor; of the same number of elements on all ranks, unless `make_symmetric`.
    package : module
        numpy, cupy or torch.
    dtype
        As the package has them, whose default it is otherwise.
    axis_order : 'C', 'F' or sequence of int
        The axes from fastest to slowest.
    make_symmetric : bool
        Every rank gets as much as the one with most elements.
    skip_symmetric_check : bool
        The sizes are not compared first; ranks that differ are found out by the allocation itself.
    logger : logging.Logger, optional
        Gets a line for each allocation.

    Raises
    ------
    ValueError
        Another package, sizes that differ; on every rank.
    """
    name = getattr(package, "__name__", "")
    if name not in _TENSOR_TYPES:
        raise ValueError(f"package: expected one of {', '.join(_TENSOR_TYPES)}, got {package!r}")
    extents = shape_of(shape)
    default = package.get_default_dtype() if name == "torch" else "float64"
    element = dtype_name(default if dtype is None else dtype)
    axes = list(range(len(extents)))
    if isinstance(axis_order, str):
        if axis_order not in ("C", "F"):
            raise ValueError(f"axis_order: expected 'C', 'F' or a sequence of axes, got {axis_order!r}")
        axes = axes if axis_order == "F" else axes[::-1]
    elif sorted(axis_order) != axes:
        raise ValueError(f"axis_order: {tuple(axis_order)} are not the axes of {extents}")
    else:
        axes = list(axis_order)
    context = current().partita
    if logger is not None:
        logger.info("symmetric memory: %s of %s for %s", extents, element, name)
    on_host = name == "numpy" or (name == "torch" and context.device == "cpu")
    return allocate(extents, name, element, axes, make_symmetric, skip_symmetric_check, on_host)


def free(tensors: Sequence[Any]) -> None:
    """Collective: see below."""
    context, addresses = current().partita, [tensor.data_ptr for tensor in tensors]
    for place, tensor in enumerate(tensors):
        if not is_symmetric(tensor) or tensor.data_ptr in addresses[:place]:
            raise TypeError(f"the tensor of shape {tensor.shape} is not symmetric memory allocated by the program")
    context.barrier()  # a rank that cannot free its own has said so, and nothing is freed
    for address in addresses:
        resource_registry.take(address)
    context.collect()


@collective
def free_symmetric_memory(*tensors: Any) -> None:
    """Give memory of `allocate_symmetric_memory`, or of results of it, back. Collective, blocking; in the same order.

    What still refers to it, a view for instance, stays readable, and the memory is freed with the last one.

    Raises
    ------
    TypeError
        A tensor that is not on symmetric memory, or that was freed already.
    """
    free([wrap_operand(tensor) for tensor in tensors])


def forget_all(context: Context) -> None:
    """What programs have not freed of a context that ends."""
    resource_registry.take_all(lambda array: array.context == context)  # arrays go behind it, without its lock


def distributed(context: Context, tensor: Any, layout: _core.Layout) -> Array:
    """The array that this rank's tensor is a part of. Collective."""
    return from_local(context, tensor.tensor, layout.distribution, layout.shape)


def new_array(
    context: Context, layout: _core.Layout, dtype: str, order: str, like: Any, operands: Sequence[Any] = ()
) -> Array:
    """Undefined contents, of the package and in the memory of `like`. Collective.

    Where all operands are on symmetric memory, it is, too, and the program's to free.
    """
    if like.device == "cpu" and context.device != "cpu":
        shape = layout.local_shape(context.rank)
        axes = list(range(len(shape)))
        flat = type(like)._flat(math.prod(shape), "cpu", dtype)
        local = shaped(flat, shape, axes if order == "F" else axes[::-1])
        return from_local(context, local, layout.distribution, layout.shape)
    array = Array(empty(context, layout.shape, layout.distribution, dtype, order=order)._core, like.name)
    if operands and all(is_symmetric(one) for one in operands):
        _registered(array, array.local)
    return array
