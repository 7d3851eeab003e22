"""Work in Fourier space: derivatives, Poisson problems, convolutions, multipliers. All are collective and blocking.

`axes`: along which fields are periodic and transformed, all by default. `lengths`: the period along each of them, 2 pi by
default. Results are new arrays, distributed as the field.
"""

from __future__ import annotations

from typing import Callable, List, Optional, Sequence, Tuple

from . import _core
from ._array import Array, axes_of, core_given
from ._streams import settle

__all__ = ["convolve", "gradient", "multiply", "resize", "solve_poisson"]


def _axes(field: Array, axes: Optional[Sequence[int]]) -> List[int]:
    return [] if axes is None else axes_of(axes, field.ndim)


def _core_of(field: Array) -> _core.Array:
    """The field, when others have written it."""
    settle(core_given(field), field._package)
    return field._core


def solve_poisson(
    right_side: Array, *, axes: Optional[Sequence[int]] = None, lengths: Sequence[float] = ()
) -> Array:
    """The u of mean zero with laplacian(u) = right_side, whose mean is taken as zero. Collective, blocking."""
    core = _core.solve_poisson(_core_of(right_side), _axes(right_side, axes), list(lengths))
    return Array(core, right_side._package)


def gradient(field: Array, *, axes: Optional[Sequence[int]] = None, lengths: Sequence[float] = ()) -> List[Array]:
    """The derivatives along each of the axes. Collective, blocking."""
    cores = _core.gradient(_core_of(field), _axes(field, axes), list(lengths))
    return [Array(core, field._package) for core in cores]


def convolve(a: Array, b: Array, *, axes: Optional[Sequence[int]] = None) -> Array:
    """Circular convolution, distributed as `a`. Collective, blocking."""
    return Array(_core.convolve(_core_of(a), _core_of(b), _axes(a, axes)), a._package)


def multiply(
    field: Array,
    multiplier: Callable[[Tuple[float, ...]], complex],
    *,
    axes: Optional[Sequence[int]] = None,
    lengths: Sequence[float] = (),
) -> Array:
    """inverse(multiplier(k) * forward(field)): `multiplier` gets the wave vector of each mode. Collective, blocking.

    Of a real field it must be Hermitian, multiplier(-k) = conj(multiplier(k)).
    """
    core = _core.spectral_apply(_core_of(field), multiplier, _axes(field, axes), list(lengths))
    return Array(core, field._package)


def resize(
    spectrum: Array, before: Sequence[int], after: Sequence[int], *, halved_axis: int = -1, norm: str = "backward"
) -> Array:
    """The spectrum of the same field on another number of samples, `after` of `before`. Collective, blocking.

    `halved_axis`: that of a half spectrum, -1 for a full one; `norm`: that of its forward transform.
    """
    core = _core.resize_spectrum(_core_of(spectrum), tuple(before), tuple(after), halved_axis, norm)
    return Array(core, spectrum._package)
