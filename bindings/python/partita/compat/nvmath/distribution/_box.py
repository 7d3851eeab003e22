"""A box for each process."""

from __future__ import annotations

import math
from typing import Any, Iterator, List, Optional, Sequence, Type

from .... import _core
from .._context import current
from ._base import BindDistributionError, ConvertDistributionError, Distribution, Shape, longer


class Box(Distribution):
    """What this process has: lower <= index < upper. Each gives its own; together they are the array, without overlap."""

    _same_everywhere = False

    def __init__(self, lower: Sequence[int], upper: Sequence[int]) -> None:
        super().__init__()
        if len(lower) != len(upper):
            raise ValueError(f"Box: lower has {len(lower)} coordinates, but upper has {len(upper)}")
        if not all(isinstance(one, int) for one in (*lower, *upper)):
            raise ValueError(f"Box: coordinates must be integers, got {tuple(lower)}, {tuple(upper)}")
        if any(last <= first for first, last in zip(lower, upper)):
            raise ValueError(f"Box: upper must be larger than lower in each dimension, got {tuple(lower)}, {tuple(upper)}")
        self._lower, self._upper = tuple(lower), tuple(upper)

    @classmethod
    def _of_layout(cls, layout: _core.Layout, whole: Shape, dimensions: int) -> Box:
        """This rank's part, which is contiguous, of a layout that is cut along one axis."""
        rank = current().process_group.rank
        extents = layout.local_shape(rank)
        if 0 in extents:
            raise ConvertDistributionError("this rank has no elements, which a Box cannot express")
        lower = [int(layout.indices(axis, rank)[0]) for axis in range(len(whole))]
        upper = [first + extent for first, extent in zip(lower, extents)]
        return cls(longer(lower, dimensions, 0), longer(upper, dimensions, 1))._bind(longer(whole, dimensions, 1))

    @property
    def lower(self) -> Shape:
        """The first index along each dimension."""
        return self._lower

    @property
    def upper(self) -> Shape:
        """The last index along each, and 1."""
        return self._upper

    @property
    def box_shape(self) -> Shape:
        """Upper less lower."""
        return tuple(last - first for first, last in zip(self._lower, self._upper))

    @property
    def ndim(self) -> int:
        return len(self._lower)

    def shape(self, rank: int, global_shape: Optional[Sequence[int]] = None) -> Shape:
        """Of this rank; RuntimeError of others, which only they know."""
        if rank != current().process_group.rank:
            raise RuntimeError(f"{self} belongs to this process: the box of rank {rank} is known on that rank only")
        self._whole_shape(rank, global_shape)
        return self.box_shape

    def __iter__(self) -> Iterator[Shape]:
        yield self._lower
        yield self._upper

    def __getitem__(self, index: int) -> Shape:
        return (self._lower, self._upper)[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Box) and (self._lower, self._upper) == (other._lower, other._upper)

    def __hash__(self) -> int:
        return hash((self._lower, self._upper))

    def __str__(self) -> str:
        return f"Box(lower={self._lower}, upper={self._upper})" + self._bound_text()

    __repr__ = __str__

    def _rule(self, everyone: Sequence[Distribution]) -> _core.Box:
        return _core.Box([(one._lower, one._upper) for one in everyone if isinstance(one, Box)])

    def _suits(self, what: str, dimensions: int, part: Shape) -> None:
        if self.ndim != dimensions:
            raise ValueError(f"{what}: {self} cannot distribute {dimensions} dimensions")
        if self.box_shape != tuple(part):
            raise ValueError(f"{what}: the part has shape {tuple(part)}, but the box has shape {self.box_shape}")

    def _covers(self, what: str, whole: Shape, parts: Sequence[Shape]) -> None:
        elements = sum(math.prod(part) for part in parts)
        if elements != math.prod(whole):
            raise ValueError(f"{what}: the boxes have {elements} elements, but the global shape that they span, {whole}, has {math.prod(whole)}")

    def _uncut(self, dimensions: int) -> List[int]:
        return []

    def _bind(self, global_shape: Sequence[int], *, shape: Optional[Sequence[int]] = None) -> Box:
        if shape is not None and tuple(shape) != self.box_shape:
            raise BindDistributionError(f"{self} has shape {self.box_shape}, got {tuple(shape)}")
        super()._bind(global_shape)
        return self

    def to(self, cls: Type[Distribution], /, *, ndim: Optional[int] = None, copy: bool = False) -> Any:
        """As a Box of so many dimensions."""
        self._checked(cls, ndim)
        if cls is not Box:
            raise NotImplementedError(f"{self} cannot be converted to a {cls.__name__}: a single process does not know the other boxes")
        if ndim is not None and ndim > self.ndim:
            return self._rebound(Box(longer(self._lower, ndim, 0), longer(self._upper, ndim, 1)), ndim)
        return self.copy() if copy else self
