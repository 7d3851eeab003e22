"""partita.jax: distributed arrays in compiled programs, whole arrays by NumPy beside them."""

import numpy as np
import pytest
from jax_cases import ERROR, check_derivatives, dot, jax, jnp, pj, some
from shapes import part, rules, whole

import partita as pt
from partita._adjoints import as_partial, as_replicated


def layouts(ctx, shape):
    return [pt.Layout(rule, shape, ctx.size) for rule in rules(ctx.size)]


def here(ctx, array, layout):
    return part(array, layout, ctx.rank).copy()


def same(x, y):
    np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9)


def test_redistribution(ctx):
    array = whole((7, 5))
    with pj.Group(ctx):
        for source in layouts(ctx, array.shape):
            program = jax.jit(lambda x, source=source: [pj.redistribute(x, source, to) for to in layouts(ctx, array.shape)])
            for to, found in zip(layouts(ctx, array.shape), program(here(ctx, array, source))):
                same(found, here(ctx, array, to))


def test_redistribution_of_contributions(ctx):
    mesh = pt.Mesh({"x": ctx.size})
    partial = pt.Layout(pt.Partitioned(mesh, pt.P(None, None, partial="x")), (4, 3), ctx.size)
    with pj.Group(ctx):
        found = jax.jit(lambda x: pj.redistribute(x, partial, pt.Slab(0)))(whole((4, 3)))
        same(found, ctx.size * here(ctx, whole((4, 3)), pt.Layout(pt.Slab(0), (4, 3), ctx.size)))
        check_derivatives(ctx, lambda x: pj.redistribute(x, partial, pt.Slab(0)), some((4, 3), np.float64, ctx.rank))
        check_derivatives(ctx, lambda x: pj.redistribute(x, partial, pt.Replicated()), some((4, 3), np.float64, ctx.rank))


def check_array_derivatives(ctx, function, *given):
    """As `check_derivatives`, of parts of arrays: replicas have the same numbers, and their tangents, too."""
    primals = tuple(jnp.asarray(here(ctx, np.cos(whole(one.shape, dtype)), one), dtype) for one, dtype in given)
    tangents = tuple(jnp.asarray(here(ctx, np.sin(1.7 * whole(one.shape, dtype)), one), dtype) for one, dtype in given)

    @jax.jit
    def program(xs, ts):
        found, forward = jax.jvp(function, xs, ts)
        again, pull = jax.vjp(function, *xs)
        weights = some(found.shape, found.dtype, 2 * ctx.rank)
        ends = [function(*(x + sign * 1e-5 * t for x, t in zip(xs, ts))) for sign in (1, -1)]
        return found, again, forward, (ends[0] - ends[1]) / 2e-5, weights, pull(weights)

    found, again, forward, difference, weights, back = program(primals, tangents)
    same(found, again)
    np.testing.assert_allclose(forward, difference, rtol=1e-6, atol=1e-6)

    same(dot(ctx, [forward], [weights]), dot(ctx, tangents, back))


@pytest.mark.parametrize("which", [(0, 2), (5, 1), (5, 6), (6, 3)])
def test_derivatives_of_redistribution(ctx, which):
    source, to = (layouts(ctx, (7, 5))[i] for i in which)
    with pj.Group(ctx):
        check_array_derivatives(ctx, lambda x: pj.redistribute(x, source, to), (source, np.float64))


def test_batches(ctx):
    slab, array = pt.Layout(pt.Slab(0), (6, 4), ctx.size), whole((6, 4), np.complex128)
    with pj.Group(ctx):

        def program(x):
            return pj.redistribute(x, slab, pt.Slab(1)), pj.fft(x, slab), pj.matmul(x, x, slab, slab, transpose_a=True)

        x = here(ctx, array, slab)
        one = jax.jit(program)(x)
        for a, b in zip(one, jax.jit(jax.vmap(program))(jnp.stack([x, x]))):
            same(b, np.stack([a, a]))


