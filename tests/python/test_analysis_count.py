"""Indices of elements that are not zero, counts and histograms, next to NumPy's."""

import analysis_cases as cases
import numpy as np
import pytest

import partita as pt


def drawn(ctx, rng, dtypes=cases.DTYPES, distinct=3):
    x = cases.values(rng, cases.shape(rng), rng.choice(dtypes), distinct=distinct)
    return x, cases.spread(ctx, rng, x)


def test_indices_are_numpys(ctx):
    rng = np.random.default_rng(17)
    for _ in cases.some(60):
        x, a = drawn(ctx, rng)
        x, a = (x, a) if rng.integers(2) else (x == x.max(initial=0), a == x.max(initial=0))
        for found, wanted in zip(pt.nonzero(a), np.nonzero(x)):
            cases.same(found, wanted)
        cases.same(pt.argwhere(a), np.argwhere(x))
        cases.same(pt.flatnonzero(a, distribution=pt.Slab(0)), np.flatnonzero(x))
        assert pt.count_nonzero(a) == np.count_nonzero(x)
        axis = int(rng.integers(x.ndim))
        cases.same(pt.count_nonzero(a, axis, keepdims=True), np.count_nonzero(x, axis, keepdims=True))
    with pytest.raises(pt.ArgumentError, match="no dimensions"):
        pt.nonzero(pt.scatter(ctx, np.array(1.0), "replicated"))


def test_ranks_keep_the_indices_of_their_elements(ctx):
    x = np.arange(12).reshape(6, 2) % 5
    a = pt.scatter(ctx, x, pt.Slab(0))
    mine = a.layout.indices(0, ctx.rank)
    for found in pt.nonzero(a):
        assert found.local_shape == (np.count_nonzero(x[mine]),)


def test_histograms_are_numpys(ctx):
    rng = np.random.default_rng(18)
    for _ in cases.some(60):
        x, a = drawn(ctx, rng, [one for one in cases.REALS if one != "float16"], None)  # which has too few numbers for some bins
        w = rng.normal(size=x.shape)
        bins = [5, 1, [0, 1, 10, 100]][rng.integers(3)]
        limits = None if rng.integers(2) else (-10, 50.5)
        weighted, density = bool(rng.integers(2)), bool(rng.integers(2))
        if density and not x.size:
            continue
        found = pt.histogram(a, bins, limits, density, cases.spread(ctx, rng, w) if weighted else None)
        x = x.view(np.uint8) if x.dtype == bool else x
        with np.errstate(all="ignore"):
            wanted = np.histogram(x, bins, limits, density, w if weighted else None)
        assert found[0].dtype == wanted[0].dtype
        np.testing.assert_allclose(found[0], wanted[0], rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(found[1], wanted[1])
    with pytest.raises(pt.ArgumentError, match="not finite"):
        pt.histogram(pt.full(ctx, 5, pt.Slab(0), np.nan))
    with pytest.raises(pt.ArgumentError, match="bins 'auto': expected a number"):
        pt.histogram(a, "auto")
    with pytest.raises(pt.ArgumentError, match=r"weights have shape \(4,\), but the array has \(5,\)"):
        pt.histogram(pt.zeros(ctx, 5, pt.Slab(0)), weights=pt.zeros(ctx, 4, pt.Slab(0)))


def test_counts_of_integers(ctx):
    rng = np.random.default_rng(19)
    for _ in cases.some(40):
        x = rng.integers(0, 9, rng.integers(0, 40)).astype(rng.choice(["int8", "uint32", "int64"]))
        w = rng.integers(0, 5, x.shape) / 4
        a, least = cases.spread(ctx, rng, x), int(rng.integers(0, 12))
        cases.same(pt.bincount(a, minlength=least), np.bincount(x, minlength=least))
        cases.same(pt.bincount(a, cases.spread(ctx, rng, w)), np.bincount(x, w))
    with pytest.raises(pt.ArgumentError, match="-1 is negative"):
        pt.bincount(pt.scatter(ctx, np.array([3, 0, 1, -1]), pt.Slab(0)))
    with pytest.raises(pt.ArgumentError, match="expected integers in one dimension, got float64"):
        pt.bincount(pt.zeros(ctx, 3, pt.Slab(0)))
