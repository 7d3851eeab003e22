"""partita.jax: collectives and messages in compiled programs."""

import os
import socket
import subprocess
import sys

import numpy as np
import pytest
from jax_cases import ERROR, counts_of, jax, jnp, of, pj
from shapes import whole
from test_launchers import started

import partita as pt


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


def test_trees(ctx):
    """A call for each leaf, in the order of the leaves."""
    with pj.Group(ctx):
        tree = {"b": jnp.ones((2, 3)) * (ctx.rank + 1), "a": [1.0, (jnp.arange(4), None)]}
        total = ctx.size * (ctx.size + 1) / 2
        for found in (pj.all_reduce(tree), jax.jit(pj.all_reduce)(tree)):
            assert jax.tree_util.tree_structure(found) == jax.tree_util.tree_structure(tree)
            assert (found["b"] == total).all() and found["a"][0] == ctx.size and (found["a"][1][0] == ctx.size * np.arange(4)).all()
        rows = pj.all_gather({"x": jnp.full((1, 2), ctx.rank)})["x"]
        assert rows.shape == (ctx.size, 2) and (rows[-1] == ctx.size - 1).all()
        gradient = jax.jit(jax.grad(lambda tree: jnp.sum(pj.all_reduce(tree)["x"])))({"x": jnp.ones(2)})
        assert (gradient["x"] == ctx.size).all()
        with pytest.raises(pt.TypeError, match="send: expected one array, got dict"):
            pj.send({"x": 1.0}, ctx.rank)
        with pytest.raises(pt.Error, match="all_reduce"):
            pj.all_reduce(None)


def test_without_jit(ctx):
    with pj.Group(ctx):
        with jax.disable_jit():
            assert (pj.all_reduce(jnp.ones(3)) == ctx.size).all()
            assert (jax.jit(lambda x: pj.broadcast(pj.scan(x)) + 1)(jnp.ones(3)) == 2).all()
            pj.barrier()


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
        with pytest.raises((ERROR, ValueError), match="closed"):
            jax.block_until_ready(program(1))
        for call in (lambda: pj.all_reduce(np.ones(1), group=half), lambda: jax.jit(lambda x: pj.scan(x, group=half))(1.0), half.__enter__):
            with pytest.raises(pt.ArgumentError, match="closed"):
                call()
        half.close()  # again: nothing to do


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
    environment = {**os.environ, "PJRT_NPROC": "2", "JAX_PLATFORMS": "cpu"}
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


def test_arrays_on_several_devices_of_a_process():
    """Each device would make the call, and pair with any of the other rank's: refused where the program is traced or compiled, on all
    ranks, also where one rank alone does it; and so are arrays that are spread outside of shard_map."""
    text = """
import jax, jax.numpy as jnp, partita.jax as pj
from jax.sharding import NamedSharding, PartitionSpec
rows, mesh = PartitionSpec("rows"), jax.make_mesh((2,), ("rows",), axis_types=(jax.sharding.AxisType.Auto,))
spread = jax.device_put(jnp.arange(4.0), NamedSharding(mesh, rows))
with pj.Group(context) as group:
    def in_shard_map(x):
        return jax.shard_map(pj.all_reduce, mesh=mesh, in_specs=rows, out_specs=rows, check_vma=False)(x)
    for call in (lambda: jax.jit(in_shard_map)(spread), lambda: in_shard_map(spread), lambda: jax.pmap(pj.all_reduce)(jnp.ones((2, 3)))):
        try:
            print("none", call())
        except pt.UnsupportedError as error:
            print("2 devices of this process" in str(error))
    for call in (lambda: jax.jit(pj.all_reduce)(spread), lambda: pj.all_reduce(spread)):
        try:
            print("none", call())
        except pt.UnsupportedError as error:
            print("sharded over 2 devices" in str(error) and "jax.shard_map" in str(error))
    try:
        if context.rank == 0:
            jax.jit(pj.all_reduce)(spread)
        else:
            jax.block_until_ready(pj.all_reduce(spread.addressable_data(0)))
    except (pt.UnsupportedError, jax.errors.JaxRuntimeError) as error:
        print("rank 0: all_reduce: the operand is sharded" in str(error))
    print(all(float(pj.all_reduce(one.data)[0]) == 2 * float(one.data[0]) for one in spread.addressable_shards))
"""
    for printed, code in started(2, text, XLA_FLAGS="--xla_force_host_platform_device_count=2"):
        assert code == 0 and printed.split() == ["True"] * 7, printed


def test_nans_of_one_rank():
    """JAX runs a program that gave NaN again, operation by operation, on this rank alone, and so with its reverse pass: that ends at the
    first call, the other rank is told, and both go on."""
    text = """
import time, jax, jax.numpy as jnp, partita.jax as pj
jax.config.update("jax_debug_nans", True)
begin, one = time.monotonic(), context.rank == 1
with pj.Group(context):
    x = jnp.full(3, 1.0 - one)
    for program in (
        jax.jit(lambda x: jnp.log(pj.all_reduce(x) * 0 - one)),
        jax.grad(lambda x: jnp.sum(jax.jit(lambda x: 0 * pj.scan(jnp.sqrt(x)))(x))),
    ):
        try:
            jax.block_until_ready(program(x))
            pj.barrier()
            print("none")
        except FloatingPointError as error:
            print(one and "the other ranks do not" in str(error))
        except jax.errors.JaxRuntimeError as error:
            print(not one and "rank 1: " in str(error) and "FloatingPointError: " in str(error))
    print(float(pj.all_reduce(1.0)) == 2, time.monotonic() - begin < 15)
"""
    for printed, code in started(2, text):
        lines = [line for line in printed.splitlines() if not line.startswith("Invalid nan")]
        assert code == 0 and lines == ["True", "True", "True True"], printed


def test_everything_public_has_a_docstring():
    for name in pj.__all__:
        assert getattr(pj, name).__doc__, name
