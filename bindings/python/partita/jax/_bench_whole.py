"""The time of calls on whole arrays over the devices of one process, compared with JAX, jaxDecomp, and the library in C++."""

from __future__ import annotations

import functools
import importlib
from typing import Any, Callable, Iterator, List, Optional

import jax  # type: ignore[import-not-found,unused-ignore]
import jax.numpy as jnp  # type: ignore[import-not-found,unused-ignore]

from .. import Slab, _core
from .. import jax as ours
from .._context import Context
from .._create import empty
from ..bench import Case, Seconds, queued
from ._devices import on_each
from ._sharded import NamedSharding, Spec

_ready: Any = jax.block_until_ready
_jax: Any = jax


def _cpp(group: ours.Group, edge: int) -> Seconds:
    """The same transform by a plan on each device, of arrays on the heap."""
    arrays: List[Any] = []

    def make(context: Context) -> None:
        source, target = (empty(context, (edge,) * 3, Slab(axis), "complex64") for axis in (0, 1))
        source.fill(1)
        arrays.append((context, source, target))

    on_each(group._contexts, make)

    def seconds(calls: int) -> float:
        found: List[float] = []

        def run(context: Context) -> None:
            _, source, target = next(one for one in arrays if one[0] is context)
            found.append(_core.seconds_of_fft_plan(source._core, target._core, _core.FftOptions(), calls))

        on_each(group._contexts, run)
        return max(found)

    return seconds


def _jax_decomp() -> Optional[Callable[[Any], Any]]:
    """Its transform, whose result has its dimensions in another order; None: it is not installed."""
    try:
        return importlib.import_module("jaxdecomp").pfft3d  # type: ignore[no-any-return]
    except ImportError:
        return None


def _case(name: str, bytes_of_array: int, mine: Any, peer: str, theirs: Any, *operands: Any, calls: int = 10) -> Case:
    sides = (queued(lambda: mine(*operands), _ready), queued(lambda: theirs(*operands), _ready))
    return Case(name, bytes_of_array, sides[0], peer, sides[1], calls)


def _transforms(group: ours.Group, mesh: Any, edge: int) -> Iterator[Case]:
    rows, columns = (NamedSharding(mesh, Spec(*one)) for one in (("x",), (None, "x")))
    cube, size = _jax.device_put(jnp.ones((edge,) * 3, jnp.complex64), rows), 8 * edge**3
    turned = jax.jit(functools.partial(ours.fftn, out_sharding=columns))
    yield Case(f"whole-fft/{edge}", size, queued(lambda: turned(cube), _ready), "cpp", _cpp(group, edge), 10)
    yield _case(f"whole-fft-beside-jax/{edge}", size, turned, "jnp.fft", jax.jit(jnp.fft.fftn, out_shardings=columns), cube)
    yield _case(f"whole-fft-natural/{edge}", size, jax.jit(ours.fftn), "jnp.fft", jax.jit(jnp.fft.fftn, out_shardings=rows), cube)
    theirs = _jax_decomp()
    if theirs is None:
        print(f"whole-fft-beside-jaxdecomp/{edge}: skipped: jaxdecomp is not installed")
        return
    slabs = _jax.make_mesh((mesh.size, 1), ("x", "y"), axis_types=(_jax.sharding.AxisType.Auto,) * 2)
    cube = _jax.device_put(cube, NamedSharding(slabs, Spec("x", "y")))
    turned = jax.jit(functools.partial(ours.fftn, out_sharding=NamedSharding(slabs, Spec(None, "x"))))
    yield _case(f"whole-fft-beside-jaxdecomp/{edge}", size, turned, "jaxdecomp", jax.jit(theirs), cube)


def _moves(mesh: Any, edge: int) -> Iterator[Case]:
    rows, columns = (NamedSharding(mesh, Spec(*one)) for one in (("x",), (None, "x")))
    x = _jax.device_put(jnp.ones((edge, edge), jnp.float32), rows)
    mine = jax.jit(lambda x: ours.redistribute(x, columns))
    yield _case(f"whole-redistribute/{edge}", 4 * edge**2, mine, "jit", jax.jit(lambda x: x, out_shardings=columns), x)


def _products(mesh: Any, edge: int) -> Iterator[Case]:
    rows = NamedSharding(mesh, Spec("x"))
    a = _jax.device_put(jnp.ones((edge, edge), jnp.float32), rows)
    for name, precision in (("", None), ("-highest", "highest")):
        mine = jax.jit(functools.partial(ours.matmul, precision=precision))
        theirs = jax.jit(functools.partial(jnp.matmul, precision=precision), out_shardings=rows)
        yield _case(f"whole-matmul{name}/{edge}", 4 * edge**2, mine, "jnp", theirs, a, a)
    b = _jax.device_put(jnp.ones((64, edge, 64), jnp.float32), NamedSharding(mesh, Spec(None, "x")))
    text = "ijk,jl->ikl"
    mine = jax.jit(lambda b, a: ours.einsum(text, b, a, out_sharding=NamedSharding(mesh, Spec(None, None, "x"))))
    theirs = jax.jit(functools.partial(jnp.einsum, text), out_shardings=NamedSharding(mesh, Spec(None, None, "x")))
    yield _case(f"whole-einsum/{edge}", 4 * edge**2, mine, "jnp", theirs, b, a)


def cases(edge: int) -> Iterator[Case]:
    """Of cubes with so many elements along an edge, and of matrices with 16 and 32 times as many."""
    with ours.Group() as group:
        mesh = _jax.make_mesh((group.size,), ("x",), axis_types=(_jax.sharding.AxisType.Auto,))
        yield from _transforms(group, mesh, edge)
        yield from _moves(mesh, 32 * edge)
        yield from _products(mesh, 16 * edge)
