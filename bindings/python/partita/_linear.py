"""Matrix multiply, inner products and norms."""

from __future__ import annotations

import math
from typing import Any, Optional, Sequence, Tuple

import numpy as np

from . import _core
from ._agreement import alike
from ._calls import collective, with_options
from ._array import Array, core_given, core_of, default_multiply, distinct_axes_of, no_epilogue_arrays, writable
from ._core import Matmul as CoreMatmul
from ._dtypes import dtype_name
from ._errors import ArgumentError
from ._matrices import prepared, wait_for
from ._mesh import rule_of
from ._planned import PlannedOperation
from ._promotion import is_native, product
from ._replicas import replicas
from ._shapes import moveaxis
from ._streams import handle_of, settle, stream_of_arrays
from ._views import expand_dims


# A dtype's name for a compute type.
_computed = {"float16": "f16", "float32": "f32", "float64": "f64", "int32": "i32"}


def _options(options: dict[str, Any]) -> _core.MatmulOptions:
    if not options:
        return default_multiply
    given = dict(options)
    if given.get("distribution") is not None:
        given["distribution"] = rule_of(given["distribution"])
    for name in ("result", "scale", "reduce_dtype"):
        if given.get(name) is not None:
            given[name] = dtype_name(given[name])
    if "compute" in given:
        given["compute"] = _computed.get(str(given["compute"]), given["compute"])
    return with_options(_core.MatmulOptions, "matmul", given)


_of_epilogue = ("bias", "auxiliary", "gradient", "scale_a", "scale_b", "scale_d", "amax_d")
_written = ("auxiliary", "gradient", "amax_d")


def _parted(options: dict[str, Any]) -> Tuple[dict[str, Optional[Array]], dict[str, Any]]:
    """The arrays of an epilogue among the options, and the other options."""
    arrays = {name: options[name] for name in _of_epilogue if options.get(name) is not None}
    return arrays, {name: value for name, value in options.items() if name not in _of_epilogue}


def _arrays(given: dict[str, Optional[Array]]) -> _core.EpilogueArrays:
    if not given:
        return no_epilogue_arrays
    cores = {name: writable(name, one) if name in _written else core_of(one) for name, one in given.items()}
    return _core.EpilogueArrays(**cores)


def _is_native(a: Any, b: Any) -> bool:
    """Whether the library multiplies them as they are; it also raises for what are no arrays."""
    return is_native(a, b) if isinstance(a, Array) and isinstance(b, Array) else not (isinstance(a, Array) or isinstance(b, Array))


def _product(a: Any, b: Any, stream: Any) -> Array:
    first, second = replicas("matmul", [a, b])
    core_given(first), core_given(second)
    return product(first, second, lambda one, other: matmul(one, other, stream=stream))


