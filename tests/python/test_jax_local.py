"""Arrays made of JAX's own: seen, never written."""

import numpy as np
import pytest
from shapes import part, spread, whole

import partita as pt

pytest.importorskip("jax")
import jax
import jax.numpy as jnp


def made(ctx, shape=(4, 3)):
    """JAX's array, and the distributed one on its memory."""
    local = jnp.asarray(whole(shape, "float32")) + ctx.rank
    return local, pt.from_local(ctx, local, pt.Slab(0))


def test_jax_arrays_are_only_read(ctx):
    local, a = made(ctx)
    other = pt.full(ctx, a.shape, pt.Slab(0), 7.0, "float32", space="host")
    plain = np.zeros((4, 3), np.float32)
    assert a.local is local
    for write in [
        lambda: a.__setitem__(slice(0, 2), 7),
        lambda: a.__setitem__(slice(0, 2), other[0:2]),
        lambda: a[1:].fill(7),
        lambda: np.add(other, 1, out=a),
        lambda: pt.redistribute(other, a),
        lambda: pt.matmul(other, pt.eye(ctx, 3, distribution=pt.Slab(0), dtype="float32", space="host"), out=a),
        lambda: pt.all_reduce(ctx, plain, local),
        lambda: pt.receive(ctx, local, ctx.rank),
    ]:
        with pytest.raises(pt.ArgumentError, match="read-only"):
            write()
    np.testing.assert_array_equal(local, whole((4, 3), "float32") + ctx.rank)


def test_ufuncs_of_jax(ctx):
    local, a = made(ctx)
    here = np.asarray(local)
    for found, wanted in [
        (a + a, here + here),
        (2 - a, 2 - here),
        (a**2, here**2),
        (np.sqrt(a), np.sqrt(here)),
        (np.maximum(a, 3), np.maximum(here, 3)),
        (a > 3, here > 3),
        (np.conjugate(a), here),
        (a[1:] + a[1:], part(2 * np.asarray(a.gather())[1:], a[1:].layout, ctx.rank)),
        (a + spread(ctx, whole(a.shape, "float32"), pt.Slab(0)), here + part(whole(a.shape, "float32"), a.layout, ctx.rank)),
        *zip(np.divmod(a, 3), np.divmod(here, 3)),
    ]:
        assert isinstance(found.local, jax.Array)
        np.testing.assert_allclose(found.local, wanted, rtol=1e-6)
    for refused in [lambda: np.add(a, 1, where=a > 3), lambda: np.add(a, 1, dtype="float32")]:
        with pytest.raises(pt.ArgumentError, match="JAX does not support"):
            refused()
    with pytest.raises(pt.ArgumentError, match="read-only"):
        (a + 1).fill(0)


def test_arrays_that_partita_makes_of_jax_are_written(ctx):
    local, a = made(ctx)
    b = a.redistribute(pt.Slab(1))
    assert isinstance(b.local, jax.Array)
    b.fill(3)
    b[:1] = 5
    b += 1
    np.add(b, b, out=b)
    wanted = np.full(a.shape, 8.0, np.float32)
    wanted[:1] = 12
    np.testing.assert_array_equal(b.gather(), wanted)
    doubled = pt.spmd(lambda mine: 2 * mine, pt.Mesh({"x": ctx.size}), in_specs=pt.P("x", None), out_specs=pt.P("x", None))
    np.testing.assert_array_equal(doubled(a).gather(), 2 * a.gather())
