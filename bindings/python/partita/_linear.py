"""Matrix multiply."""

from __future__ import annotations

from typing import Any, Optional, Tuple

from . import _core
from ._calls import collective, with_options
from ._array import Array, axes_of, core_given, core_of, default_multiply, no_epilogue_arrays
from ._core import Matmul as CoreMatmul
from ._dtypes import dtype_name
from ._errors import ArgumentError
from ._mesh import rule_of
from ._planned import PlannedOperation
from ._streams import stream_of_arrays


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


def writable(what: str, array: Optional[Array]) -> Optional[_core.Array]:
    """What the C++ library takes, of what is written."""
    core = core_of(array)
    if array is not None and array._read_only:
        raise ArgumentError(f"{what}: the array may only be read, as what it was made of")
    return core


_of_epilogue = ("bias", "auxiliary", "gradient", "scale_a", "scale_b", "scale_d", "amax_d")
_written = ("auxiliary", "gradient", "amax_d")


def _parted(options: dict[str, Any]) -> Tuple[dict[str, Optional[Array]], dict[str, Any]]:
    """The arrays of an epilogue among the options, and the others."""
    arrays = {name: options[name] for name in _of_epilogue if options.get(name) is not None}
    return arrays, {name: value for name, value in options.items() if name not in _of_epilogue}


def _arrays(given: dict[str, Optional[Array]]) -> _core.EpilogueArrays:
    if not given:
        return no_epilogue_arrays
    cores = {name: writable(name, one) if name in _written else core_of(one) for name, one in given.items()}
    return _core.EpilogueArrays(**cores)


@collective
def matmul(
    a: Array, b: Array, *, c: Optional[Array] = None, out: Optional[Array] = None, stream: Any = None, **options: Any
) -> Array:
    """F(alpha op(a) op(b) + beta c), of arrays in any distributions. Collective, blocking; plans are kept.

    Parameters
    ----------
    a, b, c : Array
        [.., m, k], [.., k, n] and [.., m, n], where no op transposes; vectors as in NumPy.
    out : Array, optional
        Where the result goes; c itself, too. By default a new array.
    stream
        Of device memory: see the docs on streams.
    **options
        alpha (1), beta (0); op_a and op_b ('none', 'transpose', 'conjugate-transpose', 'conjugate'); epilogue
        ('none', 'all-reduce', 'relu', 'bias', 'gelu', 'relu-bias', 'gelu-bias', each with '-aux', 'drelu', 'dgelu',
        each with '-bias-gradient', 'bias-gradient-a', 'bias-gradient-b') and its arrays bias ([m]), auxiliary (of the
        result's shape) and gradient ([m] or [n], written); distribution, order, heap and space ('host', 'device') of a
        new result; result, scale and reduce_dtype (dtypes; the last one is what ranks send each other of sums, by
        default the sums' own), compute ('automatic', 'f16', 'f32', 'tf32', 'bf16x9', 'f64', 'i32');
        method ('automatic', 'local', 'all-gather', 'reduce-scatter', 'all-reduce', 'summa-c', 'summa-a', 'summa-b',
        'communication-avoiding'); memory_limit (bytes); wisdom_file (of devices: which products are fastest).

        Of numbers of 8 bits, arrays of float32: scale_a (a scalar or [m]), scale_b (a scalar or [n]), scale_d (a
        scalar) and amax_d (a scalar, written); scale_mode ('automatic', 'tensor', 'outer-vector').

    Returns
    -------
    Array
        Where nobody says its distribution, it lies as the method leaves it: ask its layout.

    Raises
    ------
    ArgumentError, TypeError, DisagreementError, UnsupportedError, MemoryError
        The same on every rank.
    """
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
    """A multiply that is planned once and executed many times; options as of `matmul`.

    Creation, `autotune` and `execute` are collective and blocking; `execute` allocates nothing.

    Parameters
    ----------
    a, b, c : Array
        Those of the first execution; later ones may have others of the same operands, see `reset`.
    out : Array, optional
        Where the result goes; by default a new array, which is `out` of this object.
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
        """Bind other arrays, of the operands that were planned; `arrays`: bias, ... Local."""
        out = self._bound_out if out is None else out
        if out is None:
            raise ArgumentError("Matmul.reset: out is needed: nothing is bound")
        self._bound_out = out
        d = writable("out", out)
        assert d is not None
        unknown = [name for name in arrays if name not in _of_epilogue]
        if unknown:
            raise TypeError(f"there is no array {unknown[0]}; known: {', '.join(_of_epilogue)}")
        bound = _arrays({name: one for name, one in arrays.items() if one is not None})
        self._core.reset(core_given(a), core_given(b), core_of(c), d, bound)
        self._bound: Tuple[Optional[Array], ...] = (a, b, c, *arrays.values())
        self._bound_more: Optional[_core.EpilogueArrays] = bound  # they are read until the next reset

    def unbind(self) -> None:
        """Release the arrays that are bound, `out` among them; `reset` with an `out` binds others. Local."""
        self._core.unbind()
        self._bound, self._bound_more, self._bound_out = (), None, None

    @property
    def out(self) -> Array:
        """Where the result goes."""
        if self._bound_out is None:
            raise ArgumentError("Matmul: nothing is bound: reset binds arrays")
        return self._bound_out

    @collective
    def execute(self, alpha: Optional[complex] = None, beta: Optional[complex] = None, *, stream: Any = None) -> Array:
        """Multiply; factors are those of the options by default. Collective, blocking. Returns `out`."""
        self._core.execute(
            self._options.alpha if alpha is None else alpha,
            self._options.beta if beta is None else beta,
            stream_of_arrays(stream, self.out, *self._bound),
        )
        return self.out


@collective
def dot(a: Array, b: Array, *, stream: Any = None) -> Any:
    """The sum of a[i] b[i], on every rank. Collective, blocking. Layouts must be equal."""
    return _core.inner_product(core_given(a), core_given(b), False, stream_of_arrays(stream, a, b))


@collective
def vdot(a: Array, b: Array, *, stream: Any = None) -> Any:
    """The sum of conj(a[i]) b[i], on every rank. Collective, blocking. Layouts must be equal."""
    return _core.inner_product(core_given(a), core_given(b), True, stream_of_arrays(stream, a, b))


@collective
def norm(x: Array, ord: Any = None, axis: Any = None, keepdims: bool = False, *, stream: Any = None) -> Any:
    """sqrt(sum |x|^2), over all axes or some, with the arguments of numpy.linalg.norm. Collective, blocking; see `Array.sum`.

    Squares neither overflow nor underflow: where they would, elements are scaled first, as BLAS's nrm2 does. Of booleans and
    integers as float64, of float16 and bfloat16 as float32.

    ``ord`` names this norm: None, 2 over one axis, 'fro' over two. ArgumentError for the norms that there are none of.
    """
    core_given(x)
    axes = x.ndim if axis is None else len(axes_of(axis, x.ndim))
    if not (ord is None or (ord == 2 and axes == 1) or (ord == "fro" and axes == 2)):
        raise ArgumentError(
            f"norm: there is no norm of order {ord!r} over {axes} axes; there is that of sums of squares: ord=None, 2 over one axis, "
            "'fro' over two. An axis is given as axis="
        )
    return x._reduce("norm", axis, keepdims, None, None, None, stream)
