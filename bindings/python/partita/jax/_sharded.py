"""Calls on whole arrays, whose parts are on the devices of the group: custom partitioned operations of XLA.

When XLA partitions a program, it reports how operands and results are sharded, and gets the call with their layouts in its place: no
operand is gathered. A device's call finds its rank by the device that it runs on.

Calls of different devices belong together by their order. On the CPU, XLA runs operations that do not depend on each other in any order, so
each call takes a number that the one before it returns (`turn`). The number is made of JAX's token, which keeps the order through
loops and branches but cannot be partitioned, and a token is made of it again.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import jax  # type: ignore[import-not-found,unused-ignore]
import numpy as np
from jax.experimental import custom_partitioning as _partitioning  # type: ignore[import-not-found,unused-ignore]
from jax.interpreters import mlir as _mlir  # type: ignore[import-not-found,unused-ignore]

from .. import _core
from .._errors import ArgumentError, UnsupportedError
from . import _internals
from ._group import Group, tell
from ._program import Primitive, ad, attributes, batched, batched_in_turn, called_alone, linear, local, no_tangent
from ._tokens import effect

# What JAX has no types for.
_jax: Any = jax
_jax_partitioning: Any = _partitioning.custom_partitioning
mlir: Any = _mlir
NamedSharding: Any = jax.sharding.NamedSharding
Spec: Any = jax.sharding.PartitionSpec
Shape = Tuple[int, ...]
#: Of one array: shape and dtype.
Described = Tuple[Shape, Any]

_turn = _internals.ShapedArray((), np.int32)
_pass_turn: Any = jax.ffi.ffi_lowering("partita_turn", has_side_effect=False)


# --- shardings as layouts


def layout_of(sharding: Any, shape: Shape, group: Group) -> _core.Layout:
    """The layout of an array with this sharding. Ranks are those of the group's devices."""
    found: _core.Layout = group._programs.find_or_make((sharding, shape), lambda: _layout(sharding, shape, group))
    return found


def _layout(sharding: Any, shape: Shape, group: Group) -> _core.Layout:
    if sharding.is_fully_replicated:
        return _core.Layout(_core.Replicated(), shape, group.size)
    if isinstance(sharding, NamedSharding):
        return _layout_on_mesh(sharding, shape, group)
    raise UnsupportedError(f"an array of shape {shape} has {sharding!r}; use a NamedSharding over a mesh of all devices of the group")


def _layout_on_mesh(sharding: Any, shape: Shape, group: Group) -> _core.Layout:
    mesh = sharding.mesh
    names = {name: f"a{i}" for i, name in enumerate(mesh.axis_names)}
    ranks = [group._ranks_of_devices[device] for device in mesh.devices.flat] if group.size > 1 else [0]
    if sorted(ranks) != list(range(group.size)):
        raise UnsupportedError(
            f"the mesh {mesh} has {len(ranks)} devices, but the group has {group.size}: the mesh must have all devices of the group"
        )
    dimensions: List[Any] = []
    for axes in sharding.spec:
        given = axes if isinstance(axes, tuple) else () if axes is None or axes is Spec.UNCONSTRAINED else (axes,)
        dimensions.append([names[axis] for axis in given] or None)
    dimensions += [None] * (len(shape) - len(dimensions))
    ordered = [] if ranks == list(range(len(ranks))) else ranks
    placed = _core.Mesh({names[name]: extent for name, extent in mesh.shape.items()} or {"a0": 1}, ordered)
    return _core.Layout(_core.Partitioned(placed, _core.P(*dimensions)), shape, group.size)


def padded_shape(layout: _core.Layout) -> Shape:
    """Of the parts of all ranks, which XLA pads to one shape."""
    shapes = [layout.local_shape(rank) for rank in range(layout.ranks)]
    return tuple(max(extents) for extents in zip(*shapes)) if layout.shape else ()


def _is_padded(layout: _core.Layout) -> bool:
    shape = padded_shape(layout)
    return any(layout.local_shape(rank) != shape for rank in range(layout.ranks))


