"""How an operation becomes a call of a compiled program: all that touches the inside of JAX.

An ordered effect gives every call a token of the call before it, and the next one its own: so XLA keeps the order, in loops and
branches, too. From one program to the next it is kept as _fast_path.py says. Calls have side effects for XLA: it neither drops nor
merges them.
"""

from __future__ import annotations

import re
import sys
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

import jax  # type: ignore[import-not-found,unused-ignore]
import numpy as np
from jax.extend import core as _extend  # type: ignore[import-not-found,unused-ignore]
from jax.interpreters import ad as _ad  # type: ignore[import-not-found,unused-ignore]
from jax.interpreters import batching as _batching

from .. import _core
from .._errors import UnsupportedError
from . import _internals
from ._group import Group, tell
from ._internals import mlir
from ._tokens import effect

# What JAX has no types for.
ad: Any = _ad
batching: Any = _batching
Primitive: Any = _extend.Primitive
_config: Any = jax.config

for _platform, _device in (("cpu", False), ("CUDA", True)):
    for _name, _handler in _core.xla_handlers(_device).items():
        jax.ffi.register_ffi_target(f"partita_{_name}", _handler, platform=_platform)


Result = Optional[Union[Tuple[Tuple[int, ...], Any], List[Tuple[Tuple[int, ...], Any]]]]


def attributes(params: Dict[str, Any]) -> Dict[str, Any]:
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


def call(
    name: str, result: Callable[..., Result], *, in_place: bool = False, handler: str = "", several: bool = False
) -> Any:
    """The primitive that calls the handler of that name, or of another one.

    `result(*operands, **params)` is the result's shape and dtype; None: there is none, and the primitive's own is a zero.
    `in_place`: the result takes the operand's memory. `several`: a list of results, of which `result` returns a list.
    """
    primitive = Primitive(f"partita_{name}")
    primitive.multiple_results = several
    lower = jax.ffi.ffi_lowering(
        f"partita_{handler or name}", has_side_effect=True, operand_output_aliases={0: 0} if in_place else None
    )

    def described(*operands: Any, **params: Any) -> Any:
        found = result(*operands, **params) or ((), np.float32)
        if isinstance(found, list):
            return [_internals.ShapedArray(*one) for one in found], {effect}
        return _internals.ShapedArray(*found), {effect}

    def lowered(ctx: Any, *operands: Any, **params: Any) -> Any:
        _require_parts(name, ctx.module_context.axis_context, params["group"])
        answers = () if result(*ctx.avals_in, **params) is None else ctx.avals_out
        token = _internals.abstract_token
        inner = ctx.replace(avals_in=(*ctx.avals_in, token), avals_out=(*answers, token))
        *found, after = lower(inner, *operands, ctx.tokens_in.get(effect), **attributes(params))
        ctx.set_tokens_out(mlir.TokenSet({effect: after}))
        return found or [mlir.ir_constant(np.zeros((), np.float32))]

    primitive.def_effectful_abstract_eval(described)
    called_alone(primitive, name)
    mlir.register_lowering(primitive, lowered)
    return primitive


#: What puts each operand where the call needs it; None: they are there.
Placed = Callable[[Sequence[Any], Group], Optional[Callable[[Any], Any]]]


def called_alone(primitive: Any, name: str, placed: Optional[Placed] = None) -> None:
    """A call of the primitive outside of any program is a separate program."""

    def called(*operands: Any, **params: Any) -> Any:
        _end_run_again(name, params["group"])
        put = None if placed is None else placed(operands, params["group"])
        given = operands if put is None else [put(one) for one in operands]
        return _called(_compiled(primitive, tuple(sorted(params.items(), key=_first))), given)

    primitive.def_impl(called)


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
    """A call outside of any program is a separate program, which the group keeps."""
    given = dict(params)

    def call_alone(*operands: Any) -> Any:
        return primitive.bind(*operands, **given)

    def make() -> Any:
        call_alone.__qualname__ = call_alone.__name__ = str(primitive)
        call_alone._apply_primitive = True  # type: ignore[attr-defined]  # JAX runs it not again to look for NaNs
        return jax.jit(call_alone)

    return given["group"]._programs.find_or_make((primitive, params), make)


def _called(program: Any, operands: Sequence[Any]) -> Any:
    """An error while JAX starts a program is a ValueError, if the program has run before and is therefore started in C++."""
    try:
        if not _config.jax_disable_jit:
            return program(*operands)
        with jax.disable_jit(False):  # or the call would be made of itself
            return program(*operands)
    except ValueError as error:
        if not _of_a_call.match(str(error)):
            raise
        raise jax.errors.JaxRuntimeError(str(error)) from None


