"""unique, isin and searchsorted next to NumPy's."""

import analysis_cases as cases
import numpy as np
import pytest

import partita as pt


def drawn(ctx, rng, dimensions=None, most=9):
    x = cases.with_nans(rng, cases.values(rng, cases.shape(rng, dimensions, most), rng.choice(cases.DTYPES)))
    return x, cases.spread(ctx, rng, x)


def test_distinct_elements_are_numpys(ctx):
    rng = np.random.default_rng(12)
    for case in cases.some(60):
        x, a = drawn(ctx, rng, *((1, 60) if case % 2 else ()))
        if x.dtype.kind == "c":
            x = np.where(np.isnan(x), np.nan, x).astype(x.dtype)  # of whose forms NumPy keeps one
            a = pt.scatter(ctx, x, a.distribution) if x.ndim == 1 else cases.spread(ctx, rng, x)
        cases.same(pt.unique(a), np.unique(x))
        found = pt.unique(a, True, True, True)
        for one, wanted in zip(found, np.unique(x, True, True, True)):
            cases.same(one, wanted.reshape(one.shape))
        assert found[2].layout.equivalent(a.layout)
        values, counts = pt.unique(a, return_counts=True, equal_nan=False)
        assert counts.sum() == x.size and values.size == np.unique(x, equal_nan=False).size


def test_distinct_rows_of_all_dtypes(ctx):
    rng = np.random.default_rng(31)
    for dtype in cases.DTYPES:
        x = cases.values(rng, (60, 3), dtype, distinct=3)
        x = cases.with_nans(rng, x) if dtype in ("float32", "float64") else x  # NaN of float16 come first in NumPy
        for axis in (0, 1):
            a = cases.spread(ctx, rng, x)
            for one, wanted in zip(np.unique(a, True, True, True, axis), np.unique(x, True, True, True, axis)):
                cases.same(one, wanted)
    rows = pt.scatter(ctx, rng.integers(0, 7, (900, 3)), pt.Slab(0))
    _, counts = pt.unique(rows, return_counts=True, axis=0)
    assert max(counts.layout.local_size(rank) for rank in range(ctx.size)) <= 2 * len(counts) / ctx.size + 1


def test_parts_of_distinct_elements_are_balanced(ctx):
    x = np.random.default_rng(13).permutation(np.arange(3000) % 999)
    found = pt.unique(pt.scatter(ctx, x, pt.Slab(0)), distribution=None)
    assert max(found.layout.local_size(rank) for rank in range(ctx.size)) <= 1.5 * 999 / ctx.size + 1
    assert str(pt.balance(found).distribution) == "slab:0"


def test_positions_in_sorted_arrays(ctx):
    rng = np.random.default_rng(14)
    for _ in cases.some(60):
        x, _ = drawn(ctx, rng, 1, 40)
        y = cases.with_nans(rng, cases.values(rng, cases.shape(rng), rng.choice(cases.DTYPES)))
        ordered, side = np.sort(x), str(rng.choice(["left", "right"]))
        a, b = cases.spread(ctx, rng, ordered), cases.spread(ctx, rng, y)
        found = pt.searchsorted(a, b, side)
        cases.same(found, np.searchsorted(ordered, y, side))
        assert found.layout.equivalent(b.layout)
        cases.same(pt.searchsorted(cases.spread(ctx, rng, x), b, side, pt.argsort(cases.spread(ctx, rng, x))), np.searchsorted(ordered, y, side))
    numbers = pt.arange(ctx, 50, distribution=pt.Slab(0))
    assert pt.searchsorted(numbers, ctx.rank) == ctx.rank
    assert (pt.searchsorted(numbers, np.array([[3, 60]])) == [[3, 50]]).all()
    with pytest.raises(pt.ArgumentError, match="side 'middle'; known: left, right"):
        pt.searchsorted(numbers, 3, "middle")
    with pytest.raises(pt.ArgumentError, match="one dimension"):
        pt.searchsorted(pt.zeros(ctx, (2, 2), pt.Slab(0)), 3)


def test_membership(ctx):
    rng = np.random.default_rng(15)
    for case in cases.some(60):
        x, a = drawn(ctx, rng)
        y = cases.with_nans(rng, cases.values(rng, cases.shape(rng), x.dtype))
        invert = bool(rng.integers(2))
        found = pt.isin(a, cases.spread(ctx, rng, y), invert=invert)
        cases.same(found, np.isin(x, y, invert=invert))
        assert found.layout.equivalent(a.layout)
        cases.same(pt.isin(a, y, invert=invert), np.isin(x, y, invert=invert))
    cases.same(pt.isin(pt.arange(ctx, 9, distribution=pt.Slab(0)), [3, 5]), np.isin(np.arange(9), [3, 5]))
    many = np.random.default_rng(16).integers(0, 1 << 40, 70_000)  # more than are copied to all ranks
    some = np.concatenate([many[::7], many[::5] + 1])
    cases.same(pt.isin(pt.scatter(ctx, some, pt.Slab(0)), pt.scatter(ctx, many, pt.Slab(0))), np.isin(some, many))


def test_sets(ctx):
    rng = np.random.default_rng(22)
    for _ in cases.some(60):
        x, y = (cases.values(rng, cases.shape(rng), rng.choice(cases.DTYPES), distinct=6) for _ in range(2))
        a, b = cases.spread(ctx, rng, x), cases.spread(ctx, rng, y)
        for name in ("union1d", "intersect1d", "setdiff1d"):
            cases.same(getattr(pt, name)(a, b), getattr(np, name)(x, y))
        np.testing.assert_array_equal(pt.setxor1d(a, b, distribution=pt.Slab(0)).gather(space="host"), np.setxor1d(x, y))


def test_distinct_elements_of_the_array_standard(ctx):
    x = np.array([3.0, np.nan, 1.0, 3.0, np.nan])
    a = pt.scatter(ctx, x, pt.Slab(0))
    wanted = np.unique(x, True, True, True, equal_nan=False)
    for found, one in zip(pt.unique_all(a), wanted):
        cases.same(found, one)
    cases.same(pt.unique_counts(a).counts, wanted[3])
    cases.same(pt.unique_inverse(a).inverse_indices, wanted[2])
    cases.same(pt.unique_values(a), wanted[0])


def test_bins(ctx):
    rng = np.random.default_rng(23)
    for _ in cases.some(30):
        x, right = cases.values(rng, cases.shape(rng), rng.choice(cases.REALS[1:])), bool(rng.integers(2))
        edges = np.sort(rng.normal(size=4) * 50)[:: rng.choice([1, -1])]
        found = pt.digitize(cases.spread(ctx, rng, x), edges if rng.integers(2) else pt.scatter(ctx, edges.copy(), pt.Slab(0)), right)
        cases.same(found, np.digitize(x, edges, right))
