"""Products with NumPy's names and dtypes, composed of the library's matrix product."""

from __future__ import annotations

import operator
from typing import Any, Optional, Sequence, Tuple, Union, cast

import numpy as np

from . import _core
from ._agreement import alike
from ._array import Array, axes_of, core_given, require_one_context
from ._axes import moved
from ._calls import collective
from ._device_ufuncs import product
from ._einsum_run import contracted_arrays
from ._errors import ArgumentError
from ._layouts import default_layout
from ._linear import matmul
from ._moves import Affine, part_of, picked, settled, with_part
from ._places import roll
from ._promotion import promoted
from ._replicas import replicas, with_replicas
from ._shapes import moveaxis, ravel
from ._streams import stream_of_arrays
from ._views import with_axis

Axes = Union[int, Sequence[Any]]


def _two(name: str, a: Any, b: Any) -> Tuple[Array, Array]:
    """The operands, at least one of which is a distributed array."""
    if not isinstance(a, Array) and not isinstance(b, Array):
        core_given(a)
    first, second = replicas(name, [a, b], numbers=True)
    return settled(name, first), settled(name, second)


@alike
def outer(a: Any, b: Any) -> Array:
    """All products of an element of a and one of b, as a matrix. Collective, blocking.

    Parameters
    ----------
    a, b : Array or numpy.ndarray
        Their elements in row-major order are the rows and the columns.
    """
    first, second = (ravel(one) for one in promoted("outer", *_two("outer", a, b)))
    layout = default_layout((first.size, second.size), first._core.context.size)
    cut = layout.distribution
    assert isinstance(cut, _core.Slab)
    rows = first.redistribute(_core.Slab(0) if cut.axis == 0 else _core.Replicated())
    columns = second.redistribute(_core.Replicated() if cut.axis == 0 else _core.Slab(0))
    if first._package == "none":  # in device memory that nobody else shows
        return product(with_axis(rows, 1), with_axis(columns, 0), layout)
    return with_part(first, layout, part_of(rows).reshape(-1, 1) * part_of(columns).reshape(1, -1))


@alike
def outer_of_vectors(x1: Any, x2: Any, /) -> Array:
    """As `outer`, of two vectors: `numpy.linalg.outer`. Collective, blocking."""
    for one in (x1, x2):
        if np.ndim(one) != 1:
            raise ArgumentError(f"outer: an array of {np.ndim(one)} dimensions; expected two vectors")
    return outer(x1, x2)


@alike
def kron(a: Any, b: Any) -> Array:
    """The Kronecker product: blocks of b, each times an element of a. Collective, blocking.

    Parameters
    ----------
    a, b : Array or numpy.ndarray
        The array of factors, and the block.
    """
    first, second = promoted("kron", *_two("kron", a, b))
    while first.ndim < second.ndim:
        first = with_axis(first, 0)
    while second.ndim < first.ndim:
        second = with_axis(second, 0)
    extents = list(zip(first.shape, second.shape))
    layout = default_layout(tuple(n * m for n, m in extents), first._core.context.size)
    factors = picked(first, [Affine(n * m, repeats=max(1, m)) for n, m in extents], layout)
    return cast(Array, np.multiply(factors, picked(second, [Affine(n * m, modulus=m) for n, m in extents], layout)))


@alike
def cross(a: Any, b: Any, *, axis: Optional[int] = None) -> Array:
    """The cross products of vectors of three elements along an axis. Collective, blocking.

    Parameters
    ----------
    a, b : Array or numpy.ndarray
        Their other extents broadcast.
    axis : int, optional
        The axis of the elements; unset: the last.
    """
    first, second = _two("cross", a, b)
    axis = -1 if axis is None else axis
    along = [axes_of(axis, one.ndim)[0] for one in (first, second)]
    if first.shape[along[0]] != 3 or second.shape[along[1]] != 3:
        raise ArgumentError(f"cross: {first.shape[along[0]]} and {second.shape[along[1]]} elements along axis {axis}; expected 3")
    second = moved(second, first.layout) if first.shape == second.shape else second
    (x1, x2), (y1, y2) = ([roll(one, -1, axis), roll(one, -2, axis)] for one in (first, second))
    return cast(Array, x1 * y2 - x2 * y1)


@alike
def inner(a: Any, b: Any) -> Any:
    """The sums of products over the last axes; of two vectors a number on every rank. Collective, blocking.

    Parameters
    ----------
    a, b : Array or numpy.ndarray
        Equal extents along the last axes.
    """
    first, second = _two("inner", a, b)
    if first.ndim == 1 == second.ndim:
        return dot(first, second)
    if not first.ndim or not second.ndim:
        return first * second
    return tensordot(first, second, (-1, -1))


