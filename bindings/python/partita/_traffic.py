"""The bytes that a program moves."""

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
    """``with partita.traffic(context) as t:`` records what each operation moves on this rank. Local.

    Every execution of a plan counts; messages of `send` and `receive`, checks and files do not. ``t.operations`` lists the executions,
    ``t.total`` is their sum; both can be read inside and after the block.

    Parameters
    ----------
    context : Context, optional
        Unset: the only context that this thread has made.
    """

    def __init__(self, context: Optional[Context] = None) -> None:
        if context is None:
            context = only_begun()
        if context is None:
            raise ArgumentError("traffic: pass the context: this thread has made none, or several")
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
        """The executions in order."""
        if self._record is None:
            return []
        return [Moved(operation, method, Traffic(**moved)) for operation, method, moved in self._record.executions]

    @property
    def total(self) -> Traffic:
        """The sum over all executions."""
        return Traffic(*map(sum, zip(Traffic(0, 0, 0, 0, 0, 0), *(one.traffic for one in self.operations))))
