"""Ghost cells of whole arrays: each device's part of the result is its part of the array, extended by elements of its neighbours."""

from __future__ import annotations

import math
from typing import Any, List, Tuple

import jax  # type: ignore[import-not-found,unused-ignore]
import jax.numpy as jnp  # type: ignore[import-not-found,unused-ignore]

from .._errors import ArgumentError
from ._group import Group
from ._sharded import Described, NamedSharding, Operation, Shape, linear_of_whole, operation_of
from ._whole_arrays import known_sharding, names_of_dimensions, on_mesh

Widths = Tuple[int, ...]


def _cuts(sharding: Any, dimensions: int) -> List[int]:
    """Into how many parts each dimension is cut."""
    mesh, spec = sharding.mesh, [*sharding.spec, *[None] * (dimensions - len(sharding.spec))]
    return [math.prod(mesh.shape[axis] for axis in (axes if isinstance(axes, tuple) else () if axes is None else (axes,))) for axes in spec]


def _grown(x: Any, lower: Widths, upper: Widths, out: Any, sign: int) -> List[Described]:
    cuts = _cuts(out, x.ndim)
    return [(tuple(n + sign * cut * (low + high) for n, cut, low, high in zip(x.shape, cuts, lower, upper)), x.dtype)]


def _surrounded(part: Any, shape: Shape, lower: Widths, **_: Any) -> Any:
    """The part, in zeros. (The array itself where JAX only looks for its shape.)"""
    return jnp.pad(part, [(low, extent - n - low) for n, extent, low in zip(part.shape, shape, lower)])


def _dimensions(x: Any, **_: Any) -> str:
    return f"{' '.join(names_of_dimensions('i', x.ndim))} -> {' '.join(names_of_dimensions('j', x.ndim))}"


_extend: Any = operation_of(
    Operation(
        "halo", "halo", ("layout",), ("extended",), describe=lambda x, lower, upper, out, **_: _grown(x, lower, upper, out, 1),
        typed=lambda x, out, **_: [out], dimensions=_dimensions, in_place=_surrounded, alike=True,
    )
)  # fmt: skip
_accumulate: Any = operation_of(
    Operation(
        "halo_accumulate", "halo_accumulate", ("extended",), ("layout",),
        describe=lambda x, lower, upper, out, **_: _grown(x, lower, upper, out, -1), typed=lambda x, out, **_: [out], dimensions=_dimensions,
        alike=True,
    )
)  # fmt: skip


def _extend_back(cotangent: Any, x: Any, *, group: Group, out: Any, **params: Any) -> Any:
    if math.prod(_cuts(out, x.ndim)) != group.size:
        raise ArgumentError(
            f"halo: the array has replicas ({out.spec} over {dict(out.mesh.shape)}), to each of which ghost cells would be added: for derivatives, cut "
            "it along all axes of the mesh"
        )
    return _accumulate.bind(cotangent, group=group, out=out, **params)


def _accumulate_back(cotangent: Any, x: Any, **params: Any) -> Any:
    return _extend.bind(cotangent, **params)


linear_of_whole(_extend, _extend_back)
linear_of_whole(_accumulate, _accumulate_back)


def extended(x: Any, lower: Widths, upper: Widths, periodic: Tuple[int, ...], sharding: Any, group: Group) -> jax.Array:
    found = on_mesh("halo", sharding, x) or known_sharding(x)
    if not isinstance(found, NamedSharding):
        raise ArgumentError(
            "halo: the sharding of the array is not known here, and the shape of the result depends on it: pass sharding=NamedSharding(mesh, spec)"
        )
    for d, (n, cut) in enumerate(zip(x.shape, _cuts(found, x.ndim))):
        if n % cut:
            raise ArgumentError(f"halo: dimension {d} has {n} elements, which {found.spec} cuts into {cut} parts: all must have the same size")
    extended: jax.Array = _extend.bind(x, group=group, lower=lower, upper=upper, periodic=periodic, out=found)
    return extended
