"""partita.jax: how programs with calls are started, and what keeps their order where JAX sees no effects of them."""

import os
import subprocess
import sys

import numpy as np
import pytest

import partita as pt
from partita._context import ranks_of_process

os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")
jax = pytest.importorskip("jax")
jnp = jax.numpy
pj = pytest.importorskip("partita.jax")
jax.config.update("jax_enable_x64", True)
ERROR = jax.errors.JaxRuntimeError


def slow(x):
    """Takes some milliseconds, and is 0."""
    return 0 * jax.lax.fori_loop(0, 10, lambda i, y: jnp.sin(y @ y), jnp.full((200, 200), jnp.sum(x)))[0, 0]


def late(ctx, rank, x):
    """The array, which one rank has later than the others do."""
    return x + slow(x) if ctx.rank == rank % ctx.size else x


def run_by_python(monkeypatch):
    """How often programs are started in Python from now on."""
    inside = pytest.importorskip("jax._src.interpreters.pxla")
    started, start = [], inside.ExecuteReplicated.__call__

    def counted(self, *given):
        started.append(self.name)
        return start(self, *given)

    monkeypatch.setattr(inside.ExecuteReplicated, "__call__", counted)
    return started


def test_programs_are_started_by_the_fast_path(ctx, monkeypatch):
    if ranks_of_process() > 1:
        pytest.skip("ranks that are threads are started in Python on the CPU, and would count each other's elsewhere")
    with pj.Group(ctx) as group:

        def program(x):
            y = jax.lax.fori_loop(0, 2, lambda i, y: pj.all_reduce(y) / ctx.size, x)
            pj.barrier()
            return jax.lax.cond(jnp.sum(y) > 0, lambda y: pj.all_reduce(y) / ctx.size, lambda y: y, y)

        gradient = jax.jit(jax.grad(lambda x: jnp.sum(program(x))))
        programs = (jax.jit(program), gradient, jax.jit(jax.vmap(pj.broadcast)), lambda x: pj.all_reduce(x, "min"))
        x = jnp.ones((2, 3))
        for one in programs:
            jax.block_until_ready(one(x))
        started = run_by_python(monkeypatch)
        results = [one(x) for _ in range(3) for one in programs]
        group.synchronize()
        assert started in ([], ["jit(_zero)"]), started
        for one in results:
            assert (one == 1).all()


def test_what_is_lowered(ctx):
    """No token goes in or out, on GPUs neither; but for exported programs, whose callers know only what they say of themselves."""
    with pj.Group(ctx):
        program = jax.jit(lambda x: (pj.all_reduce(x), pj.all_reduce(x))[1])
        for platform in ("cpu", "cuda") if jax.default_backend() == "cpu" else ("cuda",):
            token_of_jax = platform == "cpu" and ranks_of_process() > 1
            text = program.trace(jnp.ones(3)).lower(lowering_platforms=(platform,)).as_text()
            entry = next(line for line in text.splitlines() if "@main" in line)
            assert ("token" in entry) == token_of_jax, text
            assert text.count("create_token") == 1 - token_of_jax and text.count("@partita_all_reduce") == 2, text
        export = pytest.importorskip("jax.export")
        allowed = [export.DisabledSafetyCheck.custom_call("partita_all_reduce")]
        exported = export.export(program, disabled_checks=allowed)(jnp.ones(3))
        assert "jax.token" in exported.mlir_module()
        assert (jax.jit(exported.call)(jnp.ones(3)) == ctx.size).all()


def test_programs_compiled_ahead(ctx):
    """With constants, arguments that are given away, and results that are arguments."""
    if ranks_of_process() > 1:
        pytest.skip("such programs with a token JAX starts once, with an argument too few afterwards")
    with pj.Group(ctx):
        table = jnp.asarray(np.arange(10000.0).reshape(100, 100))
        program = jax.jit(lambda x, y: (pj.all_reduce(x) + table, y), donate_argnums=0).lower(table, 1.0).compile()
        assert program.as_text().count('custom_call_target="partita_all_reduce"') == 1
        for _ in range(3):
            found, same = program(jnp.ones((100, 100)), 2.0)
            assert (found == ctx.size + table).all() and same == 2


def test_calls_are_neither_merged_nor_dropped(ctx):
    """Equal ones, and those whose result only one rank uses: each rank makes as many, or the shapes behind them would not agree."""
    with pj.Group(ctx):

        def program(x):
            first, second = pj.all_reduce(x), pj.all_reduce(x)
            used = pj.all_reduce(x[:2]) if ctx.rank == 0 else (pj.all_reduce(x[:2]), x[:2] * ctx.size)[1]
            pj.scan(x[:1])
            return first, used, pj.all_gather(x[:1])

        program = jax.jit(program)
        assert program.lower(jnp.ones(3)).compile().as_text().count('custom_call_target="partita_') == 5
        for _ in range(3):
            first, used, row = program(jnp.ones(3))
            assert (first == ctx.size).all() and (used == ctx.size).all() and (row == 1).all()


