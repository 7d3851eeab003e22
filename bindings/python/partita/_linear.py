"""Matrix multiply."""

from __future__ import annotations

from typing import Any, Optional

from . import _core
from ._array import Array, default_multiply
from ._core import Matmul as CoreMatmul
from ._dtypes import dtype_name
from ._errors import ArgumentError
from ._mesh import rule_of
from ._planned import PlannedOperation


def _options(options: dict[str, Any]) -> _core.MatmulOptions:
    if not options:
        return default_multiply
    given = dict(options)
    if given.get("distribution") is not None:
        given["distribution"] = rule_of(given["distribution"])
    for name in ("result", "scale"):
        if given.get(name) is not None:
            given[name] = dtype_name(given[name])
    return _core.MatmulOptions(**given)


def core_of(array: Optional[Array]) -> Optional[_core.Array]:
    """What the C++ library takes."""
    return None if array is None else array._core


def writable(what: str, array: Optional[Array]) -> Optional[_core.Array]:
    """The same, of what is written."""
    if array is not None and array._read_only:
        raise ArgumentError(f"{what}: the array may only be read, as what it was made of")
    return core_of(array)


def matmul(
    a: Array,
    b: Array,
    c: Optional[Array] = None,
    *,
    out: Optional[Array] = None,
    bias: Optional[Array] = None,
    auxiliary: Optional[Array] = None,
    gradient: Optional[Array] = None,
    **options: Any,
) -> Array:
    """F(alpha op(a) op(b) + beta c), of arrays in any distributions. Collective, blocking; plans are kept.

    Parameters
    ----------
    a, b, c : Array
        [.., m, k], [.., k, n] and [.., m, n], where no op transposes; vectors as in NumPy.
    out : Array, optional
        Where the result goes; c itself, too. By default a new array.
    bias, auxiliary, gradient : Array, optional
        Of epilogues that have them: [m]; of the result's shape; [m] or [n].
    **options
        alpha (1), beta (0); op_a and op_b ('none', 'transpose', 'conjugate-transpose', 'conjugate'); epilogue
        ('none', 'all-reduce', 'relu', 'bias', 'gelu', 'relu-bias', 'gelu-bias', each with '-aux', 'drelu', 'dgelu',
        each with '-bias-gradient', 'bias-gradient-a', 'bias-gradient-b'); distribution, order and heap of a new
        result; result and scale (dtypes), compute ('automatic', 'f32', 'tf32', ...); method ('automatic', 'local', 'all-gather', 'reduce-scatter',
        'all-reduce', 'summa-c', 'summa-a', 'summa-b', 'communication-avoiding'); memory_limit (bytes).

    Returns
    -------
    Array
        Where nobody says its distribution, it lies as the method leaves it: ask its layout.

    Raises
    ------
    ArgumentError, DisagreementError, UnsupportedError, MemoryError
        The same on every rank.
    """
    how = _options(options)
    more = (core_of(bias), writable("auxiliary", auxiliary), writable("gradient", gradient))
    if out is None:
        return Array(_core.matmul(a._core, b._core, core_of(c), how, *more), a._package)
    d = writable("out", out)
    assert d is not None
    _core.matmul_into(a._core, b._core, core_of(c), d, how, *more)
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

    def __init__(
        self,
        a: Array,
        b: Array,
        c: Optional[Array] = None,
        *,
        out: Optional[Array] = None,
        bias: Optional[Array] = None,
        auxiliary: Optional[Array] = None,
        gradient: Optional[Array] = None,
        **options: Any,
    ) -> None:
        self._options = _options(options)
        context = a._core.context
        if out is None:
            out = self._new_result(a, b, c, options)
        self.out: Array = out
        operands = _core.MatmulOperands(
            a.operand, b.operand, out.operand, *(None if one is None else one.operand for one in (c, bias, auxiliary, gradient))
        )
        self._core = _core.Matmul(context, operands, self._options, c is not None and c._core is out._core)
        self.reset(a, b, c, out=out, bias=bias, auxiliary=auxiliary, gradient=gradient)

    def _new_result(self, a: Array, b: Array, c: Optional[Array], options: dict[str, Any]) -> Array:
        context = a._core.context
        if c is not None and options.get("distribution") is None:
            layout = c.layout
        else:
            layout = _core.cheapest_result(a.operand, b.operand, context.topology, self._options)
        dtype = dtype_name(options.get("result") or a._core.dtype)
        order, heap = options.get("order", "C"), options.get("heap", True)
        return Array(_core.empty_like_layout(context, layout, dtype, order, heap), a._package)

    def reset(
        self,
        a: Array,
        b: Array,
        c: Optional[Array] = None,
        *,
        out: Optional[Array] = None,
        bias: Optional[Array] = None,
        auxiliary: Optional[Array] = None,
        gradient: Optional[Array] = None,
    ) -> None:
        """Bind other arrays, of the operands that were planned. Local."""
        self.out = self.out if out is None else out
        d = writable("out", self.out)
        assert d is not None
        more = (core_of(bias), writable("auxiliary", auxiliary), writable("gradient", gradient))
        self._core.reset(a._core, b._core, core_of(c), d, *more)
        self._bound = (a, b, c, bias, auxiliary, gradient)  # they are read until the next reset

    def execute(self, alpha: Optional[complex] = None, beta: Optional[complex] = None) -> Array:
        """Multiply; factors are those of the options by default. Collective, blocking. Returns `out`."""
        self._core.execute(
            self._options.alpha if alpha is None else alpha, self._options.beta if beta is None else beta
        )
        return self.out


def dot(a: Array, b: Array) -> Any:
    """The sum of a[i] b[i], on every rank. Collective, blocking. Layouts must be equal."""
    return _core.inner_product(a._core, b._core, False)


def vdot(a: Array, b: Array) -> Any:
    """The sum of conj(a[i]) b[i], on every rank. Collective, blocking. Layouts must be equal."""
    return _core.inner_product(a._core, b._core, True)


def norm(a: Array, axis: Any = None, *, keepdims: bool = False) -> Any:
    """sqrt(sum |a|^2), over all axes or some. Collective, blocking; see `Array.sum`."""
    return a._reduce("norm", axis, keepdims, None, None, None)
