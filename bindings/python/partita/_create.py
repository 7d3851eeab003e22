"""Functions that make arrays with given contents. All are collective and blocking."""

from __future__ import annotations

import operator
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union, cast

import numpy as np

from . import _core
from ._agreement import alike
from ._calls import collective
from ._array import Array
from ._context import Context
from ._default import by_default
from ._dtypes import dtype_name
from ._errors import ArgumentError
from ._mesh import DistributionLike, Rule, rule_of
from ._packages import package_of
from ._streams import handle_of, stream_of_array

ShapeLike = Union[int, Sequence[int]]


def shape_of(shape: ShapeLike) -> Tuple[int, ...]:
    """A tuple; an integer is the shape of one dimension."""
    try:
        return (operator.index(shape),)  # type: ignore[arg-type]
    except TypeError:
        pass
    try:
        return tuple(operator.index(extent) for extent in shape)  # type: ignore[union-attr]
    except TypeError:
        raise TypeError(f"shape: expected an integer or a sequence of integers, got {shape!r}") from None


def _of_shape(given: Dict[str, Any]) -> int:
    return len(shape_of(given["shape"]))


def _of_source(given: Dict[str, Any]) -> int:
    return len(np.shape(given["local" if "local" in given else "source"]))


@by_default(_of_shape)
@collective
def empty(
    context: Context,
    shape: ShapeLike,
    distribution: DistributionLike,
    dtype: Any = "float64",
    *,
    order: str = "C",
    heap: bool = True,
    space: Optional[str] = None,
) -> Array:
    """A new array with undefined contents. Collective, blocking.

    Raises
    ------
    ArgumentError, DisagreementError, MemoryError
        The same on every rank.
    """
    return Array(_core.empty(context._core, shape_of(shape), rule_of(distribution), dtype_name(dtype), order, heap, space))


@by_default(_of_shape)
@collective
def full(
    context: Context,
    shape: ShapeLike,
    distribution: DistributionLike,
    value: Any,
    dtype: Any = None,
    *,
    order: str = "C",
    heap: bool = True,
    space: Optional[str] = None,
) -> Array:
    """An array with every element equal to `value`. Collective, blocking.

    In a partial distribution every contribution has the value: a partial sum over 4 ranks is 4 times the value after
    redistribution. This holds for all functions that make arrays.

    Parameters
    ----------
    value : number
        The value of the elements.
    dtype : dtype, optional
        Unset: the dtype of the value.
    """
    name = dtype_name(np.asarray(value).dtype if dtype is None else dtype)
    return _filled(context, shape, distribution, value, name, order, heap, space)


def _filled(
    context: Context, shape: ShapeLike, distribution: DistributionLike, value: Any, name: str, order: str, heap: bool, space: Optional[str]
) -> Array:
    return Array(_core.full(context._core, shape_of(shape), rule_of(distribution), value, name, order, heap, space))


@by_default(_of_shape)
@collective
def zeros(
    context: Context,
    shape: ShapeLike,
    distribution: DistributionLike,
    dtype: Any = "float64",
    *,
    order: str = "C",
    heap: bool = True,
    space: Optional[str] = None,
) -> Array:
    """An array of zeros; in a partial distribution every contribution is 0. Collective, blocking."""
    return _filled(context, shape, distribution, 0, dtype_name("float64" if dtype is None else dtype), order, heap, space)


@by_default(_of_shape)
@alike
def ones(
    context: Context,
    shape: ShapeLike,
    distribution: DistributionLike,
    dtype: Any = "float64",
    *,
    order: str = "C",
    heap: bool = True,
    space: Optional[str] = None,
) -> Array:
    """An array of ones; in a partial distribution every contribution is 1. Collective, blocking."""
    return _filled(context, shape, distribution, 1, dtype_name("float64" if dtype is None else dtype), order, heap, space)


@by_default(lambda given: 1)
@collective
def arange(
    context: Context,
    start: Any,
    stop: Any = None,
    step: Any = 1,
    *,
    distribution: DistributionLike,
    dtype: Any = None,
    space: Optional[str] = None,
) -> Array:
    """start, start + step, ... below `stop`, as in NumPy. Collective, blocking.

    The number of elements is ceil((stop - start) / step) of the given numbers, for any dtype. In a partial distribution every
    contribution has these elements.

    Parameters
    ----------
    start : number
        The first element; with a single argument, this is `stop` and the first element is 0.
    stop : number, optional
        The upper bound, not included.
    step : number, default 1
        The difference of neighbouring elements.
    dtype : dtype, optional
        Unset: as in NumPy.
    """
    if stop is None:
        start, stop = 0, start
    name = dtype_name(np.result_type(start, stop, step) if dtype is None else dtype)
    return Array(_core.arange(context._core, start, stop, step, rule_of(distribution), name, space))


