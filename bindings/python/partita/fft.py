"""Fourier, cosine and sine transforms, with the names and arguments of numpy.fft and scipy.fft.

All functions are collective and blocking, accept arrays in any distribution, and keep plans. Arguments have the order, names and
defaults of NumPy (`fft` to `irfftn`) and SciPy (`dct` to `idstn`).

``n`` and ``s`` are lengths along the transformed axes: a longer axis is cropped at its end, a shorter one is padded with zeros, in a
copy, also along distributed axes. Complex transforms accept real numbers, and all accept integers and half precision, which are
converted in a copy as in NumPy (half precision to single, integers to double).

Options of all functions: output ('as-input', or 'cheapest': the distribution in which the transform ends, which saves an exchange);
distribution, order and heap of a new result; method ('automatic', 'local', 'slab', 'pencil', 'four-step'); grid; exchange
('automatic', 'copies', 'stores'); scratch_bytes; overwrite_input (a complex-to-real transform may overwrite its input); measure;
wisdom_file.
"""

from __future__ import annotations

import functools
import operator
from typing import Any, List, Optional, Sequence, Tuple, cast

import numpy as np

from . import _core
from ._calls import collective, with_options
from ._array import Array, axes_or_all, core_given, require_one_context, writable
from ._core import FFT as CoreFFT
from ._errors import ArgumentError
from ._frequencies import fftfreq, fftshift, ifftshift, opposite, rfftfreq
from ._mesh import rule_of
from ._planned import PlannedOperation
from ._streams import stream_of_array, stream_of_arrays

#: Along what is transformed; None: all.
Axes = Optional[Sequence[int]]
#: The lengths along the axes; None: those of the array.
Lengths = Optional[Sequence[int]]

