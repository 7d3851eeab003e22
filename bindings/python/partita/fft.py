"""Fourier, cosine and sine transforms, by the names of numpy.fft and scipy.fft.

All are collective and blocking, take arrays in any distribution, and keep plans. ``out`` is an array of the result's shape
and dtype, in any distribution. More options of all: output ('as-input', or 'cheapest': the distribution in which the
transform ends, which saves an exchange), distribution, order and heap of a new result, method ('automatic', 'local', 'slab',
'pencil', 'four-step'), grid, exchange ('automatic', 'copies', 'stores'), scratch_bytes, overwrite_input (complex to
real may destroy what is transformed), measure, wisdom_file.
"""

from __future__ import annotations

import functools
from typing import Any, Optional, Sequence, Tuple

from . import _core
from ._calls import collective, with_options
from ._array import Array, axes_or_all, core_given
from ._core import FFT as CoreFFT
from ._errors import ArgumentError
from ._linear import writable
from ._mesh import rule_of
from ._planned import PlannedOperation
from ._streams import stream_of_array, stream_of_arrays

#: Along what is transformed; None: all.
Axes = Optional[Sequence[int]]

__all__ = [
    "FFT", "dct", "dctn", "dst", "dstn", "fft", "fft2", "fftn", "idct", "idctn", "idst", "idstn", "ifft", "ifft2", "ifftn",
    "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftn",
]  # fmt: skip


@functools.lru_cache(maxsize=256)
def _usual_options(kind: str, axes: Tuple[int, ...], norm: str) -> _core.FftOptions:
    return _core.FftOptions(kind=kind, axes=list(axes), norm=norm)


def _options(kind: str, axes: Sequence[int], norm: Optional[str], options: dict[str, Any]) -> _core.FftOptions:
    if not options:
        return _usual_options(kind, tuple(axes), norm or "backward")
    given = dict(options)
    if given.get("distribution") is not None:
        given["distribution"] = rule_of(given["distribution"])
    return with_options(_core.FftOptions, "fft", {"kind": kind, "axes": list(axes), "norm": norm or "backward", **given})


def _check_overwritten(a: Array, options: dict[str, Any]) -> None:
    if options.get("overwrite_input"):
        writable("a", a)


def _transform(
    a: Array,
    kind: str,
    axes: Axes,
    norm: Optional[str],
    out: Optional[Array],
    stream: Any,
    options: dict[str, Any],
) -> Array:
    core = core_given(a)
    along = axes_or_all(axes, a.ndim)
    how = _options(kind, along, norm, options)
    _check_overwritten(a, options)
    if out is None:
        return Array(_core.transform(core, how, stream_of_array(stream, core, a._package)), a._package)
    handle = stream_of_arrays(stream, a, out)
    target = writable("out", out)
    assert target is not None
    _core.transform_into(core, target, how, handle)
    return out


@collective
def fftn(
    a: Array, axes: Axes = None, norm: Optional[str] = None, *, out: Optional[Array] = None, stream: Any = None, **options: Any
) -> Array:  # fmt: skip
    """The Fourier transform over several axes, all by default. Collective, blocking.

    Parameters
    ----------
    a : Array
        Complex.
    axes : sequence of int, optional
    norm : {'backward', 'ortho', 'forward'}
        Whose the 1/N is.
    out, **options
        See the module.
    stream
        Of device memory: see the docs on streams.

    Raises
    ------
    ArgumentError, DisagreementError, UnsupportedError, MemoryError
        The same on every rank.
    """
    return _transform(a, "c2c", axes, norm, out, stream, options)


@collective
def ifftn(
    a: Array, axes: Axes = None, norm: Optional[str] = None, *, out: Optional[Array] = None, stream: Any = None, **options: Any
) -> Array:  # fmt: skip
    """The inverse of `fftn`. Collective, blocking."""
    return _transform(a, "c2c", axes, norm, out, stream, {**options, "inverse": True})


@collective
def rfftn(
    a: Array, axes: Axes = None, norm: Optional[str] = None, *, out: Optional[Array] = None, stream: Any = None, **options: Any
) -> Array:  # fmt: skip
    """The transform of real data: half the spectrum along the last of the axes. Collective, blocking; as `fftn`."""
    return _transform(a, "r2c", axes, norm, out, stream, options)


