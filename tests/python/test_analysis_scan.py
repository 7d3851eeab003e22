"""Sums and products along an axis, and differences, next to NumPy's."""

import analysis_cases as cases
import numpy as np
import pytest

import partita as pt


def test_scans_are_numpys(ctx):
    rng = np.random.default_rng(1)
    for case in cases.some(120):
        dtype, shape = rng.choice(cases.DTYPES), cases.shape(rng)
        x = cases.values(rng, shape, dtype, distinct=4) if case % 2 else rng.choice([1, 1, 1, -1, 2], shape).astype(dtype)
        axis = None if rng.random() < 0.2 else int(rng.integers(-x.ndim, x.ndim))
        a, name = cases.spread(ctx, rng, x), "cumsum" if case % 2 else "cumprod"
        found, wanted = getattr(pt, name)(a, axis), getattr(np, name)(x, axis)
        assert axis is None or found.layout.equivalent(a.layout)
        assert found.dtype == wanted.dtype and found.shape == wanted.shape
        if dtype == "float16":  # NumPy rounds each sum
            wanted = getattr(np, name)(x, axis, np.float32).astype(dtype)
        np.testing.assert_allclose(found.gather(space="host"), wanted, rtol=1e-5)


def test_scans_of_the_array_standard(ctx):
    rng = np.random.default_rng(26)
    for _ in cases.some(30):
        x = cases.values(rng, cases.shape(rng), rng.choice(["int8", "int64", "float64"]), distinct=4)
        a, axis = cases.spread(ctx, rng, x), int(rng.integers(-x.ndim, x.ndim))
        wanted = np.cumsum(x, axis)
        cases.same(pt.cumulative_sum(a, axis=axis), wanted)
        first = np.zeros_like(wanted, shape=tuple(1 if one == axis % x.ndim else extent for one, extent in enumerate(x.shape)))
        cases.same(pt.cumulative_sum(a, axis=axis, include_initial=True), np.concatenate([first, wanted], axis))
        found = pt.cumulative_prod(a, axis=axis, include_initial=True).gather(space="host")
        np.testing.assert_allclose(found, np.concatenate([first + 1, np.cumprod(x, axis)], axis), rtol=1e-12)
    with pytest.raises(pt.ArgumentError, match="2 dimensions needs an axis"):
        pt.cumulative_sum(pt.zeros(ctx, (2, 2), pt.Slab(0)))


def test_dtype_and_distribution_of_scans(ctx):
    x = np.arange(12, dtype=np.int16).reshape(4, 3)
    a = pt.scatter(ctx, x, pt.Slab(1))
    found = pt.cumsum(a, 1, np.float32, distribution=pt.Slab(0))
    assert found.dtype == np.float32 and str(found.distribution) == "slab:0"
    cases.same(found, np.cumsum(x, 1, np.float32))
    assert str(pt.cumsum(a).distribution) == "slab:0"
    cases.same(pt.cumsum(pt.scatter(ctx, np.array(3), "replicated")), np.cumsum(np.array(3)))
    with pytest.raises(pt.ArgumentError, match="out of range"):
        pt.cumsum(a, 2)
    with pytest.raises(pt.TypeError, match="distributed array"):
        pt.cumsum(x)


def test_scans_along_the_distributed_axis_exchange_one_slice(ctx):
    a = pt.full(ctx, (1000, 3), pt.Slab(0), 1.0)
    with pt.traffic(ctx) as moved:
        pt.cumsum(a, 0)
    assert moved.total.node_bytes + moved.total.network_bytes < 1000


def test_differences_are_numpys(ctx):
    rng = np.random.default_rng(2)
    for _ in cases.some(40):
        x = cases.values(rng, cases.shape(rng), rng.choice(cases.DTYPES))
        axis, n = int(rng.integers(-x.ndim, x.ndim)), int(rng.integers(0, 4))
        cases.same(pt.diff(cases.spread(ctx, rng, x), n, axis), np.diff(x, n, axis))
    with pytest.raises(pt.ArgumentError, match="n is -1"):
        pt.diff(pt.zeros(ctx, 4, pt.Slab(0)), -1)


def test_partial_sums_are_reduced_first(ctx):
    rule = pt.Partitioned(pt.Mesh({"x": ctx.size}), pt.P(None, partial="x"))
    ones = pt.full(ctx, 5, rule, 1, "int64")
    cases.same(pt.cumsum(ones), ctx.size * np.arange(1, 6))
    cases.same(pt.diff(ones), np.zeros(4, np.int64))
