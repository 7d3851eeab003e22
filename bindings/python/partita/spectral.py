"""Operations in Fourier space: derivatives, Poisson problems, convolutions, multipliers. All are collective and blocking.

Results are new arrays, distributed as the field. Work on device memory follows the work that is on the stream, and is done when the
call returns.
"""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Sequence, Tuple

from . import _core
from ._calls import collective, raise_on_all
from ._array import Array, axes_or_all, core_given
from ._replicas import with_replicas
from ._streams import stream_of_array, stream_of_arrays

__all__ = ["convolve", "gradient", "multiply", "resize", "solve_poisson"]


def _axes(field: Array, axes: Optional[Sequence[int]]) -> List[int]:
    return axes_or_all(axes, field.ndim)


@collective
def solve_poisson(
    right_side: Array, *, axes: Optional[Sequence[int]] = None, lengths: Sequence[float] = (), stream: Any = None
) -> Array:
    """The u of mean zero with laplacian(u) = right_side, whose mean is ignored. Collective, blocking.

    Parameters
    ----------
    right_side : Array
        A real or complex field.
    """
    given = core_given(right_side)
    handle = stream_of_array(stream, given, right_side._package)
    return Array(_core.solve_poisson(given, _axes(right_side, axes), list(lengths), handle), right_side._package)


@collective
def gradient(
    field: Array, *, axes: Optional[Sequence[int]] = None, lengths: Sequence[float] = (), stream: Any = None
) -> List[Array]:
    """The derivatives along each of the axes. Collective, blocking."""
    given = core_given(field)
    cores = _core.gradient(given, _axes(field, axes), list(lengths), stream_of_array(stream, given, field._package))
    return [Array(core, field._package) for core in cores]


@collective
@with_replicas("a", "b")
def convolve(a: Array, b: Array, *, axes: Optional[Sequence[int]] = None, stream: Any = None) -> Array:
    """The circular convolution of a and b, distributed as `a`. Collective, blocking."""
    given = core_given(a), core_given(b)
    return Array(_core.convolve(*given, _axes(a, axes), stream_of_arrays(stream, a, b)), a._package)


@collective
def multiply(
    field: Array,
    multiplier: Callable[[Tuple[float, ...]], complex],
    *,
    axes: Optional[Sequence[int]] = None,
    lengths: Sequence[float] = (),
    stream: Any = None,
) -> Array:
    """inverse(multiplier(k) * forward(field)). Collective, blocking.

    For a real field the multiplier must be Hermitian, multiplier(-k) = conj(multiplier(k)). An exception of the multiplier on one rank is
    raised on all.

    Parameters
    ----------
    multiplier : callable
        Gets the wave vector of each mode and returns its factor.
    """
    given = core_given(field)
    handle = stream_of_array(stream, given, field._package)
    raised: List[BaseException] = []

    def called(wave: Tuple[float, ...]) -> complex:
        try:
            return 0 if raised else complex(multiplier(wave))
        except BaseException as error:  # also KeyboardInterrupt: it is raised again below
            raised.append(error)
            return 0

    core = _core.spectral_apply(given, called, _axes(field, axes), list(lengths), handle)
    if raised:
        raise_on_all("multiply", raised[0], (field,))  # type: ignore[arg-type]
        raise raised[0]
    _core.listen_to_all(given.context, "multiply")  # what the multiplier raises on one rank, all raise in this call
    return Array(core, field._package)


@collective
def resize(
    spectrum: Array,
    before: Sequence[int],
    after: Sequence[int],
    *,
    halved_axis: int = -1,
    norm: str = "backward",
    stream: Any = None,
) -> Array:
    """The spectrum of the same field with another number of samples. Collective, blocking.

    Parameters
    ----------
    spectrum : Array
        The spectrum.
    before, after : sequence of int
        Numbers of samples of the field before and after.
    halved_axis : int, default -1
        The axis of a half spectrum; -1: a full spectrum.
    norm : {'backward', 'ortho', 'forward'}, default 'backward'
        The norm of its forward transform.
    """
    given = core_given(spectrum)
    handle = stream_of_array(stream, given, spectrum._package)
    core = _core.resize_spectrum(given, tuple(before), tuple(after), halved_axis, norm, handle)
    return Array(core, spectrum._package)
