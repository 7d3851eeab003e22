"""What moves while a program runs."""

from __future__ import annotations

from types import TracebackType
from typing import List, NamedTuple, Optional, Type

from . import _core
from ._calls import only_begun
from ._context import Context
from ._errors import ArgumentError
from .plans import Traffic


class Moved(NamedTuple):
    """One execution of a plan by this rank."""

    operation: str
    method: str
    traffic: Traffic


class traffic:
    """``with partita.traffic(context) as t:`` counts what operations move on this rank, one by one. Local.

    Without a context: of the only one that this thread has begun. Every execution of a plan counts; messages of `send` and `receive`, checks and files do not. ``t.operations`` lists
    them, ``t.total`` sums them up; both may be read inside and after.
    """

    def __init__(self, context: Optional[Context] = None) -> None:
        if context is None:
            context = only_begun()
        if context is None:
            raise ArgumentError("traffic: of which context: this thread has begun none, or several")
        if not isinstance(context, Context):
            raise TypeError(f"traffic: expected a context, got {type(context).__name__}")
        self._context = context
        self._record: Optional[_core.TrafficRecord] = None

    def __enter__(self) -> traffic:
        self._record = _core.TrafficRecord(self._context._core)
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if self._record is not None:
            self._record.stop()

    @property
    def operations(self) -> List[Moved]:
        """In their order."""
        if self._record is None:
            return []
        return [Moved(operation, method, Traffic(**moved)) for operation, method, moved in self._record.executions]

    @property
    def total(self) -> Traffic:
        """Of all of them."""
        return Traffic(*map(sum, zip(Traffic(0, 0, 0, 0, 0, 0), *(one.traffic for one in self.operations))))
