"""Factorizations that are made once and solve many times."""

from __future__ import annotations

import functools
from typing import Any, Dict, NamedTuple, Optional, Tuple, Union

import numpy as np

from . import _core
from ._array import Array, core_given, writable
from ._calls import collective, with_options
from ._core import Array as CoreArray
from ._core import Cholesky as CoreCholesky
from ._core import Lu as CoreLu
from ._core import Plan
from ._core import Qr as CoreQr
from ._errors import UnsupportedError
from ._matrices import converted, norm_word, settled
from ._mesh import rule_of
from ._planned import Uncopied
from ._streams import settle, stream_of_arrays


class SlogdetResult(NamedTuple):
    """The determinant sign * exp(logabsdet)."""

    sign: Any
    """1, -1, 0, or for complex matrices a number of absolute value 1 or 0."""
    logabsdet: Any
    """The natural logarithm of the absolute value; -inf for a singular matrix."""


@functools.lru_cache(maxsize=None)
def _usual_options(op: str) -> _core.SolveOptions:
    return _core.SolveOptions(op=op)


def solve_options(op: str, options: Dict[str, Any]) -> _core.SolveOptions:
    """The library's options of a solve."""
    if not options:
        return _usual_options(op)
    given = dict(options)
    if given.get("distribution") is not None:
        given["distribution"] = rule_of(given["distribution"])
    return with_options(_core.SolveOptions, "solve", {"op": op, **given})


def factor_options(block: int, overwrite: bool, memory_limit: int, grid: Any = None, pivoting: str = "automatic") -> _core.FactorOptions:
    """The library's options of a factorization."""
    return _core.FactorOptions(
        block=block, overwrite=overwrite, grid=() if grid is None else grid, pivoting=pivoting, memory_limit=memory_limit
    )


def _transposed(core: _core.Array) -> _core.Array:
    """The transposed matrix, which shares memory; other arrays as they are, which the library refuses."""
    return core.permuted([1, 0]) if len(core.shape) == 2 else core


