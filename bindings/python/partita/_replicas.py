"""NumPy arrays and sequences of numbers next to distributed arrays: replicas, if all ranks hold the same values.

Functions that compare all their arguments between ranks (`alike`) compare the values, too. Products and ufuncs have an all-gather of a hash for
them, which precedes the call: the library compares what it knows of arrays, and not their values.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, List, Sequence

import numpy as np

from . import _core
from ._agreement import hash_of
from ._array import Array
from ._calls import Function, has_compared, name_of, raise_on_all
from ._errors import DisagreementError


def with_replicas(*names: str) -> Callable[[Function], Function]:
    """A function whose arguments of these names may be NumPy arrays and sequences next to distributed arrays. To be collective.

    Between the function and `collective` or `alike`, so that what is wrong with the values is an error on all ranks.
    """

    def decorated(function: Function) -> Function:
        name = name_of(function)
        known = tuple(inspect.signature(function).parameters)
        places = [(known.index(one), one) for one in names]

        @functools.wraps(function)
        def called(*given: Any, **named: Any) -> Any:
            found = [given[place] if place < len(given) else named.get(one) for place, one in places]
            if any(not isinstance(one, Array) and _is_replica(one) for one in found):
                positional = list(given)
                others = [each for one in (*given, *named.values()) for each in (one if isinstance(one, tuple) else (one,))]
                for (place, one), value in zip(places, replicas(name, found, others)):
                    if place < len(given):
                        positional[place] = value
                    elif one in named:
                        named[one] = value
                return function(*positional, **named)
            return function(*given, **named)

        return called  # type: ignore[return-value]

    return decorated


def replicas(name: str, inputs: Sequence[Any], others: Sequence[Any] = (), numbers: bool = False) -> List[Any]:
    """The operands, where NumPy arrays and sequences that all ranks hold alike are replicated arrays; collective if there are any.

    `numbers`: also numbers and arrays without dimensions.
    """

    def is_replica(one: Any) -> bool:
        return _is_replica(one) or (numbers and isinstance(one, (np.ndarray, np.generic, int, float, complex)))

    first = next((one for one in (*inputs, *others) if isinstance(one, Array)), None)
    if first is None or not any(map(is_replica, inputs)):
        return list(inputs)
    try:
        given = [np.asarray(one, order="C") if is_replica(one) else one for one in inputs]
        require_equal(name, first._core.context, [one for one in given if type(one) is np.ndarray])
        made: List[Any] = [_replicated(first, one) if type(one) is np.ndarray else one for one in given]
    except Exception as error:  # of one rank: the others compare theirs
        raise_on_all(name, error, (first,))
        raise
    return made if first._core.on_host else [one.copy(space="device") if one is not old else one for one, old in zip(made, given)]


def _is_replica(one: Any) -> bool:
    return (type(one) is np.ndarray and one.ndim > 0) or (type(one) in (list, tuple) and not any(isinstance(each, Array) for each in one))


def _replicated(first: Array, values: Any) -> Array:
    layout = _core.Layout(_core.Replicated(), values.shape, first._core.context.size)
    return Array(_core.wrap_beside(first._core, values, layout), first._package, values if first._package == "numpy" else None, True)


def require_equal(name: str, context: _core.Context, values: Sequence[Any]) -> None:
    """DisagreementError on all ranks if these NumPy arrays differ between ranks: one all-gather of a hash of each rank.

    Nothing is exchanged within a call that has compared its arguments.
    """
    if context.size == 1 or has_compared():
        return
    mine = np.frombuffer(hash_of(values), np.int64).copy()
    everyone = np.empty(context.size, np.int64)
    _core.all_gather(context, mine, everyone, [])
    differing = [rank for rank in range(context.size) if everyone[rank] != everyone[0]]
    if differing:
        raise DisagreementError(
            f"{name}: the NumPy array of rank {differing[0]} differs from that of rank 0; NumPy arrays next to distributed ones must be equal on "
            "all ranks: partita.from_local(context, part, distribution) makes a distributed array from local parts"
        )


__all__ = ["replicas", "require_equal", "with_replicas"]
