"""The only module that uses private parts of JAX (`jax._src`).

Tested with JAX 0.8.0 to 0.11.2. A JAX without one of the parts that partita.jax needs raises an ImportError that names the part, both
versions and the remedy. Before JAX 0.10, and if a later version lowers programs by another function, programs are started in Python,
which takes about 0.15 ms more for each.
"""

from __future__ import annotations

import importlib
from typing import Any, Callable

import jax  # type: ignore[import-not-found,unused-ignore]
from jax.interpreters import mlir as _mlir  # type: ignore[import-not-found,unused-ignore]

mlir: Any = _mlir

oldest_tested, newest_tested = "0.8.0", "0.11.2"


def _part(module: str, name: str) -> Any:
    try:
        return getattr(importlib.import_module(f"jax{module}"), name)
    except (ImportError, AttributeError) as error:
        raise ImportError(
            f"partita.jax needs jax{module}.{name}, which JAX {jax.__version__} does not have; it is tested with JAX "
            f"{oldest_tested} to {newest_tested}: install one of these versions, or a newer Partita"
        ) from error


_part("", "ffi")  # public, since JAX 0.5


ShapedArray = _part("._src.core", "ShapedArray")
abstract_token = _part("._src.core", "abstract_token")
Effect: Any = _part("._src.effects", "Effect")
RuntimeTokenSet = _part("._src.dispatch", "RuntimeTokenSet")
runtime_tokens = _part("._src.dispatch", "runtime_tokens")  # each thread has its own

# The kinds of effects that JAX orders between programs and allows in its transformations. A process runs on one device, so the
# order of its programs is the order of the device.
_ordered_kinds = [
    _part("._src.effects", kind)
    for kind in (
        "ordered_effects",
        "shardable_ordered_effects",
        "lowerable_effects",
        "control_flow_allowed_effects",
        "custom_derivatives_allowed_effects",
        "remat_allowed_effects",
    )
]


def allow_ordered(effect: type) -> None:
    """Lets programs have effects of this type, in order."""
    for kind in _ordered_kinds:
        kind.add_type(effect)


_batch_tracer = _part("._src.interpreters.batching", "BatchTracer")
_derivative_tracers = tuple(_part("._src.interpreters.ad", name) for name in ("JVPTracer", "LinearizeTracer"))


def value_behind(one: Any) -> Any:
    """The array for which a tracer of `vmap` and of derivatives stands, or the tracer of a program."""
    while True:
        if isinstance(one, _batch_tracer):
            one = one.val
        elif isinstance(one, _derivative_tracers):
            one = one.primal
        else:
            return one


_needing_devices = _part("._src.dispatch", "prim_requires_devices_during_lowering")


def lower_with_devices(primitive: Any) -> None:
    """JAX lowers programs with the primitive when it knows their devices."""
    _needing_devices.add(primitive)


def distributed_state() -> Any:
    """Of `jax.distributed`: the client of its service, and the service's address."""
    return _part("._src.distributed", "global_state")


_new_equation, _no_effects = _part("._src.core", "new_jaxpr_eqn"), _part("._src.core", "no_effects")


def equation(primitive: Any) -> Any:
    """The equation of a primitive without operands, results and effects."""
    return _new_equation([], [], primitive, {}, _no_effects)


def register_lowering(primitive: Any, rule: Callable[..., Any]) -> None:
    """Lowers the primitive by the rule each time: newer versions of JAX otherwise reuse a result, which passes no tokens on."""
    try:
        mlir.register_lowering(primitive, rule, cacheable=False)
    except TypeError:  # JAX before 0.7
        mlir.register_lowering(primitive, rule)


def replace_lowering(wrap: Callable[[Any], Any]) -> None:
    """JAX lowers every program of the process by `wrap(lower)`, where `lower` is how it does so now.

    Not before JAX 0.10, where an equation without effects cannot make a token.
    """
    lowering = importlib.import_module("jax._src.interpreters.mlir")
    lower = getattr(lowering, "lower_jaxpr_to_module", None)
    if lower is not None and jax.__version_info__ >= (0, 10):
        lowering.lower_jaxpr_to_module = wrap(lower)  # type: ignore[attr-defined,unused-ignore]
