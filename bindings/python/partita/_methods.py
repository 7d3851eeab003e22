"""Methods and attributes of arrays that NumPy's have, by the functions of the same names."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any, Iterator, Optional, Tuple, Union, cast

import numpy as np

from . import _core
from ._calls import collective
from ._errors import ArgumentError, TypeError

if TYPE_CHECKING:
    from ._array import Array, Axis


def _plain(dtype: "np.dtype[Any]") -> "np.dtype[Any]":
    """That of NumPy for numbers of dtypes that NumPy lacks."""
    return np.dtype("float32") if dtype.name.startswith(("bfloat", "float8")) else dtype


class Methods:
    """What arrays have of NumPy's."""

    __slots__ = ()

    @property
    def _array(self) -> Array:
        return cast("Array", self)

    # --- sizes

    @property
    def itemsize(self) -> int:
        """The bytes of one element."""
        return self._array.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The bytes of all elements of the distributed array; `a.local.nbytes` are those of this rank's part."""
        return self._array.size * self._array.dtype.itemsize

    def __len__(self) -> int:
        if not self._array.ndim:
            raise builtins.TypeError("len() of an array without dimensions")
        return self._array.shape[0]

    def __iter__(self) -> Iterator[Array]:
        return (self._array[i] for i in range(len(self)))

    # --- the array API standard

    def __array_namespace__(self, *, api_version: Optional[str] = None) -> Any:
        if api_version is not None and api_version not in ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
            raise ArgumentError(f"the array API standard of {api_version} is not supported; the newest one that is: 2025.12")
        from . import array_api

        return array_api

    @property
    def device(self) -> str:
        """'cpu', or the device of the context."""
        return "cpu" if self._array._core.on_host else self._array._core.context.device

    def to_device(self, device: Any, /, *, stream: Any = None) -> Array:
        """A copy in the memory of 'cpu' or of the context's device; the array itself if it is there. Collective, blocking.

        Parameters
        ----------
        device : str
            'cpu', or the device of the context.
        """
        if device == self.device:
            return self._array
        if device not in ("cpu", self._array._core.context.device):
            raise ArgumentError(f"to_device: {device!r}: the array is on {self.device}, and the context has {self._array._core.context.device}")
        return self._array.copy(space="host" if device == "cpu" else "device", stream=stream)

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Optional[bool] = None) -> Any:
        whole = self._whole("__dlpack__")
        whole = whole.copy() if copy and whole is self._array else whole
        return whole._core.__dlpack__(**({} if stream is None else {"stream": stream}))

    def __dlpack_device__(self) -> Any:
        return self._array._core.__dlpack_device__()

    def __array__(self, dtype: Any = None, *, copy: Optional[bool] = None) -> Any:
        from ._default import current_default

        if current_default() is None:
            raise TypeError("a distributed array is not converted to NumPy implicitly: use .gather(), which communicates, or .local, this rank's part")
        return np.array(self._whole("__array__").gather(space="host"), dtype)

    def _whole(self, name: str) -> Array:
        """An array that every rank has completely. Collective inside of a default distribution, a BufferError elsewhere, if this is none."""
        from ._default import current_default

        layout = self._array.layout
        if all(layout.local_shape(rank) == layout.shape for rank in range(layout.ranks)):
            return self._array
        if current_default() is not None:
            return self._array.redistribute("replicated")
        raise BufferError(f"{name}: only an array that every rank has completely is converted: use .gather(), or .local, this rank's part")

    # --- one number

    def item(self) -> Any:
        """The value of an array with one element, as a Python number. Local if every rank has it, else collective."""
        a = self._array
        if a.size != 1:
            raise ArgumentError(f"an array of shape {a.shape} is not one number: use .at(index), or a reduction such as a.any(), which communicate")
        if a._core.on_host and not a._core.is_partial and all(a.layout.local_size(rank) for rank in range(a.layout.ranks)):
            from ._packages import seen_by

            return seen_by("numpy", a._core).reshape(()).astype(_plain(a.dtype)).item()
        return a.at((0,) * a.ndim)

    def __bool__(self) -> bool:
        if self._array.size != 1:
            raise ValueError("the truth value of a distributed array is ambiguous: use a.any() or a.all(), which communicate")
        return bool(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> int:
        if self._array.ndim or self._array.dtype.kind not in "iu":
            raise builtins.TypeError("only an array of integers without dimensions is an index")
        return int(self.item())

    # --- complex numbers

    @property
    def real(self) -> Array:
        """The real part; shares memory."""
        return self._array if self._array.dtype.kind != "c" else self._part_seen("real")

    @property
    def imag(self) -> Array:
        """The imaginary part; of complex numbers it shares memory."""
        a = self._array
        if a.dtype.kind == "c":
            return self._part_seen("imag")
        return cast("Array", np.logical_and(a, False) if a.dtype == np.dtype(bool) else np.multiply(a, 0))

    def _part_seen(self, name: str) -> Array:
        from ._moves import part_of, with_view

        a = self._array
        if not a._core.on_host:
            return a._seen_as(_core.real(a._core) if name == "real" else _core.imag(a._core))
        return with_view(a, a.layout, getattr(part_of(a), name))

    def conj(self) -> Array:
        """The complex conjugates, as a new array. Local."""
        return cast("Array", np.conjugate(self._array))

    def conjugate(self) -> Array:
        """The complex conjugates, as a new array. Local."""
        return self.conj()

    # --- shapes

    def reshape(self, *shape: Any, order: str = "C") -> Array:
        """The elements in another shape (integers or one sequence); see `partita.reshape`. Collective, blocking."""
        from ._shapes import reshape

        return reshape(self._array, shape[0] if len(shape) == 1 else shape, order)

    def ravel(self, order: str = "C") -> Array:
        """The elements in one dimension; see `partita.ravel`. Collective, blocking."""
        from ._shapes import ravel

        return ravel(self._array, order)

    @collective
    def flatten(self, order: str = "C") -> Array:
        """A copy of the elements in one dimension. Collective, blocking."""
        return self.reshape(-1, order=order).copy()

    def squeeze(self, axis: Axis = None) -> Array:
        """Without dimensions of extent 1; see `partita.squeeze`. Collective."""
        from ._views import squeeze

        return squeeze(self._array, axis)

    def swapaxes(self, axis1: int, axis2: int) -> Array:
        """Two dimensions exchanged; shares memory. Local."""
        from ._shapes import swapaxes

        return swapaxes(self._array, axis1, axis2)

    @property
    def mT(self) -> Array:
        """The last two dimensions exchanged; shares memory."""
        from ._shapes import matrix_transpose

        return matrix_transpose(self._array)

    def repeat(self, repeats: Any, axis: Optional[int] = None) -> Array:
        """Each element several times in succession; see `partita.repeat`. Collective, blocking."""
        from ._places import repeat

        return repeat(self._array, repeats, axis)

    def take(self, indices: Any, axis: Optional[int] = None, out: None = None, mode: str = "raise") -> Array:
        """The elements of these indices; see `partita.take`. Collective, blocking."""
        from ._take import take

        return take(self._array, indices, axis, out, mode)

    def nonzero(self) -> Tuple[Array, ...]:
        """The indices of the elements that are not 0; see `partita.nonzero`. Collective, blocking."""
        from ._count import nonzero

        return nonzero(self._array)

    def argsort(self, axis: Optional[int] = -1) -> Array:
        """The indices that sort the array; see `partita.argsort`. Collective, blocking."""
        from ._sort import argsort

        return argsort(self._array, axis)

    def cumsum(self, axis: Optional[int] = None, dtype: Any = None) -> Array:
        """The sums of the elements up to each; see `partita.cumsum`. Collective, blocking."""
        from ._scan import cumsum

        return cumsum(self._array, axis, dtype)

    def cumprod(self, axis: Optional[int] = None, dtype: Any = None) -> Array:
        """The products of the elements up to each; see `partita.cumprod`. Collective, blocking."""
        from ._scan import cumprod

        return cumprod(self._array, axis, dtype)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
        """The elements on a diagonal; see `partita.diagonal`. Collective, blocking."""
        from ._diagonals import diagonal

        return diagonal(self._array, offset, axis1, axis2)

    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Any:
        """The sum of the elements on a diagonal, on every rank; for more than two dimensions an array. Collective, blocking."""
        from ._diagonals import trace

        return trace(self._array, offset, axis1, axis2, dtype)

    # --- elements

    def clip(self, min: Any = None, max: Any = None, out: Optional[Array] = None) -> Array:
        """Elements limited to an interval; see `partita.clip`. Local, like ufuncs: collective if a limit is a NumPy array.

        Parameters
        ----------
        min, max : Array, number or numpy.ndarray, optional
            The limits; unset: none.
        """
        from ._elementwise import clip

        return clip(self._array, min, max, out)

    def round(self, decimals: int = 0, out: Optional[Array] = None) -> Array:
        """Elements rounded to a number of decimals; see `partita.round`. Local, like ufuncs."""
        from ._elementwise import round

        return round(self._array, decimals, out)

    # --- reductions

    def argmax(self, axis: Optional[int] = None, out: None = None, *, keepdims: bool = False) -> Any:
        """The index of the largest element; see `partita.argmax`. Collective, blocking."""
        from ._extrema import argmax

        return argmax(self._array, axis, out, keepdims=keepdims)

    def argmin(self, axis: Optional[int] = None, out: None = None, *, keepdims: bool = False) -> Any:
        """The index of the smallest element; see `partita.argmin`. Collective, blocking."""
        from ._extrema import argmin

        return argmin(self._array, axis, out, keepdims=keepdims)

    def ptp(self, axis: Axis = None, out: None = None, *, keepdims: bool = False) -> Any:
        """The largest element minus the smallest; see `partita.ptp`. Collective, blocking."""
        from ._reductions import ptp

        return ptp(self._array, axis, out, keepdims=keepdims)

    def var(
        self, axis: Axis = None, dtype: Any = None, out: None = None, ddof: Union[int, float] = 0, *, keepdims: bool = False, where: Any = None
    ) -> Any:
        """The variance; see `partita.var`. Collective, blocking."""
        from ._reductions import var

        return var(self._array, axis, dtype, out, ddof, keepdims=keepdims, where=where)

    def std(
        self, axis: Axis = None, dtype: Any = None, out: None = None, ddof: Union[int, float] = 0, *, keepdims: bool = False, where: Any = None
    ) -> Any:
        """The standard deviation; see `partita.std`. Collective, blocking."""
        from ._reductions import std

        return std(self._array, axis, dtype, out, ddof, keepdims=keepdims, where=where)
