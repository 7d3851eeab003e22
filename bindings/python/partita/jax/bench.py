"""The time of calls in compiled programs, compared with other libraries in the same run.

    mpirun -n 2 python -m partita.jax.bench                  # or: partita bench jax
    mpirun -n 4 python -m partita.jax.bench --device cuda    # a GPU for each rank; some cases are of one rank, too
    python -m partita.jax.bench --device cuda --case "whole-*"   # one process with all GPUs: calls on whole arrays

On the CPU compared with mpi4jax on the same MPI, if it is installed; on GPUs with Partita's in C++, JAX's own
transform (of an array that is sharded over the ranks), `jax.lax.psum` under `shard_map`, and an all-reduce of MPI on copies in
host memory.
"""

from __future__ import annotations

import functools
import importlib
import socket
from typing import Any, Callable, Iterator, Optional, Tuple

import jax  # type: ignore[import-not-found,unused-ignore]
import jax.numpy as jnp  # type: ignore[import-not-found,unused-ignore]
import numpy as np

from .. import Layout, Slab, _core
from .. import jax as ours
from .._collectives import broadcast
from .._context import Context, initialize
from .._create import empty
from .._errors import UnsupportedError
from ..bench import Case, called, main, queued
from ..compat import mpi4jax as compatible
from . import _bench_whole

_edge, _edge_on_gpus = 256, 512
_sizes = (("1KiB", 1 << 10, 200), ("16KiB", 16 << 10, 200), ("256KiB", 256 << 10, 200), ("4MiB", 4 << 20, 50), ("64MiB", 64 << 20, 20), ("1GiB", 1 << 30, 3))  # fmt: skip
_ready: Any = jax.block_until_ready
_jax: Any = jax  # of which not all has types


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


def _on_cpu(context: Context) -> Iterator[Case]:
    _jax.config.update("jax_platforms", "cpu")
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


def _beside_cpp(context: Context) -> Iterator[Case]:
    """A transform in a program, several of them one behind the other, and as many of a plan in C++; in the last case JAX's own."""
    edge, ranks = _edge_on_gpus, context.size
    layout = Layout(Slab(0), (edge,) * 3, ranks)
    cube = jnp.ones(layout.local_shape(context.rank), jnp.complex64)
    mine = jax.jit(lambda cube: ours.fft(cube, layout, Slab(1)))
    ours_queued, size = queued(lambda: mine(cube), _ready), 8 * edge**3
    source, target = (empty(context, layout.shape, Slab(axis), "complex64") for axis in (0, 1))
    source.fill(1)

    def cpp(calls: int) -> float:
        return _core.seconds_of_fft_plan(source._core, target._core, _core.FftOptions(), calls)

    yield Case(f"fft/{edge}", size, ours_queued, "cpp", cpp, 30)
    if ranks == 1:
        own = jax.jit(jnp.fft.fftn)
        yield Case(f"fft-beside-jax/{edge}", size, ours_queued, "jnp.fft", queued(lambda: own(cube), _ready), 30)


def _over_ranks(context: Context) -> Tuple[Any, Any, Any]:
    """A mesh of all ranks, its axis, and arrays whose first axis is cut along it."""
    axes = _jax.sharding.PartitionSpec("ranks")
    mesh = jax.make_mesh((context.size,), ("ranks",))
    return mesh, axes, jax.sharding.NamedSharding(mesh, axes)


