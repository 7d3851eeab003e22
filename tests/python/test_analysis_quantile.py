"""Medians, quantiles and the largest elements next to NumPy's."""

import warnings

import analysis_cases as cases
import numpy as np
import pytest

import partita as pt

METHODS = [
    "linear", "lower", "higher", "midpoint", "nearest", "inverted_cdf", "averaged_inverted_cdf", "closest_observation",
    "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased", "normal_unbiased",
]  # fmt: skip


@pytest.fixture(params=[0, 1 << 12], ids=["cut", "together"])
def few(request, monkeypatch):
    """Whether the candidates of small arrays are cut as those of large ones, or sorted on every rank."""
    monkeypatch.setattr("partita._topk.few_elements", request.param)


def close(found, wanted):
    found = found.gather(space="host") if isinstance(found, pt.Array) else found
    assert np.shape(found) == np.shape(wanted) and np.asarray(found).dtype == np.asarray(wanted).dtype, (found, wanted)
    np.testing.assert_allclose(found, wanted, rtol=1e-2 if np.asarray(wanted).dtype == "float16" else 1e-6)


def drawn(ctx, rng, dtypes, large=False):
    """`large`: so many elements that they are not copied to all ranks, and of some arrays a sample is drawn."""
    shape = tuple(max(1, extent) for extent in cases.shape(rng))
    if large:
        shape = (int(rng.integers(4097, 90_000)), 1)
    x = cases.values(rng, shape, rng.choice(dtypes))
    if x.dtype.kind == "f" and rng.random() < 0.3:
        x[rng.random(shape) < 0.2] = np.nan
    axes = [int(one) for one in rng.permutation(x.ndim)[: rng.integers(1, x.ndim + 1)]]
    axis = None if rng.random() < 0.4 else axes[0] if len(axes) == 1 else tuple(axes)
    return x, cases.spread(ctx, rng, x), axis, axis is not None and bool(rng.integers(2))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("large", [False, True])
def test_medians_are_numpys(ctx, large):
    rng = np.random.default_rng(8)
    for _ in cases.some(40):
        x, a, axis, keep = drawn(ctx, rng, cases.REALS, large)
        close(pt.median(a, axis, keepdims=keep), np.median(x, axis, keepdims=keep))
        close(pt.nanmedian(a, axis, keepdims=keep), np.nanmedian(x, axis, keepdims=keep))


@pytest.mark.filterwarnings("ignore")
def test_quantiles_are_numpys(ctx):
    rng = np.random.default_rng(9)
    for case in cases.some(90):
        x, a, axis, keep = drawn(ctx, rng, cases.REALS[1:])
        q = [0.3, 1.0, 0, [0.1, 0.5, 0.9], [[0.0, 1.0]], np.float64(0.5)][rng.integers(6)]
        method = METHODS[case % len(METHODS)]
        exact = np.asarray(q, float)  # places in double precision
        for name in ("quantile", "nanquantile"):
            found = getattr(pt, name)(a, q, axis, method=method, keepdims=keep)
            wanted = getattr(np, name)(x, exact, axis, method=method, keepdims=keep)
            if exact.ndim > 1 and name == "nanquantile":  # whose result has the dimensions in another order
                wanted = getattr(np, name)(x, exact.reshape(-1), axis, method=method, keepdims=keep)
                wanted = np.reshape(wanted, (*exact.shape, *np.shape(wanted)[1:]))
            close(found, np.asarray(wanted).astype(np.quantile(x, q, method=method).dtype))
        for name, q in (("percentile", 30), ("nanpercentile", [30, 60])):
            wanted = getattr(np, name)(x, np.asarray(q, float), axis)
            close(getattr(pt, name)(a, q, axis), np.asarray(wanted).astype(np.percentile(x, q).dtype))


def test_large_arrays_are_not_sorted(ctx):
    """Bounds of a sample: smooth values, ties at the median, and outliers."""
    rng = np.random.default_rng(10)
    many = 150_000
    for x in (rng.normal(size=many), np.repeat([1.0, 2.0, 3.0], many // 3), rng.integers(0, 2, many) * 1e300, np.arange(many)[::-1] ** 3):
        a = pt.scatter(ctx, x, pt.BlockCyclic((ctx.size,), (64,)))
        assert pt.median(a) == np.median(x)
        np.testing.assert_allclose(pt.quantile(a, [0, 0.001, 0.5, 0.99, 1]), np.quantile(x, [0, 0.001, 0.5, 0.99, 1]))
        np.testing.assert_allclose(pt.quantile(a, np.linspace(0, 1, 40)), np.quantile(x, np.linspace(0, 1, 40)))
    with pt.traffic(ctx) as moved:
        pt.median(a)
    assert moved.total.node_bytes + moved.total.network_bytes < 500_000


def test_quantiles_that_are_refused(ctx):
    a = pt.zeros(ctx, (4, 0), pt.Slab(0))
    with pytest.raises(pt.ArgumentError, match="axis 1 has no elements"):
        pt.median(a, 1)
    with pytest.raises(pt.ArgumentError, match="no elements"):
        pt.quantile(a, 0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.isnan(pt.median(a))
    ones = pt.full(ctx, 4, pt.Slab(0), 1.0)
    with pytest.raises(pt.ArgumentError, match="between 0 and 1"):
        pt.quantile(ones, 1.5)
    with pytest.raises(pt.ArgumentError, match="method 'best'; known: linear"):
        pt.quantile(ones, 0.5, method="best")
    with pytest.raises(pt.ArgumentError, match="dtype complex128 is not supported"):
        pt.quantile(ones.astype("complex128"), 0.5)


def test_largest_and_smallest(ctx, few):
    rng = np.random.default_rng(11)
    for _ in cases.some(40):
        x = cases.with_nans(rng, cases.values(rng, cases.shape(rng), rng.choice(cases.DTYPES)))
        axis = None if rng.random() < 0.2 else int(rng.integers(x.ndim))
        k, largest = int(rng.integers(0, (x.size if axis is None else x.shape[axis]) + 1)), bool(rng.integers(2))
        found = pt.topk(cases.spread(ctx, rng, x), k, axis, largest=largest)
        line, along = (x.reshape(-1), 0) if axis is None else (x, axis)
        order = np.argsort(np.flip(line, along) if largest else line, along, kind="stable")
        order = np.flip(line.shape[along] - 1 - order, along) if largest else order
        order = np.take(order, range(k), along)
        cases.same(found.indices, order)
        cases.same(found.values, np.take_along_axis(line, order, along))
    with pytest.raises(pt.ArgumentError, match="k is 5, but there are 4 elements"):
        pt.topk(pt.zeros(ctx, 4, pt.Slab(0)), 5)
