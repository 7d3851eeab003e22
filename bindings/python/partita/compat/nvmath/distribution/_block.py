"""Blocks on a grid of processes."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple, Type

from .... import _core
from ._base import ConvertDistributionError, Distribution, Shape, longer
from ._box import Box
from ._grid import ProcessGrid
from ._slab import Slab


def _integers(what: str, values: Any) -> Tuple[int, ...]:
    if values is None or not all(isinstance(value, int) for value in values):
        raise ValueError(f"{what}: expected a sequence of integers, got {values!r}")
    return tuple(values)


class BlockCyclic(Distribution):
    """Blocks that are distributed cyclically over the processes of a grid, along each dimension: ScaLAPACK's.

    `first_process` are the coordinates of the process that gets the first block.
    """

    _same_everywhere = True

    def __init__(
        self, process_grid: ProcessGrid, block_sizes: Sequence[int], *, first_process: Optional[Sequence[int]] = None
    ) -> None:
        super().__init__()
        self._process_grid = process_grid
        self._block_sizes = _integers("block_sizes", block_sizes)
        if len(self._block_sizes) != self.ndim:
            raise ValueError(f"block_sizes: {len(self._block_sizes)} values for a grid of {self.ndim} dimensions")
        self._first_process = (0,) * self.ndim if first_process is None else _integers("first_process", first_process)
        if not all(0 <= at < extent for at, extent in zip(self._first_process, process_grid.shape)):
            raise ValueError(f"first_process: {self._first_process} is not in the grid of shape {process_grid.shape}")

    @property
    def process_grid(self) -> ProcessGrid:
        """As given."""
        return self._process_grid

    @property
    def block_sizes(self) -> Tuple[int, ...]:
        """Of a block along each dimension."""
        return self._block_sizes

    @property
    def first_process(self) -> Tuple[int, ...]:
        """Where the first block is."""
        return self._first_process

    @property
    def ndim(self) -> int:
        return len(self._process_grid.shape)

    def _is_1d_distribution(self) -> bool:
        return self._process_grid._is_1d_distribution()

    def _is_row_wise(self) -> bool:
        return self._process_grid._is_row_wise()

    def _is_col_wise(self) -> bool:
        return self._process_grid._is_col_wise()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BlockCyclic):
            return False
        same = self._process_grid == other._process_grid and self._first_process == other._first_process
        unsaid = () in (self._block_sizes, other._block_sizes) and type(self) is type(other)
        return same and (unsaid or self._block_sizes == other._block_sizes)

    def __hash__(self) -> int:
        return hash((self._process_grid, self._first_process))

    def __str__(self) -> str:
        return f"{type(self).__name__}({self._process_grid}, block_sizes={self._block_sizes})" + self._bound_text()

    __repr__ = __str__

    def _rule(self, everyone: Sequence[Distribution]) -> Any:
        return _core.BlockCyclic(self._process_grid._rule(self._first_process), self._block_sizes)

    def _suits(self, what: str, dimensions: int, part: Shape) -> None:
        if self.ndim != dimensions:
            raise ValueError(f"{what}: {self} cannot distribute {dimensions} dimensions")

    def _uncut(self, dimensions: int) -> List[int]:
        return [axis for axis, extent in enumerate(self._process_grid.shape) if extent == 1]

    def _longer_grid(self, ndim: int) -> ProcessGrid:
        grid, array = self._process_grid, self._process_grid.process_array
        shape = longer(grid.shape, ndim, 1)
        return ProcessGrid(shape=shape, layout=grid.layout) if array is None else ProcessGrid(process_array=array.reshape(shape))

    def _extended(self, ndim: int) -> Any:
        """With dimensions of extent 1 behind."""
        first = longer(self._first_process, ndim, 0)
        return BlockCyclic(self._longer_grid(ndim), longer(self._block_sizes, ndim, 1), first_process=first)

    def _as_slab(self, ndim: int) -> Slab:
        """Where the parts are a Slab's."""
        if not self._is_1d_distribution():
            raise ConvertDistributionError(f"{self} is not a Slab: it distributes several dimensions")
        axis = self._process_grid.shape.index(self._process_grid._nranks)
        slab = Slab(axis, ndim)
        if self._bound:
            whole = self._data_global_shape
            if not self._layout(whole).equivalent(Slab(axis, self.ndim)._layout(whole)):
                raise ConvertDistributionError(f"{self} is not a Slab: its parts differ")
        elif any(self._first_process) or type(self) is BlockCyclic:
            raise ConvertDistributionError(f"{self} is not bound to a shape, so it cannot be converted to a Slab")
        return slab

    def to(self, cls: Type[Distribution], /, *, ndim: Optional[int] = None, copy: bool = False) -> Any:
        """As blocks of so many dimensions; as a Slab or a Box, where the parts are those of one."""
        self._checked(cls, ndim)
        dimensions = self.ndim if ndim is None else ndim
        if issubclass(cls, BlockCyclic):
            if cls is BlockNonCyclic and type(self) is BlockCyclic:
                raise NotImplementedError(f"{self} cannot be converted to a BlockNonCyclic: construct one from its grid")
            if dimensions > self.ndim:
                return self._rebound(self._extended(dimensions), dimensions)
            return self.copy() if copy else self
        slab = self._rebound(self._as_slab(dimensions), dimensions)
        return slab.to(cls) if cls is Box else slab


class BlockNonCyclic(BlockCyclic):
    """One block per process and dimension. All have the same size, except the last ones if the extent is uneven."""

    def __init__(self, process_grid: ProcessGrid, *, first_process: Optional[Sequence[int]] = None) -> None:
        super().__init__(process_grid, (1,) * len(process_grid.shape), first_process=first_process)
        self._block_sizes = ()

    def _rule(self, everyone: Sequence[Distribution]) -> Any:
        return _core.BlockNonCyclic(self._process_grid._rule(self._first_process))

    def _bind(self, global_shape: Sequence[int], *, shape: Optional[Sequence[int]] = None) -> Any:
        super()._bind(global_shape, shape=shape)
        grid = self._process_grid.shape
        self._block_sizes = tuple(-(-extent // processes) for extent, processes in zip(self._data_global_shape, grid))
        return self

    def _extended(self, ndim: int) -> Any:
        return BlockNonCyclic(self._longer_grid(ndim), first_process=longer(self._first_process, ndim, 0))
