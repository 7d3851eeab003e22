"""Options of a transform."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Optional, Union

from ..distribution import Slab
from .._stateful import check_blocking

__all__ = ["FFTDirection", "FFTOptions", "Slab"]


class FFTDirection(IntEnum):
    """The sign of the exponent."""

    FORWARD = -1
    INVERSE = 1


@dataclass
class FFTOptions:
    """The kind of transform, and the distribution of its result.

    Attributes
    ----------
    fft_type : 'C2C', 'R2C' or 'C2R', optional
        By default that of the operand: 'C2C' of complex ones, 'R2C' of real ones.
    redistribute : bool
        For a Slab: the result has the operand's distribution; else it is distributed along the other one of the first two axes. Of a pair of boxes
        the second one says it. (`reshape` is its name in 0.8 and 0.9.)
    last_axis_parity : 'even' or 'odd'
        Of 'C2R': whether the result has 2 (m - 1) samples along the last axis, or one more.
    logger : logging.Logger, optional
    blocking : True or 'auto'
    """

    fft_type: Optional[str] = None
    redistribute: bool = True
    last_axis_parity: str = "even"
    logger: Optional[logging.Logger] = None
    blocking: Any = "auto"
    reshape: Optional[bool] = None

    def __post_init__(self) -> None:
        if self.reshape is not None:
            self.redistribute = self.reshape
        self.reshape = self.redistribute
        if self.fft_type not in (None, "C2C", "R2C", "C2R"):
            raise ValueError(f"fft_type: expected 'C2C', 'R2C' or 'C2R', got {self.fft_type!r}")
        if not isinstance(self.redistribute, bool):
            raise ValueError(f"redistribute: expected True or False, got {self.redistribute!r}")
        if self.last_axis_parity not in ("even", "odd"):
            raise ValueError(f"last_axis_parity: expected 'even' or 'odd', got {self.last_axis_parity!r}")
        check_blocking(self.blocking)


def fft_type_of(dtype: str, wanted: Optional[str]) -> str:
    """Of an operand of that dtype; ValueError where it has none such."""
    numbers = dtype.rstrip("0123456789")
    kind = wanted or {"float": "R2C", "complex": "C2C"}.get(numbers)
    if kind is None or (numbers == "complex") != (kind[0] == "C"):
        raise ValueError(f"dtype {dtype} is not supported by a {kind or 'Fourier'} transform")
    return kind


def direction_of(given: Union[FFTDirection, int, str, None], kind: str) -> FFTDirection:
    """As given, else that of the kind; ValueError where the kind has it not."""
    only = {"R2C": FFTDirection.FORWARD, "C2R": FFTDirection.INVERSE}.get(kind)
    if given is None:
        return only or FFTDirection.FORWARD
    if isinstance(given, str):
        names = {one.name.lower(): one for one in FFTDirection}
        if given.lower() not in names:
            raise ValueError(f"direction: expected 'forward' or 'inverse', got {given!r}")
        direction = names[given.lower()]
    else:
        direction = FFTDirection(given)
    if only not in (None, direction):
        raise ValueError(f"direction: a {kind} transform has no {direction.name.lower()} direction")
    return direction
