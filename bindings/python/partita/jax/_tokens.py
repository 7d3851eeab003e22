"""The order of calls, from one program to the next.

JAX hands the token of an ordered effect from program to program of a thread. A program that fails while it runs leaves one that
carries its error, by which all later programs would fail alike: such a one is let go, and the next program begins with a new one.
"""

from __future__ import annotations

from typing import Any

import jax  # type: ignore[import-not-found,unused-ignore]
from jax._src import dispatch as _dispatch  # type: ignore[import-not-found,unused-ignore]
from jax._src import effects as _effects


class _Ordered(_effects.Effect):  # type: ignore[misc,unused-ignore]
    def __str__(self) -> str:
        return "Partita"


for _allowed in (
    _effects.ordered_effects,
    _effects.shardable_ordered_effects,  # a process runs on one device: the program order is its order
    _effects.lowerable_effects,
    _effects.control_flow_allowed_effects,
    _effects.custom_derivatives_allowed_effects,
    _effects.remat_allowed_effects,
):
    _allowed.add_type(_Ordered)

effect = _Ordered()
_tokens: Any = _dispatch.runtime_tokens  # of each thread its own
_wait_for_effects: Any = jax.effects_barrier


def _has_failed(token: Any) -> bool:
    if not token._buf.is_ready():
        return False
    try:
        token.block_until_ready()
    except jax.errors.JaxRuntimeError:
        return True
    return False


def _forget_failed() -> None:
    """The error is raised where the results of the program that failed are waited for."""
    token = _tokens.current_tokens.get(effect)
    if token is not None and _has_failed(token):
        del _tokens.current_tokens[effect]


_token_set: Any = _dispatch.RuntimeTokenSet
_input = _token_set.get_token_input


def _input_of_programs(self: Any, wanted: Any, *devices: Any) -> Any:
    if wanted is effect:
        _forget_failed()
    return _input(self, wanted, *devices)


_token_set.get_token_input = _input_of_programs


def wait_for_programs() -> None:
    """Of this thread. Raises what one that still runs fails with."""
    _forget_failed()
    _wait_for_effects()
