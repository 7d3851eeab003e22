"""partita.compat.nvmath.distribution: rules, and redistribution."""

import logging

import numpy as np
import pytest
from nvmath_ranks import Heard, Stream, box, part, runtime, two_dimensional

from partita.compat.nvmath import reshape
from partita.compat.nvmath.distribution import (
    BindDistributionError,
    BlockCyclic,
    BlockNonCyclic,
    Box,
    ConvertDistributionError,
    InvalidRedistributeState,
    ProcessGrid,
    Redistribute,
    RedistributeOptions,
    Slab,
    redistribute,
)

COL, ROW = ProcessGrid.Layout.COL_MAJOR, ProcessGrid.Layout.ROW_MAJOR


def test_slabs(ctx):
    with runtime(ctx):
        assert [one.partition_dim for one in (Slab.X, Slab.Y, Slab.Z)] == [0, 1, 2] and Slab(3).name == "Slab"
        assert Slab(0) == Slab.X != Slab.Y and Slab(0, 2) == Slab.X != Slab(0, 2).to(BlockCyclic)
        parts = [Slab.Y.shape(rank, (4, 7)) for rank in range(ctx.size)]
        assert sum(one[1] for one in parts) == 7 and parts[0][1] == -(-7 // ctx.size)
        for wrong in ((-1,), ("0",), (1, 1), (0, 0)):
            with pytest.raises(ValueError, match="partition_dim|ndim"):
                Slab(*wrong)
        for rank in (-1, ctx.size, "0"):
            with pytest.raises(ValueError, match="rank"):
                Slab.X.shape(rank, (4, 7))
        with pytest.raises(RuntimeError, match="global_shape"):
            Slab.X.shape(0)


def test_binding(ctx):
    with runtime(ctx):
        slab = Slab(0)._bind((9, 4))
        assert slab.shape(ctx.rank) == slab.shape(ctx.rank, (9, 4)) and slab.ndim == 2
        with pytest.raises(ValueError, match="different"):
            slab.shape(0, (8, 4))
        with pytest.raises(BindDistributionError):
            slab._bind((9, 4))
        with pytest.raises(BindDistributionError):
            Slab(0)._bind((9, 4), shape=(9, 5))
        with pytest.raises(ValueError, match="dimensions"):
            Slab(1)._bind((9,))
        assert not slab.copy()._bound is False and not Slab.X._bound


def test_conversions(ctx):
    with runtime(ctx):
        slab = Slab(1, 2)
        assert slab.to(Slab) is slab and slab.to(Slab, copy=True) is not slab
        assert Slab.X.to(Slab, ndim=3).ndim == 3
        blocks = slab.to(BlockCyclic)
        assert isinstance(blocks, BlockNonCyclic) and blocks.process_grid.shape == (1, ctx.size)
        assert blocks.to(Slab).partition_dim in (0, 1)
        with pytest.raises(ConvertDistributionError):
            Slab.X.to(BlockCyclic)
        with pytest.raises(ConvertDistributionError):
            slab.to(Box)
        lower, upper = Slab(0)._bind((2 * ctx.size, 3)).to(Box)
        assert (lower, upper) == ((2 * ctx.rank, 0), (2 * ctx.rank + 2, 3))
        assert Box((0, 0), (2, 3)).to(Box, ndim=3).upper == (2, 3, 1)
        bound = BlockCyclic(ProcessGrid(shape=(ctx.size, 1)), (2, 3))._bind((2 * ctx.size, 3))
        assert bound.to(Slab).partition_dim == 0 and bound.to(Box).box_shape == (2, 3)
        assert bound.to(BlockCyclic, ndim=3).block_sizes == (2, 3, 1)
        if ctx.size > 1:
            with pytest.raises(ConvertDistributionError):
                BlockCyclic(ProcessGrid(shape=(ctx.size, 1)), (1, 3))._bind((2 * ctx.size, 3)).to(Slab)
            with pytest.raises(ConvertDistributionError):
                bound.copy().__class__(ProcessGrid(shape=(ctx.size, 1)), (2, 3)).to(Slab)
        with pytest.raises(NotImplementedError):
            Box((0,), (1,)).to(Slab)
        with pytest.raises(NotImplementedError):
            bound.to(BlockNonCyclic)
        for wrong in (int, "Slab"):
            with pytest.raises(ValueError, match="distribution"):
                slab.to(wrong)
        with pytest.raises(ValueError, match="ndim"):
            slab.to(Slab, ndim=1)


def test_grids(ctx):
    with runtime(ctx):
        grid = ProcessGrid(shape=(ctx.size, 1))
        assert grid.layout == ROW and grid == ProcessGrid(shape=(ctx.size, 1), layout=COL) and hash(grid) == hash((ctx.size, 1))
        turned = ProcessGrid(process_array=np.arange(ctx.size)[::-1].reshape(1, ctx.size))
        assert turned.layout is None and turned.shape == (1, ctx.size)
        blocks = BlockCyclic(turned, (2, 1))
        assert blocks.shape(ctx.size - 1, (2, ctx.size + 1)) == (2, 2 if ctx.size > 1 else 2)
        with pytest.raises(ValueError, match="coordinates"):
            ProcessGrid(shape=(ctx.size, 2))
        with pytest.raises(ValueError, match="shape"):
            ProcessGrid()
        with pytest.raises(ValueError, match="differ"):
            ProcessGrid(shape=(ctx.size, 1), process_array=turned.process_array) if ctx.size > 1 else ProcessGrid(
                shape=(1, 1, 1), process_array=turned.process_array
            )
        with pytest.raises(ValueError, match="cannot be combined with process_array"):
            ProcessGrid(layout=ROW, process_array=turned.process_array)
        with pytest.raises(TypeError, match="layout"):
            ProcessGrid(shape=(ctx.size, 1), layout=1)
        if ctx.size == 4:
            with pytest.raises(ValueError, match="layout is required"):
                ProcessGrid(shape=(2, 2))
            assert ProcessGrid(shape=(2, 2), layout=ROW) != ProcessGrid(shape=(2, 2), layout=COL)
        for wrong, match in (({"block_sizes": (1,)}, "block_sizes"), ({"block_sizes": (1, 2.5)}, "block_sizes")):
            with pytest.raises(ValueError, match=match):
                BlockCyclic(grid, **wrong)
        for first in ((ctx.size, 0), (0.5, 0)):
            with pytest.raises(ValueError, match="first_process"):
                BlockCyclic(grid, (1, 1), first_process=first)


def test_boxes(ctx):
    with runtime(ctx):
        one = Box((0, 1), (2, 4))
        assert (one[0], one[1], one.box_shape, one.ndim) == ((0, 1), (2, 4), (2, 3), 2) and list(one) == [(0, 1), (2, 4)]
        assert one == Box((0, 1), (2, 4)) and hash(one) == hash(Box([0, 1], [2, 4]))
        for lower, upper in (((0,), (1, 2)), ((0,), (0,)), ((0.5,), (1,))):
            with pytest.raises(ValueError, match="Box"):
                Box(lower, upper)
        if ctx.size > 1:
            with pytest.raises(RuntimeError, match="only"):
                one.shape((ctx.rank + 1) % ctx.size)


def test_redistribution(ctx):
    with runtime(ctx):
        for dtype in ("int8", "float32", "complex128"):
            whole = np.arange(7 * 9).reshape(7, 9).astype(dtype)
            for source in two_dimensional(ctx.size):
                for destination in two_dimensional(ctx.size):
                    mine = part(whole, source, ctx.rank, ctx.size)
                    kept = mine.copy()
                    found = redistribute(mine, source, destination)
                    np.testing.assert_array_equal(found, part(whole, destination, ctx.rank, ctx.size))
                    np.testing.assert_array_equal(mine, kept)


def test_redistribution_of_other_dimensions_and_orders(ctx):
    with runtime(ctx):
        for shape in ((11,), (5, 6, 7), (3, 4, 3, 5)):
            whole = np.arange(np.prod(shape)).reshape(shape)
            other = Slab(len(shape) - 1)
            for order in "CF":
                found = redistribute(part(whole, Slab.X, ctx.rank, ctx.size).copy(order), Slab.X, other)
                np.testing.assert_array_equal(found, part(whole, other, ctx.rank, ctx.size))
                assert found.flags[f"{order}_CONTIGUOUS"]
        whole = np.arange(2 * 12 * 18).reshape(12 * 2, 18)[::2, ::3]
        with_gaps = np.repeat(part(whole, Slab.X, ctx.rank, ctx.size), 2, axis=1)[:, ::2]
        np.testing.assert_array_equal(redistribute(with_gaps, Slab.X, Slab.Y), part(whole, Slab.Y, ctx.rank, ctx.size))


def test_redistribution_of_boxes(ctx):
    with runtime(ctx):
        whole = np.arange(9 * 11).reshape(9, 11)
        source, destination = (box(whole.shape, axis, ctx.rank, ctx.size) for axis in (0, 1))
        mine = part(whole, Slab.X, ctx.rank, ctx.size)
        wanted = part(whole, Slab.Y, ctx.rank, ctx.size)
        np.testing.assert_array_equal(redistribute(mine, source, destination), wanted)
        np.testing.assert_array_equal(redistribute(mine, Slab.X, destination), wanted)
        np.testing.assert_array_equal(reshape.reshape(mine, source, destination), wanted)
        pairs = [tuple(source), tuple(destination)]
        with reshape.Reshape(mine, *pairs, options=reshape.ReshapeOptions(blocking=True)) as moving:
            moving.plan()
            np.testing.assert_array_equal(moving.execute(), wanted)
            assert (moving.input_box, moving.output_box) == (source, destination)


def test_redistribution_that_cannot_be(ctx):
    with runtime(ctx):
        mine = np.ones((2, 2))
        if ctx.size > 1:
            everywhere = Box((0, 0), (2, 2))
            with pytest.raises(ValueError, match="elements"):
                redistribute(mine, everywhere, everywhere)
            with pytest.raises(ValueError, match="dimensions"):
                redistribute(np.ones((2,) * (1 + (ctx.rank == 0))), Slab.X, Slab.X)
            with pytest.raises(ValueError, match="dtype"):
                redistribute(mine.astype("f4" if ctx.rank else "f8"), Slab.X, Slab.Y)
            with pytest.raises(ValueError, match="options"):
                redistribute(mine, Slab.X, Slab.Y, options={"blocking": True if ctx.rank else "auto"})
            with pytest.raises(ValueError, match="memory layout"):
                redistribute(np.asfortranarray(np.ones((3, 4))) if ctx.rank else np.ones((3, 4)), Slab.X, Slab.Y)
            with pytest.raises(ValueError, match="problem size is inconsistent"):
                redistribute(np.ones((2, 2 + ctx.rank)), Slab.X, Slab.Y)
            with pytest.raises(BindDistributionError):
                redistribute(np.ones((1 + ctx.rank, 2)), Slab.X, Slab.Y)
            with pytest.raises(ValueError, match="inconsistent"):
                redistribute(mine, Slab.X if ctx.rank else Slab.Y, Slab.Y)
            with pytest.raises(TypeError, match="distribution"):
                redistribute(mine, Slab.X, Slab.Y if ctx.rank else 1)  # wrong on one rank, raised on all
        with pytest.raises(ValueError, match="box has shape"):
            redistribute(mine, Box((0, 0), (1, 2)), Slab.X)
        with pytest.raises(ValueError, match="dimensions"):
            redistribute(mine, Slab.Z, Slab.X)
        with pytest.raises(TypeError, match="operand"):
            redistribute([[1.0]], Slab.X, Slab.Y)
        for wrong in (False, "never", 1):
            with pytest.raises(ValueError, match="blocking"):
                RedistributeOptions(blocking=wrong)
        with pytest.raises(TypeError, match="stream"):
            redistribute(mine, Slab.X, Slab.Y, stream="0")
        ctx.barrier()


def test_states_and_options(ctx):
    with runtime(ctx):
        whole = np.arange(8.0 * 6).reshape(8, 6)
        mine = part(whole, Slab.X, ctx.rank, ctx.size)
        wanted = part(whole, Slab.Y, ctx.rank, ctx.size)
        heard, stream = Heard(), Stream()
        moving = Redistribute(mine, Slab.X, Slab.Y, options={"logger": heard.logger}, stream=stream)
        with pytest.raises(RuntimeError, match="before plan"):
            moving.execute()
        moving.plan(stream=stream)
        for release in (True, False):
            for sync in (True, False):
                found = moving.execute(stream, release_workspace=release, sync_symmetric_memory=sync)
                np.testing.assert_array_equal(found, wanted)
                assert bool(moving._moves) != release
        assert stream.waits == 6 and heard.levels() == {logging.INFO}
        moving.reset_operand(2 * mine)
        np.testing.assert_array_equal(moving.execute(), 2 * wanted)
        moving.reset_operand_unchecked(3 * mine, stream=stream)
        np.testing.assert_array_equal(moving.execute(), 3 * wanted)
        moving.reset_operand(np.asfortranarray(mine))
        np.testing.assert_array_equal(moving.execute(), wanted)
        for other, kind in ((mine.astype("f4"), "data type"), (mine[:, :-1], "shape")):
            with pytest.raises(ValueError, match=kind):
                moving.reset_operand(other)
        moving.release_operand()
        with pytest.raises(RuntimeError, match="after the operand has been released"):
            moving.execute()
        moving.reset_operand(mine)
        moving.reset_operand(None)
        with pytest.raises(RuntimeError, match="set to None"):
            moving.execute()
        moving.free()
        moving.free()
        for call in (moving.plan, moving.execute, moving.release_operand, lambda: moving.reset_operand(mine)):
            with pytest.raises(InvalidRedistributeState):
                call()
        assert issubclass(reshape.InvalidReshapeState, InvalidRedistributeState)
