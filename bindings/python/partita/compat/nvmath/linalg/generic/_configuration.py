"""Options of the direct solver."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any, Optional

from ....._errors import UnsupportedError
from ..._stateful import check_blocking

__all__ = ["DirectSolverOptions"]


@dataclass(frozen=True)
class DirectSolverOptions:
    """How linear systems are solved.

    Parameters
    ----------
    logger : logging.Logger, optional
    blocking : True or 'auto'
    inplace_a : bool
        `factorize` writes the factors into A, as LAPACK's getrf stores them.
    inplace_b : bool
        `solve` writes X into B, and returns it.
    handle : None
        UnsupportedError for a handle of cuSOLVERMp: it has no counterpart in Partita.
    """

    logger: Optional[logging.Logger] = None
    blocking: Any = "auto"
    inplace_a: bool = True
    inplace_b: bool = True
    handle: Optional[int] = None

    def __post_init__(self) -> None:
        check_blocking(self.blocking)
        for name in ("inplace_a", "inplace_b"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name}: expected a bool, got {getattr(self, name)!r}")
        if self.handle is not None:
            raise UnsupportedError("handle: handles of cuSOLVERMp are not supported; omit the option")
