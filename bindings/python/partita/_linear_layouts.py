"""What calls of linear algebra on parts check and derive of layouts, for autograd and compiled programs."""

from __future__ import annotations

from typing import Optional, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._errors import ArgumentError, UnsupportedError
from ._matrices import DTYPES
from ._parts import Destination, layout_of

Indices = NDArray[np.int64]


def check_numbers(what: str, *dtypes: str) -> None:
    """That the operands have one dtype, in which the library computes."""
    for dtype in dtypes:
        if dtype not in DTYPES:
            raise ArgumentError(f"{what}: the dtype must be one of {', '.join(DTYPES)}, got {dtype}; convert the operand first")
    if len(set(dtypes)) > 1:
        raise ArgumentError(f"{what}: the operands have the dtypes {' and '.join(dtypes)}; convert one of them")


def check_matrix(what: str, layout: _core.Layout) -> None:
    if len(layout.shape) != 2:
        raise ArgumentError(f"{what}: A must be a matrix, but its shape is {layout.shape}")
    check_complete(what, layout)


def check_complete(what: str, layout: _core.Layout) -> None:
    if layout.partial is not None:
        raise ArgumentError(f"{what}: {layout} has contributions that are still to be reduced; use redistribute first")


def check_square(what: str, layout: _core.Layout) -> None:
    check_matrix(what, layout)
    if layout.shape[0] != layout.shape[1]:
        raise ArgumentError(f"{what}: A must be square, but its shape is {layout.shape}")


def check_tall(what: str, layout: _core.Layout) -> None:
    if layout.shape[0] < layout.shape[1]:
        raise UnsupportedError(
            f"{what}: derivatives require at least as many rows as columns, but the shape of A is {layout.shape}; factorize its first "
            f"{layout.shape[0]} columns, and multiply the others by Q^H"
        )


def of_solution(
    what: str, a: _core.Layout, b: _core.Layout, destination: Optional[Destination], right: bool = False
) -> _core.Layout:
    """The layout of X, by default that of B."""
    check_square(what, a)
    check_complete(what, b)
    if len(b.shape) not in ((2,) if right else (1, 2)) or b.shape[1 if right else 0] != a.shape[0]:
        wanted = f"[r, {a.shape[0]}]" if right else f"[{a.shape[0]}] or [{a.shape[0]}, r]"
        raise ArgumentError(f"{what}: B must have the shape {wanted}, but its shape is {b.shape}")
    return result_layout(what, b.distribution if destination is None else destination, b.shape, b.ranks)


def result_layout(what: str, destination: Destination, shape: Sequence[int], ranks: int) -> _core.Layout:
    found = layout_of(destination, shape, ranks)
    if found.shape != tuple(shape):
        raise ArgumentError(f"{what}: the result has shape {tuple(shape)}, but the layout is {found}")
    check_complete(what, found)
    return found


def of_factor(a: _core.Layout, shape: Tuple[int, int]) -> _core.Layout:
    """The layout of a factor: that of A if it has the shape of A, its distribution if that suits all shapes, otherwise Slab(0)."""
    if shape == a.shape:
        return a
    suits = (_core.Slab(0), _core.Slab(1), _core.Replicated())
    return _core.Layout(a.distribution if a.distribution in suits else _core.Slab(0), shape, a.ranks)


def of_qr(a: _core.Layout) -> Tuple[_core.Layout, _core.Layout]:
    """The layouts of Q and R."""
    check_matrix("qr", a)
    (m, n), k = a.shape, min(a.shape)
    return of_factor(a, (m, k)), of_factor(a, (k, n))


def of_svd(a: _core.Layout) -> Tuple[_core.Layout, _core.Layout]:
    """The layouts of U and V^H."""
    check_matrix("svd", a)
    (m, n), k = a.shape, min(a.shape)
    return of_factor(a, (m, k)), of_factor(a, (k, n))


def check_polar(shape: Sequence[int]) -> None:
    if shape[0] < shape[1]:
        raise ArgumentError(
            f"polar: A must have at least as many rows as columns, but its shape is {tuple(shape)}; decompose A^H = U P, then A = P U^H"
        )


def of_polar(a: _core.Layout) -> Tuple[_core.Layout, _core.Layout]:
    """The layouts of U and P."""
    check_matrix("polar", a)
    check_polar(a.shape)
    return a, of_factor(a, (a.shape[1],) * 2)


def replicated(length: int, ranks: int) -> _core.Layout:
    """Of numbers that every rank has: eigenvalues, pivots."""
    return _core.Layout(_core.Replicated(), (length,), ranks)


def transposed(layout: _core.Layout) -> _core.Layout:
    return layout.permuted([1, 0])


def of_columns(b: _core.Layout) -> Tuple[_core.Layout, _core.Layout]:
    """Layouts in which a rank has the same numbers of a vector and of the matrix with it as its column."""
    return _core.Layout(_core.Slab(0), b.shape, b.ranks), _core.Layout(_core.Slab(0), (*b.shape, 1), b.ranks)


def places(layout: _core.Layout, rank: int) -> Tuple[Indices, Indices]:
    """The global indices of a rank's rows, as a column, and of its columns."""
    return layout.indices(0, rank)[:, None], layout.indices(1, rank)