class Factorization(Uncopied):
    """Base of `LU`, `Cholesky` and `QR`."""

    _core: Union[CoreLu, CoreCholesky, CoreQr]

    def _take(self, a: Array, overwrite: bool) -> CoreArray:
        """The matrix, when the stream of its package has written it."""
        core = core_given(a)
        if overwrite:
            writable("a", a)
        settle(core, a._package)
        self._context, self._package, self._on_host = core.context, a._package, core.on_host
        self._shape, self._dtype, self._overwrite = core.shape, core.dtype, overwrite
        return core

    def _stream(self, stream: Any, *arrays: Optional[Array]) -> Optional[int]:
        """As `stream_of_arrays`, where the factors are one of the arrays."""
        handle = stream_of_arrays(stream, *arrays)
        if handle is None or stream is not None or not self._on_host:
            return handle
        self._context.synchronize(handle)
        return None

    def _new(self, core: CoreArray) -> Array:
        return Array(core, self._package)

    def _op(self, op: str) -> str:
        """What is solved with the factors for op(A)."""
        return op

    @property
    def shape(self) -> Tuple[int, ...]:
        """The shape of the matrix."""
        return self._shape

    @collective
    def factorize(self, a: Array) -> None:
        """Factorize another matrix, in the memory of the one before. Collective, blocking.

        After an error the object has no factors until the next `factorize`.

        Parameters
        ----------
        a : Array
            A matrix of the same shape, dtype and memory space.
        """
        self._core.factorize(self._take(a, self._overwrite))

    @collective
    def solve(
        self, b: Array, *, op: str = "none", out: Optional[Array] = None, stream: Any = None, **options: Any
    ) -> Array:
        """The X with op(A) X = B; for `QR` see there. Collective, blocking.

        Parameters
        ----------
        b : Array
            [n] or [n, r], in the dtype of the matrix or one that converts to it. It is kept, unless it is `out`.
        op : str
            'none', 'transpose', 'conjugate-transpose' or 'conjugate'.
        out : Array, optional
            An array of the shape and dtype of X, which is returned: `b` itself, or one that does not overlap it.
        stream : stream, optional
            Stream for work on device memory; unset: the current stream of the array's package.
        **options
            Of a new X: distribution (unset: that of `b` if the shapes are equal, otherwise rows over all ranks), order, heap, space.
            memory_limit: maximum scratch of a rank in bytes (0: unlimited); ArgumentError if it does not suffice.

        Raises
        ------
        ArgumentError, SingularError, UnsupportedError, MemoryError
            The same on every rank.
        """
        core, target = core_given(b), writable("out", out)
        how = solve_options(self._op(op), options)
        handle = self._stream(stream, b, out)
        core = converted(core, self._dtype, handle)
        if out is None or target is None:
            return Array(self._core.solve(core, how, handle), b._package)
        self._core.solve_into(core, target, how, handle)
        return out

    @property
    def plan(self) -> Plan:
        """This rank's plan of the factorization. ArgumentError if the factors were given."""
        return self._core.plan

    def explain(self, steps: bool = False, json: bool = False) -> str:
        """The plan of the factorization as text, with the totals of all ranks. Local.

        Parameters
        ----------
        steps : bool, default False
            Also list the steps.
        json : bool, default False
            Return JSON.
        """
        return self._core.explain(steps, json)

    @collective
    def condition(self, a: Union[Array, float], p: Any = 1) -> float:
        """An estimate of the condition number |A| |A^-1|, on every rank; not of `QR`. Collective, blocking.

        By at most eleven solves (Hager 1984, Higham 1988; LAPACK's gecon and pocon). It is a lower bound, and rarely below a third; inf
        if A is singular. `cond` computes condition numbers exactly.

        Parameters
        ----------
        a : Array or float
            The matrix that was factorized, or its norm of order `p`.
        p : {1, inf}, default 1
            The norm: the largest sum of the absolute values of a column, or of a row.
        """
        if isinstance(self._core, CoreQr):
            raise UnsupportedError("condition: a QR factorization has no estimate; use LU or partita.linalg.cond")
        which = norm_word("condition", p)
        if isinstance(a, (int, float, np.floating)):
            return self._core.condition(float(a), which)
        return self._core.condition(_core.matrix_norm(settled(a)._core, which), which)

    def _slogdet(self) -> SlogdetResult:
        assert not isinstance(self._core, CoreQr)
        sign, logarithm = self._core.log_determinant()
        return SlogdetResult(sign if self._dtype.startswith("complex") else sign.real, logarithm)


class PackedFactorization(Factorization):
    """Base of `LU` and `QR`, whose factors are in one matrix."""

    _core: Union[CoreLu, CoreQr]

    @collective
    def packed(self, out: Optional[Array] = None) -> Array:
        """The factors as LAPACK stores them. Collective, blocking.

        LU: L below the diagonal (its own is 1), and U on and above it. QR: the reflectors below the diagonal, and R on and above it.

        Parameters
        ----------
        out : Array, optional
            An array of the shape and dtype of the matrix, possibly the matrix; unset: a new array with its layout and order.
        """
        target = writable("out", out)
        if out is None or target is None:
            return self._new(self._core.packed())
        settle(target, out._package)
        self._core.packed_into(target)
        return out