@collective
def irfftn(
    a: Array,
    s: Optional[Sequence[int]] = None,
    axes: Axes = None,
    norm: Optional[str] = None,
    *,
    out: Optional[Array] = None,
    stream: Any = None,
    **options: Any,
) -> Array:
    """The inverse of `rfftn`. Collective, blocking.

    `s` are the lengths of the result along the axes; only the last may differ from what `a` has, where it is
    2 (n - 1) by default. What is real in the half spectrum of a real line, its first element and of an even
    line its last one, counts as real, whatever its imaginary part.
    """
    core_given(a)
    along = axes_or_all(axes, a.ndim)
    if s is not None:
        kept = [a.shape[axis] for axis in along]
        if len(s) != len(along) or list(s[:-1]) != kept[:-1]:
            raise ArgumentError(f"irfftn: the lengths {list(s)} are not {kept[:-1]} and that of the last axis")
        options = {**options, "last_length": int(s[-1])}
    return _transform(a, "c2r", along, norm, out, stream, options)


@collective
def fft(a: Array, axis: int = -1, norm: Optional[str] = None, **options: Any) -> Array:
    """`fftn` over one axis. Collective, blocking."""
    return fftn(a, (axis,), norm, **options)


@collective
def ifft(a: Array, axis: int = -1, norm: Optional[str] = None, **options: Any) -> Array:
    """`ifftn` over one axis. Collective, blocking."""
    return ifftn(a, (axis,), norm, **options)


@collective
def rfft(a: Array, axis: int = -1, norm: Optional[str] = None, **options: Any) -> Array:
    """`rfftn` over one axis. Collective, blocking."""
    return rfftn(a, (axis,), norm, **options)


@collective
def irfft(a: Array, n: Optional[int] = None, axis: int = -1, norm: Optional[str] = None, **options: Any) -> Array:
    """`irfftn` over one axis, to n samples. Collective, blocking."""
    return irfftn(a, None if n is None else (n,), (axis,), norm, **options)


_two = (-2, -1)


@collective
def fft2(a: Array, axes: Tuple[int, int] = _two, norm: Optional[str] = None, **options: Any) -> Array:
    """`fftn` over two axes. Collective, blocking."""
    return fftn(a, axes, norm, **options)


@collective
def ifft2(a: Array, axes: Tuple[int, int] = _two, norm: Optional[str] = None, **options: Any) -> Array:
    """`ifftn` over two axes. Collective, blocking."""
    return ifftn(a, axes, norm, **options)


@collective
def rfft2(a: Array, axes: Tuple[int, int] = _two, norm: Optional[str] = None, **options: Any) -> Array:
    """`rfftn` over two axes. Collective, blocking."""
    return rfftn(a, axes, norm, **options)


@collective
def irfft2(
    a: Array, s: Optional[Tuple[int, int]] = None, axes: Tuple[int, int] = _two, norm: Optional[str] = None, **options: Any
) -> Array:
    """`irfftn` over two axes. Collective, blocking."""
    return irfftn(a, s, axes, norm, **options)


def _real_kind(name: str, type: int) -> str:
    if type not in (1, 2, 3, 4):
        raise ArgumentError(f"{name}: there is no type {type}; known: 1 to 4, as of FFTW and SciPy")
    return f"{name}{type}"


@collective
def dctn(
    a: Array, type: int = 2, axes: Axes = None, norm: Optional[str] = None, *,
    out: Optional[Array] = None, stream: Any = None, **options: Any,
) -> Array:  # fmt: skip
    """The cosine transform of real data, of types 1 to 4. Collective, blocking; as `fftn`."""
    return _transform(a, _real_kind("dct", type), axes, norm, out, stream, options)


@collective
def idctn(
    a: Array, type: int = 2, axes: Axes = None, norm: Optional[str] = None, *,
    out: Optional[Array] = None, stream: Any = None, **options: Any,
) -> Array:  # fmt: skip
    """The inverse of `dctn`. Collective, blocking."""
    return _transform(a, _real_kind("dct", type), axes, norm, out, stream, {**options, "inverse": True})


