"""The extension `fft` of the array API standard, by `partita.fft`. Collective, blocking."""

from __future__ import annotations

from typing import Any, Optional, Sequence

import numpy as np

from .. import fft as _fft
from .._array import Array
from .._default import fitting, required_default
from .._frequencies import fftshift as _fftshift
from .._frequencies import ifftshift as _ifftshift


def _complex(x: Array) -> Array:
    return x if x.dtype.kind == "c" else x.astype("complex64" if x.dtype == np.dtype("float32") else "complex128")


def fft(x: Array, /, *, n: Optional[int] = None, axis: int = -1, norm: str = "backward") -> Array:
    """The transform along one axis."""
    return _fft.fft(_complex(x), n, axis, norm)


def ifft(x: Array, /, *, n: Optional[int] = None, axis: int = -1, norm: str = "backward") -> Array:
    """The inverse of `fft`."""
    return _fft.ifft(_complex(x), n, axis, norm)


def fftn(x: Array, /, *, s: Optional[Sequence[int]] = None, axes: Optional[Sequence[int]] = None, norm: str = "backward") -> Array:
    """The transform along several axes."""
    return _fft.fftn(_complex(x), s, axes, norm)


def ifftn(x: Array, /, *, s: Optional[Sequence[int]] = None, axes: Optional[Sequence[int]] = None, norm: str = "backward") -> Array:
    """The inverse of `fftn`."""
    return _fft.ifftn(_complex(x), s, axes, norm)


def rfft(x: Array, /, *, n: Optional[int] = None, axis: int = -1, norm: str = "backward") -> Array:
    """The transform of real data along one axis."""
    return _fft.rfft(x, n, axis, norm)


def irfft(x: Array, /, *, n: Optional[int] = None, axis: int = -1, norm: str = "backward") -> Array:
    """The inverse of `rfft`."""
    return _fft.irfft(_complex(x), n, axis, norm)


def rfftn(x: Array, /, *, s: Optional[Sequence[int]] = None, axes: Optional[Sequence[int]] = None, norm: str = "backward") -> Array:
    """The transform of real data along several axes."""
    return _fft.rfftn(x, s, axes, norm)


def irfftn(x: Array, /, *, s: Optional[Sequence[int]] = None, axes: Optional[Sequence[int]] = None, norm: str = "backward") -> Array:
    """The inverse of `rfftn`."""
    return _fft.irfftn(_complex(x), s, axes, norm)


def hfft(x: Array, /, *, n: Optional[int] = None, axis: int = -1, norm: str = "backward") -> Array:
    """The transform of half of a Hermitian signal."""
    return _fft.hfft(_complex(x), n, axis, norm)


def ihfft(x: Array, /, *, n: Optional[int] = None, axis: int = -1, norm: str = "backward") -> Array:
    """The inverse of `hfft`."""
    return _fft.ihfft(x, n, axis, norm)


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Array:
    """The frequencies of `fft`."""
    return _frequencies("fftfreq", n, d, dtype)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Array:
    """The frequencies of `rfft`."""
    return _frequencies("rfftfreq", n, d, dtype)


def _frequencies(name: str, n: int, d: float, dtype: Any) -> Array:
    here = required_default(name)
    found: Array = getattr(_fft, name)(here.context, n, d, distribution=fitting(here.distribution, 1, here.context.size))
    return found if dtype is None or found.dtype == np.dtype(dtype) else found.astype(dtype)


def fftshift(x: Array, /, *, axes: Any = None) -> Array:
    """The zero frequency moved to the middle."""
    return _fftshift(x, axes)


def ifftshift(x: Array, /, *, axes: Any = None) -> Array:
    """The inverse of `fftshift`."""
    return _ifftshift(x, axes)


__all__ = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft", "irfftn", "rfft", "rfftfreq", "rfftn",
]  # fmt: skip
