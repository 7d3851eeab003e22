"""Plans as data: for any number of ranks, on a laptop, without executing them. Everything here is local.

    rows = Operand(Layout(Slab(0), (8192, 8192), 4096), 'float32')
    columns = Operand(Layout(Slab(1), (8192, 8192), 4096), 'float32')
    planned = plan_redistribute(rows, columns, Topology(4096, 8))
    planned.simulate('cluster').seconds
"""

from __future__ import annotations

from typing import Any, Callable, Dict, NamedTuple, NoReturn, Optional, Tuple

import numpy as np

from . import _core
from ._array import default_multiply, default_redistribution
from ._core import Operand, Plan, Topology
from ._errors import Error, UnsupportedError
from ._factors import factor_options
from ._mesh import DistributionLike, rule_of
from ._numbers import Numbers, numbers_of_fft, numbers_of_matmul
from .trace import Timeline

__all__ = [
    "Operand", "Plan", "Planned", "Prediction", "Topology", "Traffic", "explain_redistribute", "plan_factorization", "plan_fft",
    "plan_matmul", "plan_redistribute", "plan_solve",
]  # fmt: skip


class Traffic(NamedTuple):
    """What the plan of a rank moves, in bytes and counts."""

    local_bytes: int
    """Copied inside this rank's memory."""
    node_bytes: int
    """Arriving from peers of the same node."""
    network_bytes: int
    """Arriving as messages."""
    staging_bytes: int
    """Copied into or out of scratch."""
    messages: int
    """Sent."""
    signals: int
    """Sent."""


class Prediction(NamedTuple):
    """The predicted cost of a plan on a machine."""

    seconds: float
    """Of the slowest rank that was priced."""
    slowest_rank: int
    ranks_priced: int
    total_bytes: int
    """That leave their rank, over all ranks."""
    total_messages: int
    per_rank: Traffic
    """Of the slowest rank."""


class Planned:
    """The plans of all ranks for an operation."""

    def __init__(self, core: _core.Planned, numbers: Optional[Callable[[], Numbers]] = None) -> None:
        self._core = core
        self._numbers = numbers

    @property
    def ranks(self) -> int:
        """The number of ranks."""
        return self._core.ranks

    def plan(self, rank: int) -> Plan:
        """The plan of one rank. Local."""
        return self._core.plan(rank)

    def traffic(self, rank: int) -> Traffic:
        """What the plan of one rank moves. Local."""
        return Traffic(**self.plan(rank).traffic())

    def explain(self, rank: int = 0, steps: bool = False, json: bool = False) -> str:
        """The plan of one rank as text, with the totals of all ranks (beyond 1,024, of a sample). Local."""
        return self._core.explain(rank, steps, json)

    def verify(self, schedules: int = 4, seed: int = 1) -> None:
        """Execute the plans of all ranks symbolically: every element arrives exactly once, and there is no cycle of waits. Local.

        Redistributions are verified on symbols, with up to about 10^6 elements; multiplies and Fourier transforms on numbers that are compared
        with NumPy's, with about 10^4 and at most 10^6.

        Parameters
        ----------
        schedules : int, default 4
            Number of interleavings to try.
        seed : int, default 1
            Seed of the random ones.

        Raises
        ------
        Error
            The plan is wrong; the text names rank, step and element.
        UnsupportedError
            An epilogue with further arrays, a cosine or sine transform, or linear algebra.
        """
        if self._numbers is None:
            faults = self._core.verify(schedules, seed)
        else:
            numbers = self._numbers()
            given = [np.ascontiguousarray(one, np.complex128) for one in numbers.given]
            wanted = np.ascontiguousarray(numbers.wanted, np.complex128)
            faults = _core.verify_numbers(self._core, given, wanted, numbers.alpha, schedules, seed)
        if faults:
            raise Error("; ".join(faults))

    def timeline(self, machine: str = "") -> Timeline:
        """The predicted timeline of each rank, as `simulate` computes it; for at most 64 ranks. Local."""
        return Timeline(_core.planned_timeline(self._core, machine))

    def simulate(self, machine: str = "") -> Prediction:
        """The predicted time on a machine: a shipped name ('laptop', 'node-4-h200', 'node-8-gpu', 'cluster') or a file. Local."""
        found = self._core.simulate(machine)
        return Prediction(**{**found, "per_rank": Traffic(**found["per_rank"])})


