"""sort and argsort next to NumPy's."""

import analysis_cases as cases
import numpy as np
import pytest

import partita as pt


def drawn(ctx, rng, dimensions=None, most=9):
    x = cases.with_nans(rng, cases.values(rng, cases.shape(rng, dimensions, most), rng.choice(cases.DTYPES)))
    return x, cases.spread(ctx, rng, x)


@pytest.fixture(params=[False, True], ids=["small", "large"])
def enlarged(request):
    """Whether arrays of one dimension are so large that they are cut, and not sorted on every rank."""
    return request.param


def drawn_or_large(ctx, rng, case, large):
    if not large:
        return drawn(ctx, rng, 1 if case % 2 else None, 60 if case % 2 else 9)
    x = cases.with_nans(rng, cases.values(rng, int(rng.integers(4097, 9000)), rng.choice(cases.DTYPES)))
    return x, cases.spread(ctx, rng, x)


def test_sort_is_numpys(ctx, enlarged):
    rng = np.random.default_rng(3)
    for case in cases.some(50):
        x, a = drawn_or_large(ctx, rng, case, enlarged)
        axis = None if rng.random() < 0.2 else int(rng.integers(-x.ndim, x.ndim))
        found, wanted = pt.sort(a, axis), np.sort(x, axis)
        cases.same(found, wanted)
        assert axis is None or found.layout.equivalent(a.layout)
        if x.dtype.kind != "c":  # a complex NaN has many forms, which are equal
            cases.same(pt.sort(a, axis, descending=True), np.flip(wanted, -1 if axis is None else axis))


def test_argsort_is_numpys_stable_one(ctx, enlarged):
    rng = np.random.default_rng(4)
    for case in cases.some(50):
        x, a = drawn_or_large(ctx, rng, case, enlarged)
        axis = None if rng.random() < 0.2 else int(rng.integers(-x.ndim, x.ndim))
        cases.same(pt.argsort(a, axis), np.argsort(x, axis, kind="stable"))
        last = -1 if axis is None else axis
        turned = np.flip(x.reshape(-1) if axis is None else x, last)
        wanted = np.flip(turned.shape[last] - 1 - np.argsort(turned, last, kind="stable"), last)
        cases.same(pt.argsort(a, axis, descending=True), wanted)


@pytest.mark.parametrize("dtype", ["int32", "float32", "uint64", "int64", "float64"])
def test_large_parts_with_ties_and_nans(ctx, dtype):
    """Parts that NumPy sorts by vectors."""
    rng = np.random.default_rng(5)
    for distinct in (1, 7, 10**6):
        x = cases.with_nans(rng, cases.values(rng, 5000, dtype, distinct))
        a = pt.scatter(ctx, x, pt.Slab(0))
        cases.same(pt.sort(a), np.sort(x))
        cases.same(pt.argsort(a), np.argsort(x, kind="stable"))


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_small_floats(ctx, dtype):
    pytest.importorskip("ml_dtypes")
    x = np.random.default_rng(6).normal(size=50).astype(np.float32)
    x[3], x[7], x[9] = np.nan, -np.inf, -0.0
    a = pt.scatter(ctx, x, pt.Slab(0)).astype(dtype)
    small = a.gather(space="host")
    np.testing.assert_array_equal(pt.sort(a).gather(space="host").astype(np.float32), np.sort(small.astype(np.float32)))
    cases.same(pt.argsort(a), np.argsort(small.astype(np.float32), kind="stable"))


def test_results_in_requested_layouts(ctx):
    x = np.random.default_rng(7).integers(0, 9, (6, 5))
    a = pt.scatter(ctx, x, pt.BlockCyclic((ctx.size, 1), (1, 2)))
    found = pt.sort(a, 0, distribution=pt.Slab(0))
    assert str(found.distribution) == "slab:0"
    cases.same(found, np.sort(x, 0))
    assert str(pt.sort(a, None).distribution) == "slab:0"
    with pytest.raises(pt.ArgumentError, match="axis 2 is out of range"):
        pt.sort(a, 2)
    with pytest.raises(pt.ArgumentError, match="kind 'bubble'; known: quicksort"):
        pt.argsort(a, kind="bubble")
    with pytest.raises(pt.TypeError, match="distributed array"):
        pt.sort(x)


def test_sorted_input_moves_nothing_large(ctx):
    """Only counts are exchanged if each element is on its rank already."""
    a = pt.arange(ctx, 100_000, distribution=pt.Slab(0), dtype="float32")
    with pt.traffic(ctx) as moved:
        cases_found = pt.sort(a)
    assert moved.total.node_bytes + moved.total.network_bytes < 200_000
    assert (cases_found == a).all()
