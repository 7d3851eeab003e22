"""partita.compat.nvmath.fft, against NumPy."""

import logging
import sys

import numpy as np
import pytest
from nvmath_ranks import Heard, Stream, box, part, runtime

import partita.compat.nvmath as nvmath
from partita.compat.nvmath import _memory
from partita.compat.nvmath import fft as nv
from partita.compat.nvmath._internal.tensor_wrapper import wrap_operand
from partita.compat.nvmath.distribution import BindDistributionError, Box, Slab
from partita.compat.nvmath.fft import FFT, FFTDirection, FFTOptions

SHAPES = [(8, 9), (9, 8), (7, 5), (5, 6, 8), (9, 11, 7)]


def numbers(shape, dtype):
    generator = np.random.default_rng(1)
    values = generator.standard_normal(shape) + 1j * generator.standard_normal(shape)
    return (values if np.dtype(dtype).kind == "c" else values.real).astype(dtype)


def turned(slab):
    return Slab.Y if slab == Slab.X else Slab.X


def close(found, wanted):
    single = found.dtype in (np.complex64, np.float32)
    np.testing.assert_allclose(found, wanted, rtol=1e-3 if single else 1e-9, atol=(1e-3 if single else 1e-9) * np.abs(wanted).max(initial=1))


@pytest.mark.parametrize("redistribute", [True, False])
@pytest.mark.parametrize("slab", [Slab.X, Slab.Y], ids=["X", "Y"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_functions(ctx, shape, slab, redistribute):
    options, after = {"redistribute": redistribute}, slab if redistribute else turned(slab)
    with runtime(ctx):
        for single, double in (("complex64", "float32"), ("complex128", "float64")):
            whole = numbers(shape, single)
            mine = lambda array: part(array, slab, ctx.rank, ctx.size).copy()  # noqa: E731
            found = nv.fft(mine(whole), distribution=slab, options=options)
            assert found.dtype == single
            close(found, part(np.fft.fftn(whole), after, ctx.rank, ctx.size))
            close(nv.ifft(mine(whole), distribution=slab, options=options), part(np.fft.ifftn(whole) * whole.size, after, ctx.rank, ctx.size))
            real = whole.real.astype(double)
            spectrum = np.fft.rfftn(real)
            close(nv.rfft(mine(real), distribution=slab, options=options), part(spectrum, after, ctx.rank, ctx.size))
            parity = "odd" if shape[-1] % 2 else "even"
            back = nv.irfft(mine(spectrum.astype(single)), distribution=slab, options={**options, "last_axis_parity": parity})
            assert back.dtype == double
            close(back, part(real * real.size, after, ctx.rank, ctx.size))


@pytest.mark.parametrize("kind", ["C2C", "R2C", "C2R"])
def test_boxes(ctx, kind):
    before = {"C2C": (8, 17), "R2C": (8, 17), "C2R": (8, 9)}[kind]
    after = {"C2C": (8, 17), "R2C": (8, 9), "C2R": (8, 17)}[kind]
    real = numbers((8, 17), "float64")
    whole = {"C2C": numbers((8, 17), "complex128"), "R2C": real, "C2R": np.fft.rfftn(real)}[kind]
    wanted = {"C2C": np.fft.fftn(whole), "R2C": np.fft.rfftn(real), "C2R": real * real.size}[kind]
    with runtime(ctx):
        boxes = box(before, 0, ctx.rank, ctx.size), box(after, 1, ctx.rank, ctx.size)
        mine = part(whole, Slab.X, ctx.rank, ctx.size).copy()
        options = FFTOptions(fft_type=kind, last_axis_parity="odd")
        with FFT(mine, distribution=boxes, options=options) as transform:
            transform.plan()
            found = transform.execute()
            close(found, part(wanted, Slab.Y, ctx.rank, ctx.size))
            if kind == "C2C":  # and back, from where it is
                transform.reset_operand(found, distribution=boxes[::-1])
                close(transform.execute(direction="inverse"), part(whole, Slab.X, ctx.rank, ctx.size) * whole.size)
                again = part(whole, Slab.X, ctx.rank, ctx.size).copy()
                transform.reset_operand(again, distribution=boxes)
                close(transform.execute(), part(wanted, Slab.Y, ctx.rank, ctx.size))
                if ctx.size > 1:
                    with pytest.raises(ValueError, match="either order"):
                        transform.reset_operand(again, distribution=(boxes[0], boxes[0]))
                with pytest.raises(ValueError, match="kind of distribution differs"):
                    transform.reset_operand(mine, distribution=Slab.X)


def test_where_results_lie(ctx):
    with runtime(ctx):
        whole = numbers((8, 6), "complex64")
        mine = part(whole, Slab.X, ctx.rank, ctx.size).copy()
        for redistribute in (True, False):
            for shape, dtype, kind in (((8, 6), "complex64", "C2C"), ((8, 6), "float32", "R2C"), ((8, 6), "complex64", "C2R")):
                local = Slab.X.shape(ctx.rank, shape)
                roomy = nv.allocate_operand(local, np, input_dtype=dtype, distribution=Slab.X, fft_type=kind)
                assert roomy.shape == local and roomy.dtype == dtype
                assert not _memory.is_symmetric(wrap_operand(roomy))  # no rank has to free it
                roomy[:] = 1
                transform = FFT(roomy, distribution=Slab.X, options=FFTOptions(kind, redistribute))
                transform.plan()
                found = transform.execute()
                assert (np.shares_memory(found, roomy) or not found.size) and found.ctypes.data == roomy.ctypes.data
                assert (found is roomy) == (kind == "C2C" and (redistribute or ctx.size == 1))
        with FFT(mine, distribution=Slab.X) as transform:
            transform.plan()
            assert transform.execute() is mine
        # Ordinary memory without room: a new array, and the operand keeps its values.
        real = np.ascontiguousarray(mine.real)
        kept = real.copy()
        found = nv.rfft(real, distribution=Slab.X)
        assert not np.shares_memory(found, real) and (real == kept).all()
        # A part of something larger is not written beyond.
        larger = np.ones((8, 12), "float32")
        nv.rfft(larger[: len(real)], distribution=Slab.X)
        assert (larger == 1).all()


def test_operands_of_torch_are_freed(ctx):
    """As programs for GPUs do with theirs; on the CPU that is asked for there is nothing to free."""
    torch = pytest.importorskip("torch")
    with runtime(ctx):
        for dtype in (torch.float32, torch.complex64):
            mine = nv.allocate_operand(Slab.X.shape(ctx.rank, (8, 6)), torch, input_dtype=dtype, distribution=Slab.X)
            nvmath.free_symmetric_memory(mine)
        here = nv.allocate_operand(Slab.X.shape(ctx.rank, (8, 6)), torch, distribution=Slab.X, memory_space="cpu")
        if ctx.device == "cpu":
            with pytest.raises(TypeError, match="symmetric"):
                nvmath.free_symmetric_memory(here)


def test_round_trip_in_one_place(ctx):
    with runtime(ctx):
        real = numbers((9, 10), "float64")
        room = nv.allocate_operand(Slab.X.shape(ctx.rank, real.shape), np, distribution=Slab.X)
        room[:] = part(real, Slab.X, ctx.rank, ctx.size)
        options = {"redistribute": False}
        spectrum = nv.rfft(room, distribution=Slab.X, options=options)
        back = nv.irfft(spectrum, distribution=Slab.Y, options=options)
        close(back, part(real, Slab.X, ctx.rank, ctx.size) * real.size)
        assert back.ctypes.data == room.ctypes.data


def test_operands_with_room_that_cannot_be(ctx):
    with runtime(ctx):
        for wrong, match in (
            ({"package": logging}, "package"),
            ({"memory_space": "cuda"}, "memory_space"),
            ({"fft_type": "R2C", "input_dtype": "complex64"}, "dtype"),
            ({"fft_type": "C2C"}, "dtype"),
        ):
            given = {"shape": Slab.X.shape(ctx.rank, (8, 8)), "package": np, "distribution": Slab.X, **wrong}
            with pytest.raises(ValueError, match=match):
                nv.allocate_operand(given.pop("shape"), given.pop("package"), **given)
        boxes = box((8, 16), 0, ctx.rank, ctx.size), box((8, 9), 1, ctx.rank, ctx.size)
        room = nv.allocate_operand(boxes[0].box_shape, np, distribution=boxes, memory_space="cpu", logger=logging.getLogger())
        assert room.shape == boxes[0].box_shape


def test_states_and_options(ctx):
    with runtime(ctx):
        whole = numbers((8, 6), "complex128")
        mine = part(whole, Slab.X, ctx.rank, ctx.size).copy()
        heard, stream = Heard(), Stream()
        transform = FFT(mine, distribution=Slab.X, options={"logger": heard.logger, "blocking": True, "reshape": False}, stream=stream)
        with pytest.raises(RuntimeError, match="before plan"):
            transform.execute()
        transform.plan(stream=stream)
        found = transform.execute(stream=stream, release_workspace=True, sync_symmetric_memory=False)
        assert stream.waits == 3 and transform.global_extents == (8, 6) and heard.levels() == {logging.INFO}
        close(found, part(np.fft.fftn(whole), Slab.Y, ctx.rank, ctx.size))
        transform.reset_operand(found, distribution=Slab.Y)
        close(transform.execute(direction=FFTDirection.INVERSE), part(whole, Slab.X, ctx.rank, ctx.size) * whole.size)
        again = part(whole, Slab.X, ctx.rank, ctx.size).copy()
        transform.reset_operand_unchecked(again, distribution=Slab.X)
        close(transform.execute(direction=-1), part(np.fft.fftn(whole), Slab.Y, ctx.rank, ctx.size))
        with pytest.raises(ValueError, match="data type"):
            transform.reset_operand(again.astype("complex64"), distribution=Slab.X)
        with pytest.raises(ValueError, match="shape"):
            transform.reset_operand(again[:, :-1], distribution=Slab.X)
        transform.release_operand()
        with pytest.raises(RuntimeError, match="after the operand has been released"):
            transform.execute()
        transform.reset_operand(None)
        with pytest.raises(RuntimeError, match="set to None"):
            transform.execute()
        transform.free()
        transform.free()
        for call in (transform.plan, transform.execute, transform.release_operand, transform.reset_operand):
            with pytest.raises(nv.InvalidFFTState):
                call()


def test_nobody_keeps_what_was_released(ctx):
    with runtime(ctx):
        mine = np.ones(Slab.X.shape(ctx.rank, (8, 8)), complex)
        holders = sys.getrefcount(mine)
        with FFT(mine, distribution=Slab.X) as transform:
            transform.plan()
            transform.execute()
            transform.release_operand()
            assert sys.getrefcount(mine) == holders


def test_what_may_not_be_reset(ctx):
    with runtime(ctx):
        mine = np.ones(Slab.X.shape(ctx.rank, (8, 8)), complex)
        with FFT(mine, distribution=Slab.X) as transform, pytest.raises(ValueError, match="redistribute=True"):
            transform.reset_operand(np.ones(Slab.Y.shape(ctx.rank, (8, 8)), complex), distribution=Slab.Y)
        with FFT(mine.real.copy(), distribution=Slab.X) as transform, pytest.raises(ValueError, match="R2C"):
            transform.reset_operand(np.ones(Slab.Y.shape(ctx.rank, (8, 8))), distribution=Slab.Y)


def test_directions(ctx):
    with runtime(ctx):
        real = np.ones(Slab.X.shape(ctx.rank, (8, 8)))
        with FFT(real, distribution=Slab.X) as transform:
            transform.plan()
            for wrong in ("inverse", 1, "sideways", 7):
                with pytest.raises(ValueError):
                    transform.execute(direction=wrong)
        with FFT(real + 0j, distribution=Slab.X, options={"fft_type": "C2R"}) as transform:
            transform.plan()
            with pytest.raises(ValueError, match="forward"):
                transform.execute(direction="forward")
            close(transform.execute(direction="INVERSE"), transform.execute())


def test_options_that_cannot_be():
    for wrong, match in (
        ({"fft_type": "D2Z"}, "fft_type"),
        ({"redistribute": 1}, "redistribute"),
        ({"reshape": "yes"}, "redistribute"),
        ({"last_axis_parity": "none"}, "last_axis_parity"),
        ({"blocking": False}, "blocking"),
    ):
        with pytest.raises(ValueError, match=match):
            FFTOptions(**wrong)
    assert FFTOptions(reshape=False).redistribute is False and FFTOptions().reshape is True


def test_transforms_that_cannot_be(ctx):
    with runtime(ctx):
        mine = np.ones(Slab.X.shape(ctx.rank, (8, 8)), complex)
        for wrong, match in (
            (np.ones((4,), complex), "2 or 3 dimensions"),
            (np.ones((2, 2, 2, 2), complex), "2 or 3 dimensions"),
            (mine.real.astype("float16"), "dtype"),
            (mine.real.astype(int), "dtype"),
        ):
            with pytest.raises(ValueError, match=match):
                FFT(wrong, distribution=Slab.X)
        for function, operand in ((nv.fft, mine.real), (nv.ifft, mine.real), (nv.rfft, mine), (nv.irfft, mine.real)):
            with pytest.raises(ValueError, match="dtype"):
                function(operand, distribution=Slab.X)
        with pytest.raises(ValueError, match="fft_type"):
            nv.fft(mine, distribution=Slab.X, options={"fft_type": "C2R"})
        for kind in ("C2C", "R2C"):
            with pytest.raises(ValueError, match="fft_type"):
                nv.irfft(mine, distribution=Slab.X, options={"fft_type": kind})
        with pytest.raises(ValueError, match="axis 0 or 1"):
            nv.fft(np.ones(Slab.Z.shape(ctx.rank, (4, 4, 8)), complex), distribution=Slab.Z, options={"redistribute": False})
        for given in (Box((0, 0), (8, 8)), (Slab.X, Slab.Y), None):
            with pytest.raises(ValueError, match="boxes"):
                nv.fft(mine, distribution=given)
        if ctx.size > 1:
            with pytest.raises(ValueError, match="problem size is inconsistent"):
                nv.fft(np.ones((4, 4 + ctx.rank), complex), distribution=Slab.X)
            with pytest.raises(BindDistributionError):
                nv.fft(np.ones((4 + ctx.rank, 4), complex), distribution=Slab.X)
            with pytest.raises(ValueError, match="dtype is inconsistent"):
                nv.fft(mine.astype("complex64") if ctx.rank else mine, distribution=Slab.X)
            with pytest.raises(ValueError, match="options are inconsistent"):
                nv.fft(mine, distribution=Slab.X, options={"redistribute": ctx.rank == 0})
            with pytest.raises(ValueError, match="on others"):
                boxes = (box((8, 8), 0, ctx.rank, ctx.size),) * 2
                nv.fft(mine, distribution=boxes if ctx.rank else Slab.X)
        ctx.barrier()