__all__ = [
    "FFT", "dct", "dctn", "dst", "dstn", "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "idct", "idctn", "idst", "idstn", "ifft",
    "ifft2", "ifftn", "ifftshift", "ihfft", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
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


# --- what is transformed: lengths and dtype as NumPy has them


@functools.lru_cache(maxsize=None)
def _all_axes(dimensions: int) -> Tuple[int, ...]:
    return tuple(range(dimensions))


def _axes_and_lengths(s: Lengths, axes: Axes, shape: Sequence[int]) -> Tuple[Sequence[int], Optional[List[int]]]:
    """The axes, counted from 0, and the lengths along them. Without axes those of `s` are the last ones."""
    if s is None:
        return _all_axes(len(shape)) if axes is None else axes_or_all(axes, len(shape)), None
    lengths = [operator.index(one) for one in s]
    if axes is None and len(lengths) > len(shape):
        raise ArgumentError(f"s has {len(lengths)} lengths, but the array has {len(shape)} dimensions")
    along = axes_or_all(range(-len(lengths), 0) if axes is None else axes, len(shape))
    if len(lengths) != len(along):
        raise ArgumentError(f"s has {len(lengths)} lengths, but there are {len(along)} axes")
    return along, [shape[axis] if length == -1 else length for axis, length in zip(along, lengths)]


def _given_length(n: Optional[int]) -> Lengths:
    """The length along one axis; -1 is not a length."""
    if n is None:
        return None
    if operator.index(n) < 1:
        raise ArgumentError(f"n is {n}, but a line has at least one element")
    return (n,)


def _shape_before(shape: Sequence[int], kind: str, along: Sequence[int], lengths: Sequence[int]) -> Tuple[int, ...]:
    """The shape of the input for lines of these lengths: half spectra have n // 2 + 1 elements along the last axis."""
    result = list(shape)
    for axis, length in zip(along, lengths):
        if length < 1:
            raise ArgumentError(f"the length along axis {axis} is {length}, but a line has at least one element")
        result[axis] = length // 2 + 1 if kind == "c2r" and axis == along[-1] else length
    return tuple(result)


@functools.lru_cache(maxsize=None)
def _dtype_before(dtype: str, kind: str) -> str:
    """The dtype of the input: of the kind, in single precision for floating-point numbers of at most 32 bits."""
    if dtype in ("complex64", "complex128"):
        return dtype
    single = dtype == "float32" or dtype == "float16" or dtype.startswith(("bfloat", "float8"))
    if kind in ("c2c", "c2r"):
        return "complex64" if single else "complex128"
    return "float32" if single else "float64"


def _prepared(core: _core.Array, shape: Optional[Tuple[int, ...]], kind: str, stream: Optional[int]) -> _core.Array:
    """The array in that shape (None: its own), and in the dtype that the kind reads."""
    if shape is not None and shape != core.shape:
        core = _core.crop_or_pad(core, shape, stream)
    given = core.dtype
    dtype = _dtype_before(given, kind)
    return core if dtype == given else _core.astype(core, dtype, "C", True, None, stream)


def _transform(
    a: Array,
    kind: str,
    s: Lengths,
    axes: Axes,
    norm: Optional[str],
    out: Optional[Array],
    stream: Any,
    options: dict[str, Any],
) -> Array:
    core = core_given(a)
    along, lengths = _axes_and_lengths(s, axes, core.shape)
    shape = None if lengths is None else _shape_before(core.shape, kind, along, lengths)
    if lengths is not None and kind == "c2r":
        options = {**options, "last_length": lengths[-1]}
    how = _options(kind, along, norm, options)
    _check_overwritten(a, options)
    target = writable("out", out)
    handle = stream_of_array(stream, core, a._package) if out is None else stream_of_arrays(stream, a, out)
    core = _prepared(core, shape, kind, handle)
    if out is None or target is None:
        return Array(_core.transform(core, how, handle), a._package)
    _core.transform_into(core, target, how, handle)
    return out


# --- Fourier transforms


@collective
def fftn(
    a: Array, s: Lengths = None, axes: Axes = None, norm: Optional[str] = None, out: Optional[Array] = None, *,
    stream: Any = None, **options: Any,
) -> Array:  # fmt: skip
    """The Fourier transform over several axes. Collective, blocking.

    Parameters
    ----------
    a : Array
        Complex or real.
    s : sequence of int, optional
        Lengths along the axes; unset, or -1: those of `a`. Shorter lengths crop, longer ones pad with zeros.
    axes : sequence of int, optional
        Unset: all, or with `s` the last ones.

    Raises
    ------
    ArgumentError, DisagreementError, UnsupportedError, MemoryError
        The same on every rank.
    """
    return _transform(a, "c2c", s, axes, norm, out, stream, options)


@collective
def ifftn(
    a: Array, s: Lengths = None, axes: Axes = None, norm: Optional[str] = None, out: Optional[Array] = None, *,
    stream: Any = None, **options: Any,
) -> Array:  # fmt: skip
    """The inverse of `fftn`. Collective, blocking."""
    return _transform(a, "c2c", s, axes, norm, out, stream, {**options, "inverse": True})


@collective
def rfftn(
    a: Array, s: Lengths = None, axes: Axes = None, norm: Optional[str] = None, out: Optional[Array] = None, *,
    stream: Any = None, **options: Any,
) -> Array:  # fmt: skip
    """The transform of real data: half the spectrum along the last of the axes. Collective, blocking."""
    return _transform(a, "r2c", s, axes, norm, out, stream, options)


@collective
def irfftn(
    a: Array, s: Lengths = None, axes: Axes = None, norm: Optional[str] = None, out: Optional[Array] = None, *,
    stream: Any = None, **options: Any,
) -> Array:  # fmt: skip
    """The inverse of `rfftn`. Collective, blocking.

    The imaginary parts of elements that are real in the half spectrum of a real line, the first and for even lengths the last, are
    ignored.

    Parameters
    ----------
    s : sequence of int, optional
        Lengths of the result along the axes. Unset: along the last axis 2 (m - 1), with m elements of `a`.
    """
    return _transform(a, "c2r", s, axes, norm, out, stream, options)


@collective
def fft(
    a: Array, n: Optional[int] = None, axis: int = -1, norm: Optional[str] = None, out: Optional[Array] = None, **options: Any
) -> Array:  # fmt: skip
    """The Fourier transform along one axis, as `fftn`. Collective, blocking."""
    return fftn(a, _given_length(n), (axis,), norm, out, **options)


@collective
def ifft(
    a: Array, n: Optional[int] = None, axis: int = -1, norm: Optional[str] = None, out: Optional[Array] = None, **options: Any
) -> Array:  # fmt: skip
    """The inverse of `fft`. Collective, blocking."""
    return ifftn(a, _given_length(n), (axis,), norm, out, **options)


@collective
def rfft(
    a: Array, n: Optional[int] = None, axis: int = -1, norm: Optional[str] = None, out: Optional[Array] = None, **options: Any
) -> Array:  # fmt: skip
    """The transform of real data along one axis, as `rfftn`. Collective, blocking."""
    return rfftn(a, _given_length(n), (axis,), norm, out, **options)


@collective
def irfft(
    a: Array, n: Optional[int] = None, axis: int = -1, norm: Optional[str] = None, out: Optional[Array] = None, **options: Any
) -> Array:  # fmt: skip
    """The inverse of `rfft`, to n elements. Collective, blocking."""
    return irfftn(a, _given_length(n), (axis,), norm, out, **options)


@collective
def hfft(
    a: Array, n: Optional[int] = None, axis: int = -1, norm: Optional[str] = None, out: Optional[Array] = None, **options: Any
) -> Array:  # fmt: skip
    """The transform of half of a Hermitian signal, whose spectrum is real, to n elements. Collective, blocking."""
    core_given(a)
    return irfft(a.conj(), n, axis, opposite(norm), out, **options)


@collective
def ihfft(
    a: Array, n: Optional[int] = None, axis: int = -1, norm: Optional[str] = None, out: Optional[Array] = None, **options: Any
) -> Array:  # fmt: skip
    """The inverse of `hfft`, of which half is returned. Collective, blocking."""
    found: Any = rfft(a, n, axis, opposite(norm), out, **options)
    np.conjugate(found, out=found)
    return cast(Array, found)


@collective
def fft2(
    a: Array, s: Lengths = None, axes: Sequence[int] = (-2, -1), norm: Optional[str] = None, out: Optional[Array] = None,
    **options: Any,
) -> Array:  # fmt: skip
    """The Fourier transform over two axes, as `fftn`. Collective, blocking."""
    return fftn(a, s, axes, norm, out, **options)


@collective
def ifft2(
    a: Array, s: Lengths = None, axes: Sequence[int] = (-2, -1), norm: Optional[str] = None, out: Optional[Array] = None,
    **options: Any,
) -> Array:  # fmt: skip
    """The inverse of `fft2`. Collective, blocking."""
    return ifftn(a, s, axes, norm, out, **options)


@collective
def rfft2(
    a: Array, s: Lengths = None, axes: Sequence[int] = (-2, -1), norm: Optional[str] = None, out: Optional[Array] = None,
    **options: Any,
) -> Array:  # fmt: skip
    """The transform of real data over two axes, as `rfftn`. Collective, blocking."""
    return rfftn(a, s, axes, norm, out, **options)


@collective
def irfft2(
    a: Array, s: Lengths = None, axes: Sequence[int] = (-2, -1), norm: Optional[str] = None, out: Optional[Array] = None,
    **options: Any,
) -> Array:  # fmt: skip
    """The inverse of `rfft2`. Collective, blocking."""
    return irfftn(a, s, axes, norm, out, **options)


# --- cosine and sine transforms


def _of_type(
    name: str,
    x: Array,
    type: int,
    s: Lengths,
    axes: Axes,
    norm: Optional[str],
    orthogonalize: Optional[bool],
    out: Optional[Array],
    stream: Any,
    options: dict[str, Any],
) -> Array:
    if type not in (1, 2, 3, 4):
        raise ArgumentError(f"{name}: unknown type {type}; known: 1 to 4, as in FFTW and SciPy")
    if orthogonalize is not None:
        options = {**options, "orthogonalize": orthogonalize}
    return _transform(x, f"{name}{type}", s, axes, norm, out, stream, options)


@collective
def dctn(
    x: Array, type: int = 2, s: Lengths = None, axes: Axes = None, norm: Optional[str] = None, *,
    orthogonalize: Optional[bool] = None, out: Optional[Array] = None, stream: Any = None, **options: Any,
) -> Array:  # fmt: skip
    """The cosine transform of real data over several axes, as in SciPy. Collective, blocking.

    Parameters
    ----------
    orthogonalize : bool, optional
        Weight the ends of lines such that the matrix of the transform is orthogonal up to a factor: type 1
        multiplies the first and last element by sqrt(2) before and 1/sqrt(2) after, type 2 the first by 1/sqrt(2) after,
        type 3 the first by sqrt(2) before (sine transforms of types 2 and 3 the last). Unset: only with ``norm="ortho"``,
        whose matrix is then orthogonal.
    """
    return _of_type("dct", x, type, s, axes, norm, orthogonalize, out, stream, options)


@collective
def idctn(
    x: Array, type: int = 2, s: Lengths = None, axes: Axes = None, norm: Optional[str] = None, *,
    orthogonalize: Optional[bool] = None, out: Optional[Array] = None, stream: Any = None, **options: Any,
) -> Array:  # fmt: skip
    """The inverse of `dctn`. Collective, blocking."""
    return _of_type("dct", x, type, s, axes, norm, orthogonalize, out, stream, {**options, "inverse": True})


@collective
def dstn(
    x: Array, type: int = 2, s: Lengths = None, axes: Axes = None, norm: Optional[str] = None, *,
    orthogonalize: Optional[bool] = None, out: Optional[Array] = None, stream: Any = None, **options: Any,
) -> Array:  # fmt: skip
    """The sine transform of real data over several axes, as in SciPy. Collective, blocking."""
    return _of_type("dst", x, type, s, axes, norm, orthogonalize, out, stream, options)


@collective
def idstn(
    x: Array, type: int = 2, s: Lengths = None, axes: Axes = None, norm: Optional[str] = None, *,
    orthogonalize: Optional[bool] = None, out: Optional[Array] = None, stream: Any = None, **options: Any,
) -> Array:  # fmt: skip
    """The inverse of `dstn`. Collective, blocking."""
    return _of_type("dst", x, type, s, axes, norm, orthogonalize, out, stream, {**options, "inverse": True})


@collective
def dct(
    x: Array, type: int = 2, n: Optional[int] = None, axis: int = -1, norm: Optional[str] = None, **options: Any
) -> Array:  # fmt: skip
    """The cosine transform along one axis, as `dctn`. Collective, blocking."""
    return dctn(x, type, _given_length(n), (axis,), norm, **options)


@collective
def idct(
    x: Array, type: int = 2, n: Optional[int] = None, axis: int = -1, norm: Optional[str] = None, **options: Any
) -> Array:  # fmt: skip
    """The inverse of `dct`. Collective, blocking."""
    return idctn(x, type, _given_length(n), (axis,), norm, **options)


@collective
def dst(
    x: Array, type: int = 2, n: Optional[int] = None, axis: int = -1, norm: Optional[str] = None, **options: Any
) -> Array:  # fmt: skip
    """The sine transform along one axis, as `dstn`. Collective, blocking."""
    return dstn(x, type, _given_length(n), (axis,), norm, **options)


@collective
def idst(
    x: Array, type: int = 2, n: Optional[int] = None, axis: int = -1, norm: Optional[str] = None, **options: Any
) -> Array:  # fmt: skip
    """The inverse of `dst`. Collective, blocking."""
    return idstn(x, type, _given_length(n), (axis,), norm, **options)


class FFT(PlannedOperation):
    """A transform that is planned once and executed many times.

    Creation and execution are collective and blocking; `execute` allocates nothing.

    Parameters
    ----------
    a : Array
        The array of the first execution; later ones may use other arrays with the same dtype and layout.
    kind : str
        'c2c', 'r2c', 'c2r', 'dct1' to 'dct4', 'dst1' to 'dst4'.
    out : Array, optional
        Array for the result, possibly `a` itself if shape and dtype are equal; unset: a new array, available as the attribute `out`.
    **options
        As for the functions of the module; also inverse and last_length.
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
            layout, dtype = _core.fft_result(context, a.operand, how)
            core = _core.empty_like_layout(context, layout, dtype, options.get("order", "C"), options.get("heap", True))
            out = Array(core, a._package)
        core_given(out)
        require_one_context("FFT", a, out)
        self.out = out
        self._input = a
        self._options = options
        self._core = _core.FFT(context, a.operand, out.operand, how, out._core is a._core)

    @collective
    def execute(
        self, a: Optional[Array] = None, out: Optional[Array] = None, scale: float = 1.0, *, stream: Any = None
    ) -> Array:
        """Transform. Collective, blocking. Returns the result.

        Parameters
        ----------
        a, out : Array, optional
            Unset: those of the creation.
        scale : float, default 1.0
            A factor in addition to that of the norm.
        """
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
        """The opposite transform, from a result back to an input. Collective, blocking. Returns the input.

        Parameters
        ----------
        out, a : Array, optional
            The result to transform, and the array for the input; unset: those of the creation.
        scale : float, default 1.0
            A factor in addition to that of the norm.
        """
        source, result = self.out if out is None else out, self._input if a is None else a
        target = writable("a", result)
        assert target is not None
        core_given(source)
        _check_overwritten(source, self._options)
        handle = stream_of_arrays(stream, source, result)
        self._core.inverse(source._core, target, scale, handle)
        return result