# --- shardings in types, which JAX has for meshes with explicit axes


def _has_types(sharding: Any) -> bool:
    """Whether its mesh has explicit axes, so that types of arrays contain their shardings."""
    return bool(getattr(getattr(sharding, "mesh", None), "explicit_axes", None))


def explicit_sharding(aval: Any) -> Optional[Any]:
    """The sharding in the type of an array; None if the compiler chooses it."""
    found = getattr(aval, "sharding", None)
    return found if _has_types(found) else None


def _typed(described: Described, sharding: Optional[Any]) -> Any:
    if sharding is None or not _has_types(sharding):
        return _internals.ShapedArray(*described)
    mesh, shape = getattr(sharding.mesh, "abstract_mesh", sharding.mesh), described[0]
    spec = [*sharding.spec, *[None] * (len(shape) - len(sharding.spec))]
    for extent, axes in zip(shape, spec):
        if extent % math.prod(mesh.shape[axis] for axis in (axes if isinstance(axes, tuple) else () if axes is None else (axes,))):
            raise ArgumentError(
                f"the result has shape {shape}, which {sharding.spec} over {dict(mesh.shape)} does not divide evenly, as JAX requires of a mesh "
                "with explicit axes: pass out_sharding"
            )
    return _internals.ShapedArray(*described, sharding=NamedSharding(mesh, Spec(*spec)))


# --- operations


@dataclasses.dataclass(frozen=True)
class Operation:
    """What is particular to an operation.

    `describe(*operands, **params)` lists shape and dtype of each result; with `typed(*operands, **params)`, their shardings if those of
    operands are in their types. Layouts are attributes of the call, named `operands` and `results`. XLA propagates shardings between
    dimensions that have the same name in `dimensions(*operands, **params)`, one text for operands and results: "i j, k -> i k".

    `in_place(part, shape, **params)`: what the call gets in place of its only operand, with the shape of its only result, which takes its memory.
    `alike`: the operand is sharded as the result.
    """

    name: str
    handler: str
    operands: Sequence[str]
    results: Sequence[str]
    describe: Callable[..., List[Described]]
    typed: Callable[..., List[Any]]
    dimensions: Callable[..., str]
    in_place: Optional[Callable[..., Any]] = None
    alike: bool = False


#: Parameters of primitives that handlers do not get.
_of_program = ("out", "length")


def _call(operation: Operation, operands: Sequence[Any], results: Sequence[Described], params: Dict[str, Any], layouts: Sequence[Any]) -> Any:
    """The call of one device, with its parts, and its turn."""
    names = (*operation.operands[: len(operands) - 1], *operation.results)
    given = attributes({**{name: value for name, value in params.items() if name not in _of_program}, **dict(zip(names, layouts))})
    given.update({f"{name}_padded": np.int64(1) for name, layout in zip(names, layouts) if _is_padded(layout)})
    types = [_jax.ShapeDtypeStruct(*one) for one in (*results, ((), np.int32))]
    aliases = None
    if operation.in_place is not None:
        operands, aliases = (operation.in_place(operands[0], results[0][0], **params), operands[-1]), {0: 0}
    found = jax.ffi.ffi_call(f"partita_{operation.handler}", types, has_side_effect=False, input_output_aliases=aliases)
    return tuple(found(*operands, **given))


