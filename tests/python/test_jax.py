"""partita.jax: collectives and messages in compiled programs, with derivatives and batches, in order."""

import functools
import os
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest
from shapes import whole
from test_launchers import BODY, started

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


# --- what comes out


def test_one_and_all(ctx):
    with pj.Group(ctx) as group:
        last, ranks = ctx.size - 1, range(ctx.size)
        counts = counts_of(group)
        begin = sum(counts[: ctx.rank])

        @jax.jit
        def program(x, rows):
            part = pj.scatter(rows, counts=counts, root=last)
            return (
                pj.broadcast(x, root=last),
                pj.reduce(x, "max", root=last),
                pj.gather(x, root=last),
                part,
                pj.all_gather(part, counts=counts),
                pj.gather(part, counts=counts, root=0),
                pj.scatter(pj.all_gather(x), root=0),
            )

        rows = whole((sum(counts), 2))
        given = rows if ctx.rank == last else np.zeros((0, 2))
        sent, top, gathered, part, all_rows, on_first, back = program(of(ctx.rank), given)
        assert (sent == of(last)).all() and (back == of(ctx.rank)).all()
        assert (top == (of(last) if ctx.rank == last else 0)).all()
        assert gathered.shape[0] == (4 * ctx.size if ctx.rank == last else 0)
        assert ctx.rank < last or (gathered == np.concatenate([of(rank) for rank in ranks])).all()
        assert (part == rows[begin : begin + counts[ctx.rank]]).all() and (all_rows == rows).all()
        assert ctx.rank > 0 or (on_first == rows).all()


def test_all_and_all(ctx):
    with pj.Group(ctx):
        ranks, shape = range(ctx.size), (2 * ctx.size, 3)
        total = sum(of(rank, shape) for rank in ranks)
        here = slice(2 * ctx.rank, 2 * ctx.rank + 2)
        sent = [1 + (ctx.rank + rank) % 2 for rank in ranks]

        @jax.jit
        def program(x, uneven):
            return (
                pj.all_reduce(x),
                pj.reduce_scatter(x),
                pj.all_to_all(x),
                pj.scan(x),
                pj.scan(x, exclusive=True),
                pj.all_to_all(uneven, send_counts=sent, receive_counts=sent),
                pj.all_reduce(x, "min"),
                pj.all_reduce(x > 3, "logical_and"),
                pj.all_reduce(x[0, 0].astype(jnp.int32) * 0 + ctx.rank, "bit_or"),
            )

        found = program(of(ctx.rank, shape), np.full(sum(sent), ctx.rank))
        assert (found[0] == total).all() and (found[1] == total[here]).all()
        assert (found[2] == np.concatenate([of(rank, shape)[here] for rank in ranks])).all()
        assert (found[3] == sum(of(rank, shape) for rank in range(ctx.rank + 1))).all()
        assert (found[4] == found[3] - of(ctx.rank, shape)).all()
        assert (found[5] == np.repeat(np.arange(ctx.size), sent)).all()
        assert (found[6] == of(0, shape)).all() and (found[7] == (of(0, shape) > 3)).all()
        assert found[8] == np.bitwise_or.reduce(np.arange(ctx.size))


def test_dtypes(ctx):
    names = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 bfloat16 float32 float64 complex64 complex128".split()
    with pj.Group(ctx):
        given = [jnp.asarray(whole((3, 2)) % 2, name) for name in names]
        found = jax.jit(lambda given: [(pj.all_reduce(x), pj.all_gather(x)) for x in given])(given)
        for name, x, (total, rows) in zip(names, given, found):
            wanted = np.asarray(x, np.complex128) * (1 if name == "bool" else ctx.size)
            assert total.dtype == name and (np.asarray(total, np.complex128) == wanted).all(), name
            assert rows.shape == (3 * ctx.size, 2) and (rows[-3:] == x).all(), name


def test_shapes(ctx):
    with pj.Group(ctx):
        shapes = [(), (0,), (2, 0, 3), (1, 2) * 5]
        for shape, found in zip(shapes, jax.jit(lambda: [pj.all_reduce(jnp.ones(shape)) for shape in shapes])()):
            assert found.shape == shape and (found == ctx.size).all()
        assert pj.all_gather(np.ones((1, 2) * 5)).shape == (ctx.size, 2, *(1, 2) * 4)