@pytest.mark.parametrize("axes", [(1,), (1, 0)])
def test_transforms(ctx, axes):
    array, real = whole((6, 5), np.complex128) ** 1.5, np.sqrt(whole((6, 5)))
    with pj.Group(ctx):
        for source in layouts(ctx, array.shape)[:3]:
            half = pj.fft_result(source, pt.Slab(1), axes, "r2c")

            @jax.jit
            def program(x, r, source=source, half=half):
                spectrum = pj.rfft(r, source, half, axes=axes)
                n = source.shape[axes[-1]]
                return (
                    pj.fft(x, source, axes=axes),
                    pj.fft(x, source, pt.Slab(1), axes=axes, inverse=True, norm="ortho"),
                    spectrum,
                    pj.irfft(spectrum, half, source, axes=axes, last_length=n),
                    pj.fft(r, source, axes=axes),
                )

            found = program(here(ctx, array, source), here(ctx, real, source))
            same(found[0], here(ctx, np.fft.fftn(array, axes=axes), source))
            inverse = np.fft.ifftn(array, axes=axes, norm="ortho")
            same(found[1], here(ctx, inverse, pt.Layout(pt.Slab(1), array.shape, ctx.size)))
            same(found[2], here(ctx, np.fft.rfftn(real, axes=axes), half))
            same(found[3], here(ctx, real, source))
            same(found[4], here(ctx, np.fft.fftn(real, axes=axes), source))


@pytest.mark.parametrize("kind, norm", [("c2c", "ortho"), ("r2c", "backward"), ("c2r", "forward")])
def test_derivatives_of_transforms(ctx, kind, norm):
    source = pt.Layout(pt.Slab(0) if kind == "r2c" else pt.Replicated(), (5, 4), ctx.size)
    to = pj.fft_result(source, pt.Slab(1), (0, 1), kind, 6 if kind == "c2r" else 0)
    function = {
        "c2c": lambda x: pj.fft(x, source, to, norm=norm),
        "r2c": lambda x: pj.rfft(x, source, to, norm=norm),
        "c2r": lambda x: pj.irfft(x, source, to, norm=norm, last_length=6),
    }[kind]
    with pj.Group(ctx):
        check_array_derivatives(ctx, function, (source, np.float64 if kind == "r2c" else np.complex128))


@pytest.mark.parametrize("transposed", [(False, False), (True, True)])
def test_products(ctx, transposed):
    a, b = np.cos(whole((6, 4))), np.sin(whole((4, 5)))
    left, right = (a.T if transposed[0] else a), (b.T if transposed[1] else b)
    with pj.Group(ctx):
        of_a = pt.Layout(pt.Slab(0), left.shape, ctx.size)
        of_b = pt.Layout(pt.Replicated() if transposed[0] else pt.Slab(1), right.shape, ctx.size)
        options = {"transpose_a": transposed[0], "transpose_b": transposed[1]}
        d = pj.matmul_result(of_a, of_b, pt.Slab(1), **options)
        bias = np.linspace(-1, 1, 6)

        @jax.jit
        def program(x, y):
            plain = pj.matmul(x, y, of_a, of_b, d, **options)
            return plain, pj.matmul(x, y, of_a, of_b, pt.Slab(0), bias=bias, activation="relu", **options)

        x, y = here(ctx, left, of_a), here(ctx, right, of_b)
        plain, activated = program(x, y)
        same(plain, here(ctx, a @ b, d))
        rows = pt.Layout(pt.Slab(0), (6, 5), ctx.size)
        same(activated, here(ctx, np.maximum(a @ b + bias[:, None], 0), rows))
        check_array_derivatives(
            ctx, lambda x, y: pj.matmul(x, y, of_a, of_b, d, **options), (of_a, np.float64), (of_b, np.float64)
        )


def test_derivatives_of_epilogues(ctx):
    a, b, bias = (pt.Layout(rule, shape, ctx.size) for rule, shape in ((pt.Slab(0), (5, 3)), (pt.Slab(0), (3, 4)), (pt.Replicated(), (5,))))
    with pj.Group(ctx):

        def layer(x, y, z):
            return pj.matmul(x, y, a, b, bias=z, activation="gelu")

        check_array_derivatives(ctx, layer, (a, np.float64), (b, np.float64), (bias, np.float64))