def _partitioned(operation: Operation, params: Dict[str, Any], results: List[Described], out: Sequence[Any], dimensions: str) -> Any:
    """The operation on whole arrays and a turn. `out`: the shardings of results; None: as XLA propagates them."""
    group = params["group"]

    def on_one_device(*operands: Any) -> Any:
        shapes = [*(one.shape for one in operands[:-1]), *(shape for shape, _ in results)]
        return _call(operation, operands, results, params, [_core.Layout(_core.Replicated(), shape, group.size) for shape in shapes])

    def partition(mesh: Any, given: Any, found: Any) -> Any:
        after = [wanted or one.sharding for wanted, one in zip(out, found)]
        before = after if operation.alike else [one.sharding for one in given[:-1]]
        layouts = [layout_of(sharding, tuple(one.shape), group) for sharding, one in zip(before, given)]
        of_results = [layout_of(sharding, shape, group) for sharding, (shape, _) in zip(after, results)]
        parts = [(padded_shape(layout), dtype) for layout, (_, dtype) in zip(of_results, results)]

        def on_part(*operands: Any) -> Any:
            return _call(operation, operands, parts, params, [*layouts, *of_results])

        everywhere = NamedSharding(mesh, Spec())
        return mesh, on_part, (*after, everywhere), (*before, everywhere)

    made = _jax_partitioning(on_one_device)
    before, _, after = dimensions.partition("->")
    made.def_partition(partition, sharding_rule=f"{before.strip()}, -> {after.strip()},")
    return made


def _devices_of(operation: Operation, ctx: Any, group: Group) -> Tuple[Any, ...]:
    """Those of the program; they must be those of the group."""
    where = ctx.module_context.axis_context
    if getattr(where, "mesh", None) is not None:
        raise UnsupportedError(
            f"{operation.name}: a call on a whole array is made inside shard_map, which has this device's part: pass the part's layout, or "
            "make the call outside of shard_map"
        )
    devices = tuple(where.device_assignment or ())
    if len(devices) != group.size:
        raise UnsupportedError(
            f"{operation.name}: the program runs on {len(devices)} device{'s' if len(devices) > 1 else ''}, but the group has {group.size} ranks: "
            "place the array on all devices of the group, as by jax.device_put(x, NamedSharding(mesh, PartitionSpec('x')))"
        )
    if group.size > 1 and not set(devices) <= set(group._ranks_of_devices):
        raise UnsupportedError(f"{operation.name}: the program runs on {devices}, which are not the devices of the group")
    return devices


def _placed(wanted: Any, aval: Any, devices: Tuple[Any, ...], operation: Operation) -> Optional[Any]:
    """The sharding of a result: the one that was asked for, or the one in its type; on a mesh whose shardings the compiler may choose."""
    found = wanted or explicit_sharding(aval)
    if found is None or len(devices) == 1:
        return None
    if isinstance(found.mesh, jax.sharding.Mesh) and tuple(found.mesh.devices.flat) != devices:
        raise UnsupportedError(
            f"{operation.name}: out_sharding has the devices {[one.id for one in found.mesh.devices.flat]}, but the program runs on "
            f"{[one.id for one in devices]}: the meshes must have the same devices in the same order"
        )
    mesh = jax.sharding.Mesh(np.array(devices).reshape(tuple(found.mesh.shape.values())), found.mesh.axis_names)
    return NamedSharding(mesh, found.spec)


def _on_devices_of(operands: Sequence[Any], group: Group) -> Optional[Callable[[Any], Any]]:
    """What is on no particular device, as constants that derivatives begin with, JAX places where it is needed: here on all devices. In several
    processes such arrays are the same in each, as JAX requires, too; there batches of batches stay where they are."""
    values = [_internals.value_behind(one) for one in operands]
    if group.size == 1 or any(isinstance(one, jax.core.Tracer) or getattr(one, "committed", False) for one in values):
        return None
    everywhere = NamedSharding(jax.sharding.Mesh(np.array(list(group._ranks_of_devices)), ("devices",)), Spec())
    if jax.process_count() == 1:
        return lambda one: _jax.device_put(one, everywhere)
    if any(isinstance(one, jax.core.Tracer) for one in operands):
        return None
    return lambda one: one if one.committed else _jax.make_array_from_single_device_arrays(one.shape, everywhere, [one])


#: Its operand. The cotangent, with which transposed calls begin outside of programs, is placed as operands are.
_with_cotangent_placed = local("with_cotangent_placed")
batched(_with_cotangent_placed, lambda axis: (axis, axis))


def _placed_cotangent(cotangent: Any, _: Any, group: Group) -> Any:
    put = _on_devices_of([cotangent], group)
    return cotangent if put is None else put(cotangent)


