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
    """The same array on every rank, which the ranks of a node see in each other's memory.

    The memory goes when all ranks have dropped this and the arrays that were got from it; nothing is communicated
    for that. `free` frees it now.

    Parameters
    ----------
    context : Context
    shape : int or sequence of int
        The same on all ranks, unless `make_symmetric`: then each has so much of a block of the largest size.
    dtype
    make_symmetric : bool
    space : {'host', 'device'}, optional
        Whose memory it is; by default that of the context's device, if it has one.
    package : module or str, optional
        Of whose arrays: numpy or torch of host memory, cupy or torch of device memory. By default NumPy's, and of device memory
        those of CuPy or PyTorch, whichever the program has imported.

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
        """This rank's, as an array of the package. What is in it is undefined at first."""
        return self._seen(self._core.mine())

    def peer(self, rank: int) -> Optional[Any]:
        """That of another rank; None where it is on another node. Who reads and writes when is for the program to order."""
        part = self._core.peer(rank)
        return None if part is None else self._seen(part)

    def _seen(self, part: _core.SymmetricPart) -> Any:
        if self._package is None:
            return seen_by(package_for(part, "numpy"), part)
        if self._package == ("cupy" if part.on_host else "numpy"):
            raise UnsupportedError(f"memory of the {'host' if part.on_host else 'device'} is not for {self._package}: see space")
        return seen_by(self._package, part)

    @property
    def bytes(self) -> int:
        """As allocated on every rank."""
        return self._core.bytes

    @collective
    def free(self) -> None:
        """Free the memory now: arrays that were got from it must not be used any more. Collective, blocking."""
        self._core.free()
