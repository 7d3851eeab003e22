"""Timelines: the steps of the ranks, as measured and as the cost model predicts them.

    measured = trace.record(context, lambda: a @ b)
    with open('trace.json', 'w') as file:
        file.write(trace.chrome_trace(measured, planned.timeline('cluster')))     # for Perfetto or chrome://tracing
"""

from __future__ import annotations

from typing import Any, Callable, List, NamedTuple

from . import _core
from ._calls import collective, mark_as_told
from ._context import Context, one_line
from ._errors import Error

__all__ = ["Timeline", "TracedStep", "chrome_trace", "record"]


class TracedStep(NamedTuple):
    """A step of a plan with its times on one rank."""

    kind: str
    """'copy', 'wait', 'compute', ...; 'all steps': a stroke that does them all."""
    what: str
    """In words, as `explain` lists it."""
    execution: int
    """Of a plan, counted from the start of the recording."""
    step: int
    """Its number in the plan; -1: all of them."""
    line: int
    """0: the rank's thread; 1 and more: streams of its device."""
    begin: float
    """Seconds since the first step of any rank began."""
    end: float


class Timeline:
    """The steps of each rank. Made by `record` and by `Planned.timeline`."""

    def __init__(self, core: _core.Timeline) -> None:
        self._core = core

    @property
    def name(self) -> str:
        """'measured' or 'planned'."""
        return self._core.name

    @property
    def ranks(self) -> List[List[TracedStep]]:
        """The steps by rank, ordered by their start."""
        return [[TracedStep(*step) for step in steps] for steps in self._core.ranks]

    def __repr__(self) -> str:
        ranks = self._core.ranks
        return f"<partita.trace.Timeline: {self.name}, {sum(map(len, ranks))} steps of {len(ranks)} ranks>"


@collective
def record(context: Context, body: Callable[[], Any]) -> Timeline:
    """Call `body` and return the timeline of the plans that all ranks execute in it, on every rank. Collective, blocking.

    Ranks of one machine share a clock; between machines clocks are compared first, which is accurate to the latency of a message. Work on
    devices is waited for at the end.

    Parameters
    ----------
    body : callable
        Called without arguments.

    Raises
    ------
    ArgumentError
        A recording inside a recording, or inside `partita.traffic`.
    BaseException
        The exception of `body` on this rank; on the others an Error with its text.
    """
    raised: List[BaseException] = []

    def called() -> str:
        try:
            body()
        except BaseException as error:  # also KeyboardInterrupt: it is raised again below
            raised.append(error)
            return one_line(error)
        return ""

    try:
        return Timeline(_core.record_timeline(context._core, called))
    except Error:
        if raised:
            mark_as_told(raised[0], context._core)
            raise raised[0] from None
        raise


def chrome_trace(*timelines: Timeline) -> str:
    """The timelines as JSON in Chrome's trace event format: one process per timeline, one row per rank and stream. Local.

    Parameters
    ----------
    *timelines : Timeline
        One or several timelines.
    """
    return _core.chrome_trace([one._core for one in timelines])