def test_order_of_calls_that_do_not_depend_on_each_other(ctx):
    """Of one program: what a call takes comes late, on another rank for each, and the calls behind it wait."""
    with pj.Group(ctx):

        def calls(x, y):
            a = pj.all_reduce(late(ctx, 0, x))
            b = pj.all_gather(y)
            c = pj.all_reduce(late(ctx, 1, x[:4]), "max")
            pj.all_reduce(y)
            d = pj.scan(late(ctx, 2, x[:3]))
            return a, b, c, d, pj.all_reduce(y + 1)

        def repeated(x, y):
            def body(i, carry):
                a, b, c, d, e = calls(x, y)
                pj.all_reduce(late(ctx, 2, x[:6]))
                return jax.lax.cond(i % 2 == 0, lambda z: pj.all_reduce(z) / ctx.size, lambda z: z + 0 * pj.all_gather(y)[0], carry) + e[0]

            before = pj.all_reduce(late(ctx, 1, x[:5]))
            inside = jax.lax.fori_loop(0, 3, lambda i, z: body(i, z), 0.0)
            return before, inside, pj.all_gather(x[:2])

        x, y = jnp.ones(8), jnp.ones(2)
        one, loop = jax.jit(calls), jax.jit(repeated)
        for _ in range(5):
            a, b, c, d, e = one(x, y)
            assert (a == ctx.size).all() and b.shape == (2 * ctx.size,) and (c == 1).all()
            assert (d == ctx.rank + 1).all() and (e == 2 * ctx.size).all()
            before, inside, rows = loop(x, y)
            assert (before == ctx.size).all() and inside == 6 * ctx.size and rows.shape == (2 * ctx.size,)


def test_order_of_programs_that_do_not_depend_on_each_other(ctx):
    """One takes long on one rank, and the ones behind it wait for it: in program, outside, and of another group."""
    with pj.Group(ctx) as group:
        other = group.split(0, -ctx.rank)
        long = [jax.jit(lambda x, rank=rank: pj.all_reduce(late(ctx, rank, x))) for rank in range(2)]
        short = jax.jit(lambda x: pj.all_reduce(x, group=other))
        loss = jax.jit(jax.grad(lambda x: jnp.sum(pj.all_gather(late(ctx, 1, x)) ** 2)))
        x = jnp.ones(3)
        for i in range(10):
            found = [long[i % 2](x), short(x[:2]), pj.all_reduce(x[:1]), loss(x), pj.all_reduce(x[0])]
            for one, wanted in zip(found, (1, 1, 1, 2, 1)):
                assert (one == wanted * ctx.size).all()
        other.close()


def test_synchronize_waits_and_raises(ctx):
    """What a program fails with whose results nobody waits for, once; results of those before it are there. On a GPU, where the host
    has done its part when a program has been started, such a one is over by then."""
    with pj.Group(ctx) as group:
        good = jax.jit(lambda x: pj.all_reduce(late(ctx, 0, x)))
        bad = jax.jit(lambda x, n: pj.all_reduce(slow(x) + jnp.ones(n)) if ctx.size > 1 else pj.all_reduce(slow(x), "mean"), static_argnums=1)
        for i in range(3):
            results = [good(jnp.ones(3)) for _ in range(5)]
            bad(results[-1], 5 + 2 * i + (ctx.rank == 0))  # of no shape that there was before: that would end the group
            if jax.default_backend() == "cpu":
                with pytest.raises(ERROR, match="^INVALID_ARGUMENT: DisagreementError" if ctx.size > 1 else "^INVALID_ARGUMENT: ArgumentError"):
                    group.synchronize()
            assert all(one.is_ready() for one in results)
            group.synchronize()
            assert (good(jnp.ones(3)) == ctx.size).all()


@pytest.mark.skipif(os.environ.get("PARTITA_TEST_DEVICE") is not None, reason="of the CPU")
def test_several_devices_of_a_cpu_keep_the_token(ctx):
    """Each of them has an order of its own."""
    if ctx.rank > 0:
        pytest.skip("once is enough")
    text = """
import jax, jax.numpy as jnp, partita as pt, partita.jax as pj
def each(context):
    with pj.Group(context):
        program = jax.jit(pj.all_reduce)
        found = [program(jax.device_put(jnp.ones(3), device)) for device in jax.devices() for _ in range(2)]
        print("token" in program.lower(jnp.ones(3)).as_text().split("->")[0], len(found), all((one == 1).all() for one in found))
pt.run(1, each, device="cpu")
"""
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    done = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["True", "4", "True"], done


def test_what_goes_wrong_in_a_program_that_has_run_before(ctx):
    """JAX starts it in C++, and makes of the start's error a ValueError; calls outside of programs make of that what others are."""
    with pj.Group(ctx) as group:
        other = group.split(0)
        program = jax.jit(lambda x: pj.all_reduce(x, group=other))
        for one in (program, lambda x: pj.all_reduce(x, group=other)):
            assert (one(jnp.ones(3)) == ctx.size).all()
        other.close()
        with pytest.raises((ERROR, ValueError), match="^INVALID_ARGUMENT: ArgumentError: the group of this program has been closed"):
            jax.block_until_ready(program(jnp.ones(3)))
        with pytest.raises(pt.ArgumentError, match="has been closed"):
            pj.all_reduce(jnp.ones(3), group=other)
        assert (pj.all_reduce(jnp.ones(3)) == ctx.size).all()
