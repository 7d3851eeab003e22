"""The order of calls, from one program to the next.

JAX hands the token of an ordered effect from program to program of a thread. A program that fails while it runs leaves one that
carries its error, by which all later programs would fail alike: such a one is let go, and the next program begins with a new one.
Nor does a program wait for the one before it to be over, as JAX lets it by itself: it is given to XLA behind that.
"""

from __future__ import annotations

import threading
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


class _Let(threading.local):
    """What the token said that was let go last."""

    go = ""


_let = _Let()


def _forget_failed() -> None:
    """The error is raised where the results of the program that failed are waited for."""
    token = _tokens.current_tokens.get(effect)
    if token is None or not token._buf.is_ready():
        return
    try:
        token.block_until_ready()
    except jax.errors.JaxRuntimeError as error:
        _let.go = str(error)
        del _tokens.current_tokens[effect]


_token_set: Any = _dispatch.RuntimeTokenSet
_input = _token_set.get_token_input


def _input_of_programs(self: Any, wanted: Any, devices: Any) -> Any:
    """On the device where the last program has left it, it is passed unchanged: copying it there again would wait for that program."""
    if wanted is not effect:
        return _input(self, wanted, devices)
    _forget_failed()
    token = self.current_tokens.get(effect)
    if token is not None and len(devices) == 1 and token._buf.devices() == set(devices):
        return token
    return _input(self, wanted, devices)


_token_set.get_token_input = _input_of_programs


def wait_for_programs() -> None:
    """Of this thread. Raises what one that still runs fails with."""
    _forget_failed()
    try:
        _wait_for_effects()
    except jax.errors.JaxRuntimeError as error:
        _tokens.clear()
        if str(error) != _let.go:  # by another token of the same program
            raise
