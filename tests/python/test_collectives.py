"""Collectives on plain memory, messages, ghost cells, symmetric memory."""

import numpy as np
import pytest
from shapes import spread, whole

import partita as pt


def of(rank, shape=(4, 3)):
    return whole(shape) * (rank + 1)


def test_one_and_all(ctx):
    last, ranks = ctx.size - 1, range(ctx.size)
    mine = of(ctx.rank)
    given = mine.copy()
    assert pt.broadcast(ctx, given, last) is given and (given == of(last)).all()
    reduced = pt.reduce(ctx, mine, root=last, reduction="max")
    gathered = pt.gather(ctx, mine, root=last)
    if ctx.rank == last:
        assert (reduced == of(last)).all() and (gathered == np.concatenate([of(r) for r in ranks])).all()
    else:
        assert reduced is None and gathered is None
    counts = [rank % 3 for rank in ranks]
    part = np.zeros((counts[ctx.rank], 2))
    source = whole((sum(counts), 2)) if ctx.rank == last else None
    pt.scatter_from(ctx, source, part, counts=counts, root=last)
    begin = sum(counts[: ctx.rank])
    assert (part == whole((sum(counts), 2))[begin : begin + counts[ctx.rank]]).all()
    for given in (counts, np.array(counts), tuple(counts), iter(counts)):
        assert (pt.all_gather(ctx, part, counts=given) == whole((sum(counts), 2))).all()


def test_all_and_all(ctx):
    ranks = range(ctx.size)
    mine = of(ctx.rank, (2 * ctx.size, 3))
    total = sum(of(rank, (2 * ctx.size, 3)) for rank in ranks)
    here = slice(2 * ctx.rank, 2 * ctx.rank + 2)
    assert (pt.all_reduce(ctx, mine) == total).all()
    assert (pt.reduce_scatter(ctx, mine) == total[here]).all()
    assert (pt.all_to_all(ctx, mine) == np.concatenate([of(r, (2 * ctx.size, 3))[here] for r in ranks])).all()
    assert (pt.scan(ctx, mine) == sum(of(r, mine.shape) for r in range(ctx.rank + 1))).all()
    before = pt.scan(ctx, mine, exclusive=True)
    assert (before == sum([of(r, mine.shape) for r in range(ctx.rank)], np.zeros(mine.shape))).all()
    sent = [1 + (ctx.rank + rank) % 2 for rank in ranks]
    received = pt.all_to_all(ctx, np.full(sum(sent), ctx.rank), send_counts=sent, receive_counts=sent)
    assert (received == np.repeat(np.arange(ctx.size), sent)).all()
    strided = np.zeros((6, 6))[::2, ::-3]
    pt.all_reduce(ctx, np.ones((3, 2), order="F"), strided)
    assert (strided == ctx.size).all()
    assert pt.all_reduce(ctx, mine, mine) is mine


def test_bad_arguments_on_every_rank(ctx):
    with pytest.raises(pt.ArgumentError, match="known|logical"):
        pt.all_reduce(ctx, np.ones(3), reduction="mean")
    with pytest.raises(pt.ArgumentError, match="not defined|bit_and"):
        pt.all_reduce(ctx, np.ones(3), reduction="bit_and")
    if ctx.size > 1:
        with pytest.raises(pt.DisagreementError):
            pt.all_reduce(ctx, np.ones(3 + (ctx.rank == 0)))
    frozen = np.ones(3)
    frozen.flags.writeable = False
    with pytest.raises(pt.ArgumentError, match="read-only"):
        pt.all_reduce(ctx, np.ones(3), frozen)
    with pytest.raises(TypeError, match="list"):
        pt.all_reduce(ctx, [1.0], np.zeros(1))
    assert (pt.all_reduce(ctx, frozen) == ctx.size).all()


