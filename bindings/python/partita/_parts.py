"""What calls check and derive of this rank's parts where autograd or a compiler of another package has the arrays."""

from __future__ import annotations

from typing import Optional, Sequence, Tuple, Union

from . import _core
from ._errors import ArgumentError
from ._mesh import DistributionLike, rule_of

Destination = Union[_core.Layout, DistributionLike]


def counts_of(what: str, counts: Optional[Sequence[int]], ranks: int, rows: int) -> Tuple[int, ...]:
    """Rows of each rank; by default `rows` over all of them, in equal parts."""
    if counts is None:
        if rows % ranks:
            raise ArgumentError(f"{what}: {rows} rows cannot be divided by {ranks} ranks: pass counts")
        return (rows // ranks,) * ranks
    given = tuple(int(count) for count in counts)
    if len(given) != ranks or min(given) < 0:
        raise ArgumentError(f"{what}: counts: expected {ranks} numbers, one per rank, got {given}")
    return given


def rows_of(what: str, shape: Sequence[int]) -> int:
    if not shape:
        raise ArgumentError(f"{what}: expected an array with at least one dimension, along which parts are concatenated; use x.reshape(1)")
    return int(shape[0])


def check_root(what: str, root: int, ranks: int) -> int:
    if not 0 <= root < ranks:
        raise ArgumentError(f"{what}: root {root} is not one of the {ranks} ranks")
    return root


def check_part(what: str, shape: Sequence[int], layout: _core.Layout, rank: int, ranks: int) -> None:
    """That it is the shape of this rank's part of the layout."""
    if not isinstance(layout, _core.Layout):
        raise TypeError(f"{what}: expected a layout, got {type(layout).__name__}")
    if layout.ranks != ranks:
        raise ArgumentError(f"{what}: the layout has {layout.ranks} ranks, but the group has {ranks}")
    if tuple(shape) != layout.local_shape(rank):
        raise ArgumentError(
            f"{what}: the part has shape {tuple(shape)}, but {layout} gives rank {rank} {layout.local_shape(rank)}"
        )


def check_activation(what: str, activation: Optional[str]) -> None:
    if activation not in (None, "relu", "gelu"):
        raise ArgumentError(f"{what}: activation {activation!r}; known: relu, gelu")


def layout_of(destination: Destination, shape: Sequence[int], ranks: int) -> _core.Layout:
    """A layout itself, or that of a distribution and a shape."""
    if isinstance(destination, _core.Layout):
        return destination
    return _core.Layout(rule_of(destination), tuple(shape), ranks)


def of_transform(
    source: _core.Layout, destination: Optional[Destination], axes: Sequence[int], kind: str, last_length: Optional[int] = None
) -> _core.Layout:
    """The layout of a transform's result. `kind`: 'c2c', 'r2c' or 'c2r', to `last_length` samples, by default the even number."""
    shape = list(source.shape)
    if kind == "r2c":
        shape[axes[-1]] = shape[axes[-1]] // 2 + 1
    elif kind == "c2r":
        if last_length is not None and last_length < 1:
            raise ArgumentError(f"fft: last_length is {last_length}, but a line has at least one element")
        shape[axes[-1]] = 2 * (shape[axes[-1]] - 1) if last_length is None else last_length
    found = layout_of(source.distribution if destination is None else destination, shape, source.ranks)
    if found.shape != tuple(shape):
        raise ArgumentError(f"fft: the result has shape {tuple(shape)}, but the layout is {found}")
    return found


def of_product(
    a: _core.Layout, b: _core.Layout, destination: Optional[Destination], transpose_a: bool, transpose_b: bool
) -> _core.Layout:
    """The layout of a product, by default that of the left operand."""
    shape = (a.shape[1 if transpose_a else 0], b.shape[0 if transpose_b else 1])
    return layout_of(a.distribution if destination is None else destination, shape, a.ranks)
