"""Layouts and DTensor: the same parts on the same ranks. Ranks are processes, as torch.distributed's are, or there is one."""

import numpy as np
import pytest
from conftest import PROCESSES, RANKS
from shapes import part, whole

import partita as pt

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
distributed = pytest.importorskip("torch.distributed.tensor")
pytestmark = pytest.mark.skipif(RANKS > 1 and not PROCESSES, reason="torch.distributed has one rank a process")

import partita.torch as ptt  # noqa: E402


def meshes(ctx):
    """A flat one, and one of two axes."""
    two = 2 if ctx.size % 2 == 0 else 1
    return pt.Mesh({"all": ctx.size}), pt.Mesh({"x": two, "y": ctx.size // two})


def test_meshes(ctx, group):
    for mesh in meshes(ctx):
        there = ptt.device_mesh(mesh)
        assert tuple(there.mesh.shape) == tuple(mesh.axes.values())
        assert ptt.mesh_of(there) == mesh


def test_there_and_back(ctx, group):
    shape = (4 * ctx.size, 2 * ctx.size, 3)
    flat, grid = meshes(ctx)
    for mesh, spec in (
        (flat, pt.P("all", None, None)),
        (flat, pt.P(None, "all", None)),
        (flat, pt.P(None, None, None)),
        (flat, pt.P(None, None, None, partial="all")),
        (grid, pt.P("x", "y", None)),
        (grid, pt.P("y", None, None)),
        (grid, pt.P(("x", "y"), None, None)),
        (grid, pt.P(None, "x", None, partial="y")),
    ):
        layout = pt.Layout(pt.Partitioned(mesh, spec), shape, ctx.size)
        x = torch.from_numpy(part(whole(shape), layout, ctx.rank).copy())
        x *= 1 if not layout.partial else 1 + ctx.rank
        there = ptt.to_dtensor(x, layout, ptt.device_mesh(mesh))
        assert tuple(there.shape) == shape
        local, found = ptt.from_dtensor(there)
        assert local.data_ptr() == x.data_ptr() and found.equivalent(layout) and found.partial == layout.partial
        # What DTensor takes for the whole is what we take for it.
        ours = ptt.redistribute(ctx, x, layout, pt.Replicated())
        np.testing.assert_allclose(there.full_tensor(), ours, rtol=1e-12, atol=1e-12)


def test_what_dtensor_cuts_otherwise_is_refused(ctx, group):
    if ctx.size == 1:
        pytest.skip("one rank cuts nothing")
    mesh = ptt.device_mesh(meshes(ctx)[0])
    layout = pt.Layout(pt.Slab(0), (ctx.size + 1,), ctx.size)  # 2, 1, 1, and with DTensor 2, 2, 0
    x = torch.zeros(layout.local_shape(ctx.rank))
    if ctx.size > 2:
        with pytest.raises(pt.UnsupportedError, match="DTensor"):
            ptt.to_dtensor(x, layout, mesh)
    else:
        assert ptt.layout_of(ptt.to_dtensor(x, layout, mesh)).equivalent(layout)
    with pytest.raises(pt.UnsupportedError, match="axes"):
        ptt.to_dtensor(x, pt.Layout(pt.BlockCyclic((ctx.size,), (1,)), (ctx.size + 1,), ctx.size), mesh)


def test_gradients_of_a_dtensor(ctx, group):
    shape = (2 * ctx.size, 4)
    layout = pt.Layout(pt.Partitioned(meshes(ctx)[0], pt.P("all", None)), shape, ctx.size)
    tensor = distributed.distribute_tensor(torch.ones(shape), ptt.device_mesh(meshes(ctx)[0]), [distributed.Shard(0)])
    tensor.requires_grad_()
    local, found = ptt.from_dtensor(tensor)
    assert found.equivalent(layout)
    ptt.redistribute(ctx, local, found, pt.Slab(1)).square().sum().backward()
    np.testing.assert_array_equal(tensor.grad.to_local(), 2 * np.ones(layout.local_shape(ctx.rank)))


def test_a_dtensor_itself_has_no_memory(ctx, group):
    tensor = distributed.distribute_tensor(torch.ones(ctx.size), ptt.device_mesh(meshes(ctx)[0]), [distributed.Shard(0)])
    with pytest.raises(pt.ArgumentError, match="source: the DTensor has no memory.*to_local"):
        pt.all_reduce(ctx, tensor)
