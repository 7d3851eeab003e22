"""What several tests of partita.jax use: JAX itself, where there is one, and the derivatives of a call against its differences."""

import os

import numpy as np
import pytest
from shapes import whole

import partita as pt

os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")  # programs are small, and run few times
jax = pytest.importorskip("jax")
jnp = jax.numpy
pj = pytest.importorskip("partita.jax")
jax.config.update("jax_enable_x64", True)
ERROR = jax.errors.JaxRuntimeError
WHERE = "cuda" if os.environ.get("PARTITA_TEST_DEVICE") == "cuda" else "cpu"


def of(rank, shape=(4, 3), dtype=np.float64):
    return whole(shape, dtype) * (rank + 1)


def counts_of(group):
    return [rank % 3 for rank in range(group.size)]


def dot(ctx, a, b):
    """Over all ranks."""
    own = sum(float(np.real(np.sum(np.asarray(x, np.complex128) * np.asarray(y)))) for x, y in zip(a, b))
    return pt.all_reduce(ctx, np.array([own]))[0]


_of_one_rank = {}


def once(ctx, make):
    """What `make` returns, the same on all ranks: computed by one of those that are threads of a process."""
    if os.environ.get("PARTITA_TEST_GROUP") == "processes":
        return make()
    if ctx.rank == 0:
        _of_one_rank["found"] = make()
    ctx.barrier()
    found = _of_one_rank["found"]
    ctx.barrier()
    return found


def some(shape, dtype, phase):
    values = np.cos(1.3 * np.arange(int(np.prod(shape))) + phase).reshape(shape)
    return jnp.asarray(values if not np.issubdtype(dtype, np.complexfloating) else values + 1j * np.sin(2 * values), dtype)


def check_derivatives(ctx, function, *xs, linear=True):
    """Forward against differences, in reverse against forward."""
    xs = tuple(jnp.asarray(x) for x in xs)
    tangents = tuple(some(x.shape, x.dtype, ctx.rank + 0.3) for x in xs)
    step = 0.5 if linear else 1e-5

    @jax.jit
    def program(xs, tangents):
        found, forward = jax.jvp(function, xs, tangents)
        again, pull = jax.vjp(function, *xs)
        weights = some(found.shape, found.dtype, 2 * ctx.rank)
        ends = [function(*(x + sign * step * t for x, t in zip(xs, tangents))) for sign in (1, -1)]
        return found, again, forward, (ends[0] - ends[1]) / (2 * step), weights, pull(weights)

    found, again, forward, difference, weights, back = program(xs, tangents)
    np.testing.assert_allclose(found, again)
    np.testing.assert_allclose(forward, difference, rtol=1e-6, atol=1e-6)
    assert [one.shape for one in back] == [x.shape for x in xs] and [one.dtype for one in back] == [x.dtype for x in xs]
    np.testing.assert_allclose(dot(ctx, [forward], [weights]), dot(ctx, tangents, back), rtol=1e-9, atol=1e-9)


LINEAR = {
    "all_reduce": lambda x, g: pj.all_reduce(x),
    "reduce": lambda x, g: pj.reduce(x, root=g.size - 1),
    "broadcast": lambda x, g: pj.broadcast(x, root=g.size - 1),
    "gather": lambda x, g: pj.gather(x, root=g.size - 1),
    "scatter": lambda x, g: pj.scatter(x, root=g.size - 1),
    "all_gather": lambda x, g: pj.all_gather(x),
    "reduce_scatter": lambda x, g: pj.reduce_scatter(x),
    "all_to_all": lambda x, g: pj.all_to_all(x),
    "scan": lambda x, g: pj.scan(x),
    "exclusive": lambda x, g: pj.scan(x, exclusive=True),
    "ring": lambda x, g: pj.send_receive(x, (g.rank + 1) % g.size, (g.rank - 1) % g.size),
}
