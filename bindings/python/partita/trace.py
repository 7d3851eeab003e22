"""Timelines: what the ranks do step by step, as it is measured and as the cost model predicts it.

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
    """A step of a plan, and when a rank was at it."""

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
    """What each rank does. Made by `record` and by `Planned.timeline`."""

    def __init__(self, core: _core.Timeline) -> None:
        self._core = core

    @property
    def name(self) -> str:
        """'measured' or 'planned'."""
        return self._core.name

    @property
    def ranks(self) -> List[List[TracedStep]]:
        """The steps by rank, in the order in which they began."""
        return [[TracedStep(*step) for step in steps] for steps in self._core.ranks]

    def __repr__(self) -> str:
        ranks = self._core.ranks
        return f"<partita.trace.Timeline: {self.name}, {sum(map(len, ranks))} steps of {len(ranks)} ranks>"


@collective
def record(context: Context, body: Callable[[], Any]) -> Timeline:
    """Call `body`, and note what each rank's plans did in it: of all ranks, on every rank. Collective, blocking.

    Times of ranks on one machine are by one clock; between machines clocks are compared first, which is good to the latency
    of a message. On a device the work is waited for at the end.

    Raises
    ------
    ArgumentError
        A recording inside a recording, or inside `partita.traffic`.
    BaseException
        What `body` raises on this rank; on the others an Error with its text.
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
    """As JSON of Chrome's trace event format: a process a timeline, a row a rank, and each of its streams. Local."""
    return _core.chrome_trace([one._core for one in timelines])
