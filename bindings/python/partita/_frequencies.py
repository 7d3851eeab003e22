"""The order and the frequencies of spectra, and transforms of Hermitian spectra, as in numpy.fft."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Union

import numpy as np

from ._agreement import alike
from ._array import Array, axes_of
from ._context import Context
from ._create import from_function
from ._default import by_default
from ._errors import ArgumentError
from ._mesh import DistributionLike
from ._moves import settled
from ._places import roll

Axes = Union[None, int, Sequence[int]]


@alike
def fftshift(x: Array, axes: Axes = None) -> Array:
    """The zero frequency moved to the middle. Collective, blocking.

    Parameters
    ----------
    axes : int or sequence of int, optional
        The axes; unset: all.
    """
    along = list(range(settled("fftshift", x).ndim)) if axes is None else axes_of(axes, x.ndim)
    return roll(x, [x.shape[one] // 2 for one in along], along)


@alike
def ifftshift(x: Array, axes: Axes = None) -> Array:
    """The inverse of `fftshift`. Collective, blocking.

    Parameters
    ----------
    axes : int or sequence of int, optional
        The axes; unset: all.
    """
    along = list(range(settled("ifftshift", x).ndim)) if axes is None else axes_of(axes, x.ndim)
    return roll(x, [-(x.shape[one] // 2) for one in along], along)


@by_default(lambda given: 1)
@alike
def fftfreq(context: Context, n: int, d: float = 1.0, *, distribution: DistributionLike, space: Optional[str] = None) -> Array:
    """The frequencies of `fft`, in cycles per unit. Collective, blocking.

    Parameters
    ----------
    n : int
        The length of the lines.
    d : float
        The distance of samples.
    """
    _require_length(n)
    return from_function(context, (n,), distribution, lambda i: np.where(i < (n + 1) // 2, i, i - n) * (1.0 / (n * d)), space=space)


@by_default(lambda given: 1)
@alike
def rfftfreq(context: Context, n: int, d: float = 1.0, *, distribution: DistributionLike, space: Optional[str] = None) -> Array:
    """The frequencies of `rfft`, in cycles per unit. Collective, blocking.

    Parameters
    ----------
    n : int
        The length of the lines.
    d : float
        The distance of samples.
    """
    _require_length(n)
    return from_function(context, (n // 2 + 1,), distribution, lambda i: i * (1.0 / (n * d)), space=space)


def _require_length(n: int) -> None:
    if n < 1:
        raise ArgumentError(f"n is {n}, but a line has at least one element")


#: A Hermitian spectrum is transformed in the other direction.
_opposite = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}


def opposite(norm: Optional[str]) -> Any:
    """The norm of the transform in the other direction; a word that is not known as it is."""
    return _opposite.get(norm, norm)
