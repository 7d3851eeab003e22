"""Methods of arrays that reduce them. All are collective and blocking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Protocol, Sequence, Union, cast

import numpy as np

from . import _core
from ._calls import collective
from ._errors import ArgumentError, UnsupportedError
from ._mesh import DistributionLike, Rule, rule_of
from ._streams import stream_of_array

if TYPE_CHECKING:
    from ._array import Array

Axis = Union[None, int, Sequence[int]]


class Reduction(Protocol):
    """A method of arrays that reduces them."""

    def __call__(
        self,
        axis: Axis = None,
        *,
        keepdims: bool = False,
        distribution: Optional[DistributionLike] = None,
        root: Optional[int] = None,
        stream: Any = None,
        out: None = None,
        dtype: Any = None,
        initial: Any = None,
        where: Any = None,
    ) -> Any: ...


def _reduction(name: str, text: str) -> Reduction:
    """The method for the library's reduction `name`; `text` is its docstring."""

    def reduce(
        self: Any,
        axis: Axis = None,
        *,
        keepdims: bool = False,
        distribution: Optional[DistributionLike] = None,
        root: Optional[int] = None,
        stream: Any = None,
        out: None = None,
        dtype: Any = None,
        initial: Any = None,
        where: Any = None,
    ) -> Any:
        if initial is None and where is None:
            return self._reduce(name, axis, keepdims, distribution, root, out, stream, dtype)
        from . import _reductions

        given = {"keepdims": keepdims, "distribution": distribution, "root": root, "stream": stream, "initial": initial, "where": where}
        return getattr(_reductions, name)(self, axis, out=out, **given, **({} if dtype is None else {"dtype": dtype}))

    reduce.__name__, reduce.__qualname__, reduce.__doc__ = name, f"Array.{name}", text
    return cast(Reduction, collective(reduce))


class Reductions:
    """What reduces arrays."""

    __slots__ = ()

    def _reduce(
        self,
        reduction: str,
        axis: Axis,
        keepdims: bool,
        distribution: Optional[DistributionLike],
        root: Optional[int],
        out: None,
        stream: Any = None,
        dtype: Any = None,
    ) -> Any:
        if dtype is not None:
            return self._reduce_as(reduction, axis, keepdims, distribution, root, out, stream, dtype)
        array = cast("Array", self)
        handle = stream_of_array(stream, array._core, array._package)
        if out is not None:
            raise ArgumentError(f"{reduction}: the argument out is not supported")
        over_all = axis is None and not keepdims
        if over_all and (distribution is not None or root is not None):
            raise ArgumentError(f"{reduction}: a reduction over all axes returns a number on every rank")
        rule = None if distribution is None else rule_of(distribution)
        if reduction in ("min", "max") and array._core.dtype.startswith("complex"):
            return self._extreme_of_complex(reduction, axis, keepdims, rule, root)
        if over_all:
            return _core.reduce_all(array._core, reduction, handle)
        core = _core.reduce_axes(array._core, reduction, array._axes(axis), keepdims, rule, root, True, handle)
        return type(array)(core, array._package)

    def _extreme_of_complex(self, reduction: str, axis: Axis, keepdims: bool, rule: Optional[Rule], root: Optional[int]) -> Any:
        """By real parts and, where these are equal, by imaginary parts, as NumPy orders complex numbers."""
        from ._extrema import extreme_of_complex

        array = cast("Array", self)
        if root is not None:
            raise UnsupportedError(f"{reduction}: root is not supported for complex numbers: unset, all ranks of the distribution have the result")
        found = extreme_of_complex(array, reduction, array._axes(axis), keepdims)
        if axis is None and not keepdims:
            return found.item()
        return found if rule is None else found.redistribute(rule)

    def _reduce_as(self, reduction: str, *how: Any) -> Any:
        """Computed in a dtype, which the result has."""
        array, dtype = cast("Array", self), np.dtype(how[-1])
        converted = array if array.dtype == dtype else array.astype(dtype)
        found = converted._reduce(reduction, *how[:-1])
        if isinstance(found, type(array)):
            return found if found.dtype == dtype else found.astype(dtype)
        return np.asarray(found).astype(dtype).item()

    sum = _reduction(
        "sum",
        """The sum over all axes or some. Collective, blocking.

        Parameters
        ----------
        dtype : dtype, optional
            The dtype to which elements are converted first, and of the result.
        initial : number, optional
            It is reduced with the elements. Needed for `min` and `max` with `where`, or of no elements.
        where : Array, numpy.ndarray or bool, optional
            A mask that broadcasts to the array: which elements are reduced; unset: all. It is moved to the layout of the array.

        Returns
        -------
        number or Array
            A number on every rank if `axis` is None. Booleans and signed integers give int64, so a sum of booleans counts the true
            ones; unsigned integers give uint64, float16 and bfloat16 float32; other dtypes are kept.

        Notes
        -----
        Floating-point numbers, including float16 and bfloat16, are added in double precision and rounded once at the end; sums of
        integers wrap around. The result has the same bits on every rank and in every run. In elementwise reductions of arrays of
        several ranks (`all_reduce`, partial distributions), float16 and bfloat16 are added in float32 and rounded after each
        addition, and a sum of booleans is true if any of them is.
        """,
    )
    prod = _reduction("prod", "The product, with the arguments of `sum`. Collective, blocking.")
    min = _reduction("min", "The smallest element, with the arguments of `sum`. Collective, blocking.")
    max = _reduction("max", "The largest element, with the arguments of `sum`. Collective, blocking.")
    any = _reduction("any", "Whether any element is not 0, with the arguments of `sum`. Collective, blocking.")
    all = _reduction("all", "Whether all elements are not 0, with the arguments of `sum`. Collective, blocking.")

    @collective
    def mean(
        self,
        axis: Axis = None,
        *,
        keepdims: bool = False,
        distribution: Optional[DistributionLike] = None,
        root: Optional[int] = None,
        stream: Any = None,
        out: None = None,
        dtype: Any = None,
        where: Any = None,
    ) -> Any:
        """The mean, with the arguments of `sum`. Collective, blocking.

        Booleans and integers give float64, float16 and bfloat16 give float32, unless `dtype` is given.
        """
        if where is not None:
            from ._reductions import mean

            return mean(cast("Array", self), axis, dtype, out, keepdims=keepdims, where=where, distribution=distribution, root=root, stream=stream)
        return self._reduce("mean", axis, keepdims, distribution, root, out, stream, dtype)