def _beside_sharded(context: Context) -> Iterator[Case]:
    """A transform of an array that JAX has sharded, into what is cut along the second axis, and into what is cut as it
    was: JAX brings all of it together on every rank."""
    edge = _edge_on_gpus
    layout = Layout(Slab(0), (edge,) * 3, context.size)
    mesh, _, spread = _over_ranks(context)
    turned = _jax.sharding.NamedSharding(mesh, _jax.sharding.PartitionSpec(None, "ranks"))
    whole = _jax.make_array_from_process_local_data(spread, np.ones(layout.local_shape(context.rank), np.complex64))
    part = whole.addressable_data(0)

    def into(name: str, axis: int, sharding: Any) -> Case:
        mine = jax.jit(functools.partial(ours.fft, source=layout, destination=Slab(axis)))
        own = jax.jit(jnp.fft.fftn, out_shardings=sharding)
        sides = queued(lambda: mine(part), _ready), queued(lambda: own(whole), _ready)
        return Case(f"fft-beside-sharded{name}/{edge}", 8 * edge**3, sides[0], "jnp.fft", sides[1], 10)

    yield into("", 1, turned)
    yield into("-natural", 0, spread)


def _beside_staging(context: Context) -> Iterator[Case]:
    """An all-reduce as programs have it whose MPI reads no device memory (mpi4jax's among them): by way of the host."""
    MPI = importlib.import_module("mpi4py.MPI")
    name, size, calls = "256MiB", 256 << 20, 3
    part = jnp.ones(size // 4, jnp.float32)
    mine = jax.jit(ours.all_reduce)

    def staged() -> Any:
        here = np.asarray(part + 0)  # a new array: of one that was copied before JAX keeps the copy
        summed = np.empty_like(here)
        MPI.COMM_WORLD.Allreduce(here, summed, MPI.SUM)
        return _ready(jnp.asarray(summed))

    yield Case(f"all_reduce-beside-staged/{name}", size, queued(lambda: mine(part), _ready), "staged", called(staged), calls)


def _beside_psum(context: Context) -> Iterator[Case]:
    mesh, axes, spread = _over_ranks(context)
    summed = jax.shard_map(lambda x: _jax.lax.psum(x, "ranks"), mesh=mesh, in_specs=axes, out_specs=axes, check_vma=False)
    mine, theirs = jax.jit(ours.all_reduce), jax.jit(summed)
    for name, size, calls in _sizes:
        whole = _jax.make_array_from_process_local_data(spread, np.ones(size // 4, np.float32))
        part = whole.addressable_data(0)
        yield Case(f"all_reduce/{name}", size, queued(lambda: mine(part), _ready), "psum", queued(lambda: theirs(whole), _ready), calls)


def _connected(context: Context, index: Optional[int]) -> None:
    """`jax.distributed` on the same ranks, each with this GPU, before JAX looks for devices."""
    port = np.zeros(1, np.int64)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port[0] = free.getsockname()[1]
    broadcast(context, port)
    given = {} if index is None else {"local_device_ids": [index]}
    _jax.distributed.initialize(f"127.0.0.1:{port[0]}", context.size, context.rank, **given)


def _on_gpus(context: Context) -> Iterator[Case]:
    gpus, ranks = _core.device_count(), context.size
    alone = 1 < ranks <= gpus  # NCCL, and so psum, wants a GPU for each rank
    with initialize(device="cuda") as there:
        if alone:
            _connected(context, int(there.device.partition(":")[2]))
        if jax.default_backend() != "gpu":
            raise UnsupportedError(f"JAX computes on {jax.default_backend()}: install it with its plugin for CUDA")
        with ours.Group(there):
            yield from _beside_cpp(there)
            if alone:
                yield from _beside_psum(there)
                yield from _beside_staging(there)
                yield from _beside_sharded(there)
            elif context.rank == 0:
                print(f"all_reduce/*: skipped: the comparison with psum needs at least two ranks with one GPU each; {ranks} ranks, {gpus} GPUs")


def cases(context: Context, device: Optional[str]) -> Iterator[Case]:
    """A process that has all devices to itself measures calls on whole arrays, too."""
    yield from _on_gpus(context) if device == "cuda" else _on_cpu(context)
    if context.size == 1 and jax.device_count() > 1:
        yield from _bench_whole.cases(_edge_on_gpus if device == "cuda" else _edge // 4)


if __name__ == "__main__":
    main(cases=cases, operation="jax", about=__doc__ or "")
