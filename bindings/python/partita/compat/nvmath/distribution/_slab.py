"""Cut along one axis."""

from __future__ import annotations

from typing import Any, ClassVar, List, Optional, Sequence, Type

from .... import _core
from .._context import current
from ._base import ConvertDistributionError, Distribution, Shape


class Slab(Distribution):
    """Cut along `partition_dim` into as many parts as there are processes, the first ones longer by 1 where that is uneven.

    `Slab.X`, `Slab.Y` and `Slab.Z` are those of axes 0, 1 and 2.
    """

    X: ClassVar[Slab]
    Y: ClassVar[Slab]
    Z: ClassVar[Slab]
    _same_everywhere = True

    def __init__(self, partition_dim: int, ndim: Optional[int] = None) -> None:
        super().__init__()
        if not isinstance(partition_dim, int) or partition_dim < 0:
            raise ValueError(f"partition_dim: expected 0, 1, ..., got {partition_dim!r}")
        if ndim is not None and (not isinstance(ndim, int) or ndim <= partition_dim):
            raise ValueError(f"ndim: expected an integer above partition_dim, {partition_dim}, got {ndim!r}")
        self._partition_dim = partition_dim
        self._ndim = ndim

    @property
    def partition_dim(self) -> int:
        """The axis that is cut."""
        return self._partition_dim

    @property
    def ndim(self) -> Optional[int]:
        return self._ndim

    @property
    def name(self) -> str:
        """'Slab.X', ..., and 'Slab' beyond axis 2."""
        return "Slab." + "XYZ"[self._partition_dim] if self._partition_dim < 3 else "Slab"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Slab) or self._partition_dim != other._partition_dim:
            return False
        return None in (self._ndim, other._ndim) or self._ndim == other._ndim

    def __hash__(self) -> int:
        return hash(self._partition_dim)

    def __str__(self) -> str:
        return f"Slab(partition_dim={self._partition_dim}, ndim={self._ndim})" + self._bound_text()

    __repr__ = __str__

    def _rule(self, everyone: Sequence[Distribution]) -> _core.Slab:
        return _core.Slab(self._partition_dim)

    def _suits(self, what: str, dimensions: int, part: Shape) -> None:
        if self._partition_dim >= dimensions or self._ndim not in (None, dimensions):
            raise ValueError(f"{what}: {self} cannot distribute {dimensions} dimensions")

    def _uncut(self, dimensions: int) -> List[int]:
        return [axis for axis in range(dimensions) if axis != self._partition_dim]

    def _bind(self, global_shape: Sequence[int], *, shape: Optional[Sequence[int]] = None) -> Slab:
        if self._partition_dim >= len(global_shape):
            raise ValueError(f"{self} cannot distribute {len(global_shape)} dimensions")
        super()._bind(global_shape, shape=shape)
        self._ndim = len(global_shape)
        return self

    def to(self, cls: Type[Distribution], /, *, ndim: Optional[int] = None, copy: bool = False) -> Any:
        """As a Slab of so many dimensions, a BlockNonCyclic, or, where it is bound, a Box."""
        from ._block import BlockCyclic, BlockNonCyclic
        from ._box import Box
        from ._grid import ProcessGrid

        self._checked(cls, ndim)
        dimensions = self._ndim if ndim is None else ndim
        if dimensions is not None and dimensions <= self._partition_dim:
            raise ValueError(f"ndim: expected a number above the partition dimension, {self._partition_dim}, got {dimensions}")
        if cls is Slab:
            if dimensions is not None and dimensions != self._ndim:
                return self._rebound(Slab(self._partition_dim, dimensions), dimensions)
            return self.copy() if copy else self
        if dimensions is None:
            raise ConvertDistributionError(f"the number of dimensions of {self} is unknown: pass ndim")
        if issubclass(cls, BlockCyclic):
            size = current().process_group.nranks
            grid = ProcessGrid(shape=[size if axis == self._partition_dim else 1 for axis in range(dimensions)])
            return self._rebound(BlockNonCyclic(grid), dimensions)
        if cls is Box and self._bound:
            return Box._of_layout(self._layout(self._data_global_shape), self._data_global_shape, dimensions)
        raise ConvertDistributionError(f"{self} is not bound to a shape, so it cannot be converted to a {cls.__name__}")


Slab.X, Slab.Y, Slab.Z = Slab(0), Slab(1), Slab(2)
