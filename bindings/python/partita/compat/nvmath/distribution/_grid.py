"""Processes in rows and columns."""

from __future__ import annotations

import math
from enum import IntEnum
from typing import Any, Optional, Sequence, Tuple

import numpy as np

from .... import _core
from .._context import current


class ProcessGrid:
    """Processes arranged along as many dimensions as an array has.

    Parameters
    ----------
    shape : sequence of int
        How many along each; all processes of the runtime together.
    layout : ProcessGrid.Layout
        Whether ranks run along rows or along columns; where one dimension has them all it need not be said.
    process_array : array of int, optional
        Instead of a layout, the rank at each place.
    """

    class Layout(IntEnum):
        """The order of the ranks."""

        COL_MAJOR = 0
        ROW_MAJOR = 1

    def __init__(
        self, *, shape: Optional[Sequence[int]] = None, layout: Optional[Layout] = None, process_array: Any = None
    ) -> None:
        self._nranks = current().process_group.nranks
        if process_array is not None:
            if layout is not None:
                raise ValueError("ProcessGrid: layout cannot be combined with process_array, which places each rank")
            if shape is not None and tuple(shape) != tuple(process_array.shape):
                raise ValueError(f"ProcessGrid: shape {tuple(shape)} and process_array.shape {process_array.shape} differ")
            shape = process_array.shape
        if shape is None:
            raise ValueError("ProcessGrid: a shape or a process_array is needed")
        self._shape = tuple(int(extent) for extent in shape)
        if math.prod(self._shape) != self._nranks:
            raise ValueError(f"ProcessGrid: {math.prod(self._shape)} coordinates for {self._nranks} processes")
        if process_array is None and layout is None:
            if not self._is_1d_distribution():
                raise ValueError("ProcessGrid: layout is required if several dimensions are distributed")
            layout = ProcessGrid.Layout.ROW_MAJOR
        if layout is not None and not isinstance(layout, ProcessGrid.Layout):
            raise TypeError(f"ProcessGrid: layout: expected a ProcessGrid.Layout, got {layout!r}")
        self._layout = layout
        self._process_array = process_array

    @property
    def shape(self) -> Tuple[int, ...]:
        """Processes along each dimension."""
        return self._shape

    @property
    def layout(self) -> Optional[Layout]:
        """None where there is a process_array."""
        return self._layout

    @property
    def process_array(self) -> Any:
        """As given."""
        return self._process_array

    def _ranks(self) -> Tuple[int, ...]:
        """Row by row."""
        grid = self._rule()
        return tuple(grid.rank_at(place) for place in np.ndindex(*self._shape))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProcessGrid) and self._shape == other._shape and self._ranks() == other._ranks()

    def __hash__(self) -> int:
        return hash(self._shape)

    def __str__(self) -> str:
        order = f"process_array={self._process_array.tolist()}" if self._layout is None else f"layout={self._layout.name}"
        return f"ProcessGrid(shape={self._shape}, {order})"

    __repr__ = __str__

    def _is_1d_distribution(self) -> bool:
        return self._nranks in self._shape

    def _is_row_wise(self) -> bool:
        return self._shape == (self._nranks, 1)

    def _is_col_wise(self) -> bool:
        return self._shape == (1, self._nranks)

    def _rule(self, first: Sequence[int] = ()) -> _core.ProcessGrid:
        """As Partita has it."""
        if self._process_array is not None:
            ranks = [int(rank) for rank in self._process_array.reshape(-1)]
            return _core.ProcessGrid(self._shape, "C", tuple(first), ranks)
        return _core.ProcessGrid(self._shape, "F" if self._layout == ProcessGrid.Layout.COL_MAJOR else "C", tuple(first))