linear(_with_cotangent_placed, _placed_cotangent)


def operation_of(operation: Operation) -> Any:
    """The primitive of an operation, whose batches are calls one after the other. `params["out"]`: the wanted sharding of its only result, or
    None."""
    primitive = Primitive(f"partita_{operation.name}_sharded")
    primitive.multiple_results = len(operation.results) > 1

    def described(*operands: Any, **params: Any) -> Any:
        wanted = [params.get("out")] * len(operation.results)
        if any(explicit_sharding(one) for one in operands):
            wanted = [one or typed for one, typed in zip(wanted, operation.typed(*operands, **params))]
        found = [_typed(one, sharding) for one, sharding in zip(operation.describe(*operands, **params), wanted)]
        return (found if primitive.multiple_results else found[0]), {effect}

    def lowered(ctx: Any, *operands: Any, **params: Any) -> Any:
        group = params["group"]
        try:
            return _lowered(operation, ctx, operands, params)
        except (ArgumentError, UnsupportedError) as error:
            tell(operation.name, error, group)
            raise

    primitive.def_effectful_abstract_eval(described)
    called_alone(primitive, operation.name, _on_devices_of)
    batched_in_turn(primitive, _on_devices_of, lambda found, group: _with_cotangent_placed.bind(found, group=group))
    _internals.register_lowering(primitive, lowered)
    _internals.lower_with_devices(primitive)
    return primitive


def _lowered(operation: Operation, ctx: Any, operands: Sequence[Any], params: Dict[str, Any]) -> Any:
    devices = _devices_of(operation, ctx, params["group"])
    before = [_internals.ShapedArray(one.shape, one.dtype) for one in ctx.avals_in]  # without shardings in types
    results = [(tuple(one.shape), one.dtype) for one in ctx.avals_out]
    out = [_placed(params.get("out"), one, devices, operation) for one in ctx.avals_out]
    partitioned = _partitioned(operation, params, results, out, operation.dimensions(*before, **params))

    def program(*given: Any) -> Any:
        *found, turn = partitioned(*given)
        placed = [one if sharding is None else _jax.lax.with_sharding_constraint(one, sharding) for one, sharding in zip(found, out)]
        return (*placed, turn)

    token = _internals.abstract_token
    (turn,) = _pass_turn(ctx.replace(avals_in=(token,), avals_out=(_turn,)), ctx.tokens_in.get(effect))
    after = [_internals.ShapedArray(*one) for one in results]
    inner = ctx.replace(avals_in=(*before, _turn), avals_out=(*after, _turn))
    *found, turn = mlir.lower_fun(program, multiple_results=True)(inner, *operands, *_values(turn))
    (end,) = _pass_turn(ctx.replace(avals_in=(_turn,), avals_out=(token,)), *_values(turn))
    ctx.set_tokens_out(mlir.TokenSet({effect: end}))
    return found


def _values(lowered: Any) -> Sequence[Any]:
    """JAX lowers an array to a value, or to a list of one."""
    return lowered if isinstance(lowered, (list, tuple)) else [lowered]


def linear_of_whole(primitive: Any, transposed: Callable[..., Any]) -> None:
    """Derivatives of a linear operation: the same call of the tangent, and `transposed(cotangent, operand's type, **params)`. What is zero for
    JAX is zero on all devices, and is not computed."""

    def jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
        found = primitive.bind(*primals, **params)
        return found, (no_tangent(found) if isinstance(tangents[0], ad.Zero) else primitive.bind(*tangents, **params))

    def transpose(cotangent: Any, operand: Any, **params: Any) -> Any:
        return (zero_of(operand) if isinstance(cotangent, ad.Zero) else transposed(cotangent, operand.aval, **params),)

    ad.primitive_jvps[primitive] = jvp
    ad.primitive_transposes[primitive] = transpose


def zero_of(operand: Any) -> Any:
    """The cotangent of an operand on which nothing depends; None: it is not a variable."""
    return ad.Zero(operand.aval) if ad.is_undefined_primal(operand) else None
