"""Arrays that begin with something in them. All are collective and blocking."""

from __future__ import annotations

import operator
from typing import Any, Callable, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._calls import collective
from ._array import Array
from ._context import Context
from ._dtypes import dtype_name
from ._errors import ArgumentError, DisagreementError
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

    Parameters
    ----------
    context : Context
    shape : int or sequence of int
        Of the whole array.
    distribution
        A rule (`Slab(0)`), its text ('slab:0'), or a spec (`P('x', None)`) inside ``with mesh:``.
    dtype
        As NumPy takes them; 'bfloat16', too.
    order : {'C', 'F'}
        Of the local parts.
    heap : bool
        On the symmetric heap, where ranks of a node read each other's parts in place, or in ordinary memory.
    space : {'host', 'device'}, optional
        Whose memory it is; by default that of the context's device, if it has one.

    Raises
    ------
    ArgumentError, DisagreementError, MemoryError
        The same on every rank.
    """
    return Array(_core.empty(context._core, shape_of(shape), rule_of(distribution), dtype_name(dtype), order, heap, space))


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
    """Every element is `value`. Collective, blocking; the rest as `empty`. dtype: that of the value by default.

    In a partial distribution every contribution has the value: a partial sum over 4 ranks is 4 times the value once it is
    redistributed. That holds for all functions here that make arrays.
    """
    name = dtype_name(np.asarray(value).dtype if dtype is None else dtype)
    return _filled(context, shape, distribution, value, name, order, heap, space)


def _filled(
    context: Context, shape: ShapeLike, distribution: DistributionLike, value: Any, name: str, order: str, heap: bool, space: Optional[str]
) -> Array:
    return Array(_core.full(context._core, shape_of(shape), rule_of(distribution), value, name, order, heap, space))


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
    """Every element is 0. Collective, blocking; the rest as `empty`. In a partial distribution every contribution is 0."""
    return _filled(context, shape, distribution, 0, dtype_name("float64" if dtype is None else dtype), order, heap, space)


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
    """start, start + step, ... below `stop`, as NumPy's; of one argument it is `stop`. Collective, blocking.

    The number of elements is ceil((stop - start) / step) of the numbers that are given, whatever the dtype. In a partial
    distribution every contribution has these elements.
    """
    if stop is None:
        start, stop = 0, start
    name = dtype_name(np.result_type(start, stop, step) if dtype is None else dtype)
    return Array(_core.arange(context._core, start, stop, step, rule_of(distribution), name, space))


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
    """1 where column = row + diagonal, 0 elsewhere; square by default. Collective, blocking.

    In a partial distribution every contribution is such a matrix.
    """
    wide = rows if columns is None else columns
    return Array(_core.eye(context._core, rows, wide, rule_of(distribution), dtype_name(dtype), diagonal, space))


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

    Floating and complex: uniform in [-1, 1), or normal with mean 0 and variance 1; integers: uniform over
    [-100, 100], unsigned [0, 200]; boolean: fair. In a partial distribution every contribution has the same numbers, so that
    a partial sum is a multiple of them.
    """
    array = empty(context, shape, distribution, dtype, order=order, heap=heap, space=space)
    if context.size > 1:
        _require_one_seed(context, seed, normal)
    _core.fill_random(array._core, seed, normal, stream_of_array(stream, array._core, array._package))
    return array


def _require_one_seed(context: Context, seed: int, normal: bool) -> None:
    """DisagreementError where ranks have others: replicas would differ."""
    signed = operator.index(seed) % 2**64 - 2**63  # any seed as a number of 64 bits
    told = _of_all(context, [signed, int(normal)])
    for rank, (number, kind) in enumerate(zip(told[::2], told[1::2])):
        if (number, kind) != (told[0], told[1]):
            raise DisagreementError(
                f"random: the ranks disagree on seed and normal: {told[0] + 2**63}, {bool(told[1])} on rank 0; "
                f"{number + 2**63}, {bool(kind)} on rank {rank}"
            )


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
    """Each rank's part is ``function(i, j, ...)`` of its global indices, as open grids. Collective, blocking.

    The indices are arrays that broadcast against each other, as of `numpy.ogrid`: ``lambda i, j: i + 10.0 * j``. What
    lies in device memory in the end is made by NumPy first, too. An exception of the function on one rank is raised on all. In a
    partial distribution each contribution is what the function returns on its rank.
    """
    array = empty(context, shape, distribution, dtype, space="host")
    found = _unmasked("from_function", function(*np.ix_(*(array.indices(axis) for axis in range(array.ndim)))))
    if found is None:  # which NumPy would take for nan
        raise TypeError("from_function: the function has returned None, and no numbers")
    array.local[...] = found
    _core.listen_to_all(context._core, "from_function")  # what the function raises on one rank, all raise in this call
    return array if space == "host" or context.device == "cpu" else array.copy(space=space or "device")


