"""The exception family of the C++ library, which has the same texts."""

from __future__ import annotations

import builtins
from typing import Dict, Optional

import numpy as np


class Error(Exception):
    """Base of everything that Partita raises. The text is one line and says what to do where that is known."""


class ArgumentError(Error, ValueError):
    """A bad argument: a wrong shape, an unknown word, a distribution that does not cover its array, ..."""


class _OfPython(ArgumentError):
    """One that is a class of Python's, too. The library does not know it, and has its name in the text."""

    def __init__(self, text: str = "", known_as: Optional[str] = None) -> None:
        super().__init__(text)
        self._known_as = known_as


class TypeError(_OfPython, builtins.TypeError):
    """A wrong type in a collective call: an operand that is not an array, an unknown keyword, a number instead of a string, ..."""


class IndexError(_OfPython, builtins.IndexError):
    """What NumPy's IndexError is for: an index or an axis out of range, indices of a wrong kind, masks of a wrong shape."""


class DisagreementError(ArgumentError):
    """Ranks called different operations, or the same with different arguments."""


class UnsupportedError(Error, NotImplementedError):
    """The request is legal, but this build, machine or dtype does not offer it."""


class MemoryError(Error, builtins.MemoryError):
    """No memory left on at least one rank, or memory that was freed already."""


class FileError(Error, OSError):
    """A file is missing, truncated, foreign, or could not be written whole."""


class SingularError(Error, np.linalg.LinAlgError):
    """A matrix is singular, or for a Cholesky factorization not positive definite. Every rank raises it; the context stays valid."""

    index: Optional[int]
    """The row, counted from 0, of the first pivot that is 0, or of the last row of the first leading minor that is not positive;
    None: not known."""

    def __init__(self, text: str = "", index: Optional[int] = None) -> None:
        super().__init__(text)
        self.index = index


class TimeoutError(Error, builtins.TimeoutError):
    """A wait made no progress until its deadline. The context has failed."""


class LostPeerError(Error, ConnectionError):
    """A rank that this one waited for has ended or failed. The context has failed."""


class FailedContextError(Error):
    """A call on a context that failed earlier; the text repeats the first failure."""


class RanksError(Error):
    """Ranks of a notebook (`Ranks`) raised different exceptions, some of them alone, or have ended. The text names the ranks."""

    errors: Dict[int, BaseException]
    """By rank, what it raised; an exception that cannot be sent is an `Error` with its class and text. Empty for ranks that have ended."""
    tracebacks: Dict[int, str]
    """By rank, the text of its traceback."""

    def __init__(self, text: str = "", errors: Optional[Dict[int, BaseException]] = None, tracebacks: Optional[Dict[int, str]] = None) -> None:
        super().__init__(text)
        self.errors, self.tracebacks = dict(errors or {}), dict(tracebacks or {})