def plan_redistribute(source: Operand, destination: Operand, topology: Topology, **options: Any) -> Planned:
    """The plans of a redistribution. Local.

    Parameters
    ----------
    source, destination : Operand
        The operands.
    **options
        axes, method, staging_bytes.
    """
    how = _core.RedistributeOptions(**options) if options else default_redistribution
    return Planned(_core.plan_redistribute(source, destination, topology, how))


def explain_redistribute(
    source: _core.Layout, destination: DistributionLike, dtype: str = "float64"
) -> str:
    """What a redistribution would move, as text. Local.

    Parameters
    ----------
    source : Layout
        The layout of the source.
    destination : distribution or Layout
        The distribution of the result.
    """
    return _core.explain_redistribute(source, rule_of(destination), dtype, default_redistribution)


def plan_matmul(
    a: Operand,
    b: Operand,
    topology: Topology,
    d: Optional[Operand] = None,
    *,
    machine: str = "",
    **options: Any,
) -> Planned:
    """The plans of a multiply. Local.

    Parameters
    ----------
    a, b : Operand
        The factors.
    d : Operand, optional
        The result; unset: with the cheapest layout for the method.
    **options
        As for `matmul`.
    """
    how = _matmul_options(options)
    if d is None:
        d = Operand(_core.cheapest_result(a, b, topology, how, machine), _core.result_dtype(a.dtype, how))
    planned = _core.plan_matmul(_core.MatmulOperands(a, b, d), topology, how, machine)
    return Planned(planned, lambda: numbers_of_matmul(a, b, d, options))


def _matmul_options(options: Dict[str, Any]) -> _core.MatmulOptions:
    return _core.MatmulOptions(**options) if options else default_multiply


def plan_fft(
    a: Operand, topology: Topology, result: Optional[Operand] = None, *, machine: str = "", **options: Any
) -> Planned:
    """The plans of a transform. Local.

    Parameters
    ----------
    a : Operand
        The input.
    result : Operand, optional
        The result; unset: with the layout that the option `output` implies.
    **options
        As for `partita.fft`, and kind, axes, norm, inverse.
    """
    how = _core.FftOptions(**options)
    if result is None:
        result = Operand(*_core.fft_result(a, topology, how, machine))
    planned = _core.plan_fft(a, result, topology, how, machine)
    return Planned(planned, lambda: numbers_of_fft(a, result, options))


def plan_factorization(
    a: Operand, topology: Topology, kind: str = "lu", *, block: int = 0, overwrite: bool = False,
    grid: Optional[Tuple[int, int]] = None, pivoting: str = "automatic", memory_limit: int = 0,
) -> Planned:  # fmt: skip
    """The plans of a factorization. Local.

    Parameters
    ----------
    a : Operand
        The matrix.
    kind : {'lu', 'cholesky', 'qr'}, default 'lu'
        Which factorization.
    block : int, default 0
        Columns of a panel; 0: chosen by Partita.
    overwrite : bool, default False
        The matrix may be overwritten by its factors.
    grid, pivoting, memory_limit
        As for `linalg.LU`.
    """
    options = factor_options(block, overwrite, memory_limit, grid, pivoting)
    return Planned(_core.plan_factorization(kind, a, topology, options), _no_numbers)


def plan_solve(
    a: Operand, b: Operand, topology: Topology, kind: str = "lu", x: Optional[Operand] = None, *, op: str = "none", block: int = 0,
    grid: Optional[Tuple[int, int]] = None, pivoting: str = "automatic", memory_limit: int = 0,
) -> Planned:  # fmt: skip
    """The plans of a solve with the factors of `plan_factorization`. Local.

    Parameters
    ----------
    a : Operand
        The matrix that was factorized.
    b : Operand
        The right-hand sides, [n, r].
    kind : {'lu', 'cholesky', 'qr'}, default 'lu'
        Which factorization.
    x : Operand, optional
        The solutions; unset: with the layout of `b`.
    op : str, default 'none'
        As for `linalg.LU.solve`.
    block, grid, pivoting
        As of the factorization.
    memory_limit : int, default 0
        Maximum scratch of a rank of the solve, in bytes; 0: unlimited.
    """
    options = factor_options(block, False, memory_limit, grid, pivoting)
    return Planned(_core.plan_solve(kind, a, b, b if x is None else x, topology, op, options), _no_numbers)


def _no_numbers() -> NoReturn:
    raise UnsupportedError("verify: verify factorizations and solves through the C++ API")