def test_elements_that_share_memory_are_only_read(ctx):
    """Of strides of 0: what is written of one would be read of another."""
    shared = np.lib.stride_tricks.as_strided(np.full(1, 2.0), (4, 3), (0, 0))
    assert (pt.all_reduce(ctx, shared) == 2.0 * ctx.size).all()
    for call in (
        lambda: pt.all_reduce(ctx, np.ones((4, 3)), shared),
        lambda: pt.all_reduce(ctx, shared, shared),
        lambda: pt.all_gather(ctx, np.ones((4, 3)), np.lib.stride_tricks.as_strided(np.ones(1), (4 * ctx.size, 3), (0, 0))),
    ):
        with pytest.raises(pt.ArgumentError, match="overlapping elements .* read-only"):
            call()
    array = pt.from_local(ctx, shared, pt.Slab(0))
    assert array.sum() == 24 * ctx.size
    with pytest.raises(pt.ArgumentError, match="read-only"):
        array.fill(1)
    one = np.lib.stride_tricks.as_strided(np.zeros(3), (1, 3), (0, 8))  # of one row no other shares it
    pt.all_reduce(ctx, np.ones((1, 3)), one)
    assert (one == ctx.size).all()


def test_messages(ctx):
    if ctx.size == 1:
        pytest.skip("nobody to send to")
    following, before = (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size
    assert (pt.send_receive(ctx, of(ctx.rank), following, np.zeros((4, 3)), before, tag=3) == of(before)).all()
    if ctx.rank == 0:
        pt.send(ctx, of(7), 1)
    if ctx.rank == 1:
        assert (pt.receive(ctx, np.zeros((4, 3)), 0) == of(7)).all()
    ctx.barrier()


def test_ghost_cells(ctx):
    source = whole((5 * ctx.size, 4))
    a = spread(ctx, source, pt.Slab(0))
    halo = pt.Halo(a, (1, 2), (2, 0), (True, True))
    rows = np.arange(5 * ctx.rank - 1, 5 * ctx.rank + 7) % len(source)
    wanted = source[rows][:, np.arange(-2, 4) % 4]
    extended = halo.execute(a)
    assert extended.shape == halo.extended_shape and (extended == wanted).all()
    assert (halo.interior(extended, a) == a.local).all()
    halo.interior(extended, a)[...] *= 2
    assert (halo.refresh(extended) == 2 * wanted).all()
    halo.start(a, extended)
    with pytest.raises(pt.ArgumentError):
        halo.start(a, extended)
    halo.finish()
    assert (extended == wanted).all()


def test_ghost_cells_beyond_walls_are_zero(ctx):
    """Where nobody has said what is there, and whatever memory had before."""
    for periodic in ((), (True, False)):
        a = pt.full(ctx, (5 * ctx.size, 40), pt.Slab(0), 1.0)
        halo = pt.Halo(a, (1, 2), periodic=periodic)
        for fill in (3.0, 4.0):
            junk = [np.full(halo.extended_shape, fill) for _ in range(8)]
            del junk
            extended = halo.execute(a)
            wanted = np.zeros_like(extended)
            first, last = ctx.rank == 0 and not periodic, ctx.rank == ctx.size - 1 and not periodic
            wanted[first : len(wanted) - last, 2:-2] = 1
            assert (extended == wanted).all()


def test_numbers_are_arrays_without_dimensions(ctx):
    mine, ranks = float(ctx.rank + 1), np.arange(1.0, ctx.size + 1)
    for number in (mine, np.float64(mine), np.array(mine)):
        assert (pt.all_gather(ctx, number) == ranks).all()
        assert pt.all_reduce(ctx, number) == ranks.sum() and pt.scan(ctx, number) == ranks[: ctx.rank + 1].sum()
        rooted = pt.gather(ctx, number, root=0), pt.reduce(ctx, number, reduction="max", root=0)
        assert rooted == (None, None) if ctx.rank else (rooted[0] == ranks).all() and rooted[1] == ctx.size
    place = np.array(0.0)
    assert pt.scatter_from(ctx, ranks, place) is place and place == mine
    assert (pt.reduce_scatter(ctx, ranks, place) == mine * ctx.size).all() and place == mine * ctx.size


def test_ghost_cells_are_added_to_their_owners(ctx):
    shape, lower, upper = (5 * ctx.size, 4), (1, 2), (2, 0)
    a = spread(ctx, whole(shape), pt.Slab(0))
    halo = pt.Halo(a, lower, upper, (True, True))
    extended = halo.execute(a)
    held = np.zeros(shape)  # how often an element is held by any rank
    for rank in range(ctx.size):
        rows = np.arange(5 * rank - 1, 5 * rank + 7) % shape[0]
        np.add.at(held, np.ix_(rows, np.arange(-2, 4) % 4), 1)
    wanted = (held * whole(shape))[5 * ctx.rank : 5 * ctx.rank + 5]
    sums = a * 0.0
    assert halo.accumulate(extended, sums) is sums and np.allclose(sums.local, wanted)
    before = extended.copy()
    assert halo.accumulate(extended) is extended and np.allclose(halo.interior(extended, a), wanted)
    halo.interior(before, a)[...] = halo.interior(extended, a)
    assert (before == extended).all()  # but for the part
    with pytest.raises(pt.ArgumentError):
        halo.accumulate(extended[:1])
    kept = np.ones((5, 4))
    kept.flags.writeable = False
    with pytest.raises(pt.ArgumentError, match="read-only"):
        halo.accumulate(extended, pt.from_local(ctx, kept, pt.Slab(0)))
    assert (kept == 1).all()


def test_groups(ctx):
    half = ctx.split(ctx.rank % 2)
    assert half is not None and (pt.all_reduce(half, np.array([1]))[0] == half.size)
    assert ctx.split(-1) is None
    assert ctx.subgroup([ctx.rank]).size == 1
    mesh = pt.Mesh({"x": ctx.size, "y": 1})
    assert ctx.along(mesh, "x").size == ctx.size and ctx.along(mesh, ("y",)).size == 1


def test_symmetric_memory_by_package(ctx):
    for package in (np, "numpy"):
        assert type(pt.SymmetricArray(ctx, 3, space="host", package=package).local) is np.ndarray
    with pytest.raises(pt.ArgumentError, match="known: numpy, cupy, torch"):
        pt.SymmetricArray(ctx, 3, package="jax")
    with pytest.raises(pt.UnsupportedError, match="cupy does not support memory of the host"):
        pt.SymmetricArray(ctx, 3, space="host", package="cupy").local


def test_symmetric_memory_of_torch(ctx):
    torch = pytest.importorskip("torch")
    block = pt.SymmetricArray(ctx, (3, 2), "bfloat16", space="host", package=torch)
    block.local[...] = ctx.rank
    ctx.barrier()
    there = block.peer((ctx.rank + 1) % ctx.size)
    assert block.local.dtype == torch.bfloat16 and (there is None or bool((there == (ctx.rank + 1) % ctx.size).all()))
    ctx.barrier()


def test_symmetric_memory(ctx):
    block = pt.SymmetricArray(ctx, (3, 2), "float32")
    mine = block.local
    mine[...] = ctx.rank
    ctx.barrier()
    there = block.peer((ctx.rank + 1) % ctx.size)
    if there is not None:
        assert there.dtype == np.float32 and (there == (ctx.rank + 1) % ctx.size).all()
    ctx.barrier()
    assert (pt.all_reduce(ctx, mine, mine) == sum(range(ctx.size))).all()
    a = pt.from_local(ctx, mine, pt.Slab(0))
    assert "heap" in str(a.operand)
    uneven = pt.SymmetricArray(ctx, 1 + ctx.rank, make_symmetric=True)
    assert uneven.local.shape == (1 + ctx.rank,) and uneven.bytes >= 8 * ctx.size
    uneven.free()
    with pytest.raises(pt.Error):
        uneven.local
    if ctx.size > 1:
        with pytest.raises(pt.DisagreementError):
            pt.SymmetricArray(ctx, 1 + ctx.rank)
