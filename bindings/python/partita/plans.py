"""Plans as data: for any number of ranks, on a laptop, without running them. Local, all of it.

    rows = Operand(Layout(Slab(0), (8192, 8192), 4096), 'float32')
    columns = Operand(Layout(Slab(1), (8192, 8192), 4096), 'float32')
    planned = plan_redistribute(rows, columns, Topology(4096, 8))
    planned.simulate('cluster').seconds
"""

from __future__ import annotations

from typing import Any, Callable, Dict, NamedTuple, Optional

import numpy as np

from . import _core
from ._array import default_multiply, default_redistribution
from ._core import Operand, Plan, Topology
from ._errors import Error
from ._mesh import DistributionLike, rule_of
from ._numbers import Numbers, numbers_of_fft, numbers_of_matmul
from .trace import Timeline

__all__ = [
    "Operand", "Plan", "Planned", "Prediction", "Topology", "Traffic", "explain_redistribute", "plan_fft", "plan_matmul",
    "plan_redistribute",
]  # fmt: skip


class Traffic(NamedTuple):
    """What a rank's plan moves, in bytes and numbers."""

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
    """What a plan costs on a machine."""

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
    """The plans of all ranks of an operation."""

    def __init__(self, core: _core.Planned, numbers: Optional[Callable[[], Numbers]] = None) -> None:
        self._core = core
        self._numbers = numbers

    @property
    def ranks(self) -> int:
        """How many."""
        return self._core.ranks

    def plan(self, rank: int) -> Plan:
        """That of one rank."""
        return self._core.plan(rank)

    def traffic(self, rank: int) -> Traffic:
        """What it moves."""
        return Traffic(**self.plan(rank).traffic())

    def explain(self, rank: int = 0, steps: bool = False, json: bool = False) -> str:
        """One rank's plan in words, with the totals of all ranks (beyond 1,024, of a sample)."""
        return self._core.explain(rank, steps, json)

    def verify(self, schedules: int = 4, seed: int = 1) -> None:
        """Run the plans of all ranks: every element arrives exactly once, and no waits form a circle.

        Redistributions run on symbols, of some 10^6 elements at most; multiplies and Fourier transforms on numbers that
        are compared with NumPy's, of some 10^4, and 10^6 at most. Raises Error with what is wrong; UnsupportedError: an epilogue with more
        arrays, a cosine or sine transform.
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
        """What each rank does when, as `simulate` runs it; of 64 ranks at most."""
        return Timeline(_core.planned_timeline(self._core, machine))

    def simulate(self, machine: str = "") -> Prediction:
        """Predicted seconds on a machine: a shipped name ('laptop', 'node-4-h200', 'node-8-gpu', 'cluster') or a file; here by default."""
        found = self._core.simulate(machine)
        return Prediction(**{**found, "per_rank": Traffic(**found["per_rank"])})


def plan_redistribute(source: Operand, destination: Operand, topology: Topology, **options: Any) -> Planned:
    """Of a redistribution; options: axes, method, staging_bytes."""
    how = _core.RedistributeOptions(**options) if options else default_redistribution
    return Planned(_core.plan_redistribute(source, destination, topology, how))


def explain_redistribute(
    source: _core.Layout, destination: DistributionLike, dtype: str = "float64"
) -> str:
    """What would move, as text."""
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
    """Of a multiply, with options of `matmul`; d: where the result lies, by default as the method leaves it."""
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
    """Of a transform, with options of `partita.fft` and its kind, axes, norm, inverse; result: where it lies,
    by default as the option `output` says."""
    how = _core.FftOptions(**options)
    if result is None:
        result = Operand(*_core.fft_result(a, topology, how, machine))
    planned = _core.plan_fft(a, result, topology, how, machine)
    return Planned(planned, lambda: numbers_of_fft(a, result, options))
