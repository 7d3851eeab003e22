"""The table of docs/python.md: what programs of mpi4py and NumPy call, beside the same of ours."""

import numpy as np
import pytest

import partita as pt


@pytest.fixture
def comm(ctx):
    """The ranks as mpi4py has them."""
    if ctx is None or not pt.mpi_description().startswith(("Open MPI", "MPICH")):
        pytest.skip("these ranks are not of MPI")
    try:
        from mpi4py import MPI
    except ImportError as error:  # of mpi4py, or of an MPI under the name that its wheel looks for (Debian's MPICH has another)
        pytest.skip(f"no mpi4py for this MPI: {error}")
    if MPI.COMM_WORLD.Get_size() != ctx.size:
        pytest.skip("these ranks are not of mpi4py's MPI")
    return MPI.COMM_WORLD


def test_calls_beside_calls(ctx, comm):
    from mpi4py import MPI

    rank, size = ctx.rank, ctx.size
    assert (rank, size) == (comm.Get_rank(), comm.Get_size())
    x = np.arange(6.0 * size).reshape(2 * size, 3) + 100 * rank
    y = np.empty_like(x)

    def same(found, theirs):
        np.testing.assert_array_equal(found, theirs)

    comm.Allreduce(x, y, op=MPI.SUM)
    same(pt.all_reduce(ctx, x), y)
    in_place = x.copy()
    same(pt.all_reduce(ctx, in_place, in_place), y)
    comm.Alltoall(x, y)
    same(pt.all_to_all(ctx, x), y)
    told = x.copy()
    comm.Bcast(told, root=size - 1)
    same(pt.broadcast(ctx, x.copy(), root=size - 1), told)
    whole = np.empty((size, *x.shape))
    comm.Allgather(x, whole)
    same(pt.all_gather(ctx, x), whole.reshape(-1, 3))
    counts = [one + 1 for one in range(size)]
    uneven = np.full((counts[rank], 3), float(rank))
    joined = np.empty((sum(counts), 3))
    comm.Allgatherv(uneven, (joined, [3 * one for one in counts]))
    same(pt.all_gather(ctx, uneven, counts=counts), joined)
    part = np.empty((2, 3))
    comm.Reduce_scatter_block(x, part)
    same(pt.reduce_scatter(ctx, x), part)
    comm.Scatter(x if rank == 0 else None, part, root=0)
    same(pt.scatter_from(ctx, x if rank == 0 else None, np.empty((2, 3)), root=0), part)
    comm.Scan(x, y)
    same(pt.scan(ctx, x), y)
    following, before = (rank + 1) % size, (rank - 1) % size
    comm.Sendrecv(x, following, 0, y, before)
    same(pt.send_receive(ctx, x, following, np.empty_like(x), before), y)
    group, theirs = ctx.split(rank % 2, -rank), comm.Split(rank % 2, -rank)
    assert (group.rank, group.size) == (theirs.Get_rank(), theirs.Get_size())
    with pt.initialize(theirs) as same_group:
        assert (same_group.rank, same_group.size) == (group.rank, group.size)
    theirs.Free()


def test_transposing_by_hand(ctx, comm):
    """Rows to columns: blocks packed, Alltoall, blocks unpacked; and the call."""
    n, size = 2 * ctx.size, ctx.size
    rows = np.arange(2.0 * n).reshape(2, n) + 1000 * ctx.rank
    packed = np.ascontiguousarray(rows.reshape(2, size, 2).transpose(1, 0, 2))
    arrived = np.empty_like(packed)
    comm.Alltoall(packed, arrived)
    a = pt.from_local(ctx, rows, pt.Slab(0))
    np.testing.assert_array_equal(a.redistribute(pt.Slab(1)).local, arrived.reshape(n, 2))
