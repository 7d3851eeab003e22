"""Symmetric memory as arrays."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Optional, Union

from . import _core
from ._calls import collective
from ._context import Context
from ._create import ShapeLike, shape_of
from ._dtypes import dtype_name
from ._errors import ArgumentError, UnsupportedError
from ._packages import package_for, seen_by
from ._planned import Uncopied


class SymmetricArray(Uncopied):
    """An array of the same size on every rank; ranks of a node can access each other's memory.

    The memory is freed when all ranks have dropped this object and the arrays obtained from it, without communication; `free` frees it
    at once. Creation is collective and blocking.

    Parameters
    ----------
    shape : int or sequence of int
        Equal on all ranks, unless `make_symmetric` is set.
    make_symmetric : bool
        Allow different shapes: every rank allocates the size of the largest.
    space : {'host', 'device'}, optional
        Memory space; unset: that of the context's device, if it has one.
    package : module or str, optional
        Package of the arrays: numpy or torch for host memory, cupy or torch for device memory. Unset: NumPy, and for device memory CuPy or
        PyTorch, whichever the program has imported.

    Raises
    ------
    ArgumentError, DisagreementError, MemoryError
        The same on every rank.
    """

    @collective
    def __init__(
        self,
        context: Context,
        shape: ShapeLike,
        dtype: Any = "float64",
        *,
        make_symmetric: bool = False,
        space: Optional[str] = None,
        package: Union[ModuleType, str, None] = None,
    ) -> None:
        self._package = None if package is None else str(getattr(package, "__name__", package))
        if self._package not in (None, "numpy", "cupy", "torch"):
            raise ArgumentError(f"package {self._package!r}; known: numpy, cupy, torch")
        self._context = context._core
        self._core = _core.SymmetricBlock(context._core, shape_of(shape), dtype_name(dtype), make_symmetric, space)

    @property
    def local(self) -> Any:
        """This rank's array, initially undefined."""
        return self._seen(self._core.mine())

    def peer(self, rank: int) -> Optional[Any]:
        """The array of another rank; None if it is on another node. Local. The program must order reads and writes."""
        part = self._core.peer(rank)
        return None if part is None else self._seen(part)

    def _seen(self, part: _core.SymmetricPart) -> Any:
        if self._package is None:
            return seen_by(package_for(part, "numpy"), part)
        if self._package == ("cupy" if part.on_host else "numpy"):
            raise UnsupportedError(f"{self._package} does not support memory of the {'host' if part.on_host else 'device'}: see space")
        return seen_by(self._package, part)

    @property
    def bytes(self) -> int:
        """The number of bytes allocated on every rank."""
        return self._core.bytes

    @collective
    def free(self) -> None:
        """Free the memory now: arrays obtained from it must not be used any more. Collective, blocking."""
        self._core.free()
