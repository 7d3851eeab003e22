"""partita.compat.mpi4jax: the calls of mpi4jax, and a program of it in processes of their own."""

import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from jax_cases import jax, jnp, pj

import partita as pt

MPI = pytest.importorskip("mpi4py.MPI")

import partita.compat.mpi4jax as mpi4jax
from conftest import PROCESSES, RANKS
from partita.compat.mpi4jax._groups import _open, group_of


def test_collectives(ctx):
    with pj.Group(ctx) as group:
        last, x = ctx.size - 1, jnp.arange(6.0).reshape(2, 3) + ctx.rank
        all_of = np.stack([np.arange(6.0).reshape(2, 3) + rank for rank in range(ctx.size)])

        @jax.jit
        def program(x):
            mpi4jax.barrier()
            slices = jnp.stack([x] * ctx.size)
            return (
                mpi4jax.allreduce(x, MPI.SUM, comm=group),
                mpi4jax.allreduce(x, op=MPI.MAX),
                mpi4jax.reduce(x, MPI.PROD, last),
                mpi4jax.scan(x, MPI.SUM),
                mpi4jax.bcast(x, last),
                mpi4jax.allgather(x),
                mpi4jax.gather(x, last),
                mpi4jax.scatter(slices if ctx.rank == last else x, last),
                mpi4jax.alltoall(slices),
                mpi4jax.sendrecv(x, x, source=(ctx.rank - 1) % ctx.size, dest=(ctx.rank + 1) % ctx.size),
            )

        on_last = ctx.rank == last
        wanted = [
            all_of.sum(0), all_of.max(0), all_of.prod(0) if on_last else x, all_of[: ctx.rank + 1].sum(0), all_of[last], all_of,
            all_of if on_last else x, all_of[last], all_of, all_of[(ctx.rank - 1) % ctx.size],
        ]  # fmt: skip
        for found, one in zip(program(x), wanted):
            np.testing.assert_allclose(found, one)


def test_tokens(ctx):
    with pj.Group(ctx):
        x, token = jnp.ones(2), jax.lax.create_token()
        found, after = mpi4jax.allreduce(x, MPI.SUM, token=token)
        assert (found == ctx.size).all() and after is token
        assert mpi4jax.barrier() is None and mpi4jax.barrier(token=token) is token
        if ctx.rank == 0:
            assert mpi4jax.send(x, 0) is None
            assert (mpi4jax.recv(x, 0) == 1).all()