@collective
def matmul(
    a: Array, b: Array, *, c: Optional[Array] = None, out: Optional[Array] = None, stream: Any = None, **options: Any
) -> Array:
    """F(alpha op(a) op(b) + beta c), for arrays in any distributions. Collective, blocking; plans are kept.

    Without options the operands may have different dtypes, which are converted to NumPy's common one, and leading dimensions that broadcast,
    and one may be a NumPy array that is equal on all ranks, which an all-gather of a hash verifies before the product. Products of integers are exact, and wrap around as in NumPy; int8 gives int32.

    Parameters
    ----------
    a, b, c : Array
        [.., m, k], [.., k, n] and [.., m, n], before transposition by an op; vectors as in NumPy.
    out : Array, optional
        Array for the result, possibly c itself; unset: a new array.
    **options
        alpha (1), beta (0); op_a and op_b ('none', 'transpose', 'conjugate-transpose', 'conjugate'); epilogue
        ('none', 'all-reduce', 'relu', 'bias', 'gelu', 'relu-bias', 'gelu-bias', each with '-aux', 'drelu', 'dgelu',
        each with '-bias-gradient', 'bias-gradient-a', 'bias-gradient-b') and its arrays bias ([m]), auxiliary (shape of
        the result) and gradient ([m] or [n], written); distribution, order, heap and space ('host', 'device') of a
        new result; result and scale (dtypes); reduce_dtype (dtype of partial sums exchanged between ranks; default that of
        the sums); compute ('automatic', 'f16', 'f32', 'tf32', 'bf16x9', 'f64', 'i32');
        method ('automatic', 'local', 'all-gather', 'reduce-scatter', 'all-reduce', 'summa-c', 'summa-a', 'summa-b',
        'communication-avoiding'); memory_limit (bytes); wisdom_file (keeps the fastest products of devices).
        For 8-bit operands, arrays of float32: scale_a (a scalar or [m]), scale_b (a scalar or [n]), scale_d (a
        scalar) and amax_d (a scalar, written); scale_mode ('automatic', 'tensor', 'outer-vector').

    Returns
    -------
    Array
        Unless its distribution is given, it has the cheapest one for the method: check its layout.

    Raises
    ------
    ArgumentError, TypeError, DisagreementError, UnsupportedError, MemoryError
        The same on every rank.
    """
    if out is None and c is None and not options and not _is_native(a, b):
        return _product(a, b, stream)
    given, options = _parted(options) if options else ({}, options)
    how, arrays = _options(options), _arrays(given)
    cores, d = (core_given(a), core_given(b), core_of(c)), writable("out", out)
    handle = stream_of_arrays(stream, a, b, c, out, *given.values())
    if out is None:
        return Array(_core.matmul(*cores, how, arrays, handle), a._package)
    assert d is not None
    _core.matmul_into(*cores, d, how, arrays, handle)
    return out


class Matmul(PlannedOperation):
    """A multiply that is planned once and executed many times.

    Creation, `autotune` and `execute` are collective and blocking; `execute` allocates nothing.

    Parameters
    ----------
    a, b, c : Array
        The arrays of the first execution; later ones may use other arrays with the same dtype and layout, see `reset`.
    out : Array, optional
        Array for the result; unset: a new array, available as the attribute `out`.
    **options
        As for `matmul`.
    """

    _core: CoreMatmul

    @collective
    def __init__(
        self, a: Array, b: Array, c: Optional[Array] = None, *, out: Optional[Array] = None, **options: Any
    ) -> None:
        given, options = _parted(options)
        self._options = _options(options)
        self._context = context = core_given(a).context
        core_given(b), core_of(c)
        if out is None:
            out = self._new_result(a, b, c, options)
        self._bound_out: Optional[Array] = out
        more = {name: None if one is None else one.operand for name, one in {**given, "c": c}.items()}
        operands = _core.MatmulOperands(a.operand, b.operand, out.operand, **more)
        self._core = _core.Matmul(context, operands, self._options, c is not None and c._core is out._core)
        self.reset(a, b, c, out=out, **given)

    def _new_result(self, a: Array, b: Array, c: Optional[Array], options: dict[str, Any]) -> Array:
        context = a._core.context
        if options.get("distribution") is None and c is not None:
            layout = c.layout
        else:
            layout = _core.cheapest_result(context, a.operand, b.operand, self._options)
        dtype = _core.result_dtype(a._core.dtype, self._options)
        order, heap, space = options.get("order", "C"), options.get("heap", True), options.get("space")
        if space is None and not (a._core.on_host and b._core.on_host):
            space = "device"
        return Array(_core.empty_like_layout(context, layout, dtype, order, heap, space or "host"), a._package)

    def reset(
        self, a: Array, b: Array, c: Optional[Array] = None, *, out: Optional[Array] = None, **arrays: Optional[Array]
    ) -> None:
        """Bind other arrays with the dtype and layout of the planned ones. Local.

        Parameters
        ----------
        a, b, c : Array
            The operands.
        out : Array
            Array for the result.
        **arrays
            The arrays of the epilogue: bias, auxiliary, gradient.
        """
        out = self._bound_out if out is None else out
        if out is None:
            raise ArgumentError("Matmul.reset: out is needed, because no arrays are bound")
        self._bound_out = out
        d = writable("out", out)
        assert d is not None
        unknown = [name for name in arrays if name not in _of_epilogue]
        if unknown:
            raise TypeError(f"unknown array {unknown[0]}; known: {', '.join(_of_epilogue)}")
        bound = _arrays({name: one for name, one in arrays.items() if one is not None})
        self._core.reset(core_given(a), core_given(b), core_of(c), d, bound)
        self._bound: Tuple[Optional[Array], ...] = (a, b, c, *arrays.values())
        self._bound_more: Optional[_core.EpilogueArrays] = bound  # they are read until the next reset

    def unbind(self) -> None:
        """Release the bound arrays, including `out`; `reset` with an `out` binds others. Local."""
        self._core.unbind()
        self._bound, self._bound_more, self._bound_out = (), None, None

    @property
    def out(self) -> Array:
        """The array for the result."""
        if self._bound_out is None:
            raise ArgumentError("Matmul: no arrays are bound: bind them with reset")
        return self._bound_out

    @collective
    def execute(self, alpha: Optional[complex] = None, beta: Optional[complex] = None, *, stream: Any = None) -> Array:
        """Multiply. Collective, blocking. Returns `out`.

        Parameters
        ----------
        alpha, beta : number, optional
            Factors; unset: those of the options.
        """
        self._core.execute(
            self._options.alpha if alpha is None else alpha,
            self._options.beta if beta is None else beta,
            stream_of_arrays(stream, self.out, *self._bound),
        )
        return self.out