@collective
def from_local(
    context: Context, local: Any, distribution: DistributionLike, shape: Optional[ShapeLike] = None
) -> Array:
    """An array on memory that each rank has, without a copy. Collective, blocking.

    Parameters
    ----------
    context : Context
    local : array
        This rank's part: of NumPy, PyTorch, CuPy, JAX, or anything with DLPack, `__cuda_array_interface__` or the
        buffer protocol, in host memory or that of the context's device, of any strides. It is kept alive, and `.local`
        is itself again. What may not be written is only read.
    distribution
        As of `empty`.
    shape : int or sequence of int, optional
        Of the whole array; by default what the parts add up to.

    Raises
    ------
    ArgumentError
        A part that is not of the shape that the distribution gives its rank: on every rank.
    TypeError
        No array: on every rank.
    """
    rule = rule_of(distribution)
    part, extents = _part(context, local)
    whole = global_shape(context, extents, rule) if shape is None else shape_of(shape)
    core, read_only = _core.wrap(context._core, part, rule, whole)
    if context.size > 1:  # what one rank may not write is written on none
        read_only = 1 in _of_all(context, [int(read_only)])
    package = package_of(part)
    # What is of no package that computes is seen by NumPy.
    known = isinstance(part, np.ndarray) or package != "numpy" or not core.on_host
    return Array(core, package, part if known else None, read_only)


def _part(context: Context, local: Any) -> Tuple[Any, Tuple[int, ...]]:
    """What is wrapped, and its shape. Where others are still writing to it, they are waited for."""
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
            f"from_local: expected an array with DLPack, the buffer protocol or __cuda_array_interface__, got "
            f"{type(local).__name__}"
        ) from None


def _of_all(context: Context, mine: Sequence[int]) -> List[int]:
    """The numbers of all ranks, one after the other. Collective, blocking."""
    numbers = np.array(mine, np.int64)
    everyone = np.empty(len(mine) * context.size, np.int64)
    _core.all_gather(context._core, numbers, everyone, [])
    return [int(one) for one in everyone]


most_dimensions = 8


def _told(extents: Sequence[int]) -> List[int]:
    """A shape as so many numbers whatever it is: how many dimensions, and the extents of as many as arrays may have."""
    few = [int(one) for one in extents[:most_dimensions]]
    return [len(extents), *few, *[-1] * (most_dimensions - len(few))]


def _refuse_many(what: str, dimensions: int) -> None:
    if dimensions > most_dimensions:
        raise ArgumentError(f"{what}: {dimensions} dimensions; arrays have at most {most_dimensions}")


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
    """The array of one rank, spread over all. Collective, blocking.

    Parameters
    ----------
    source : array
        Whole and dense, in host memory, on the root; not looked at elsewhere.
    shape : optional
        Of the source; where it is not given the root tells the others.
    stream
        Of a result in device memory: see the docs on streams.
    """
    if not 0 <= root < context.size:
        raise ArgumentError(f"scatter: there is no rank {root} among {context.size}")
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
        raise TypeError(f"{what}: a masked array, whose mask nothing here looks at: .filled(...) says what its masked elements are")
    return source


def global_shape(context: Context, local: Tuple[int, ...], rule: Rule) -> Tuple[int, ...]:
    """What the parts of all ranks add up to in the distribution. Collective, blocking."""
    told = _of_all(context, _told(local))
    shapes = [told[first : first + 1 + most_dimensions] for first in range(0, len(told), 1 + most_dimensions)]
    _refuse_many("from_local", max(one[0] for one in shapes))
    parts = [one[1 : 1 + one[0]] for one in shapes]
    if len({len(one) for one in parts}) != 1:
        raise ArgumentError(f"from_local: the parts have different numbers of dimensions: {[len(one) for one in parts]}")
    return joined_shape(rule, parts)


def joined_shape(rule: Rule, parts: Sequence[Sequence[int]]) -> Tuple[int, ...]:
    """What parts of these shapes, by rank, add up to in the distribution."""
    return tuple(_extent(rule, axis, parts) for axis in range(len(parts[0])))


def _extent(rule: Rule, axis: int, parts: Sequence[Sequence[int]]) -> int:
    """The sum along the ranks that the axis is cut over."""
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
    "arange", "empty", "eye", "from_function", "from_local", "full", "random", "scatter", "zeros",
]  # fmt: skip
