"""The direct solver, which is not there yet: each of its names says so when it is used."""

from __future__ import annotations

from typing import Any, NoReturn

from ....._errors import UnsupportedError

__all__ = ["DirectSolver", "DirectSolverOptions", "InvalidDirectSolverState", "direct_solver"]


class InvalidDirectSolverState(Exception):
    """A freed object was used."""


def _refuse() -> NoReturn:
    raise UnsupportedError("the direct solver is not implemented")


class DirectSolverOptions:
    """UnsupportedError: there is no direct solver yet."""

    def __init__(self, *given: Any, **more: Any) -> None:
        _refuse()


class DirectSolver:
    """UnsupportedError: there is no direct solver yet."""

    def __init__(self, *given: Any, **more: Any) -> None:
        _refuse()


def direct_solver(*given: Any, **more: Any) -> Any:
    """UnsupportedError: there is no direct solver yet."""
    _refuse()
