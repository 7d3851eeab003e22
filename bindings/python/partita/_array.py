"""Distributed arrays."""

from __future__ import annotations

import operator
from typing import Any, Callable, Dict, Optional, Sequence, Tuple, Union, cast

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from . import _core
from ._calls import collective
from ._context import Context
from ._dtypes import _names, _of_ml_dtypes, dtype_name, numpy_dtype
from ._errors import ArgumentError, IndexError
from ._mesh import DistributionLike, Rule, rule_of
from ._methods import Methods
from ._reducing_methods import Axis as Axis
from ._reducing_methods import Reductions
from ._packages import package_for, seen_by
from ._streams import settle, stream_of_array, stream_of_arrays

default_redistribution = _core.RedistributeOptions()
default_multiply = _core.MatmulOptions()
no_epilogue_arrays = _core.EpilogueArrays()


how_to_make_one = (
    "partita.from_local(context, x, partita.Replicated()) makes one from an array x that every rank has completely, "
    "from_local(context, part, distribution) from local parts"
)


def core_of(array: Optional[Array]) -> Optional[_core.Array]:
    """The array as the C++ library takes it; None stays None. TypeError if it is not a distributed array."""
    if array is None:
        return None
    if not isinstance(array, Array):
        raise TypeError(f"expected a distributed array, got {type(array).__name__}; {how_to_make_one}")
    return array._core


def core_given(array: Array) -> _core.Array:
    """As `core_of`, for an argument that is required."""
    core = core_of(array)
    if core is None:
        raise TypeError("expected a distributed array, got None")
    return core


def writable(what: str, array: Optional[Array]) -> Optional[_core.Array]:
    """The array as the C++ library takes it, for a result."""
    core = core_of(array)
    if array is not None and array._read_only:
        raise ArgumentError(f"{what}: the array is read-only, like the memory it was made from")
    return core


def require_one_context(name: str, *arrays: Array) -> None:
    """ArgumentError, the same on all ranks, if the arrays of a call were made in different contexts."""
    if any(one._core.context != arrays[0]._core.context for one in arrays):
        raise ArgumentError(f"{name}: the arrays belong to different contexts; make all in one context")


def axes_or_all(axes: Union[int, Sequence[int], None], dimensions: int) -> list[int]:
    """The axes of a transform, counted from 0; None: all."""
    along = list(range(dimensions)) if axes is None else axes_of(axes, dimensions)
    if not along and dimensions > 0:  # which the library takes for all
        raise ArgumentError("no axes are given; omit the argument to reduce over all axes")
    return along


def axes_of(axis: Union[int, Sequence[int]], dimensions: int) -> list[int]:
    """The axes, counted from 0."""
    try:
        axes = [operator.index(one) for one in ([axis] if isinstance(axis, (int, np.integer)) else axis)]
    except TypeError:
        raise TypeError(f"axis: expected an integer or a sequence of integers, got {axis!r}") from None
    for one in axes:
        if not -dimensions <= one < dimensions:
            raise IndexError(f"axis {one} is out of range for an array of {dimensions} dimensions")
    return [one % dimensions for one in axes]


def distinct_axes_of(axis: Union[int, Sequence[int]], dimensions: int) -> list[int]:
    """The same, each named once."""
    axes = axes_of(axis, dimensions)
    for i, one in enumerate(axes):
        if one in axes[:i]:
            raise ArgumentError(f"axis {one} is named twice")
    return axes


_of_numpy = frozenset(_names) - frozenset(_of_ml_dtypes)
#: Dtypes whose products need no conversion.
_multiplied = frozenset(("float16", "bfloat16", "float32", "float64", "complex64", "complex128", "int8"))


def matmul_of(a: Any, b: Any) -> Any:
    """`partita.matmul`, for operators."""
    from ._linear import matmul

    return matmul(a, b)