# --- norms


@collective
def norm(x: Array, ord: Any = None, axis: Any = None, keepdims: bool = False, *, stream: Any = None) -> Any:
    """The norm of vectors or matrices, over all axes or some, with the arguments of numpy.linalg.norm. Collective, blocking; see `Array.sum`.

    The 2-norm and the Frobenius norm neither overflow nor underflow: elements are scaled first if necessary, as in BLAS's nrm2. Booleans
    and integers give float64, float16 and bfloat16 give float32.

    Parameters
    ----------
    x : Array
        The array.
    ord : optional
        Over one axis any number (inf: the largest absolute value; 0: how many elements are not 0), over two 'fro', 1, -1, inf or -inf, or 2, -2
        or 'nuc', the largest, the smallest and the sum of the singular values; None: sqrt(sum |x|^2). ArgumentError for other
        norms, and for a number without `axis` unless the array has one or two dimensions.
    """
    core_given(x)
    axes = list(range(x.ndim)) if axis is None else distinct_axes_of(axis, x.ndim)
    if ord is None or (ord == "fro" and len(axes) == 2):
        return x._reduce("norm", axis, keepdims, None, None, None, stream)
    if len(axes) == 1 and not isinstance(ord, str):
        return _vector_norm(x, ord, axis, keepdims, stream)
    if len(axes) == 2 and ord in (2, -2, "nuc"):
        return _norm_of_singular_values(x, ord, axes, keepdims, stream)
    if len(axes) != 2 or ord not in (1, -1, math.inf, -math.inf):
        raise ArgumentError(
            f"norm: the norm of order {ord!r} over {len(axes)} axes of {x.ndim} is not supported: use a number over one axis, or 'fro', 'nuc', 1, -1, "
            "2, -2, inf or -inf over two; pass the axes as axis="
        )
    return _largest_sum(_magnitudes(x, stream), axes if abs(ord) == 1 else axes[::-1], ord < 0, keepdims, stream)


@collective
def vector_norm(x: Array, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2, stream: Any = None) -> Any:
    """The norm of vectors, over all axes or some, with the arguments of numpy.linalg.vector_norm. Collective, blocking.

    Parameters
    ----------
    x : Array
        The array.
    ord : number, default 2
        sum(|x|^ord)^(1/ord); inf and -inf: the largest and the smallest absolute value; 0: how many elements are not 0.
    """
    core_given(x)
    if isinstance(ord, str):
        raise ArgumentError(f"vector_norm: ord: expected a number, got {ord!r}")
    return _vector_norm(x, ord, axis, keepdims, stream)