@collective
def dstn(
    a: Array, type: int = 2, axes: Axes = None, norm: Optional[str] = None, *,
    out: Optional[Array] = None, stream: Any = None, **options: Any,
) -> Array:  # fmt: skip
    """The sine transform of real data, of types 1 to 4. Collective, blocking; as `fftn`."""
    return _transform(a, _real_kind("dst", type), axes, norm, out, stream, options)


@collective
def idstn(
    a: Array, type: int = 2, axes: Axes = None, norm: Optional[str] = None, *,
    out: Optional[Array] = None, stream: Any = None, **options: Any,
) -> Array:  # fmt: skip
    """The inverse of `dstn`. Collective, blocking."""
    return _transform(a, _real_kind("dst", type), axes, norm, out, stream, {**options, "inverse": True})


@collective
def dct(a: Array, type: int = 2, axis: int = -1, norm: Optional[str] = None, **options: Any) -> Array:
    """`dctn` over one axis. Collective, blocking."""
    return dctn(a, type, (axis,), norm, **options)


@collective
def idct(a: Array, type: int = 2, axis: int = -1, norm: Optional[str] = None, **options: Any) -> Array:
    """`idctn` over one axis. Collective, blocking."""
    return idctn(a, type, (axis,), norm, **options)


@collective
def dst(a: Array, type: int = 2, axis: int = -1, norm: Optional[str] = None, **options: Any) -> Array:
    """`dstn` over one axis. Collective, blocking."""
    return dstn(a, type, (axis,), norm, **options)


@collective
def idst(a: Array, type: int = 2, axis: int = -1, norm: Optional[str] = None, **options: Any) -> Array:
    """`idstn` over one axis. Collective, blocking."""
    return idstn(a, type, (axis,), norm, **options)


class FFT(PlannedOperation):
    """A transform that is planned once and executed many times.

    Creation and execution are collective and blocking; `execute` allocates nothing.

    Parameters
    ----------
    a : Array
        Of the first execution; later ones may have others of the same operand.
    kind : str
        'c2c', 'r2c', 'c2r', 'dct1' to 'dct4', 'dst1' to 'dst4'.
    axes : sequence of int, optional
        All by default.
    norm : {'backward', 'ortho', 'forward'}
    out : Array, optional
        Where results go, `a` itself where shape and dtype stay; by default a new array, which is `out` of this object.
    **options
        See the module; inverse and last_length, too.
    """

    _core: CoreFFT

    @collective
    def __init__(
        self,
        a: Array,
        kind: str = "c2c",
        axes: Axes = None,
        norm: Optional[str] = None,
        *,
        out: Optional[Array] = None,
        **options: Any,
    ) -> None:
        self._context = context = core_given(a).context
        along = axes_or_all(axes, a.ndim)
        how = _options(kind, along, norm, options)
        if out is None:
            layout, dtype = _core.fft_result(a.operand, context.topology, how)
            core = _core.empty_like_layout(context, layout, dtype, options.get("order", "C"), options.get("heap", True))
            out = Array(core, a._package)
        self.out = out
        self._input = a
        self._options = options
        self._core = _core.FFT(context, a.operand, out.operand, how, out._core is a._core)

    @collective
    def execute(
        self, a: Optional[Array] = None, out: Optional[Array] = None, scale: float = 1.0, *, stream: Any = None
    ) -> Array:
        """Transform; `scale` multiplies beside the norm's factor. Collective, blocking. Returns the result."""
        source, result = self._input if a is None else a, self.out if out is None else out
        target = writable("out", result)
        assert target is not None
        core_given(source)
        _check_overwritten(source, self._options)
        handle = stream_of_arrays(stream, source, result)
        self._core.execute(source._core, target, scale, handle)
        return result

    @collective
    def inverse(
        self, out: Optional[Array] = None, a: Optional[Array] = None, scale: float = 1.0, *, stream: Any = None
    ) -> Array:
        """The opposite transform, from a result back to an input. Collective, blocking. Returns the input."""
        source, result = self.out if out is None else out, self._input if a is None else a
        target = writable("a", result)
        assert target is not None
        core_given(source)
        _check_overwritten(source, self._options)
        handle = stream_of_arrays(stream, source, result)
        self._core.inverse(source._core, target, scale, handle)
        return result
