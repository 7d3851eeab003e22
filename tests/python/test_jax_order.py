"""partita.jax: calls of compiled programs are made in order, and in loops."""

import time

import numpy as np
import pytest
from jax_cases import check_derivatives, jax, jnp, pj, some


def test_order_in_programs(ctx):
    """Calls that do not depend on each other, whose results are not used, and equal ones: each is made, in turn."""
    if ctx.size == 1:
        pytest.skip("nobody to wait for")
    with pj.Group(ctx):
        following, before = (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size

        @jax.jit
        def program(x):
            big = pj.all_reduce(jnp.ones((200, 200)))
            for tag in range(3):  # 320 KB: the sender waits for the receiver
                if ctx.rank == 0:
                    pj.send(big, 1, tag=tag)
                if ctx.rank == 1:
                    pj.receive(big, 0, tag=tag)
            pj.all_reduce(x + 1)
            pj.all_reduce(x + 1)
            got = [pj.send_receive(x * i, following, before) for i in range(4)]
            pj.barrier()
            return got[3], pj.all_reduce(x), pj.all_reduce(x)

        got, a, b = program(jnp.full(3, ctx.rank))
        assert (got == 3 * before).all() and (a == b).all() and (a == sum(range(ctx.size))).all()


def test_order_in_loops(ctx):
    with pj.Group(ctx):

        @jax.jit
        def program(x):
            def body(carry, i):
                carry = pj.all_reduce(carry) / ctx.size + pj.scan(i * 1.0)
                carry = jax.lax.cond(i % 2 == 0, lambda y: pj.all_reduce(y, "max"), lambda y: y - pj.broadcast(y), carry)
                return carry, pj.all_gather(carry[None])

            x, rows = jax.lax.scan(body, x, jnp.arange(4))
            y = jax.lax.while_loop(lambda y: y < 50, lambda y: pj.all_reduce(y) / ctx.size * 2, x + 1)
            return x, rows, jax.lax.fori_loop(0, 3, lambda i, y: pj.reduce_scatter(pj.all_gather(y[None]))[0], y)

        def plain(values):
            rows = []
            for i in range(4):
                values = np.mean(values) + i * (1 + np.arange(ctx.size))
                values = np.full(ctx.size, values.max()) if i % 2 == 0 else values - values[0]
                rows.append(values)
            y = values + 1
            while (y < 50).any():
                y = np.full(ctx.size, y.mean() * 2)
            return values[ctx.rank], np.array(rows), y[ctx.rank] * ctx.size**3

        for wanted, found in zip(plain(np.arange(ctx.size) + 0.5), program(ctx.rank + 0.5)):
            np.testing.assert_allclose(found, wanted)


def test_derivatives_through_loops(ctx):
    with pj.Group(ctx):

        def program(x):
            def body(carry, _):
                return jax.lax.cond(True, lambda y: jnp.sin(pj.all_reduce(y)), lambda y: y, carry), None

            return jax.lax.scan(body, x, None, length=3)[0]

        check_derivatives(ctx, program, some((2,), np.float64, ctx.rank), linear=False)


def test_a_thousand_steps_of_ranks_that_are_late(ctx):
    with pj.Group(ctx) as group:
        half = group.split(ctx.rank % 2)

        @jax.jit
        def step(x):
            x = x + pj.all_reduce(jnp.ones(5))
            x = x - pj.all_reduce(jnp.ones(5), group=half) + half.size
            return pj.send_receive(x, (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size)

        random, x = np.random.default_rng(ctx.rank), jnp.zeros(5)
        for _ in range(1000):
            if random.random() < 0.02:
                time.sleep(random.random() / 500)
            x = step(x)
        assert (x == 1000 * ctx.size).all()
        jax.effects_barrier()
        half.close()
