"""Programs that JAX starts by its fast path, in C++.

A program with an ordered effect takes the effect's token as an argument and gives it back, and for that JAX starts it in Python:
0.17 ms a call on a CPU, where one without effects takes 0.013. *Within* a program the token is what keeps the order of calls.
*Between* programs there is nothing for it to do where XLA itself runs those of a thread on one device in the order in which they
were started: on a GPU they are in one stream, and on the CPU each one waits until the one before it is over, whether it has
failed or not. So the token begins and ends inside of such a program, and JAX sees a program without effects.
"""

from __future__ import annotations

from typing import Any, Optional

import jax  # type: ignore[import-not-found,unused-ignore]
from jax._src import core as _core_of_jax  # type: ignore[import-not-found,unused-ignore]
from jax._src.interpreters import mlir as _lowering  # type: ignore[import-not-found,unused-ignore]
from jax.extend import core as _extend  # type: ignore[import-not-found,unused-ignore]
from jax.interpreters import mlir as _mlir  # type: ignore[import-not-found,unused-ignore]

from .._context import ranks_of_process
from .._registry import Registry
from ._tokens import effect

_jax: Any = jax  # of which not all has types
_inside: Any = _lowering
mlir: Any = _mlir

_platforms: Registry[str, Any] = Registry()  # that such programs run on, and their backends
_begin: Any = _extend.Primitive("partita_begin")
_begin.multiple_results = True


def _begun(ctx: Any) -> Any:
    token = mlir.TokenSet.create([effect]).get(effect)
    ctx.set_tokens_out(mlir.TokenSet({**dict(ctx.tokens_in.items()), effect: token}))
    return []


mlir.register_lowering(_begin, _begun, cacheable=False)  # what is cached hands no tokens on


def _with_begin(closed: Any) -> Any:
    """The same program, which makes the token first, and says of itself that it has no effect."""
    jaxpr = closed.jaxpr
    begin = _core_of_jax.new_jaxpr_eqn([], [], _begin, {}, _core_of_jax.no_effects)
    return closed.replace(jaxpr=jaxpr.replace(eqns=[begin, *jaxpr.eqns], effects=set(jaxpr.effects) - {effect}))


def _is_in_order(platforms: Any, backend: Any, devices: int) -> bool:
    """Whether XLA runs such programs in the order in which they are started: of several devices of a CPU each has an order of its
    own, and several GPUs have a stream each. Of ranks that are threads on the CPU all programs together are 32 at most that XLA
    has at a time: those that one rank starts ahead of the others would be all."""
    if len(platforms) != 1 or (platforms[0] == "cpu" and ranks_of_process() > 1):
        return False
    return backend.local_device_count() == 1 or (devices == 1 and platforms[0] != "cpu")


_lower: Any = getattr(_inside, "lower_jaxpr_to_module", None)


def _lower_to_module(name: Any, jaxpr: Any, **more: Any) -> Any:
    """`ordered_effects` is the list that JAX makes of the program's effects, and by which it starts the program afterwards.
    Programs that are exported keep the token: what they are called from sees nothing but their effects. So do all programs of a
    JAX that says these things otherwise: this sees the programs of everybody in the process, and must not stand in their way."""
    effects, backend = more.get("ordered_effects"), more.get("backend")
    for_export = getattr(more.get("lowering_parameters"), "for_export", True)
    if isinstance(effects, list) and effect in effects and not for_export:
        if backend is not None and _is_in_order(more.get("platforms", ()), backend, more.get("num_partitions", 1)):
            effects.remove(effect)
            jaxpr = _with_begin(jaxpr)
            _platforms.put(backend.platform, backend)
    return _lower(name, jaxpr, **more)


if _lower is not None:
    _inside.lower_jaxpr_to_module = _lower_to_module


def wait_for_programs(gpu: Optional[int]) -> None:
    """Of this thread, on the CPU or on this GPU: by one that comes behind them. What they have failed with it does not say."""
    for platform, _ in _platforms.items():
        devices = _jax.local_devices(backend=platform)
        device = next((one for one in devices if one.local_hardware_id == gpu), devices[0])
        with _jax.default_device(device):
            _jax.block_until_ready(_nothing())


def _zero() -> Any:
    return _jax.numpy.zeros(())


_nothing: Any = _jax.jit(_zero)
