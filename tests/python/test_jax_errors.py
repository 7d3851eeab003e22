"""partita.jax: what is wrong in compiled programs, on one rank or on all."""

import functools
import os
import signal
import time

import numpy as np
import pytest
from fake_xla import library
from jax_cases import ERROR, WHERE, jax, jnp, of, pj
from test_launchers import BODY, started

import partita as pt


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


@pytest.mark.skipif(os.environ.get("PARTITA_TEST_DEVICE") is None, reason="of devices, which do not look at other ranks")
def test_ranks_on_devices_that_differ_in_programs_that_ran_before(ctx):
    """The call itself fails, on all ranks, before a device is given anything: there are no numbers, and the group goes on."""
    if ctx.size == 1:
        pytest.skip("nobody to disagree with")
    with pj.Group(ctx):
        some = [jax.jit(lambda x: pj.all_reduce(x)), jax.jit(lambda x: pj.all_reduce(x, "max")), jax.jit(lambda x: pj.scan(x)),
                jax.jit(lambda x: pj.all_gather(x)), jax.jit(lambda x: pj.broadcast(x, root=1))]  # fmt: skip
        x, longer = jnp.ones((3, 4)), jnp.ones((3, 5))
        for one in some:
            for operand in (x, longer, x.astype(jnp.float32)):
                jax.block_until_ready(one(operand))
        odd = ctx.rank == ctx.size - 1
        for i, one in enumerate(some):
            for other, operand in ((one, longer), (one, x.astype(jnp.float32)), (some[i - 1], x)):
                with pytest.raises((ERROR, ValueError), match="DisagreementError"):
                    jax.block_until_ready(other(operand) if odd else one(x))
                assert (pj.all_reduce(np.ones(3)) == ctx.size).all()


@pytest.mark.skipif(os.environ.get("PARTITA_TEST_DEVICE") != "fake", reason="fake devices say what a test wants")
def test_programs_on_another_device_than_the_context(ctx):
    """Said on all ranks: also where it is so on one rank alone, and of a context on the CPU."""
    say = library().partita_set_fake_xla_device
    with pj.Group(ctx) as group:
        alone = group.split(ctx.rank)
        program = jax.jit(lambda x: pj.all_reduce(x))
        message = jax.jit(lambda x: pj.send(x, 0, group=alone))
        assert (program(np.ones(3)) == ctx.size).all()
        ctx.barrier()
        say(99)
        try:
            ctx.barrier()
            for call in (program, message):
                with pytest.raises((ERROR, ValueError), match="runs on cuda:99, but the group's context is on cuda:.*with group:"):
                    jax.block_until_ready(call(np.ones(3)))
            ctx.barrier()
        finally:
            say(-1)
        ctx.barrier()
        assert (program(np.ones(3)) == ctx.size).all()
        alone.close()

    def on_cpu(context):
        with pj.Group(context):
            with pytest.raises(ERROR, match='context is on the CPU: create the context with device="cuda"'):
                jax.block_until_ready(pj.all_reduce(np.ones(3)))

    ctx.barrier()
    if ctx.rank == 0:
        on_cpu(pt.initialize(device="cpu"))
    ctx.barrier()


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
            lambda: pj.reduce_scatter(np.ones(ctx.size + 1)) if ctx.size > 1 else pj.send(1, 1),
            lambda: pj.all_gather(np.ones(1), counts=[-1] * ctx.size),
            lambda: pj.all_to_all(np.ones(ctx.size), send_counts=[1] * ctx.size),
            lambda: pj.send_receive(1.0, 0, 0, like=1),
        ):
            with pytest.raises(pt.ArgumentError):
                call()
        assert (pj.all_gather(1.0) == 1).all()  # numbers make one row
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
            (pj.gather, (x,), (x,), {"speed": 1}),
            (pj.all_gather, (x,), (x,), {"counts": [1]}),
            (pj.reduce_scatter, (x,), (x[1:],), {}),
            (pj.scan, (x,), (x,), {"speed": 1}),
            (pj.redistribute, (part, layout, pt.Slab(1)), (part, layout, "slob:1"), {}),
            (pj.redistribute, (part, layout, pt.Slab(1)), (x, layout, pt.Slab(1)), {}),
            (pj.fft, (part + 0j, layout), (part + 0j, layout), {"speed": 1}),
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
