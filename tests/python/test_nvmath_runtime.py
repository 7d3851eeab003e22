"""partita.compat.nvmath: beginning and end, process groups, symmetric memory."""

import logging
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from nvmath_ranks import Heard, runtime

import partita as pt
import partita.compat.nvmath as nvmath
from partita.compat.nvmath import ReductionOp


def test_it_begins_and_ends(ctx):
    assert nvmath.get_context() is None
    with pytest.raises(RuntimeError, match="not initialized"):
        nvmath.fft.fft(np.zeros((4, 4), complex), distribution=nvmath.fft.Slab.X)
    with runtime(ctx) as context:
        assert context is nvmath.get_context() and context.device_id == 0
        assert (context.process_group.rank, context.process_group.nranks) == (ctx.rank, ctx.size)
        assert context.nvshmem_available and context.nccl_comm is ctx and context.communicator is None
        with pytest.raises(RuntimeError, match="already"):
            nvmath.initialize(0, ctx)
    assert nvmath.get_context() is None
    nvmath.finalize()
    ctx.barrier()  # it was not ours to close


def test_what_is_wrong_in_the_beginning(ctx):
    for device in ("0", None):
        with pytest.raises(TypeError, match="device_id"):
            nvmath.initialize(device, ctx, ["nccl"])
    with pytest.raises(ValueError, match="backend must be one of"):
        nvmath.initialize(0, ctx, ["gloo"])
    with pytest.raises(ValueError, match="at least one"):
        nvmath.initialize(0, ctx, [])
    with pytest.raises(TypeError, match="process_group"):
        nvmath.initialize(0, "world", ["nccl"])
    with pytest.raises(TypeError, match="are aliases"):
        nvmath.initialize(0, ctx, communicator=ctx)
    assert nvmath.get_context() is None


def test_backends_are_what_may_be_used():
    class Recorder(nvmath.ProcessGroup):
        rank, nranks = 0, 1

        def _context(self, device, **options):
            self.options = options
            return super()._context("cpu", **options)

        broadcast_buffer = allreduce_buffer = allreduce_object = None

    wanted = {"nvshmem": ("automatic", "own"), "nccl": ("driver", "automatic")}
    for backend, (heap, carrier) in wanted.items():
        group = Recorder()
        nvmath.initialize(0, group, [backend])
        context = nvmath.get_context()
        assert group.options == {"device_heap": heap, "device_collectives": carrier}
        assert (context.nvshmem_available, context.nccl_comm is not None) == (backend == "nvshmem", backend == "nccl")
        nvmath.finalize()


def test_a_group_of_other_ranks_is_refused():
    class Two(nvmath.ProcessGroup):
        rank, nranks = 1, 2
        broadcast_buffer = allreduce_buffer = allreduce_object = None

        def _context(self, device, **options):
            return pt.initialize(device="cpu") if not pt._core.is_launched_rank() else pytest.skip("not alone")

    with pytest.raises(pt.UnsupportedError, match="rank 1 of 2"):
        nvmath.initialize(0, Two())


def test_process_groups(ctx):
    group = nvmath.PartitaProcessGroup(ctx)
    numbers = np.array([ctx.rank, 1], np.int64)
    for op, wanted in ((ReductionOp.SUM, sum(range(ctx.size))), (ReductionOp.MIN, 0), (ReductionOp.MAX, ctx.size - 1)):
        mine = numbers.copy()
        group.allreduce_buffer(mine, op=op)
        assert mine[0] == wanted
    mine = np.full(3, ctx.rank)
    group.broadcast_buffer(mine, root=ctx.size - 1)
    assert (mine == ctx.size - 1).all()
    assert group.allreduce_object([ctx.rank], op=lambda a, b: a + b) == list(range(ctx.size))