def test_derivatives(ctx):
    """Of a sum the cotangent passes as it is; an exchange goes back the way it came."""
    with pj.Group(ctx):
        total = lambda x: mpi4jax.allreduce(x, MPI.SUM)
        x = jnp.arange(3.0)
        np.testing.assert_allclose(jax.jit(jax.grad(lambda x: jnp.sum(total(x) * x)))(x), (ctx.size + 1) * x)
        np.testing.assert_allclose(jax.jvp(total, (x,), (x,))[1], ctx.size * x)
        following, before = (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size
        ring = lambda x: jnp.sum((ctx.rank + 1) * mpi4jax.sendrecv(x, x, before, following))
        assert (jax.jit(jax.grad(ring))(x) == following + 1).all()
        np.testing.assert_allclose(jax.vmap(total, in_axes=1)(jnp.ones((3, 2))), ctx.size)


@pytest.mark.skipif(not PROCESSES, reason="of processes of MPI")
def test_communicators_have_messages_of_their_own(ctx):
    """None, COMM_WORLD, a duplicate, a duplicate of that, and one that is split: equal tags, asked for in the other order. The first
    call of a duplicate needs no other rank; groups end with their communicators."""
    world = MPI.COMM_WORLD
    if world.size != RANKS:
        pytest.skip("the launcher is no MPI's")
    twin = world.Dup()
    other = twin.Clone()
    some, x = [None, world, twin, other], jnp.zeros(2)
    if ctx.rank == 0 and ctx.size > 1:
        for i, comm in reversed(list(enumerate(some))):
            mpi4jax.send(x + i, 1, tag=5, comm=comm)
    if ctx.rank == 1:
        for i, comm in enumerate(some):
            assert (mpi4jax.recv(x, 0, tag=5, comm=comm) == i).all()
    split = world.Split(0, -world.rank)
    assert mpi4jax.bcast(jnp.array(ctx.rank), 0, comm=split) == ctx.size - 1
    groups = [group_of(comm) for comm in (*some, split)]
    assert len({one._number for one in groups}) == len(groups)
    for comm, group in zip((split, other, twin), groups[:1:-1]):
        comm.Free()
        assert group._is_closed and group._number not in _open
    assert (mpi4jax.allreduce(x + 1, MPI.SUM, comm=world) == ctx.size).all()
    before = len(_open)
    pt.initialize(world, "cpu").close()  # which duplicates it for itself
    assert len(_open) == before
    with pytest.raises(ValueError, match="COMM_NULL"):
        mpi4jax.barrier(comm=twin)


def test_calls_without_tokens(ctx):
    """Whatever the version, and as both versions that have them call the module."""
    with pj.Group(ctx):
        x = jnp.ones(2)
        mpi4jax._operations.return_tokens = True
        try:
            assert (mpi4jax.notoken.allreduce(x, MPI.SUM) == ctx.size).all() and mpi4jax.notoken.barrier() is None
            assert len(mpi4jax.allreduce(x, MPI.SUM)) == 2
        finally:
            ctx.barrier()
            mpi4jax._operations.return_tokens = False
        assert mpi4jax.experimental.notoken is mpi4jax.notoken and mpi4jax.experimental.auto_tokenize(len) is len
        with pytest.raises(TypeError, match="notoken"):
            mpi4jax.notoken.barrier(token=None)
        assert set(mpi4jax.notoken.__all__) <= set(mpi4jax.__all__)


def test_status_and_tags(ctx):
    if ctx.size == 1:
        pytest.skip("nobody to send to")
    with pj.Group(ctx):
        if ctx.rank == 0:
            mpi4jax.send(jnp.ones(3), 1, tag=4)
            mpi4jax.send(jnp.zeros(3), 1, tag=5)
        if ctx.rank == 1:
            status = MPI.Status()
            assert (mpi4jax.recv(jnp.zeros(3), 0, tag=5) == 0).all()
            assert (mpi4jax.recv(jnp.zeros(3), 0, tag=4, status=status) == 1).all()
            assert (status.Get_source(), status.Get_tag(), status.Get_count(MPI.BYTE)) == (0, 4, 24)


def test_bad_arguments(ctx):
    with pj.Group(ctx):
        x = jnp.ones(ctx.size + 1)
        for error, call in (
            (TypeError, lambda: mpi4jax.allreduce(x, "sum")),
            (TypeError, lambda: mpi4jax.bcast(x, 0.5)),
            (TypeError, lambda: mpi4jax.barrier(comm=3)),
            (ValueError, lambda: mpi4jax.alltoall(x)),
            (ValueError, lambda: mpi4jax.bcast(x, ctx.size)),
            (NotImplementedError, lambda: mpi4jax.allreduce(x, MPI.MAXLOC)),
            (NotImplementedError, lambda: mpi4jax.sendrecv(x, x, 0, 0, sendtag=1, recvtag=2)),
        ):
            with pytest.raises(error):
                call()
        if ctx.size > 2:
            with pytest.raises(pt.UnsupportedError, match="ANY_SOURCE"):
                mpi4jax.recv(x)


def python(*arguments):
    """Alone, whatever has started this process."""
    launched = ("OMPI_", "PMI", "PRTE", "PARTITA_SOCKETS")
    alone = {name: value for name, value in os.environ.items() if not name.startswith(launched)}
    return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, env=alone)


def test_contexts_are_on_the_gpu_of_the_programs(monkeypatch):
    """Each rank may see all GPUs: its group's context is where JAX runs its programs."""
    from partita.jax import _group

    gpus = [SimpleNamespace(platform="gpu", local_hardware_id=number) for number in (1, 0)]
    monkeypatch.setattr(jax, "local_devices", lambda backend=None: [jax_cpu] if backend == "cpu" else gpus)
    jax_cpu = SimpleNamespace(platform="cpu", local_hardware_id=0)
    assert _group.device_of_programs() == "cuda:1"
    for chosen, name in ((gpus[1], "cuda:0"), (jax_cpu, "cpu"), ("cpu", "cpu")):
        monkeypatch.setattr(_group, "_config", SimpleNamespace(jax_default_device=chosen))
        assert _group.device_of_programs() == name


def test_names():
    code = """
import partita.compat.mpi4jax as ours
ours.install()
import mpi4jax
from mpi4jax import allgather, allreduce, alltoall, barrier, bcast, gather, recv, reduce, scan, scatter, send, sendrecv
from mpi4jax import experimental, notoken
from mpi4jax.notoken import allreduce as without
from mpi4jax.experimental.notoken import bcast as sent
import mpi4jax.experimental.notoken as again
from mpi4py import MPI
assert again is notoken and without(2.0, MPI.SUM) == 2 and sent(3.0, 0) == 3
assert mpi4jax is ours and not mpi4jax.has_sycl_support() and mpi4jax.has_cuda_support() in (True, False)
assert allreduce(1.5, MPI.SUM) == 1.5 and allreduce(2, MPI.SUM, comm=MPI.COMM_SELF) == 2
try:
    ours.install("0.1")
except ValueError as error:
    print(error)
"""
    done = python("-c", "import sys; sys.modules['mpi4jax'] = sys; import partita.compat.mpi4jax as ours; ours.install()")
    assert "RuntimeError: install: mpi4jax has already been imported" in done.stderr
    done = python("-c", code)
    if "this Partita has no module (it has: none)" in done.stderr:
        pytest.skip("Partita is built without MPI, and the program has a communicator of mpi4py's")
    assert done.returncode == 0 and "known: 0.7, 0.8, 0.9" in done.stdout, done.stderr
