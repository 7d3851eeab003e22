"""What calls in compiled programs take: beside mpi4jax on the same MPI, in the same run, or beside none where it is not installed.

    mpirun -n 2 python -m partita.jax.bench           # or: partita bench jax
"""

from __future__ import annotations

import importlib
from typing import Any, Callable, Iterator, Tuple

import jax  # type: ignore[import-not-found,unused-ignore]
import jax.numpy as jnp  # type: ignore[import-not-found,unused-ignore]
import numpy as np

from .. import Layout, Slab
from .. import jax as ours
from .._context import Context
from ..bench import Case, called, main
from ..compat import mpi4jax as compatible

_edge = 256
_ready: Any = jax.block_until_ready


def _peer() -> Tuple[str, Any, Any]:
    """mpi4jax and MPI; where there are none, the compatible calls of the package."""
    MPI = importlib.import_module("mpi4py.MPI")
    try:
        return "mpi4jax", importlib.import_module("mpi4jax"), MPI
    except ImportError:
        return "none", compatible, MPI


def _waited(function: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
    return lambda: _ready(function(*arguments))


def _transform(alltoall: Callable[..., Any], ranks: int) -> Callable[[Any], Any]:
    """Of a cube that is cut along its first axis, as programs of mpi4jax do it: it comes out cut along the second."""

    def transform(cube: Any) -> Any:
        cube = jnp.fft.fftn(cube, axes=(1, 2))
        x, y, z = cube.shape
        pieces = alltoall(cube.reshape(x, ranks, y // ranks, z).swapaxes(0, 1))
        return jnp.fft.fft(pieces.reshape(x * ranks, y // ranks, z), axis=0)

    return transform


def _cases(context: Context) -> Iterator[Case]:
    peer, theirs, MPI = _peer()
    ranks = context.size
    with ours.Group(context):
        for size, length, calls in (("1KiB", 256, 200), ("16MiB", 4 << 20, 5), ("256MiB", 64 << 20, 1)):
            x = jnp.ones(length, jnp.float32)
            mine = jax.jit(ours.all_reduce)
            other = jax.jit(lambda x: theirs.allreduce(x, op=MPI.SUM))
            yield Case(f"all_reduce/{size}", 4 * length, called(_waited(mine, x)), peer, called(_waited(other, x)), calls)
        part = _edge // ranks
        cube = jnp.asarray(np.random.default_rng(context.rank).random((part, _edge, _edge)), jnp.complex64)
        layout = Layout(Slab(0), (_edge,) * 3, ranks)
        other = jax.jit(_transform(theirs.alltoall, ranks))
        bytes_of_cube = 8 * _edge**3
        for name, function in (
            ("fft3d", _transform(compatible.alltoall, ranks)),
            ("fft", lambda cube: ours.fft(cube, layout, Slab(1))),
        ):
            mine = jax.jit(function)
            yield Case(f"{name}/{_edge}", bytes_of_cube, called(_waited(mine, cube)), peer, called(_waited(other, cube)), 1)


if __name__ == "__main__":
    main(cases=_cases, operation="jax", about=(__doc__ or "").partition("\n")[0])