@by_default(lambda given: 2)
@collective
def eye(
    context: Context,
    rows: int,
    columns: Optional[int] = None,
    *,
    distribution: DistributionLike,
    dtype: Any = "float64",
    diagonal: int = 0,
    space: Optional[str] = None,
) -> Array:
    """A matrix with 1 where column = row + diagonal, and 0 elsewhere. Collective, blocking.

    In a partial distribution every contribution is such a matrix.

    Parameters
    ----------
    rows : int
        The number of rows.
    columns : int, optional
        The number of columns; unset: as many as rows.
    diagonal : int, default 0
        The diagonal with ones; positive: above the main one.
    """
    wide = rows if columns is None else columns
    return Array(_core.eye(context._core, rows, wide, rule_of(distribution), dtype_name(dtype), diagonal, space))


@by_default(_of_shape)
@collective
def random(
    context: Context,
    shape: ShapeLike,
    distribution: DistributionLike,
    dtype: Any = "float64",
    *,
    seed: int = 0,
    normal: bool = False,
    order: str = "C",
    heap: bool = True,
    space: Optional[str] = None,
    stream: Any = None,
) -> Array:
    """Reproducible pseudo-random numbers, the same in every distribution. Collective, blocking.

    Floating-point and complex numbers are uniform in [-1, 1), or normal with mean 0 and variance 1; integers are uniform in
    [-100, 100], unsigned ones in [0, 200]; booleans are fair. In a partial distribution every contribution has the same numbers, so
    a partial sum is a multiple of them.

    Parameters
    ----------
    seed : int, default 0
        Determines the numbers; must be equal on all ranks.
    normal : bool, default False
        Normal instead of uniform numbers.
    """
    array = empty(context, shape, distribution, dtype, order=order, heap=heap, space=space)
    if context.size > 1:  # replicas would differ
        _core.agree(context._core, "random", [("seed and normal", f"{operator.index(seed) % 2**64}, {bool(normal)}")])
    _core.fill_random(array._core, seed, normal, stream_of_array(stream, array._core, array._package))
    return array


@by_default(_of_shape)
@alike
def normal(
    context: Context,
    shape: ShapeLike,
    distribution: DistributionLike,
    dtype: Any = "float64",
    *,
    loc: float = 0.0,
    scale: float = 1.0,
    seed: int = 0,
    space: Optional[str] = None,
) -> Array:
    """Reproducible normal pseudo-random numbers, the same in every distribution. Collective, blocking.

    Parameters
    ----------
    loc, scale : float
        The mean and the standard deviation.
    seed : int, default 0
        Determines the numbers; must be equal on all ranks.
    """
    found: Any = random(context, shape, distribution, dtype, seed=seed, normal=True, space=space)
    found *= scale
    found += loc
    return cast(Array, found)


@by_default(lambda given: 1)
@alike
def linspace(
    context: Context,
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    *,
    distribution: DistributionLike,
    dtype: Any = None,
    space: Optional[str] = None,
) -> Array:
    """Numbers at equal distances from start to stop, as in NumPy. Collective, blocking.

    Parameters
    ----------
    start, stop : number
        The first and the last number.
    num : int
        How many.
    endpoint : bool
        Whether the last is `stop`; else they end one step before.
    dtype : dtype, optional
        Unset: as in NumPy.
    """
    kind = np.result_type(start, stop, 1.0) if dtype is None else np.dtype(dtype)

    def numbers(i: Any) -> Any:
        steps = num - 1 if endpoint else num
        found = i * ((stop - start) / steps) + start if steps > 0 else i * np.float64(stop - start) + start
        found = np.where((i == num - 1) & (num > 1), stop, found) if endpoint else found
        return (np.floor(found) if kind.kind in "iu" else found).astype(kind)

    return from_function(context, (num,), distribution, numbers, kind, space=space)