@alike
@with_replicas("x1", "x2")
def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Any:
    """The sums of conj(x1) x2 along an axis; of two vectors a number on every rank. Collective, blocking.

    Parameters
    ----------
    x1, x2 : Array
        In layouts as ufuncs require them.
    axis : int
        The axis.
    """
    first, second = (one if axis == -1 else moveaxis(one, axis, -1) for one in (x1, x2))
    if not first.ndim or not second.ndim or first.shape[-1] != second.shape[-1]:
        raise ArgumentError(f"vecdot: the shapes {x1.shape} and {x2.shape} differ along axis {axis}")
    found = np.multiply(np.conjugate(first), second)
    return found.sum(None if found.ndim == 1 else -1, dtype=found.dtype)


@alike
def tensordot(a: Any, b: Any, axes: Axes = 2) -> Array:
    """The sums of products over some axes of each array. Collective, blocking.

    Parameters
    ----------
    a, b : Array or numpy.ndarray
        The operands.
    axes : int or two sequences of int
        How many of the last axes of a and the first of b, or the axes of a and those of b.

    Returns
    -------
    Array
        The axes of a that remain, and then those of b.
    """
    first, second = _two("tensordot", a, b)
    if isinstance(axes, (int, np.integer)):
        count = operator.index(axes)
        if not 0 <= count <= min(first.ndim, second.ndim):
            raise ArgumentError(f"tensordot: axes={count} for arrays of {first.ndim} and {second.ndim} dimensions")
        of_a, of_b = list(range(first.ndim - count, first.ndim)), list(range(count))
    else:
        of_a, of_b = axes_of(axes[0], first.ndim), axes_of(axes[1], second.ndim)
    if len(of_a) != len(of_b) or any(first.shape[i] != second.shape[j] for i, j in zip(of_a, of_b)):
        raise ArgumentError(f"tensordot: shapes {first.shape} and {second.shape} differ along axes {axes}")
    labels = list(range(first.ndim))
    others = [of_a[of_b.index(axis)] if axis in of_b else first.ndim + axis for axis in range(second.ndim)]
    kept = [one for one in labels if one not in others] + [one for one in others if one not in labels]
    return contracted_arrays(first, labels, second, others, kept)


@collective
def dot(a: Any, b: Any, *, stream: Any = None) -> Any:
    """NumPy's dot product. Collective, blocking.

    Of two vectors the sum of a[i] b[i], a number on every rank; of matrices and vectors their product; with a number the product of each element;
    else the sums of products over the last axis of a and the last but one of b. NumPy arrays must be equal on all ranks, which an all-gather of a
    hash verifies.

    Parameters
    ----------
    a, b : Array, numpy.ndarray or number
        The operands.
    """
    a, b = replicas("dot", [a, b], numbers=True)
    core_given(a), core_given(b)
    if a.ndim == 1 == b.ndim:
        return _inner_product("dot", a, b, False, stream)
    if not a.ndim or not b.ndim:
        return np.multiply(a, b)
    if a.ndim <= 2 and b.ndim <= 2:
        return matmul(a, b, stream=stream)
    return tensordot(a, b, (-1, -1 if b.ndim == 1 else -2))


@collective
@with_replicas("a", "b")
def vdot(a: Array, b: Array, *, stream: Any = None) -> Any:
    """The sum of conj(a[i]) b[i] over all elements, on every rank. Collective, blocking. NumPy arrays are verified as by `dot`."""
    core_given(a), core_given(b)
    return _inner_product("vdot", a, b, True, stream)


def _inner_product(name: str, a: Array, b: Array, conjugated: bool, stream: Any) -> Any:
    if a._core.dtype != b._core.dtype or not a._core.same_layout(b._core):
        require_one_context(name, a, b)
        if a.size != b.size or (a.shape != b.shape and not conjugated):
            raise ArgumentError(f"{name}: the shapes {a.shape} and {b.shape} differ")
        a, b = promoted(name, a, b)
        b = (b if b.shape == a.shape else b.reshape(a.shape)).redistribute(a.layout)
    found = _core.inner_product(a._core, b._core, conjugated, stream_of_arrays(stream, a, b))
    return bool(found) if a.dtype == np.bool_ else found


__all__ = ["cross", "dot", "inner", "kron", "outer", "tensordot", "vdot", "vecdot"]
