"""Systems solved by factors in lower precision, estimates of condition numbers, and updates of one triangle."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

from . import _core
from ._agreement import alike
from ._array import Array, core_given, writable
from ._errors import ArgumentError
from ._factors import solve_options
from ._matrices import norm_word, prepared, settled
from ._replicas import with_replicas
from ._streams import stream_of_arrays


class RefinedResult(NamedTuple):
    """What `solve_refined` returns; all but `x` are the same on every rank."""

    x: Array
    """X."""
    iterations: int
    """How many corrections were computed: steps of iterative refinement and of GMRES."""
    backward_error: float
    """The largest |B - op(A) X| / (|A| |X| + |B|) of a column, in 2-norms of columns and the Frobenius norm of A."""
    fell_back: bool
    """Whether X was computed by a factorization in the dtype of A."""
    reason: str
    """Why it was; empty otherwise."""


#: The factorization for SciPy's word.
_methods = {None: "lu", "general": "lu", "gen": "lu", "positive definite": "cholesky", "pos": "cholesky"}


@alike
@with_replicas("a", "b")
def solve_refined(
    a: Array, b: Array, *, assume_a: Optional[str] = None, op: str = "none", compute: str = "automatic", tolerance: float = 0,
    iterations: int = 100, stream: Any = None, **options: Any,
) -> RefinedResult:  # fmt: skip
    """The X with op(A) X = B by a factorization in lower precision, refined to the precision of A. Collective, blocking.

    A in float64 or complex128 is factorized in float32 or complex64, which takes half the time on most machines and half the memory. X is
    corrected by iterative refinement, and if that converges slowly by GMRES, preconditioned with the factors (Carson and Higham 2017;
    Arioli and Duff 2009), until its backward error is that of a solution in the dtype of A. If this does not succeed, A is factorized in its
    own dtype, as by `solve`, and the result says why. float32 and complex64 are factorized as they are.

    Parameters
    ----------
    a : Array
        A square matrix [n, n].
    b : Array
        [n] or [n, r].
    assume_a : {None, 'general', 'positive definite'}, optional
        By LU, or by Cholesky, for which both triangles of the matrix are read.
    op : str
        'none', 'transpose', 'conjugate-transpose' or 'conjugate'.
    compute : {'automatic', 'f32', 'tf32', 'bf16x9'}
        Minimum precision of the products of the factorization; 'tf32' makes it faster on GPUs, and more corrections are computed.
    tolerance : float, default 0
        The largest backward error that is accepted; 0: sqrt(n) times the distance from 1 to the next number.
    iterations : int, default 100
        At most so many corrections.

    Raises
    ------
    ArgumentError, SingularError, UnsupportedError, DisagreementError, MemoryError
        The same on every rank. SingularError: A is singular, or not positive definite.
    """
    if assume_a not in _methods:
        raise ArgumentError(f"assume_a: {assume_a!r} cannot be refined; known are {', '.join(repr(name) for name in _methods)}")
    left, right = prepared(a, b, stream=stream)
    how = solve_options(op, options)
    handle = stream_of_arrays(stream, left, right)
    x, steps, error, fell_back, reason = _core.solve_refined(
        left._core, right._core, how, _methods[assume_a], compute, float(tolerance), int(iterations), handle
    )
    return RefinedResult(Array(x, b._package), steps, error, fell_back, reason)


@alike
def condition(a: Array, p: Any = 1) -> float:
    """An estimate of the condition number |A| |A^-1| of a square matrix, by LU, on every rank. Collective, blocking.

    It takes little more time than LU (see `LU.condition`), and is a lower bound, rarely below a third. `cond` computes condition numbers
    exactly, in more time.

    Parameters
    ----------
    a : Array
        A square matrix [n, n].
    p : {1, inf}, default 1
        The norm: the largest sum of the absolute values of a column, or of a row.

    Returns
    -------
    float
        inf for a singular matrix, 0 for an empty one, nan if the matrix contains NaN.
    """
    return _core.condition(settled(a)._core, norm_word("condition", p))


@alike
def rank_k_update(
    a: Array, c: Array, *, op: str = "none", symmetric: bool = False, upper: bool = False, alpha: complex = 1, beta: complex = 0,
    compute: str = "automatic", stream: Any = None,
) -> Array:  # fmt: skip
    """C = alpha A A^H + beta C in one triangle of C: BLAS's herk and syrk. Returns `c`. Collective, blocking.

    Up to half of the operations of the product are saved, depending on the distribution of `c`.

    Parameters
    ----------
    a : Array
        [n, k], float32, float64, complex64 or complex128.
    c : Array
        [n, n], in the dtype of `a`. The triangle and the diagonal are overwritten; the other triangle is undefined afterwards. It is not
        read if beta is 0.
    op : {'none', 'conjugate-transpose', 'transpose'}
        'none': A A^H. 'conjugate-transpose', for A [k, n]: A^H A. 'transpose' is for real and for symmetric updates: A^T A.
    symmetric : bool, default False
        A A^T instead of A A^H, which differ for complex dtypes.
    upper : bool, default False
        Compute the upper triangle instead of the lower one.
    alpha, beta : number
        Factors; real unless `symmetric`.
    compute : str
        Minimum precision of products, as of `matmul`.
    """
    core, target = core_given(a), core_given(c)
    writable("c", c)
    handle = stream_of_arrays(stream, a, c)
    _core.rank_k_update(core, target, op, bool(symmetric), bool(upper), complex(alpha), complex(beta), compute, handle)
    return c


__all__ = ["RefinedResult", "condition", "rank_k_update", "solve_refined"]