@collective
def matrix_norm(x: Array, /, *, keepdims: bool = False, ord: Any = "fro", stream: Any = None) -> Any:
    """The norm of matrices, over the last two axes, with the arguments of numpy.linalg.matrix_norm. Collective, blocking.

    Parameters
    ----------
    x : Array
        [.., m, n].
    ord : {'fro', 'nuc', 1, -1, 2, -2, inf, -inf}, default 'fro'
        Frobenius; the sum of the singular values; the largest or smallest sum of absolute values of a column, singular value, and sum of a
        row.
    """
    core_given(x)
    if x.ndim < 2:
        raise ArgumentError(f"matrix_norm: x: expected at least two dimensions, got {x.ndim}")
    axes = None if x.ndim == 2 and not keepdims else (-2, -1)
    return norm(x, "fro" if ord is None else ord, axes, keepdims, stream=stream)


@alike
def _magnitudes(x: Array, stream: Any) -> Array:
    """|x|, in a floating-point dtype of at least 32 bits. Collective: the result, which each rank computes, has no number."""
    if stream is not None and not x._core.on_host:
        x._core.context.synchronize(handle_of(stream))
    name = x._core.dtype
    if name.startswith(("bool", "int", "uint")):
        x = x.astype("float64")
    elif name.startswith(("float16", "bfloat", "float8")):
        x = x.astype("float32")
    absolute: Any = np.abs
    found: Array = absolute(x)
    if stream is not None:
        settle(found._core, found._package)
    return found


def _vector_norm(x: Array, ord: Any, axis: Any, keepdims: bool, stream: Any) -> Any:
    if ord is None or ord == 2:
        return x._reduce("norm", axis, keepdims, None, None, None, stream)
    sizes = _magnitudes(x, stream)
    if abs(ord) == math.inf or ord == 1:
        reduced = sizes.sum if ord == 1 else sizes.max if ord > 0 else sizes.min
        return reduced(axis, keepdims=keepdims, stream=stream)
    powers: Array = (sizes > 0).astype(sizes._core.dtype) if ord == 0 else sizes**ord
    settle(powers._core, powers._package)
    total = powers.sum(axis, keepdims=keepdims, stream=stream)
    return total if ord == 0 else total ** (1 / ord)


def _largest_sum(sizes: Array, axes: Sequence[int], smallest: bool, keepdims: bool, stream: Any) -> Any:
    """The largest, or smallest, over the second of the axes of the sums over the first."""
    along, over = axes
    sums = sizes.sum(along, keepdims=keepdims, stream=stream)
    chosen = sums.min if smallest else sums.max
    if keepdims:
        return chosen(over, keepdims=True, stream=stream)
    return chosen(None if sums.ndim == 1 else over - (over > along), stream=stream)


def _norm_of_singular_values(x: Array, ord: Any, axes: Sequence[int], keepdims: bool, stream: Any) -> Any:
    """Of the matrix, or of each along the axes."""
    (matrices,) = prepared(moveaxis(x, axes, (-2, -1)), stream=stream)
    if min(matrices.shape[-2:]) == 0 and ord != "nuc":
        raise ArgumentError(f"norm: an empty matrix, {matrices.shape[-2:]}, has no norm of order {ord!r}")
    wait_for(stream, matrices)
    values = Array(_core.svdvals(matrices._core, 0), x._package)
    reduced = values.sum if ord == "nuc" else values.max if ord == 2 else values.min
    if keepdims:
        return moveaxis(expand_dims(reduced(-1, keepdims=True, stream=stream), -1), (-2, -1), axes)
    return reduced(None if x.ndim == 2 else -1, stream=stream)