@pytest.mark.parametrize("periodic", [(True, True), (False, True)])
def test_ghost_cells(ctx, periodic):
    array = whole((5, 4))
    with pj.Group(ctx):
        for layout in [*layouts(ctx, array.shape)[:2], layouts(ctx, array.shape)[4]]:
            program = jax.jit(lambda x, layout=layout: pj.halo(x, layout, (1, 2), (6, 0), periodic))
            cells = [layout.indices(axis, ctx.rank) for axis in (0, 1)]
            found = program(here(ctx, array, layout))
            if 0 in layout.local_shape(ctx.rank):
                assert 0 in found.shape
                continue
            wide = [np.arange(one[0] - low, one[-1] + 1 + high) for one, low, high in zip(cells, (1, 2), (6, 0))]
            wanted = array[np.ix_(*(one % n for one, n in zip(wide, array.shape)))]
            for axis in (0, 1):
                outside = (wide[axis] < 0) | (wide[axis] >= array.shape[axis])
                if not periodic[axis]:
                    wanted[(slice(None),) * axis + (outside,)] = 0
            assert (found == wanted).all()
        slab = layouts(ctx, array.shape)[0]
        x = some(slab.local_shape(ctx.rank), np.float64, ctx.rank)

        def extended(x):
            return pj.halo(x, slab, (1, 1), (2, 0), periodic)

        def back(x):
            return jax.linear_transpose(extended, x)(extended(x))[0]

        check_derivatives(ctx, extended, x)
        check_derivatives(ctx, back, x)
        several = jax.jit(jax.vmap(lambda x: (extended(x), back(x))))(jnp.stack([x, 2 * x]))
        for one, many in zip(jax.jit(lambda x: (extended(x), back(x)))(x), several):
            same(many, np.stack([one, 2 * one]))


def test_ghost_cells_of_replicas(ctx):
    layout = pt.Layout(pt.Replicated(), (5, 4), ctx.size)
    with pj.Group(ctx):
        found = jax.jit(lambda x: pj.halo(x, layout, (1, 0), periodic=(True, False)))(whole((5, 4)))
        assert (found == np.pad(whole((5, 4)), ((1, 1), (0, 0)), "wrap")).all()
        if ctx.size > 1:
            with pytest.raises(pt.ArgumentError, match="replicated"):
                jax.grad(lambda x: pj.halo(x, layout, (1, 0)).sum())(whole((5, 4)))


def test_bad_arguments(ctx):
    slab, cyclic = pt.Layout(pt.Slab(0), (6, 4), ctx.size), pt.Layout(pt.BlockCyclic((ctx.size, 1), (1, 1)), (6, 4), ctx.size)
    with pj.Group(ctx):
        x = here(ctx, whole((6, 4)), slab)
        for call in (
            lambda: pj.redistribute(np.ones((9, 9)), slab, pt.Slab(1)),
            lambda: pj.redistribute(x, pt.Layout(pt.Slab(0), (6, 4), ctx.size + 1), pt.Slab(1)),
            lambda: pj.rfft(x + 0j, slab),
            lambda: pj.irfft(x + 0j, slab, last_length=0),
            lambda: pj.rfft(x, slab, slab),
            lambda: pj.matmul(x, x.astype(np.float32), slab, slab, transpose_a=True),
            lambda: pj.matmul(x, x, slab, slab, transpose_a=True, activation="tanh"),
            lambda: pj.halo(x, slab, (1,)),
        ):
            with pytest.raises(pt.ArgumentError):
                call()
        if 1 < ctx.size < 6:
            with pytest.raises(pt.ArgumentError, match="not a box"):
                pj.halo(here(ctx, whole((6, 4)), cyclic), cyclic, (1, 1))
        with pytest.raises(ERROR, match="ArgumentError"):
            jax.block_until_ready(pj.matmul(x, x, slab, slab))


def test_shares_lie_as_replicas_do():
    uneven = pt.Partitioned(pt.Mesh({"x": 4, "y": 2}), pt.P("x", None, uneven="balanced"))
    replicas = pt.Layout(uneven, (5, 3), 8)
    shares = as_partial(replicas)
    assert shares.partial == "sum" and as_replicated(shares).equivalent(replicas)
    assert [shares.local_shape(rank) for rank in range(8)] == [replicas.local_shape(rank) for rank in range(8)]
