"""How an operation becomes a call of a compiled program: all that touches the inside of JAX.

An ordered effect gives every call a token of the call before it, and the next one its own: so XLA keeps the order, in loops and
branches, too. From one program to the next it is kept as _fast_path.py says. Calls have side effects for XLA: it neither drops nor
merges them.
"""

from __future__ import annotations

import re
from typing import Any, Callable, Dict, Optional, Sequence, Tuple

import jax  # type: ignore[import-not-found,unused-ignore]
import numpy as np
from jax._src import core as _core_of_jax  # type: ignore[import-not-found,unused-ignore]
from jax.extend import core as _extend  # type: ignore[import-not-found,unused-ignore]
from jax.interpreters import ad as _ad  # type: ignore[import-not-found,unused-ignore]
from jax.interpreters import batching as _batching
from jax.interpreters import mlir as _mlir

from .. import _core
from ._group import Group
from ._tokens import effect

# What JAX has no types for.
ad: Any = _ad
batching: Any = _batching
mlir: Any = _mlir
Primitive: Any = _extend.Primitive

for _platform, _device in (("cpu", False), ("CUDA", True)):
    for _name, _handler in _core.xla_handlers(_device).items():
        jax.ffi.register_ffi_target(f"partita_{_name}", _handler, platform=_platform)


Result = Optional[Tuple[Tuple[int, ...], Any]]


def _attributes(params: Dict[str, Any]) -> Dict[str, Any]:
    """As handlers want them: numbers of 64 bits, texts, layouts as their distribution's text and shape."""
    given: Dict[str, Any] = {}
    for name, value in params.items():
        if isinstance(value, Group):
            given[name] = np.int64(value._number)
        elif isinstance(value, _core.Layout):
            given[name] = str(value.distribution)
            given[name + "_shape"] = np.array(value.shape, np.int64)
        elif isinstance(value, tuple):
            given[name] = np.array(value, np.int64)
        else:
            given[name] = value if isinstance(value, str) else np.int64(value)
    return given


def call(name: str, result: Callable[..., Result], *, in_place: bool = False) -> Any:
    """The primitive that calls the handler of that name.

    `result(*operands, **params)` is the result's shape and dtype; None: there is none, and the primitive's own is a zero.
    `in_place`: the result takes the operand's memory.
    """
    primitive = Primitive(f"partita_{name}")
    lower = jax.ffi.ffi_lowering(
        f"partita_{name}", has_side_effect=True, operand_output_aliases={0: 0} if in_place else None
    )

    def described(*operands: Any, **params: Any) -> Any:
        found = result(*operands, **params) or ((), np.float32)
        return _core_of_jax.ShapedArray(*found), {effect}

    def lowered(ctx: Any, *operands: Any, **params: Any) -> Any:
        answers = () if result(*ctx.avals_in, **params) is None else ctx.avals_out
        token = _core_of_jax.abstract_token
        inner = ctx.replace(avals_in=(*ctx.avals_in, token), avals_out=(*answers, token))
        *found, after = lower(inner, *operands, ctx.tokens_in.get(effect), **_attributes(params))
        ctx.set_tokens_out(mlir.TokenSet({effect: after}))
        return found or [mlir.ir_constant(np.zeros((), np.float32))]

    primitive.def_effectful_abstract_eval(described)
    primitive.def_impl(lambda *operands, **params: _called(_compiled(primitive, tuple(sorted(params.items(), key=_first))), operands))
    mlir.register_lowering(primitive, lowered)
    return primitive


def local(name: str) -> Any:
    """A primitive that hands its operand on, and calls nothing: for what only derivatives know."""
    primitive = Primitive(f"partita_{name}")
    primitive.def_impl(lambda x, **_: x)
    primitive.def_abstract_eval(lambda x, **_: x)
    mlir.register_lowering(primitive, lambda ctx, x, **_: [x])
    return primitive


def _first(item: Tuple[str, Any]) -> str:
    return item[0]


def _compiled(primitive: Any, params: Tuple[Tuple[str, Any], ...]) -> Any:
    """A call outside of any program is one of its own, which the group keeps."""
    programs = dict(params)["group"]._programs
    key = (primitive, params)
    if key not in programs:
        programs[key] = jax.jit(lambda *operands: primitive.bind(*operands, **dict(params)))
    return programs[key]


def _called(program: Any, operands: Sequence[Any]) -> Any:
    """What goes wrong while JAX starts a program is a ValueError, if it has run before and so is started in C++."""
    try:
        return program(*operands)
    except ValueError as error:
        if not _of_a_call.match(str(error)):
            raise
        raise jax.errors.JaxRuntimeError(str(error)) from None


_of_a_call = re.compile("(INVALID_ARGUMENT|UNIMPLEMENTED|RESOURCE_EXHAUSTED|DEADLINE_EXCEEDED|UNAVAILABLE|FAILED_PRECONDITION|INTERNAL): ")


def _tangent(primal: Any, tangent: Any) -> Any:
    """Zeros are sent like other numbers: other ranks may have something else there."""
    return ad.instantiate_zeros(tangent) if isinstance(tangent, ad.Zero) else tangent


def linear(primitive: Any, transposed: Callable[..., Any]) -> None:
    """Its derivatives: the same call of the tangent, and `transposed(cotangent, operand's shape and dtype, **params)`."""

    def jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
        found = primitive.bind(*primals, **params)
        if all(isinstance(tangent, ad.Zero) for tangent in tangents):
            return found, ad.Zero.from_primal_value(found)
        return found, primitive.bind(*map(_tangent, primals, tangents), **params)

    def transpose(cotangent: Any, operand: Any, **params: Any) -> Any:
        if isinstance(cotangent, ad.Zero):
            cotangent = ad.instantiate_zeros(cotangent)
        return (transposed(cotangent, operand.aval, **params),)

    ad.primitive_jvps[primitive] = jvp
    ad.primitive_transposes[primitive] = transpose


def batched(primitive: Any, where: Callable[[int], Tuple[int, Optional[int]]]) -> None:
    """`vmap` in one call. `where(axis)`: to where the operand's batch axis is moved, and where the result has it, if it has."""

    def batch(operands: Sequence[Any], axes: Sequence[Any], /, **params: Any) -> Any:
        to, out = where(axes[0])
        moved = jax.numpy.moveaxis(operands[0], axes[0], to)
        return primitive.bind(moved, **params), out

    batching.primitive_batchers[primitive] = batch


def batched_in_turn(primitive: Any) -> None:
    """`vmap` by one call after the other."""

    def batch(operands: Sequence[Any], axes: Sequence[Any], /, **params: Any) -> Any:
        mapped = [axis is not None for axis in axes]
        moved = tuple(jax.numpy.moveaxis(one, axis, 0) for one, axis, is_mapped in zip(operands, axes, mapped) if is_mapped)

        def one_call(rows: Any) -> Any:
            given = iter(rows)
            return primitive.bind(*(next(given) if is_mapped else one for one, is_mapped in zip(operands, mapped)), **params)

        return jax.lax.map(one_call, moved), 0

    batching.primitive_batchers[primitive] = batch
