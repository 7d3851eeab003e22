"""Fourier transforms over all axes. As in cuFFT no direction has a factor: forth and back multiplies by the number of elements."""

from ..distribution import Slab
from ._allocate import allocate_operand
from ._configuration import FFTDirection, FFTOptions
from ._functions import fft, ifft, irfft, rfft
from ._transform import FFT, InvalidFFTState

__all__ = [
    "FFT", "FFTDirection", "FFTOptions", "InvalidFFTState", "Slab", "allocate_operand", "fft", "ifft", "irfft", "rfft",
]  # fmt: skip