@by_default(_of_shape)
@collective
def from_function(
    context: Context,
    shape: ShapeLike,
    distribution: DistributionLike,
    function: Callable[..., Any],
    dtype: Any = "float64",
    *,
    space: Optional[str] = None,
) -> Array:
    """An array whose local part is ``function(i, j, ...)`` of its global indices. Collective, blocking.

    An exception of the function on one rank is raised on all. In a partial distribution each contribution is the function's result
    on its rank.

    Parameters
    ----------
    function : callable
        Gets one array of indices per dimension, which broadcast against each other as those of `numpy.ogrid`:
        ``lambda i, j: i + 10.0 * j``. It is evaluated with NumPy arrays, also for device memory.
    """
    array = empty(context, shape, distribution, dtype, space="host")
    found = _unmasked("from_function", function(*np.ix_(*(array.indices(axis) for axis in range(array.ndim)))))
    if found is None:  # which NumPy would take for nan
        raise TypeError("from_function: the function has returned None instead of numbers")
    array.local[...] = found
    _core.listen_to_all(context._core, "from_function")  # what the function raises on one rank, all raise in this call
    return array if space == "host" or context.device == "cpu" else array.copy(space=space or "device")


@by_default(_of_source)
@collective
def from_local(
    context: Context, local: Any, distribution: DistributionLike, shape: Optional[ShapeLike] = None
) -> Array:
    """An array on the memory of each rank's local part, without a copy. Collective, blocking.

    Parameters
    ----------
    local : array
        This rank's part: an array of NumPy, PyTorch, CuPy or JAX, or anything with DLPack, `__cuda_array_interface__` or the buffer
        protocol, in host memory or that of the context's device, with any strides. It is kept alive, and `.local` returns the same
        object. If it is not writable, the array is read-only.
    shape : int or sequence of int, optional
        Global shape; unset: the sum of the parts along distributed dimensions.

    Raises
    ------
    ArgumentError
        The shape of a part differs from the one that the distribution gives its rank: on every rank.
    TypeError
        `local` is not an array: on every rank.
    """
    rule = rule_of(distribution)
    part, extents = part_of("from_local", context, local)
    whole = global_shape(context, extents, rule) if shape is None else shape_of(shape)
    core, read_only = _core.wrap(context._core, part, rule, whole)
    if context.size > 1:  # what one rank may not write is written on none
        read_only = 1 in _of_all(context, [int(read_only)])
    package = package_of(part)
    # What is of no package that computes is seen by NumPy.
    known = isinstance(part, np.ndarray) or package != "numpy" or not core.on_host
    return Array(core, package, part if known else None, read_only)


def part_of(what: str, context: Context, local: Any) -> Tuple[Any, Tuple[int, ...]]:
    """The view of the local part, and its shape; pending writes to it are waited for."""
    if type(local) is np.ndarray:
        return local, local.shape
    # PyTorch's raises for dtypes of 8 bits, and names no stream.
    interface = None if package_of(local) == "torch" else getattr(local, "__cuda_array_interface__", None)
    if interface is not None and interface.get("stream") is not None:
        context.synchronize(interface["stream"])
    elif hasattr(local, "block_until_ready"):  # JAX
        local.block_until_ready()
    if interface is not None:
        return local, tuple(local.shape if hasattr(local, "shape") else interface["shape"])
    if hasattr(local, "__dlpack__"):
        return local, tuple(local.shape if hasattr(local, "shape") else np.from_dlpack(local).shape)
    try:
        part = np.asarray(memoryview(local))  # which holds the buffer: a bytearray keeps its size
        return part, part.shape
    except TypeError:
        raise TypeError(
            f"{what}: expected an array with DLPack, the buffer protocol or __cuda_array_interface__, got "
            f"{type(local).__name__}"
        ) from None


def _of_all(context: Context, mine: Sequence[int]) -> List[int]:
    """The numbers of all ranks, concatenated. Collective, blocking."""
    numbers = np.array(mine, np.int64)
    everyone = np.empty(len(mine) * context.size, np.int64)
    _core.all_gather(context._core, numbers, everyone, [])
    return [int(one) for one in everyone]


most_dimensions = 8


def _told(extents: Sequence[int]) -> List[int]:
    """A shape as a fixed number of integers: the number of dimensions, and the extents, padded to the maximum."""
    few = [int(one) for one in extents[:most_dimensions]]
    return [len(extents), *few, *[-1] * (most_dimensions - len(few))]


