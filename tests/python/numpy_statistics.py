"""More random calls of functions that have NumPy's names, for `numpy_programs`: statistics, orders, sets, and the options of ufuncs."""

import numpy as np
from numpy_programs import DTYPES, FLOATS, INTEGERS, axes, beside, case, other, rule, some_axis, spread, values

import partita as pt


def like(x, values):
    """Also in its layout."""
    return beside(x, values, pt.Replicated()).redistribute(x.layout)


REAL = [*INTEGERS, "float32", "float64"]


@case(dtypes=["float32", "float64"], empty=False, nan=True)
def places_without_nan(rng, a):
    name, axis = str(rng.choice(["nanargmax", "nanargmin"])), some_axis(rng, a) if a.ndim and rng.random() < 0.7 else None
    filled = np.where(np.isnan(a).all(axis, keepdims=True), 0, a)
    return lambda np_, x: getattr(np_, name)(np_.where(np.isnan(x), filled, x) if np_ is np else np_.where(np.isnan(x), like(x, filled), x), axis)


@case(dtypes=["int32", "float32", "float64"], empty=False, nan=True)
def quantiles_without_nan(rng, a):
    name, axis, keep = str(rng.choice(["nanmedian", "nanquantile", "nanpercentile"])), axes(rng, a), bool(rng.integers(2))
    share = rng.integers(0, 9, int(rng.integers(1, 3))) / 8 if rng.random() < 0.5 else float(rng.integers(0, 9)) / 8
    share = 0.25 if a.dtype == np.float32 and np.ndim(share) else share  # NumPy's dtype depends on whether the first line has numbers
    given = [] if name == "nanmedian" else [share * (100 if name == "nanpercentile" else 1)]
    return lambda np_, x: getattr(np_, name)(x, *given, axis=axis, keepdims=keep)


@case(dtypes=["int8", "uint8", "int32", "float32", "float64"], empty=False, nan=True)
def quantiles(rng, a):
    methods = ["linear", "lower", "higher", "midpoint", "nearest", "inverted_cdf", "averaged_inverted_cdf", "closest_observation"]
    methods += ["interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased", "normal_unbiased"]
    name, axis, keep = str(rng.choice(["quantile", "percentile", "median"])), axes(rng, a), bool(rng.integers(2))
    if name == "median":
        return lambda np_, x: np_.median(x, axis=axis, keepdims=keep)
    share = rng.integers(0, 17, tuple(int(one) for one in rng.integers(1, 4, rng.integers(0, 3)))) / 16 * (100 if name == "percentile" else 1)
    method = str(rng.choice(methods))
    return lambda np_, x: getattr(np_, name)(x, share, axis=axis, method=method, keepdims=keep)


@case(dtypes=REAL)
def histograms(rng, a):
    bins, bounds = int(rng.integers(1, 9)), tuple(int(one) for one in np.sort(rng.permutation(np.arange(-6, 6))[:2])) if rng.random() < 0.5 else None
    edges = np.unique(rng.integers(-6, 6, 6)) / 2
    bins = edges if len(edges) > 1 and rng.random() < 0.3 else bins
    weights = rng.integers(0, 5, a.shape).astype(rng.choice(["int64", "float64"])) if rng.random() < 0.4 else None
    density, which, how = bool(rng.integers(2)) and a.size > 0, int(rng.integers(2)), rule(rng, a.shape, rng.ranks)
    if density and (weights is None or not weights.any()):
        weights = None
    heavy = {} if weights is None else {"weights": weights}

    def counted(np_, x):
        own = heavy if np_ is np or not heavy else {"weights": beside(x, weights, how)}
        return np_.histogram(x, bins, bounds, density=density, **own)[which]

    return counted


@case(dtypes=["uint8", "int32", "int64"], least=1, most=1)
def occurrences(rng, a):
    least = int(rng.integers(0, 9))
    weights = rng.integers(0, 5, a.shape) / 2 if rng.random() < 0.5 else None
    how = rule(rng, a.shape, rng.ranks)
    return lambda np_, x: np_.bincount(abs(x), weights if np_ is np or weights is None else beside(x, weights, how), least)


