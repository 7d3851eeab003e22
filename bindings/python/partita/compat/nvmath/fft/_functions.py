"""One transform each."""

from __future__ import annotations

from typing import Any, Optional

from .._agreement import collective
from .._stateful import options_of
from ._configuration import FFTDirection, FFTOptions
from ._transform import FFT, OptionsLike


def _once(
    operand: Any, distribution: Any, kind: str, direction: Optional[FFTDirection], sync: bool, options: OptionsLike, stream: Any
) -> Any:
    given = options_of(FFTOptions, options, "options")
    if given.fft_type not in (None, kind):
        raise ValueError(f"fft_type: expected {kind} for this function, got {given.fft_type}")
    chosen = FFTOptions(kind, given.redistribute, given.last_axis_parity, given.logger, given.blocking)
    with FFT(operand, distribution=distribution, options=chosen, stream=stream) as transform:
        transform.plan(stream=stream)
        return transform.execute(direction=direction, stream=stream, sync_symmetric_memory=sync)


@collective
def fft(
    operand: Any, /, *, distribution: Any, sync_symmetric_memory: bool = True, options: OptionsLike = None, stream: Any = None
) -> Any:
    """The transform of a complex operand. Collective, blocking; see `FFT`."""
    return _once(operand, distribution, "C2C", FFTDirection.FORWARD, sync_symmetric_memory, options, stream)


@collective
def ifft(
    operand: Any, /, *, distribution: Any, sync_symmetric_memory: bool = True, options: OptionsLike = None, stream: Any = None
) -> Any:
    """The inverse transform of a complex operand, without a factor. Collective, blocking; see `FFT`."""
    return _once(operand, distribution, "C2C", FFTDirection.INVERSE, sync_symmetric_memory, options, stream)


@collective
def rfft(
    operand: Any, /, *, distribution: Any, sync_symmetric_memory: bool = True, options: OptionsLike = None, stream: Any = None
) -> Any:
    """The transform of a real operand: half the spectrum along the last axis. Collective, blocking; see `FFT`."""
    return _once(operand, distribution, "R2C", None, sync_symmetric_memory, options, stream)


@collective
def irfft(
    operand: Any, /, *, distribution: Any, sync_symmetric_memory: bool = True, options: OptionsLike = None, stream: Any = None
) -> Any:
    """The inverse of `rfft`, without a factor. Collective, blocking; see `FFT`."""
    return _once(operand, distribution, "C2R", None, sync_symmetric_memory, options, stream)