def _refuse_many(what: str, dimensions: int) -> None:
    if dimensions > most_dimensions:
        raise ArgumentError(f"{what}: {dimensions} dimensions; arrays have at most {most_dimensions}")


@by_default(_of_source)
@collective
def scatter(
    context: Context,
    source: Any,
    distribution: DistributionLike,
    *,
    root: int = 0,
    shape: Optional[ShapeLike] = None,
    space: Optional[str] = None,
    stream: Any = None,
) -> Array:
    """An array on one rank, distributed over all ranks. Collective, blocking.

    Parameters
    ----------
    source : array
        On the root: a dense array in host memory; ignored on other ranks.
    root : int, default 0
        The rank that has the source.
    shape : int or sequence of int, optional
        Shape of the source; unset: broadcast from the root.
    """
    if not 0 <= root < context.size:
        raise ArgumentError(f"scatter: root {root} is not one of the {context.size} ranks")
    here = context.rank == root
    if shape is None:
        told = np.array(_told(np.shape(source) if here else ()), np.int64)
        _core.broadcast(context._core, told, root)
        _refuse_many("scatter", int(told[0]))
        shape = tuple(int(extent) for extent in told[1 : 1 + told[0]])
    dense = np.asarray(_unmasked("scatter", source), order="C") if here else None  # which keeps an array without dimensions
    handle = None if stream is None else handle_of(stream)
    return Array(_core.scatter(context._core, dense, shape_of(shape), rule_of(distribution), root, space, handle))


def _unmasked(what: str, source: Any) -> Any:
    if isinstance(source, np.ma.MaskedArray):
        raise TypeError(f"{what}: masked arrays are not supported: replace the masked elements with .filled(...)")
    return source


def global_shape(context: Context, local: Tuple[int, ...], rule: Rule) -> Tuple[int, ...]:
    """The global shape of which the given shapes are the parts. Collective, blocking."""
    return joined_shape(rule, shapes_of_all("from_local", context, local))


def shapes_of_all(what: str, context: Context, local: Tuple[int, ...]) -> List[List[int]]:
    """The shapes of the parts of all ranks, which have one number of dimensions. Collective, blocking."""
    told = _of_all(context, _told(local))
    shapes = [told[first : first + 1 + most_dimensions] for first in range(0, len(told), 1 + most_dimensions)]
    _refuse_many(what, max(one[0] for one in shapes))
    parts = [one[1 : 1 + one[0]] for one in shapes]
    if len({len(one) for one in parts}) != 1:
        raise ArgumentError(f"{what}: the parts have different numbers of dimensions: {[len(one) for one in parts]}")
    return parts


def joined_shape(rule: Rule, parts: Sequence[Sequence[int]]) -> Tuple[int, ...]:
    """The global shape of which these shapes, by rank, are the parts."""
    return tuple(_extent(rule, axis, parts) for axis in range(len(parts[0])))


def _extent(rule: Rule, axis: int, parts: Sequence[Sequence[int]]) -> int:
    """The sum of the extents along the ranks over which the axis is distributed."""
    ranks: Sequence[int]
    if isinstance(rule, _core.Slab):
        ranks = range(len(parts)) if axis == rule.axis else range(1)
    elif isinstance(rule, _core.Box):
        return max(upper[axis] for _, upper in rule.boxes)
    elif isinstance(rule, (_core.BlockCyclic, _core.BlockNonCyclic)):
        extents = rule.grid.extents
        if axis >= len(extents):
            return parts[0][axis]  # which the layout refuses
        ranks = [rule.grid.rank_at(tuple(i if one == axis else 0 for one in range(len(extents)))) for i in range(extents[axis])]
    elif isinstance(rule, _core.Partitioned):
        axes = rule.spec.dimensions[axis] if axis < len(rule.spec.dimensions) else []
        ranks = rule.mesh.ranks_along(rule.mesh.ranks[0] if rule.mesh.ranks else 0, axes)
    else:
        ranks = range(1)
    return sum(parts[rank][axis] for rank in ranks if rank < len(parts))


__all__ = [
    "arange", "empty", "eye", "from_function", "from_local", "full", "linspace", "normal", "ones", "random", "scatter", "zeros",
]  # fmt: skip
