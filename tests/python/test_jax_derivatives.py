"""partita.jax: derivatives of the parts of all ranks together, and batches."""

import numpy as np
import pytest
from jax_cases import LINEAR, check_derivatives, counts_of, jax, jnp, of, pj, some

import partita as pt


@pytest.mark.parametrize("name", LINEAR)
def test_linear_derivatives(ctx, name):
    with pj.Group(ctx) as group:
        check_derivatives(ctx, lambda x: LINEAR[name](x, group), some((2 * ctx.size, 2), np.float64, ctx.rank))


def test_derivatives_of_uneven_parts(ctx):
    with pj.Group(ctx) as group:
        counts = counts_of(group)
        sent = [(ctx.rank + rank) % 3 for rank in range(ctx.size)]
        x = some((counts[ctx.rank], 2), np.complex128, ctx.rank)

        def program(x, y):
            a = pj.gather(pj.scatter(pj.all_gather(x, counts=counts), counts=counts, root=0), counts=counts)
            b = pj.reduce_scatter(pj.all_gather(x, counts=counts), counts=counts)
            c = pj.all_to_all(y, send_counts=sent, receive_counts=sent)
            return jnp.sum(a) + jnp.sum(b**2) + jnp.sum(c)

        check_derivatives(ctx, program, x, some((sum(sent),), np.complex128, ctx.rank), linear=False)


@pytest.mark.parametrize("reduction", ["product", "max"])
def test_derivatives_of_other_reductions(ctx, reduction):
    with pj.Group(ctx):
        x = some((ctx.size, 2), np.float64, 0.7 * ctx.rank)

        def program(x):
            return jnp.concatenate(
                [
                    pj.all_reduce(x, reduction),
                    pj.reduce(x, reduction),
                    pj.reduce_scatter(x, reduction),
                    pj.scan(x, reduction),
                    jnp.where(ctx.rank == 0, 0, pj.scan(x, reduction, exclusive=True)),  # the identity of max is not a finite number
                ]
            )

        check_derivatives(ctx, program, x, linear=False)


def test_derivatives_of_messages(ctx):
    if ctx.size == 1:
        pytest.skip("nobody to send to")
    with pj.Group(ctx):

        def program(x):
            if ctx.rank == 0:
                return jnp.sum(x**2) + pj.send(jnp.sin(x), 1)
            if ctx.rank == 1:
                return jnp.sum(pj.receive(x, 0) ** 3)
            return jnp.sum(x)

        x = some((3,), np.float64, ctx.rank)
        back = jax.jit(jax.grad(program))(x)
        wanted = {0: 2 * x + 3 * jnp.sin(x) ** 2 * jnp.cos(x), 1: 0 * x}.get(ctx.rank, jnp.ones(3))
        np.testing.assert_allclose(back, wanted)


def test_derivatives_of_what_is_shared(ctx):
    with pj.Group(ctx):

        def loss(x):
            return pj.all_reduce(jnp.sum(x**2), shared=True)

        x = some((3,), np.float64, ctx.rank)
        value, back = jax.jit(jax.value_and_grad(loss))(x)
        np.testing.assert_allclose(back, 2 * x)
        np.testing.assert_allclose(value, pj.all_reduce(jnp.sum(x**2)))
        twice = jax.linear_transpose(lambda y: jax.vjp(loss, x)[1](y)[0], value)(x)
        np.testing.assert_allclose(twice[0], pj.all_reduce(jnp.sum(2 * x * x)))
        with pytest.raises(pt.ArgumentError, match="requires the reduction sum"):
            pj.all_reduce(x, "max", shared=True)


def test_second_derivatives_and_checkpoints(ctx):
    with pj.Group(ctx):
        loss = jax.checkpoint(lambda x: jnp.sum(jnp.sin(pj.all_reduce(x)) ** 2) / ctx.size)
        x = some((3,), np.float64, 0.2)
        found = jax.jit(lambda x, t: jax.jvp(jax.grad(loss), (x,), (t,)))(x, jnp.ones(3))
        s = ctx.size
        np.testing.assert_allclose(found[0], s * np.sin(2 * s * x) / s)
        np.testing.assert_allclose(found[1], s * s * 2 * np.cos(2 * s * x) / s)


@pytest.mark.parametrize("axis", [0, 2])
def test_batches(ctx, axis):
    with pj.Group(ctx) as group:
        x = some((2 * ctx.size, 2), np.float64, ctx.rank)
        batch = jnp.stack([x, 2 * x, 3 * x], axis=axis)

        def program(x):
            return [function(x, group) for function in LINEAR.values()]

        one, several = jax.jit(program)(x), jax.jit(jax.vmap(program, in_axes=axis))(batch)
        for a, b in zip(one, several):
            np.testing.assert_allclose(b, np.stack([a, 2 * a, 3 * a]))


def test_batches_of_derivatives(ctx):
    with pj.Group(ctx):
        function = jax.jit(jax.vmap(jax.grad(lambda x: jnp.sum(pj.all_gather(x) ** 2))))
        x = some((3, 2), np.float64, ctx.rank)
        np.testing.assert_allclose(function(x), 2 * ctx.size * x)