def test_calls_on_slices(ctx):
    """Of sizes at which XLA for GPUs would make a call, what slices its operand, and what writes its result into an array, one."""
    with pj.Group(ctx):

        @jax.jit
        def program(x):
            rows = jax.lax.map(lambda row: pj.all_reduce(row), x)
            return rows, pj.all_reduce(x[:2]) + pj.scan(x[2:]), jnp.zeros(x.shape).at[2:].set(pj.all_gather(x[1:2, : 192 // ctx.size])[0, 0])

        x = jnp.asarray(whole((4, 192), np.float32))
        rows, parts, filled = program(x)
        assert (rows == ctx.size * x).all() and (parts == ctx.size * x[:2] + (ctx.rank + 1) * x[2:]).all()
        assert (filled[:2] == 0).all() and (filled[2:] == x[1, 0]).all()


def test_messages(ctx):
    with pj.Group(ctx) as group:
        following, before = (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size
        ring = jax.jit(lambda x: pj.send_receive(x, following, before, like=jnp.zeros(before + 1), tag=3))
        assert (ring(np.full(ctx.rank + 1, ctx.rank * 1.0)) == np.full(before + 1, before)).all()
        # Of two tags, asked for in the other order.
        if ctx.rank == 0 and ctx.size > 1:
            jax.jit(lambda x: [pj.send(x * tag, 1, tag=tag) for tag in (5, 6)])(np.ones(2))
        if ctx.rank == 1:
            two = jax.jit(lambda like: [pj.receive(like, 0, tag=tag) for tag in (6, 5)])(np.zeros(2))
            assert (two[0] == 6).all() and (two[1] == 5).all()
        jax.jit(lambda: pj.barrier(group=group))()


def test_groups(ctx):
    mesh = pt.Mesh({"x": ctx.size, "y": 1})
    with pj.Group(ctx) as group:
        half, row, alone = group.split(ctx.rank % 2), group.along(mesh, "x"), group.along(mesh, "y")

        @jax.jit
        def program(x):
            return pj.all_reduce(x, group=half), pj.all_reduce(x, group=row), pj.all_reduce(x, group=alone)

        assert [int(found) for found in program(1)] == [half.size, ctx.size, 1]
        assert group.split(-1) is None
        for one in (half, row, alone):
            one.close()
        with pytest.raises(ERROR, match="closed"):
            jax.block_until_ready(pj.all_reduce(np.ones(1), group=half))


@jax.jit
def of_the_entered_group(x):
    return pj.all_reduce(x)


@pytest.mark.skipif(not hasattr(jax, "make_user_context"), reason="JAX keeps programs by nothing else")
def test_programs_are_of_the_group_that_is_entered(ctx):
    """One function of all ranks, kept by JAX for all of them."""
    for _ in range(2):
        with pj.Group(ctx) as group:
            assert float(of_the_entered_group(1.0)) == ctx.size
            with group.split(ctx.rank):
                assert float(of_the_entered_group(1.0)) == 1
            assert float(of_the_entered_group(1.0)) == ctx.size
    with pytest.raises(pt.ArgumentError, match="no group"):
        of_the_entered_group(1.0)


# --- derivatives: of the parts of all ranks together


def dot(ctx, a, b):
    """Over all ranks."""
    own = sum(float(np.real(np.sum(np.asarray(x, np.complex128) * np.asarray(y)))) for x, y in zip(a, b))
    return pt.all_reduce(ctx, np.array([own]))[0]


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
                    jnp.where(ctx.rank == 0, 0, pj.scan(x, reduction, exclusive=True)),  # the identity of max is no number
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
        with pytest.raises(pt.ArgumentError, match="of sums"):
            pj.all_reduce(x, "max", shared=True)


def test_second_derivatives_and_checkpoints(ctx):
    with pj.Group(ctx):
        loss = jax.checkpoint(lambda x: jnp.sum(jnp.sin(pj.all_reduce(x)) ** 2) / ctx.size)
        x = some((3,), np.float64, 0.2)
        found = jax.jit(lambda x, t: jax.jvp(jax.grad(loss), (x,), (t,)))(x, jnp.ones(3))
        s = ctx.size
        np.testing.assert_allclose(found[0], s * np.sin(2 * s * x) / s)
        np.testing.assert_allclose(found[1], s * s * 2 * np.cos(2 * s * x) / s)


# --- batches


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


# --- order


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


# --- what is wrong


def test_ranks_that_disagree(ctx):
    if ctx.size == 1:
        pytest.skip("nobody to disagree with")
    with pj.Group(ctx):
        with pytest.raises(ERROR, match="DisagreementError.*shape"):
            jax.block_until_ready(jax.jit(lambda x: 2 * pj.all_reduce(x))(np.ones(3 + (ctx.rank == 0))))
        with pytest.raises(ERROR, match="DisagreementError"):
            reduction = "sum" if ctx.rank else "max"
            jax.block_until_ready(jax.jit(lambda x: pj.all_reduce(x, reduction))(np.ones(3)))
        assert (jax.jit(lambda x: pj.all_reduce(x))(np.ones(3)) == ctx.size).all()


def test_programs_go_on_after_errors_that_come_late(ctx):
    """A program that runs beside Python, until it fails in its last call: the ones behind it do not fail with it, nor its group's end."""
    if ctx.size == 1:
        pytest.skip("nobody to disagree with")
    with pj.Group(ctx) as group:

        @functools.partial(jax.jit, static_argnums=1)
        def program(x, rows):
            y = jax.lax.fori_loop(0, 100, lambda i, y: jnp.sin(y @ y), x)
            return pj.all_reduce(jnp.sum(y) + jnp.ones(rows))

        for same in (3, 5):
            with pytest.raises(ERROR, match=f"DisagreementError.*shape: {same + 1}"):
                jax.block_until_ready(program(jnp.ones((200, 200)), same + (ctx.rank == 0)))
            assert (jax.jit(lambda x: pj.all_reduce(x))(np.ones(3)) == ctx.size).all()
            group.synchronize()
        with pytest.raises(ERROR, match="DisagreementError.*shape: 8"):
            jax.block_until_ready(program(jnp.ones((200, 200)), 7 + (ctx.rank == 0)))


def test_programs_do_not_wait_for_each_other(ctx):
    """Python goes on while the device has several to do, one behind the other."""
    with pj.Group(ctx):

        @jax.jit
        def program(x):
            return pj.all_reduce(jax.lax.fori_loop(0, 100, lambda i, y: jnp.sin(y @ y), x))

        edge = 2000 if WHERE == "cuda" else 300  # so that six take far longer than it takes to ask for them
        results = [jax.block_until_ready(program(jnp.ones((edge, edge))))]
        for _ in range(6):
            results.append(program(results[-1]))
        assert not results[4].is_ready()
        assert jax.block_until_ready(results[6]).shape == (edge, edge)


def test_bad_arguments(ctx):
    with pj.Group(ctx):
        for call in (
            lambda: pj.broadcast(np.ones(1), root=ctx.size),
            lambda: pj.all_gather(1.0),
            lambda: pj.reduce_scatter(np.ones(ctx.size + 1)) if ctx.size > 1 else pj.send(1, 1),
            lambda: pj.all_gather(np.ones(1), counts=[-1] * ctx.size),
            lambda: pj.all_to_all(np.ones(ctx.size), send_counts=[1] * ctx.size),
            lambda: pj.send_receive(1.0, 0, 0, like=1),
        ):
            with pytest.raises(pt.ArgumentError):
                call()
        with pytest.raises(ERROR, match="ArgumentError.*logical"):
            jax.block_until_ready(pj.all_reduce(np.ones(2), "mean"))
        with pytest.raises(ERROR, match="ArgumentError.*bit_and"):
            jax.block_until_ready(pj.all_reduce(np.ones(2), "bit_and"))
    with pytest.raises(pt.ArgumentError, match="no group"):
        pj.all_reduce(1.0)


def test_what_one_rank_passes_that_is_wrong(ctx):
    """It is found where the program is traced, and told to the others, whose programs wait: the group goes on."""
    if ctx.size == 1:
        pytest.skip("one rank is all ranks")
    odd, x = ctx.size - 1, np.ones((2 * ctx.size, 4))
    with pj.Group(ctx) as group:
        layout = pt.Layout(pt.Slab(0), (2 * ctx.size, 4), ctx.size)
        part = np.ones((2, 4))
        for call, right, wrong, named in (
            (pj.all_reduce, (x,), (x, "max"), {"shared": True}),
            (pj.all_reduce, (x,), ("text",), {}),
            (pj.broadcast, (x,), (x,), {"root": 99}),
            (pj.gather, (x,), (1.0,), {}),
            (pj.all_gather, (x,), (x,), {"counts": [1]}),
            (pj.reduce_scatter, (x,), (x[1:],), {}),
            (pj.scan, (x,), (x,), {"speed": 1}),
            (pj.redistribute, (part, layout, pt.Slab(1)), (part, layout, "slob:1"), {}),
            (pj.redistribute, (part, layout, pt.Slab(1)), (x, layout, pt.Slab(1)), {}),
            (pj.fft, (part + 0j, layout), (part, layout), {}),
            (pj.halo, (part, layout, (1, 0)), (part, layout, (1,)), {}),
        ):
            before = pj.all_reduce(np.ones(3))  # perhaps on its way yet
            with pytest.raises(pt.Error if ctx.rank == odd else ERROR, match=f"rank {odd}: {call.__name__}"):
                if ctx.rank == odd:
                    jax.jit(lambda *given: call(*given, **named))(*wrong) if call is pj.gather else call(*wrong, **named)
                else:
                    jax.block_until_ready(call(*right))
                    pj.barrier()
                    group.synchronize()
            assert (before == ctx.size).all() and not group._context.failed
        with pytest.raises(pt.ArgumentError, match="^send: rank 99"):
            pj.send(x, 99)
        with pytest.raises(pt.TypeError, match="^send: "):
            pj.send(x, "0")
        along = pt.Mesh({"x": ctx.size})
        with pytest.raises(pt.Error, match=f"rank {odd}: along"):
            group.along(along, "y" if ctx.rank == odd else "x")
        assert (pj.all_reduce(np.ones(3)) == ctx.size).all()


@pytest.mark.parametrize("where", ["outside", "inside"])
def test_a_rank_that_dies_is_told(where):
    """Killed outside of any program, or in the middle of a compiled loop: the other's loop ends within the deadline of 20 s."""
    text = f"""
import signal, threading, time
import jax, partita.jax as pj
def looping(x):
    return jax.lax.fori_loop(0, 2**30, lambda i, y: pj.all_reduce(y) / context.size, x)
def die():
    print(time.time(), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
with pj.Group(context) as group:
    jax.block_until_ready(jax.jit(pj.all_reduce)(np.ones(3)))
    if context.rank == 1:
        {"die()" if where == "outside" else "threading.Timer(1, die).start()"}
    try:
        jax.block_until_ready(jax.jit(looping)(np.ones(4)))
    except jax.errors.JaxRuntimeError as error:
        print(time.time(), error, flush=True)
        os._exit(0)
"""
    (told, code), (died, killed) = started(2, text, body=BODY.replace('"cpu"', f'"{WHERE}"'))
    assert killed == -signal.SIGKILL and code == 0, (told, died)
    assert float(told.split()[0]) - float(died) < 20 and "LostPeerError" in told, (told, died)


def test_more_ranks_than_threads_of_xla():
    text = """
import partita as pt, partita.jax as pj
def each(context):
    try:
        pj.Group(context)
    except pt.UnsupportedError as error:
        return str(error)
print(pt.run(3, each, device="cpu"))
"""
    environment = {**os.environ, "PJRT_NPROC": "2"}
    done = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout.count("in 2 threads: set PJRT_NPROC=3") == 3, done


def test_beside_shard_map():
    """Arrays that JAX has spread over processes, and its own collectives in the same program."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    text = f"""
import jax, partita.jax as pj
jax.distributed.initialize("127.0.0.1:{port}", context.size, context.rank)
axes = jax.sharding.PartitionSpec("ranks")
mesh = jax.make_mesh((context.size,), ("ranks",))
spread = jax.sharding.NamedSharding(mesh, axes)
x = jax.make_array_from_process_local_data(spread, np.arange(3.0) + 10 * context.rank)
with pj.Group(context):
    part = lambda x: pj.scan(x) + jax.lax.psum(x, "ranks")
    step = jax.jit(jax.shard_map(part, mesh=mesh, in_specs=axes, out_specs=axes, check_vma=False))
    y = step(step(x))
    assert y.sharding == spread
    total = jax.jit(pj.all_reduce)(y.addressable_data(0))
    again = jax.make_array_from_single_device_arrays((6,), spread, [total])
    print(np.asarray(total).tolist(), float(jax.jit(jax.numpy.sum)(again)), flush=True)
"""
    for printed, code in started(2, text):
        assert code == 0 and "[100.0, 124.0, 148.0] 744.0" in printed, printed


def test_everything_public_has_a_docstring():
    for name in pj.__all__:
        assert getattr(pj, name).__doc__, name