class Array(Methods, Reductions, NDArrayOperatorsMixin):
    """This rank's part of a distributed array, and its layout.

    Arrays are made by `from_local`, `empty`, `zeros`, ..., and by operations on arrays, not by calling the class. A copy of the
    variable shares the memory. The memory is freed when all ranks have dropped their last reference, without communication.

    NumPy's ufuncs and operators work on the local parts of arrays with equal layouts and do not communicate, unless an operand is a NumPy
    array, or layouts differ inside of `default`. Methods that communicate say so; all ranks must call them.
    """

    # Before NumPy 1.25 the class that it derives from has weak references already.
    _weak = () if hasattr(NDArrayOperatorsMixin, "__weakref__") else ("__weakref__",)
    __slots__ = ("_core", "_package", "_local", "_read_only", *_weak)
    del _weak

    def __init__(self, core: _core.Array, package: str = "numpy", local: Any = None, read_only: bool = False) -> None:
        if not isinstance(core, _core.Array):
            raise TypeError("an Array is made by from_local, scatter, zeros, ..., and by operations, not by its class")
        self._core = core
        self._package = package if package == "numpy" and core.on_host else package_for(core, package)
        self._local = local
        self._read_only = read_only

    # --- what it is; local

    @property
    def shape(self) -> Tuple[int, ...]:
        """The global shape."""
        return self._core.shape

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._core.shape)

    @property
    def size(self) -> int:
        """The number of elements of the distributed array."""
        size = 1
        for extent in self._core.shape:
            size *= extent
        return size

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The NumPy dtype."""
        return numpy_dtype(self._core.dtype)

    @property
    def space(self) -> str:
        """Where the local part is stored: 'host' or 'device'."""
        return "host" if self._core.on_host else "device"

    @property
    def layout(self) -> _core.Layout:
        """The layout: which rank owns which elements."""
        return self._core.layout

    @property
    def distribution(self) -> Rule:
        """The distribution of the layout."""
        return self._core.distribution

    @property
    def context(self) -> Context:
        """The context in which the array was made."""
        return Context(self._core.context)

    @property
    def operand(self) -> _core.Operand:
        """The description of the array for planners."""
        return self._core.operand

    @property
    def local_shape(self) -> Tuple[int, ...]:
        """The shape of this rank's part."""
        return self._core.local_shape

    @property
    def local(self) -> Any:
        """This rank's part, an array of the package that the array came from, without a copy.

        It keeps the memory alive, and writing to it writes to the array. In device memory that Partita allocated it belongs to CuPy or
        PyTorch, whichever the program has imported.
        """
        if self._local is not None:
            return self._local
        local = seen_by(self._package, self._core)
        if self._read_only and self._package == "numpy":
            local.flags.writeable = False
        if self._core.on_host:  # each look at device memory comes after what the context's stream does
            self._local = local
        return local

    def indices(self, axis: int) -> "np.ndarray[Any, np.dtype[np.int64]]":
        """The global indices of this rank's part along dimension `axis`, increasing. Local."""
        return self.layout.indices(axes_of(axis, self.ndim)[0], self._core.context.rank)

    def _axes(self, axis: Axis) -> list[int]:
        """The axes, counted from 0; None: all."""
        return list(range(self.ndim)) if axis is None else axes_of(axis, self.ndim)

    def __repr__(self) -> str:
        return f"<partita.Array: {self.layout}, {self._core.dtype}; rank {self._core.context.rank} has {self.local_shape}>"

    def _repr_svg_(self) -> Optional[str]:
        return _core.svg_of_layout(self.layout)

    def __str__(self) -> str:
        return f"{self!r}\n{self.local}"

    def __array_function__(
        self, function: Callable[..., Any], types: Any, given: Tuple[Any, ...], options: Dict[str, Any]
    ) -> Any:
        """NumPy's functions that Partita has; others are refused, because they would use one rank's part as the whole array."""
        from ._numpy_functions import called

        return called(function, given, options)

    def __copy__(self) -> Array:
        raise TypeError("a distributed array is copied by .copy(), a collective call")

    def __deepcopy__(self, memo: Any) -> Array:
        return self.__copy__()

    def __reduce__(self) -> Any:
        raise TypeError("a distributed array cannot be pickled: pickle .local and .layout, or write the whole array with partita.io")

    # --- the same memory, seen otherwise; local, and to be made alike on all ranks

    def _seen_as(self, core: _core.Array) -> Array:
        return Array(core, self._package, read_only=self._read_only)

    @property
    def T(self) -> Array:
        """The transposed array; shares memory."""
        return self.transpose()

    def transpose(self, *axes: Union[None, int, Sequence[int]]) -> Array:
        """The array with its dimensions in the order `axes` (integers or one sequence; default reversed); shares memory. Local."""
        given: Any = axes[0] if len(axes) == 1 and not isinstance(axes[0], (int, np.integer)) else axes
        order = list(range(self.ndim))[::-1] if given is None or len(given) == 0 else axes_of(given, self.ndim)
        return self._seen_as(self._core.permuted(order))

    def __getitem__(self, key: Any) -> Array:
        """Elements selected as in NumPy: ``a[1:8, :, -3:]``, ``a[3]``, ``a[::-2]``, ``a[a > 3]``, ``a[indices]``.

        Slices without steps share memory and are local. So are integers and steps if each rank's part of the result can be described by a
        distribution (not for cyclic blocks or replicas that are cut there, nor if no dimension remains): else the call is collective, and
        the result a copy. Arrays of integers and booleans in the key, distributed or equal on all ranks, are used as in NumPy: then the call
        is collective, the result a copy in the distribution that `take` returns.
        """
        from ._keys import is_advanced
        from ._take import getitem
        from ._views import indexed, keys_of

        return getitem(self, key) if is_advanced(key) else indexed(self, keys_of(key, self.ndim))

    def __setitem__(self, key: Any, value: Any) -> None:
        """``a[1:8] = x``, ``a[a > 3] = 0``, ``a[indices] = y``: numbers, or arrays that broadcast to the elements.

        Local if x is a number or an array with the window's layout and dtype, which may overlap the window, and for a mask in the layout of
        the array and a number; else collective. If an element is chosen several times by arrays in the key, it gets the last of its values
        in row-major order of these arrays.
        """
        from ._assignment import assign

        if self._read_only:
            raise ArgumentError("the array is read-only, like the memory it was made from")
        assign(self, key, value)

    def fill(self, value: Any, *, stream: Any = None) -> None:
        """Set every element to the number `value`. Local."""
        if self._read_only:
            raise ArgumentError("the array is read-only, like the memory it was made from")
        if value is None or isinstance(value, (str, bytes)) or np.ndim(value) != 0:
            raise TypeError(f"fill: value: expected a number, got {type(value).__name__}")
        if self._core.on_host and stream is None and self._package != "jax":
            self.local[...] = value
        else:
            if self._core.dtype in _of_numpy:  # converted by its rules
                one = np.empty((), self.dtype)
                one[...] = value
                value = one.item()
            _core.fill(self._core, value, stream_of_array(stream, self._core, self._package))

    # --- ufuncs: local

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        return apply(ufunc, method, inputs, options)

    # --- what communicates: collective, blocking

    @collective
    def __matmul__(self, other: Array) -> Array:
        """The matrix product. Collective, blocking: see `matmul`."""
        if not isinstance(other, Array):
            if isinstance(other, np.ndarray):
                return cast(Array, matmul_of(self, other))
            if not hasattr(other, "__rmatmul__"):
                core_given(other)
            return NotImplemented
        if self._core.dtype != other._core.dtype or self._core.dtype not in _multiplied or len(self.shape) > 2 < len(other.shape):
            return cast(Array, matmul_of(self, other))
        on_host = self._core.on_host and other._core.on_host
        stream = None if on_host else stream_of_arrays(None, self, other)
        core = _core.matmul(self._core, other._core, None, default_multiply, no_epilogue_arrays, stream)
        return Array(core, self._package)

    def __rmatmul__(self, other: Any) -> Any:
        return matmul_of(other, self) if isinstance(other, np.ndarray) else NotImplemented

    def __imatmul__(self, other: Array) -> Array:
        """Not supported: the product may have another shape and layout. Use `matmul` with out."""
        return NotImplemented

    @collective
    def redistribute(
        self,
        distribution: Union[DistributionLike, _core.Layout],
        *,
        axes: Sequence[int] = (),
        order: str = "C",
        heap: bool = True,
        space: Optional[str] = None,
        method: str = "automatic",
        stream: Any = None,
    ) -> Array:
        """A copy of the array in another distribution. Collective, blocking.

        Parameters
        ----------
        distribution : distribution or Layout
            The distribution or layout of the result.
        axes : sequence of int
            Dimension i of the result is dimension axes[i] of this array; empty: unchanged.
        space : {'host', 'device'}, optional
            Memory space of the result; unset: that of this array.
        method : str
            'automatic', 'direct', 'pushed', 'pulled', 'staged', 'messages' or 'grouped'.

        Returns
        -------
        Array
            The contributions of a partial array are reduced.
        """
        options = default_redistribution
        if axes or order != "C" or not heap or space is not None or method != "automatic":
            options = _core.RedistributeOptions(axes=list(axes), order=order, heap=heap, method=method, space=space)
        handle = self._stream_to(space, stream)
        if isinstance(distribution, _core.Layout):
            core = _core.redistribute_to_layout(self._core, distribution, options, handle)
        else:
            core = _core.redistribute(self._core, rule_of(distribution), options, handle)
        return Array(core, self._package)

    def _stream_to(self, space: Optional[str], stream: Any) -> Optional[int]:
        """The stream of a call that makes an array in a space; copies between host and device are waited for."""
        handle = stream_of_array(stream, self._core, self._package)
        if handle is None or space is None or (space == "host") == self._core.on_host:
            return handle
        self._core.context.synchronize(handle)
        return None

    @collective
    def gather(self, root: Optional[int] = None, *, space: Optional[str] = None, stream: Any = None) -> Any:
        """The whole array, as an array of its package. Collective, blocking.

        Parameters
        ----------
        root : int, optional
            The rank that gets it; None: all.

        Returns
        -------
        array or None
            None on other ranks than the root.
        """
        if root is None:
            return self.redistribute(_core.Replicated(), space=space, stream=stream).local
        whole = Array(_core.gather(self._core, root, space, self._stream_to(space, stream)), self._package)
        return whole.local if self._core.context.rank == root else None

    @collective
    def astype(
        self, dtype: Any, *, order: str = "C", heap: bool = True, space: Optional[str] = None, stream: Any = None
    ) -> Array:
        """A copy in another dtype with the same layout. Collective, blocking.

        Each contribution of a partial array is converted separately, except that minima and maxima are reduced first if integers become
        narrower. ArgumentError if conversion does not commute with the reduction (sums of floating-point numbers to integers, ...):
        redistribute the array first.
        """
        core = _core.astype(self._core, dtype_name(dtype), order, heap, space, self._stream_to(space, stream))
        return Array(core, self._package)

    @collective
    def copy(
        self, *, order: str = "C", heap: bool = True, space: Optional[str] = None, stream: Any = None
    ) -> Array:
        """A copy with the same layout; ``space='host'`` copies device memory to the host. Collective, blocking."""
        return self.astype(self._core.dtype, order=order, heap=heap, space=space, stream=stream)

    @collective
    def at(self, index: Sequence[int], *, stream: Any = None) -> Any:
        """The element at the global `index`, on every rank. Collective, blocking; not meant for loops."""
        return _core.at(self._core, tuple(index), stream_of_array(stream, self._core, self._package))

    @collective
    def to_string(self, threshold: int = 1000, edge: int = 3, precision: int = 8) -> str:
        """All values as formatted by `numpy.array2string`, on every rank. Collective, blocking; gathers only what it shows.

        Parameters
        ----------
        threshold : int
            For arrays with more elements, only the edges are shown.
        edge : int
            Number of elements shown at each end of each dimension.
        precision : int
            Maximum number of digits after the decimal point.
        """
        settle(self._core, self._package)
        return _core.to_string(self._core, threshold, edge, precision)


from ._ufuncs import apply  # noqa: E402: it knows Array
