"""Functions of local parts."""

import numpy as np
import pytest
from shapes import spread, whole

import partita as pt


def test_parts_lie_as_the_specs_say(ctx):
    x = whole((7, 2 * ctx.size))
    mesh = pt.Mesh({"x": ctx.size})
    a = spread(ctx, x, pt.Slab(1))

    def halves(part, factor):
        assert part.shape == pt.Layout(pt.Partitioned(mesh, pt.P("x", None)), x.shape, ctx.size).local_shape(ctx.rank)
        return factor * part, part.sum(axis=1)

    doubled, sums = pt.spmd(halves, mesh, in_specs=(pt.P("x", None), None), out_specs=(pt.P("x", None), pt.P("x")))(a, 2)
    assert (doubled.gather() == 2 * x).all() and (sums.gather() == x.sum(axis=1)).all()
    assert doubled.distribution == pt.Partitioned(mesh, pt.P("x", None))


def test_the_mesh_around(ctx):
    mesh = pt.Mesh({"x": ctx.size})
    a = spread(ctx, whole((4, 6)), pt.Slab(0))

    def mean(part):
        return pt.all_reduce(ctx, part.sum(axis=0)) / 4

    called = pt.spmd(mean, in_specs=pt.P("x", None), out_specs=pt.P(None))
    with mesh:
        assert (called(a).gather() == whole((4, 6)).mean(axis=0)).all()
    with pytest.raises(pt.ArgumentError, match="no mesh"):
        called(a)


def test_what_is_refused(ctx):
    mesh = pt.Mesh({"x": ctx.size})
    a = spread(ctx, whole((4, 6)), pt.Slab(0))
    one = pt.spmd(lambda part: part, mesh, in_specs=pt.P("x", None), out_specs=pt.P("x", None))
    with pytest.raises(pt.ArgumentError, match="2 arguments, but in_specs has 1"):
        one(a, a)
    with pytest.raises(pt.ArgumentError, match="none of the arguments"):
        one(np.zeros((4, 6)))
    with pytest.raises(pt.ArgumentError, match="results, but out_specs"):
        pt.spmd(lambda part: (part, part), mesh, in_specs=pt.P("x", None), out_specs=pt.P("x", None))(a)