class LU(PackedFactorization):
    """P A = L U with partial pivoting, of a matrix [m, n]; a square one solves linear systems.

    Creation, `factorize` and all methods that are not called local are collective and blocking. A singular matrix is an error of
    `solve`, not of the factorization: see `first_zero_pivot`.

    Parameters
    ----------
    a : Array
        The matrix, float32, float64, complex64 or complex128, in any distribution.
    block : int, default 0
        Columns of a panel; 0: chosen by Partita.
    overwrite : bool, default False
        Permit that the factors take the place of `a`, which saves memory where `a` has the library's own distribution.
    grid : (int, int), optional
        Rows and columns of the grid of ranks over which the factors are distributed; (1, P): whole columns. Unset: chosen by Partita.
    pivoting : {'automatic', 'partial', 'tournament'}, default 'automatic'
        How pivots are chosen: partial with whole columns, tournament on grids of several rows.
    memory_limit : int, default 0
        Maximum scratch of a rank in bytes, besides the factors; 0: unlimited. Panels become narrower to fit; ArgumentError if that does not suffice.
    """

    _core: CoreLu

    @collective
    def __init__(
        self, a: Array, *, block: int = 0, overwrite: bool = False, grid: Optional[Tuple[int, int]] = None,
        pivoting: str = "automatic", memory_limit: int = 0,
    ) -> None:  # fmt: skip
        options = factor_options(block, overwrite, memory_limit, grid, pivoting)
        self._core = _core.Lu(self._take(a, overwrite), options)

    @classmethod
    @collective
    def from_packed(cls, lu: Array, piv: Array) -> LU:
        """Of the results of `packed` and `pivots`, or of `lu_factor`, which are copied. Collective, blocking.

        Parameters
        ----------
        lu : Array
            L below the diagonal, and U on and above it, in any layout.
        piv : Array
            int32: row i was exchanged with row piv[i].
        """
        made = cls.__new__(cls)
        settle(core_given(piv), piv._package)
        made._core = _core.Lu.from_packed(made._take(lu, False), piv._core)
        return made

    @property
    def first_zero_pivot(self) -> Optional[int]:
        """The first i with U[i, i] = 0; None if there is none."""
        return self._core.first_zero_pivot

    @collective
    def pivots(self) -> Array:
        """int32 [min(m, n)], replicated: row i was exchanged with row pivots[i]; SciPy's piv. Collective, blocking."""
        return self._new(self._core.pivots())

    @collective
    def log_determinant(self) -> SlogdetResult:
        """Sign and logarithm of the determinant of A. Collective, blocking. ArgumentError if A is not square."""
        return self._slogdet()


class Cholesky(Factorization):
    """A = L L^H, or with ``lower=False`` A = U^H U, of a Hermitian positive definite matrix.

    Creation, `factorize` and all methods that are not called local are collective and blocking. SingularError if A is not positive
    definite: its index is the order of the first leading minor that is not positive, minus one.

    Parameters
    ----------
    a : Array
        The matrix, float32, float64, complex64 or complex128, in any distribution. Only one triangle is read.
    lower : bool, default True
        Which one, and which factor is computed.
    block : int, default 0
        Columns of a panel; 0: chosen by Partita.
    overwrite : bool, default False
        Permit that the factors take the place of `a`, which saves memory where `a` has the library's own distribution.
    grid : (int, int), optional
        Rows and columns of the grid of ranks over which the factors are distributed; (1, P): whole columns. Unset: chosen by Partita.
    memory_limit : int, default 0
        Maximum scratch of a rank in bytes, besides the factors; 0: unlimited. Panels become narrower to fit; ArgumentError if that does not suffice.
    """

    # The upper triangle of A is the lower one of its transpose, conj(A) = L L^H, so that A = conj(L) L^T.
    _core: CoreCholesky

    @collective
    def __init__(
        self, a: Array, *, lower: bool = True, block: int = 0, overwrite: bool = False, grid: Optional[Tuple[int, int]] = None,
        memory_limit: int = 0,
    ) -> None:  # fmt: skip
        options = factor_options(block, overwrite, memory_limit, grid)
        self._lower = bool(lower)
        self._core = _core.Cholesky(self._take(a, overwrite), options)

    @classmethod
    @collective
    def from_factor(cls, c: Array, lower: bool = True) -> Cholesky:
        """Of the result of `factor`, or of `cho_factor`, which is copied. Collective, blocking.

        Parameters
        ----------
        c : Array
            The triangular factor, in any layout; the other triangle is not read.
        lower : bool, default True
            Whether it is L or U.
        """
        made = cls.__new__(cls)
        made._lower = bool(lower)
        made._core = _core.Cholesky.from_lower(made._take(c, False))
        return made

    def _take(self, a: Array, overwrite: bool) -> CoreArray:
        core = super()._take(a, overwrite)
        return core if self._lower else _transposed(core)

    def _op(self, op: str) -> str:
        return op if self._lower else _of_transpose.get(op.replace("_", "-"), op)

    @collective
    def factor(self) -> Array:
        """L or U, with zeros in the other triangle, in the layout of A. Collective, blocking."""
        core = self._core.lower()
        return self._new(core if self._lower else _transposed(core))

    @collective
    def log_determinant(self) -> SlogdetResult:
        """Sign, which is 1, and logarithm of the determinant of A. Collective, blocking."""
        return self._slogdet()


