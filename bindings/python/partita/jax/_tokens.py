"""The order of calls, from one program to the next.

JAX passes the token of an ordered effect from one program of a thread to the next. A program that fails leaves a token that carries
its error, with which all later programs would fail too: such a token is dropped, and the next program begins with a new one. A
program does not wait in Python for the end of the one before it, as in JAX: it is passed to XLA, which runs it afterwards.
"""

from __future__ import annotations

import threading
from typing import Any

import jax  # type: ignore[import-not-found,unused-ignore]

from . import _internals


class _Ordered(_internals.Effect):  # type: ignore[misc,unused-ignore]
    def __str__(self) -> str:
        return "Partita"


_internals.allow_ordered(_Ordered)
effect = _Ordered()
_tokens = _internals.runtime_tokens
_wait_for_effects: Any = jax.effects_barrier


class _Dropped(threading.local):
    """The error of the token that was dropped last."""

    error = ""


_dropped = _Dropped()


def _forget_failed() -> None:
    """The error is raised where the results of the program that failed are waited for."""
    token = _tokens.current_tokens.get(effect)
    if token is None or not token._buf.is_ready():
        return
    try:
        token.block_until_ready()
    except jax.errors.JaxRuntimeError as error:
        _dropped.error = str(error)
        del _tokens.current_tokens[effect]


_token_set = _internals.RuntimeTokenSet
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
        if str(error) != _dropped.error:  # by another token of the same program
            raise