@case(dtypes=[*REAL, "bool"], nan=True, least=1)
def scans(rng, a):
    name, axis = str(rng.choice(["cumsum", "cumprod", "nancumsum", "nancumprod"])), some_axis(rng, a) if rng.random() < 0.7 else None
    dtype = str(rng.choice(["float64", "int64"])) if rng.random() < 0.3 and not np.isnan(a).any() else None
    return lambda np_, x: getattr(np_, name)(x, axis, dtype=dtype)


@case(nan=True, least=1)
def sorts(rng, a):
    axis, kind = some_axis(rng, a) if rng.random() < 0.8 else None, [None, "quicksort", "stable"][int(rng.integers(3))]
    return lambda np_, x: np_.sort(x, axis, kind)


@case(nan=True, least=1, dtypes=[one for one in DTYPES if "complex" not in one])
def orders_of_elements(rng, a):
    axis = some_axis(rng, a) if rng.random() < 0.8 else None
    return lambda np_, x: np_.argsort(x, axis, kind="stable")


@case(least=1, most=1, dtypes=REAL)
def searches(rng, a):
    wanted, side = values(rng, tuple(int(n) for n in rng.integers(0, 5, rng.integers(0, 3))), str(a.dtype)), str(rng.choice(["left", "right"]))
    how = rule(rng, wanted.shape, rng.ranks) if wanted.ndim and rng.random() < 0.5 else None
    return lambda np_, x: np_.searchsorted(np_.sort(x), wanted if np_ is np or how is None else beside(x, wanted, how), side)


@case(dtypes=REAL)
def classes(rng, a):
    edges, right = np.unique(rng.integers(-5, 5, 5)), bool(rng.integers(2))
    return lambda np_, x: np_.digitize(x, edges, right)


@case(least=1, nan=True, dtypes=[one for one in DTYPES if "complex" not in one])
def largest(rng, a):
    axis, least = some_axis(rng, a) if rng.random() < 0.8 else None, bool(rng.integers(2))
    k = int(rng.integers(0, (a.size if axis is None else a.shape[axis]) + 1))

    def first(np_, x):
        if np_ is not np:
            return pt.topk(x, k, axis, largest=not least).values
        ordered = np.sort(x, axis)
        ordered = ordered if least else np.flip(ordered, -1 if axis is None else axis)
        return np.take(ordered, range(k), -1 if axis is None else axis)

    return first


@case(dtypes=DTYPES)
def sets(rng, a):
    name = str(rng.choice(["isin", "union1d", "intersect1d", "setdiff1d", "setxor1d"]))
    b = values(rng, (int(rng.integers(0, 7)),), str(a.dtype))
    how = rule(rng, b.shape, rng.ranks)
    given = {"invert": bool(rng.integers(2))} if name == "isin" else {}
    return lambda np_, x: getattr(np_, name)(x, b if np_ is np else beside(x, b, how), **given)


@case(nan=True)
def counts(rng, a):
    axis, keep = axes(rng, a), bool(rng.integers(2))
    if axis is None:
        return lambda np_, x: np_.count_nonzero(x)
    return lambda np_, x: np_.count_nonzero(x, axis=axis, keepdims=keep)


@case(least=1, nan=True)
def places_of_elements(rng, a):
    which = int(rng.integers(a.ndim))
    return lambda np_, x: np_.flatnonzero(x) if which == 0 else np_.nonzero(x)[which]


@case(dtypes=["int8", "int32", "float32", "float64", "complex64"])
def reductions_in_other_dtypes(rng, a):
    name, axis = str(rng.choice(["sum", "prod", "mean"])), axes(rng, a)
    dtype = "complex128" if a.dtype.kind == "c" else str(rng.choice(["float64", "float32", "int64"] if a.dtype.kind != "f" else ["float64"]))
    if name == "mean" and (not a.size or dtype == "int64"):
        name = "sum"
    return lambda np_, x: getattr(np_, name)(x, axis=axis, dtype=dtype)


@case(nan=True, dtypes=["int32", "int64", "float32", "float64"])
def results_in_other_arrays(rng, a):
    name = str(rng.choice(["add", "multiply", "maximum", "less", "sqrt", "negative"]))
    b, mask = other(rng, a, a.shape, dtypes=[str(a.dtype)]), rng.random(a.shape) < 0.6
    wanted = np.dtype("bool" if name == "less" else "float64" if name == "sqrt" and a.dtype != np.float32 else a.dtype)
    has_mask = rng.random() < 0.5

    def computed(np_, x):
        into = np.zeros(a.shape, wanted) if np_ is np else pt.zeros_like(x, dtype=str(wanted))
        here = x.__class__ is np.ndarray
        given = (abs(x),) if name == "sqrt" else (x,) if name == "negative" else (x, b if here else like(x, b))
        where = {"where": mask if here else like(x, mask)} if has_mask else {}
        made = getattr(np, name)(*given, out=into, **where)
        assert made is into
        return made

    return computed


