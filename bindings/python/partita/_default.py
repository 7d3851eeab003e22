"""The context and distribution of new arrays that are given none."""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, TypeVar

from . import _core
from ._context import Context
from ._errors import ArgumentError
from ._layouts import default_layout, remade
from ._mesh import DistributionLike, Rule, rule_of, rules

Function = TypeVar("Function", bound=Callable[..., Any])


class Default(NamedTuple):
    """Of ``with default(context, distribution):``."""

    context: Context
    distribution: Rule


class _Defaults(threading.local):
    def __init__(self) -> None:
        self.entered: List[Default] = []


_defaults = _Defaults()


def current_default() -> Optional[Default]:
    """Of the innermost ``with default(...):`` of this thread; None outside of any."""
    return _defaults.entered[-1] if _defaults.entered else None


@contextlib.contextmanager
def default(context: Context, distribution: DistributionLike = _core.Slab(0)) -> Iterator[Default]:
    """The context and the distribution of new arrays in this thread, for the ``with`` block. Local.

    Inside, functions that make arrays need neither: ``zeros((4, 4))``. Arrays with fewer dimensions than the distribution needs are cut along
    their longest axis. Ufuncs of arrays in different layouts redistribute them to that of the first, and are collective then, instead
    of an ArgumentError.

    Parameters
    ----------
    distribution : distribution
        The distribution, for arrays that suit it.
    """
    if not isinstance(context, Context):
        raise ArgumentError(f"default: expected a context, got {type(context).__name__}")
    _defaults.entered.append(Default(context, rule_of(distribution)))
    try:
        yield _defaults.entered[-1]
    finally:
        _defaults.entered.pop()


def required_default(name: str) -> Default:
    """ArgumentError outside of ``with default(...):``."""
    found = current_default()
    if found is None:
        raise ArgumentError(f"{name}: no context: use it inside `with partita.default(context, distribution):`")
    return found


def fitting(rule: Rule, dimensions: int, ranks: int) -> Rule:
    """The distribution, or for shapes that it does not suit that along the longest axis."""
    shape = (ranks,) * dimensions
    return rule if shape and remade(rule, shape, ranks) is not None else default_layout(shape, ranks).distribution


def _is_distribution(given: Any) -> bool:
    """Whether an argument is a distribution, and not what comes after it: a text of one has a colon, that of a dtype has none."""
    return given is None or isinstance(given, _core.P) or type(given) in rules or (isinstance(given, str) and (":" in given or given == "replicated"))


def by_default(dimensions: Callable[[Dict[str, Any]], int]) -> Callable[[Function], Function]:
    """For functions that make arrays: without a context the default one, without a distribution the default one.

    `dimensions`: how many the array has, of the arguments.
    """

    def decorated(function: Function) -> Function:
        signature = inspect.signature(function)
        kinds = [one.name for one in signature.parameters.values() if one.kind is one.POSITIONAL_OR_KEYWORD]
        place = kinds.index("distribution") if "distribution" in kinds else len(kinds)

        @functools.wraps(function)
        def called(*given: Any, **named: Any) -> Any:
            here = current_default()
            if here is None or "context" in named or (given and isinstance(given[0], Context)):
                return function(*given, **named)
            values = [here.context, *given]
            if len(values) > place and ("distribution" in named or not _is_distribution(values[place])):
                values.insert(place, named.pop("distribution", None))
            bound = signature.bind_partial(*values, **named)
            if bound.arguments.get("distribution") is None:
                bound.arguments["distribution"] = fitting(here.distribution, dimensions(bound.arguments), here.context.size)
            return function(*bound.args, **bound.kwargs)

        return called  # type: ignore[return-value]

    return decorated


__all__ = ["default"]
