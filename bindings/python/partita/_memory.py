"""Symmetric memory as arrays."""

from __future__ import annotations

from typing import Any, Optional

from . import _core
from ._context import Context
from ._create import ShapeLike, shape_of
from ._dtypes import dtype_name
from ._packages import package_for, seen_by


class SymmetricArray:
    """The same array on every rank, which the ranks of a node see in each other's memory.

    The memory goes when all ranks have dropped this and the arrays that were got from it; nothing is communicated
    for that. `free` frees it now.

    Parameters
    ----------
    context : Context
    shape : int or sequence of int
        The same on all ranks, unless `make_symmetric`: then each has so much of a block of the largest size.
    dtype
    space : {'host', 'device'}, optional
        Whose memory it is; by default that of the context's device, if it has one.
    """

    def __init__(
        self,
        context: Context,
        shape: ShapeLike,
        dtype: Any = "float64",
        *,
        make_symmetric: bool = False,
        space: Optional[str] = None,
    ) -> None:
        self._core = _core.SymmetricBlock(context._core, shape_of(shape), dtype_name(dtype), make_symmetric, space)

    @property
    def local(self) -> Any:
        """This rank's, as an array of NumPy, of device memory of CuPy or PyTorch. What is in it is undefined at first."""
        return self._seen(self._core.mine())

    def peer(self, rank: int) -> Optional[Any]:
        """That of another rank; None where it is on another node. Who reads and writes when is for the program to order."""
        part = self._core.peer(rank)
        return None if part is None else self._seen(part)

    @staticmethod
    def _seen(part: _core.SymmetricPart) -> Any:
        return seen_by(package_for(part, "numpy"), part)

    @property
    def bytes(self) -> int:
        """As allocated on every rank."""
        return self._core.bytes

    def free(self) -> None:
        """Free the memory now: arrays that were got from it must not be used any more. Collective, blocking."""
        self._core.free()
