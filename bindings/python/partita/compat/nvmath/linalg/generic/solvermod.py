"""Linear systems that are factorized once and solved many times."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from ....._array import Array
from ....._factors import LU
from ..._agreement import collective, gather_objects, raised_on_all, require_alike
from ..._internal.tensor_wrapper import wrap_operand
from ..._memory import distributed, new_array
from ..._stateful import Stateful, check_facts, facts_of, options_of
from ...distribution import Distribution
from ._configuration import DirectSolverOptions
from ._problem import settle, spec_of

OptionsLike = Union[DirectSolverOptions, Dict[str, Any], None]

__all__ = ["DirectSolver", "InvalidDirectSolverState", "direct_solver"]


@raised_on_all
class InvalidDirectSolverState(Exception):
    """A freed object was used."""


class DirectSolver(Stateful):
    """The X with A X = B, by LU with partial pivoting.

    Creation, `plan`, `factorize`, `solve` and `reset_operands` are collective and blocking.

    Parameters
    ----------
    a : array
        This rank's part of a square matrix: NumPy, CuPy or PyTorch, float32, float64, complex64 or complex128, in any memory and order.
    b : array
        This rank's part of the right-hand sides, [n] or [n, r], of the same package, dtype and memory space.
    distributions : sequence of Distribution
        Of A and of B: any.
    options : DirectSolverOptions or dict, optional
    stream : optional
        What it has been given is waited for before operands are read.

    Raises
    ------
    ValueError, TypeError, BindDistributionError, UnsupportedError
        The same on every rank.
    """

    _invalid = InvalidDirectSolverState
    _reset = "reset_operands"

    @collective
    def __init__(
        self, a: Any, b: Any, /, *, distributions: Sequence[Distribution], options: OptionsLike = None, stream: Any = None
    ) -> None:
        self.options = options_of(DirectSolverOptions, options, "options")
        self._begin(self.options.logger)
        specs = gather_objects(self._context, spec_of((a, b), distributions, self.options))
        self._layouts = settle(specs)
        self._operands: List[Any] = [wrap_operand(one) for one in (a, b)]
        self._wait_for(stream, self._operands[0])
        self._facts = [facts_of(one) for one in self._operands]
        self._arrays: List[Optional[Array]] = [None, None]
        self._take_arrays("ab")
        self._factors: Optional[LU] = None
        self._factorized = False

    def _take_arrays(self, names: Sequence[str]) -> None:
        for place, name in enumerate("ab"):
            if name in names:
                self._arrays[place] = distributed(self._context, self._operands[place], self._layouts[place])

    def _given(self) -> Tuple[Array, Array]:
        a, b = self._arrays
        assert a is not None and b is not None
        return a, b

    @collective
    def plan(self, *, stream: Any = None) -> None:
        """Make ready; a second call has no effect. Collective, blocking. The first factorization plans it."""
        self._make_ready(stream, self._operands[0])

    @collective
    def factorize(self, *, stream: Any = None) -> None:
        """Factorize what A contains now. Collective, blocking.

        With `inplace_a` the factors are written into A.

        Raises
        ------
        RuntimeError
            A is singular. It is raised on every rank, and A is unchanged.
        """
        self._check_ready("Factorization")
        self._wait_for(stream, self._operands[0])
        self._factorized = False
        matrix, _ = self._given()
        if self._factors is None:
            self._factors = LU(matrix)
        else:
            self._factors.factorize(matrix)
        zero = self._factors.first_zero_pivot
        if zero is not None:
            raise RuntimeError(f"A is singular: element ({zero}, {zero}) of U is 0 (leading minor of order {zero + 1})")
        if self.options.inplace_a:
            self._factors.packed(out=matrix)
            self._wait_for(None, self._operands[0])
        self._factorized = True
        self.logger.info("DirectSolver: factorized, %s", self._layouts[0])

    @collective
    def solve(self, *, stream: Any = None) -> Any:
        """The X for what B contains now. Collective, blocking.

        Returns
        -------
        array
            This rank's part of X: B itself with `inplace_b`, else new column-major memory, symmetric where all operands are.
        """
        self._check_ready("Solver Execution")
        if not self._factorized or self._factors is None:
            raise RuntimeError("Solver Execution cannot be performed before factorize() has been called")
        self._wait_for(stream, self._operands[1])
        _, b = self._given()
        if self.options.inplace_b:
            out = b
        else:
            out = new_array(self._context, self._layouts[1], b._core.dtype, "F", self._operands[1], self._operands)
        self._factors.solve(b, out=out)
        self._wait_for(None, self._operands[1])
        self.logger.info("DirectSolver: solved, %s", self._layouts[1])
        return self._operands[1].tensor if self.options.inplace_b else out.local

    # --- other operands

    def _other(self, a: Any, b: Any) -> Dict[str, Any]:
        """What is given, by name; ValueError where operands are missing. Local."""
        self._check_valid()
        given = {name: wrap_operand(one) for name, one in (("a", a), ("b", b)) if one is not None}
        if self._released and len(given) < 2:
            raise ValueError("after release_operands both operands are required")
        if not given:
            raise ValueError("nothing is given")
        return given

    @collective
    def reset_operands(self, *, a: Any = None, b: Any = None, stream: Any = None) -> None:
        """Take other operands of the same package, dtype, device and shape. Collective, blocking.

        With another A, `factorize` comes before the next `solve`.
        """
        given = self._other(a, b)
        for name, tensor in given.items():
            try:
                check_facts("the {} of " + name, tensor, self._facts["ab".index(name)])
            except TypeError as wrong:  # as nvmath's solver has it
                raise ValueError(str(wrong)) from None
        require_alike("what is given is", gather_objects(self._context, list(given)))
        self._take_other(given, stream)

    @collective
    def reset_operands_unchecked(self, *, a: Any = None, b: Any = None, stream: Any = None) -> None:
        """The same by the word of the caller. Collective, blocking."""
        self._take_other(self._other(a, b), stream)

    def _take_other(self, given: Dict[str, Any], stream: Any) -> None:
        for name, tensor in given.items():
            self._operands["ab".index(name)] = tensor
        self._wait_for(stream, self._operands[0])
        self._released = ""
        self._factorized = self._factorized and "a" not in given
        self._take_arrays(list(given))

    def release_operands(self) -> None:
        """Let go of operands and factors; `reset_operands` gives other operands. Local."""
        self._check_valid()
        self._let_go()
        self._released = "after the operands have been released"

    def _let_go(self) -> None:
        self._operands, self._arrays, self._factors, self._factorized = [None, None], [None, None], None, False

    def _drop(self) -> None:
        self._let_go()


@collective
def direct_solver(
    a: Any, b: Any, /, *, distributions: Sequence[Distribution], options: OptionsLike = None, stream: Any = None
) -> Any:
    """The X with A X = B, this rank's part. Collective, blocking; see `DirectSolver`."""
    with DirectSolver(a, b, distributions=distributions, options=options, stream=stream) as solver:
        solver.plan(stream=stream)
        solver.factorize(stream=stream)
        return solver.solve(stream=stream)