#: op(A) = op'(A^T).
_of_transpose = {"none": "transpose", "transpose": "none", "conjugate-transpose": "conjugate", "conjugate": "conjugate-transpose"}


class QR(PackedFactorization):
    """A = Q R of a matrix [m, n], with Q as a product of Householder reflectors.

    Creation, `factorize` and all methods that are not called local are collective and blocking. `solve` requires m >= n and full rank, and
    returns the X [n] or [n, r] that minimizes the 2-norm of A X - B, column by column; with ``op='conjugate-transpose'`` the X [m] or
    [m, r] of the smallest 2-norm with A^H X = B. SingularError if R has a zero on its diagonal.

    Parameters
    ----------
    a : Array
        The matrix, float32, float64, complex64 or complex128, in any distribution.
    block : int, default 0
        Columns of a panel; 0: chosen by Partita.
    overwrite : bool, default False
        Permit that the factors take the place of `a`, which saves memory where `a` has the library's own distribution.
    memory_limit : int, default 0
        Maximum scratch of a rank in bytes, besides the factors; 0: unlimited. Panels become narrower to fit; ArgumentError if that does not suffice.
    """

    _core: CoreQr

    @collective
    def __init__(self, a: Array, *, block: int = 0, overwrite: bool = False, memory_limit: int = 0) -> None:
        options = factor_options(block, overwrite, memory_limit)
        self._core = _core.Qr(self._take(a, overwrite), options)

    @classmethod
    @collective
    def from_packed(cls, qr: Array, tau: Array) -> QR:
        """Of the results of `packed` and `factors`, which are copied. Collective, blocking.

        Parameters
        ----------
        qr : Array
            The reflectors below the diagonal, and R on and above it, in any layout.
        tau : Array
            The scalar factors of the reflectors.
        """
        made = cls.__new__(cls)
        settle(core_given(tau), tau._package)
        made._core = _core.Qr.from_packed(made._take(qr, False), tau._core)
        return made

    @collective
    def q(self) -> Array:
        """[m, min(m, n)]: the first columns of Q. Collective, blocking."""
        return self._new(self._core.q())

    @collective
    def r(self) -> Array:
        """[min(m, n), n]: R, with zeros below the diagonal. Collective, blocking."""
        return self._new(self._core.r())

    @collective
    def factors(self) -> Array:
        """[min(m, n)]: the scalar factors of the reflectors, replicated. Collective, blocking."""
        return self._new(self._core.factors())

    @collective
    def multiply_q(self, b: Array, *, op: str = "none", stream: Any = None, **options: Any) -> Array:
        """Q B, or with op='conjugate-transpose' Q^H B, with all m columns of Q. Collective, blocking.

        Parameters
        ----------
        b : Array
            [m] or [m, r].
        op : {'none', 'transpose', 'conjugate-transpose'}
            'transpose' only for real matrices.
        """
        core, how = core_given(b), solve_options(op, options)
        handle = self._stream(stream, b)
        return Array(self._core.multiply_q(converted(core, self._dtype, handle), how, handle), b._package)


class FactorArray(Array):
    """A result of `lu_factor` or `cho_factor`, with the object that has made it. It is read-only."""

    __slots__ = ("_factors", "_pair")

    _factors: Factorization
    _pair: Any

    def __init__(self, core: CoreArray, factors: Factorization, pair: Any) -> None:
        super().__init__(core, factors._package, read_only=True)
        self._factors, self._pair = factors, pair