_of_a_call = re.compile("(INVALID_ARGUMENT|UNIMPLEMENTED|RESOURCE_EXHAUSTED|DEADLINE_EXCEEDED|UNAVAILABLE|FAILED_PRECONDITION|INTERNAL): ")


def _end_run_again(name: str, group: Group) -> None:
    """FloatingPointError, raised on all ranks, if JAX has found a NaN in the results of a program and runs it again, operation by operation:
    on this rank alone, and the others would not make the call again."""
    if not (_config.jax_debug_nans or _config.jax_debug_infs):
        return
    frame = sys._getframe()
    while frame.f_code.co_name not in _runs_again:
        if frame.f_back is None:
            return
        frame = frame.f_back
    error = FloatingPointError(
        f"NaN or infinity in the results of a program with {name} on this rank: JAX (jax_debug_nans, jax_debug_infs) runs the program again "
        f"without jit to find its origin, and stops at {name}, which the other ranks do not call again"
    )
    tell(name, error, group)
    raise error


#: Functions of JAX: of programs, and of their reverse passes.
_runs_again = ("maybe_recursive_nan_check", "_pjit_transpose", "_pjit_transpose_fancy")


def _require_parts(name: str, where: Any, group: Group) -> None:
    """UnsupportedError, on all ranks, where XLA would make the call once for each of several devices, or of an array that it has cut
    as it likes. `where`: the program's devices, as JAX has them while it lowers."""
    try:
        group.rank  # the group has one rank in this process
        mesh, devices = getattr(where, "mesh", None), getattr(where, "num_devices", 1)
        if mesh is not None:
            devices = mesh.size
            manual = set(where.manual_axes)
            if all(extent == 1 or axis in manual for axis, extent in mesh.shape.items()):
                here = len(getattr(mesh, "local_devices", ()))
                if here <= 1:
                    return
                raise UnsupportedError(
                    f"{name}: the program runs on {here} devices of this process, each of which would make the call, but this process is one "
                    "rank of the group: start one process (or one thread of partita.run) per device"
                )
        if devices > 1:
            raise UnsupportedError(
                f"{name}: the operand is sharded over {devices} devices, but a call takes this rank's part: make the call inside "
                "jax.shard_map over all axes of the mesh, or pass x.addressable_data(0)"
            )
    except UnsupportedError as error:
        tell(name, error, group)
        raise


def _tangent(primal: Any, tangent: Any) -> Any:
    """Zeros are sent like other numbers: other ranks may have something else there."""
    return ad.instantiate_zeros(tangent) if isinstance(tangent, ad.Zero) else tangent


def no_tangent(found: Any) -> Any:
    """That a result does not depend on what is differentiated, in the words of JAX before 0.10 and since."""
    if hasattr(ad.Zero, "from_primal_value"):
        return ad.Zero.from_primal_value(found)
    aval: Any = getattr(jax, "typeof")(found)
    return ad.Zero(aval.to_tangent_aval())


def linear(primitive: Any, transposed: Callable[..., Any]) -> None:
    """Its derivatives: the same call of the tangent, and `transposed(cotangent, operand's shape and dtype, **params)`."""

    def jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
        found = primitive.bind(*primals, **params)
        if all(isinstance(tangent, ad.Zero) for tangent in tangents):
            return found, no_tangent(found)
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


def batched_in_turn(primitive: Any, placed: Optional[Placed] = None, finished: Optional[Callable[[Any, Group], Any]] = None) -> None:
    """`vmap` by one call after the other; `finished` gives each result in place of what the calls have found."""

    def batch(operands: Sequence[Any], axes: Sequence[Any], /, **params: Any) -> Any:
        put = None if placed is None else placed(operands, params["group"])
        operands = operands if put is None else [put(one) for one in operands]
        mapped = [axis is not None for axis in axes]
        moved = tuple(jax.numpy.moveaxis(one, axis, 0) for one, axis, is_mapped in zip(operands, axes, mapped) if is_mapped)

        def one_call(rows: Any) -> Any:
            given = iter(rows)
            return primitive.bind(*(next(given) if is_mapped else one for one, is_mapped in zip(operands, mapped)), **params)

        found = jax.lax.map(one_call, moved)
        if finished is not None:
            found = jax.tree.map(lambda one: finished(one, params["group"]), found)
        return found, [0] * len(found) if primitive.multiple_results else 0

    batching.primitive_batchers[primitive] = batch