@case(dtypes=INTEGERS + FLOATS)
def other_dtypes(rng, a):
    name, dtype = str(rng.choice(["add", "multiply", "subtract"])), "complex128" if a.dtype.kind == "c" else "float64"
    return lambda np_, x: getattr(np, name)(x, 2, dtype=dtype)


@case(least=1)
def mixed_operands(rng, a):
    b = other(rng, a, tuple(1 if rng.random() < 0.3 else n for n in a.shape)[int(rng.integers(a.ndim)) :])
    name = str(rng.choice(["add", "multiply", "equal", "logical_and", "not_equal"]))
    how = pt.Replicated()
    return lambda np_, x: getattr(np, name)(x, b if np_ is np else beside(x, b, how))


@case(least=2, most=3)
def contractions(rng, a):
    first = [int(one) for one in rng.permutation(a.ndim)[: rng.integers(0, 3)]]
    extents = [a.shape[axis] for axis in first] + [int(n) for n in rng.integers(1, 4, rng.integers(0, 2))]
    turn = [int(one) for one in rng.permutation(len(extents))]
    b = other(rng, a, tuple(extents[one] for one in turn), dtypes=["int64", "float64"])
    second = [turn.index(place) for place in range(len(first))]
    how = rule(rng, b.shape, rng.ranks)
    return lambda np_, x: np_.tensordot(x, b if np_ is np else beside(x, b, how), (first, second))


@case(least=1, most=2, empty=False)
def paddings(rng, a):
    widths = [tuple(int(one) for one in rng.integers(0, 9, 2)) for _ in a.shape]
    widths = widths[0] if rng.random() < 0.2 else int(rng.integers(0, 4)) if rng.random() < 0.2 else widths
    mode = str(rng.choice(["constant", "constant", "edge", "wrap", "reflect", "symmetric"]))
    constants = rng.integers(0, 2, [(), (1,), (2,), (a.ndim, 2)][int(rng.integers(4))]).tolist()
    given = {"constant_values": constants} if mode == "constant" and rng.random() < 0.7 else {}
    return lambda np_, x: np_.pad(x, widths, mode, **given)


@case(dtypes=["bool", *REAL], least=1)
def assignments_by_masks(rng, a):
    mask = rng.random(a.shape[: int(rng.integers(1, a.ndim + 1))]) < 0.5
    how = rule(rng, mask.shape, rng.ranks) if rng.random() < 0.6 else None
    count, rest = int(mask.sum()), a.shape[mask.ndim :]
    number = values(rng, (count, *rest) if rng.random() < 0.5 else rest if rng.random() < 0.5 else (), str(a.dtype))

    def assigned(np_, x):
        x[mask if np_ is np or how is None else beside(x, mask, how)] = number
        return x

    return assigned


@case(least=1, dtypes=REAL)
def differences(rng, a):
    axis, n, given = some_axis(rng, a), int(rng.integers(0, 4)), {}
    for name in ("prepend", "append"):
        extents = list(a.shape)
        extents[axis] = int(rng.integers(0, 4))
        if rng.random() < 0.3:
            values_there = values(rng, () if rng.random() < 0.3 else extents, str(a.dtype))
            given[name] = values_there, rule(rng, values_there.shape, rng.ranks) if values_there.ndim and rng.random() < 0.5 else None

    def differ(np_, x):
        others = {name: one if np_ is np or how is None else beside(x, one, how) for name, (one, how) in given.items()}
        return np_.diff(x, n, axis, **others)

    return differ


@case(dtypes=FLOATS, empty=False)
def averages(rng, a):
    axis = some_axis(rng, a) if a.ndim and rng.random() < 0.7 else None
    weights = rng.integers(1, 5, a.shape if axis is None or rng.random() < 0.5 else a.shape[axis]).astype(a.real.dtype)
    return lambda np_, x: np_.average(x, axis, weights if np_ is np or weights.shape != a.shape else like(x, weights))