def test_a_group_of_torch_keeps_what_it_is_given(monkeypatch):
    given = object()
    distributed = SimpleNamespace(
        is_initialized=lambda: True,
        get_backend=lambda group: "gloo",
        get_rank=lambda group: 2 if group is given else 0,
        get_world_size=lambda group: 3 if group is given else 1,
    )
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(distributed=distributed))
    group = nvmath.TorchProcessGroup(device_id="cpu", torch_process_group=given)
    assert group._torch_process_group is given
    assert (group.rank, group.nranks, group.device_id) == (2, 3, "cpu")
    with pytest.raises(ValueError, match="expected a number or 'cpu'"):
        nvmath.TorchProcessGroup(device_id="cuda")


def test_a_group_of_mpi(ctx):
    MPI = pytest.importorskip("mpi4py").__name__ and __import__("sys").modules.get("mpi4py.MPI")
    if MPI is None or MPI.COMM_WORLD.Get_size() != ctx.size:
        pytest.skip("these ranks are not of MPI")
    group = nvmath.MPIProcessGroup(MPI.COMM_WORLD)
    mine = np.array([ctx.rank])
    group.allreduce_buffer(mine, op=ReductionOp.MAX)
    group.broadcast_buffer(mine)
    assert mine[0] == ctx.size - 1 and group.allreduce_object(ctx.rank, op=max) == ctx.size - 1


def test_symmetric_memory(ctx):
    with runtime(ctx):
        a = nvmath.allocate_symmetric_memory((3, 4), np, dtype=np.float32)
        b = nvmath.allocate_symmetric_memory(5, np)
        assert (a.shape, a.dtype, a.flags.c_contiguous) == ((3, 4), np.float32, True) and b.dtype == np.float64
        f = nvmath.allocate_symmetric_memory((3, 4), np, axis_order="F", skip_symmetric_check=True)
        g = nvmath.allocate_symmetric_memory((2, 3, 4), np, axis_order=(1, 2, 0))
        assert f.flags.f_contiguous and g.strides == (96, 8, 24)
        a[:], g[:] = ctx.rank, 1
        nvmath.free_symmetric_memory(a, b)
        assert (a == ctx.rank).all()  # until the variable is deleted
        with pytest.raises(TypeError, match="is not symmetric memory"):
            nvmath.free_symmetric_memory(b)
        nvmath.free_symmetric_memory(f, g)


def test_symmetric_memory_of_uneven_shapes(ctx):
    with runtime(ctx):
        uneven = (2 + ctx.rank, 3)
        if ctx.size > 1:
            with pytest.raises(ValueError, match="make_symmetric"):
                nvmath.allocate_symmetric_memory(uneven, np)
            with pytest.raises(pt.DisagreementError):
                nvmath.allocate_symmetric_memory(uneven, np, skip_symmetric_check=True)
        a = nvmath.allocate_symmetric_memory(uneven, np, make_symmetric=True)
        assert a.shape == uneven
        nvmath.free_symmetric_memory(a)


def test_symmetric_memory_that_cannot_be(ctx):
    with runtime(ctx):
        with pytest.raises(ValueError, match="package"):
            nvmath.allocate_symmetric_memory((2,), logging)
        for wrong in ("K", (0, 0)):
            with pytest.raises(ValueError, match="axis_order"):
                nvmath.allocate_symmetric_memory((2, 2), np, axis_order=wrong)
        with pytest.raises(TypeError, match="symmetric"):
            nvmath.free_symmetric_memory(np.zeros(3))


def test_a_logger_hears_of_memory(ctx):
    heard = Heard()
    with runtime(ctx):
        nvmath.free_symmetric_memory(nvmath.allocate_symmetric_memory((3, 4), np, logger=heard.logger))
    assert heard.levels() == {logging.INFO}


def test_ranks_that_are_threads_end_beside_each_other():
    """Each forgets its own memory while others allocate theirs."""

    def body(ctx):
        group = ctx.split(ctx.rank)  # a separate runtime
        for _ in range(30):
            nvmath.initialize(0, group)
            kept = [nvmath.allocate_symmetric_memory((3,), np) for _ in range(8)]
            nvmath.finalize()
            kept.clear()
        group.close()

    pt.run(4, body, device="cpu")
    assert not nvmath._memory.resource_registry
