"""Any distribution of any array, against NumPy: hypothesis chooses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from shapes import part

import partita as pt

DTYPES = ["bool", "int16", "uint8", "int64", "float32", "float64", "complex64", "complex128"]


@some.composite
def distributions(draw, shape, ranks):
    kind = draw(some.sampled_from(["slab", "cyclic", "block", "mesh", "replicated", "box"]))
    cut = draw(some.integers(0, len(shape) - 1))
    if kind == "slab":
        return pt.Slab(cut)
    if kind == "replicated":
        return pt.Replicated()
    if kind == "box":
        points = sorted(draw(some.lists(some.integers(0, shape[cut]), min_size=ranks - 1, max_size=ranks - 1)))
        return pt.Box.from_cuts([[0, *points, n] if axis == cut else [0, n] for axis, n in enumerate(shape)])
    grid = [1] * len(shape)
    for factor in {1: [], 2: [2], 3: [3], 4: [2, 2]}[ranks]:
        grid[draw(some.integers(0, len(shape) - 1))] *= factor
    if kind == "cyclic":
        return pt.BlockCyclic(pt.ProcessGrid(grid, draw(some.sampled_from("CF"))), [draw(some.integers(1, 4)) for _ in shape])
    if kind == "block":
        return pt.BlockNonCyclic(grid)
    names = [draw(some.sampled_from([None, "x"])) if axis == cut else None for axis in range(len(shape))]
    return pt.Partitioned(pt.Mesh({"x": ranks}), pt.P(*names, uneven=draw(some.sampled_from(["ceil", "balanced"]))))


@some.composite
def cases(draw):
    ranks = draw(some.integers(1, 4))
    shape = tuple(draw(some.lists(some.integers(0, 7), min_size=1, max_size=3)))
    array = np.random.default_rng(draw(some.integers(0, 99))).integers(0, 100, shape).astype(draw(some.sampled_from(DTYPES)))
    order = draw(some.sampled_from("CF"))
    window = tuple(slice(*sorted(draw(some.tuples(some.integers(0, n), some.integers(0, n))))) for n in shape)
    axes = draw(some.permutations(range(len(shape))))
    return ranks, array, draw(distributions(shape, ranks)), draw(distributions(shape, ranks)), order, window, axes


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(cases())
def test_from_local_redistribute_slice_gather(case):
    ranks, array, rule, other, order, window, axes = case

    def body(context):
        layout = pt.Layout(rule, array.shape, ranks)
        local = np.array(part(array, layout, context.rank), order=order)
        a = pt.from_local(context, local, rule, array.shape)
        assert a.local is local
        np.testing.assert_array_equal(a.gather(), array)
        moved = a.redistribute(other)
        np.testing.assert_array_equal(moved.local, part(array, pt.Layout(other, array.shape, ranks), context.rank))
        np.testing.assert_array_equal(a[window].gather(), array[window])
        np.testing.assert_array_equal(moved[window].redistribute(pt.Replicated()).local, array[window])
        np.testing.assert_array_equal(a.transpose(*axes).gather(), array.transpose(axes))
        np.testing.assert_array_equal((a == a).gather(), array == array)
        np.testing.assert_array_equal(local, part(array, layout, context.rank))

    pt.run(ranks, body, device="cpu", deadline=60)


@some.composite
def overlapping(draw):
    """Two windows of one array that have one layout: they move along axes that are not cut. Or a transposed one."""
    ranks = draw(some.integers(1, 3))
    shape = draw(some.tuples(some.integers(1, 7), some.integers(1, 7)))
    cut = draw(some.sampled_from([None, 0, 1]))
    turned = cut is None and draw(some.booleans())
    extents = [draw(some.integers(1, n)) for n in shape]
    if turned:
        extents = [min(extents)] * 2
    places = [[draw(some.integers(0, n - extent)) for n, extent in zip(shape, extents)] for _ in range(3)]
    if cut is not None:
        for place in places:
            place[cut] = places[0][cut]
    windows = [tuple(slice(first, first + extent) for first, extent in zip(place, extents)) for place in places]
    rule = pt.Replicated() if cut is None else pt.Slab(cut)
    dtype = draw(some.sampled_from(["int64", "float32", "complex128"]))
    return ranks, shape, dtype, rule, turned, windows


def assignment(a, first, second, third):
    a[third] = first


def ufunc_into(a, first, second, third):
    np.subtract(first, second, out=a[third])


def ufunc_in_place(a, first, second, third):
    a[third] -= first


def one_after_the_other(a, first, second, third):
    a[third] = first
    np.add(a[third], second, out=a[third])


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(overlapping(), some.sampled_from([assignment, ufunc_into, ufunc_in_place, one_after_the_other]))
def test_overlapping_windows_as_in_numpy(case, change):
    ranks, shape, dtype, rule, turned, windows = case
    start = np.arange(shape[0] * shape[1]).reshape(shape).astype(dtype)

    def changed(a):
        first = a[windows[0]]
        change(a, first.T if turned else first, a[windows[1]], windows[2])
        return a

    wanted = changed(start.copy())

    def body(context):
        np.testing.assert_array_equal(changed(pt.scatter(context, start, rule)).gather(), wanted)

    pt.run(ranks, body, device="cpu", deadline=60)


@settings(max_examples=25, deadline=None, derandomize=True, database=None)
@given(overlapping(), some.sampled_from(["redistribute", "fftn", "matmul", "FFT", "Redistribute"]))
def test_overlapping_windows_of_calls_that_communicate(case, name):
    """NumPy's result where the windows are apart, an error on all ranks where they are not. Nothing is changed then."""
    ranks, shape, _, rule, turned, windows = case
    start = np.random.default_rng(1).normal(size=shape) + 0j
    source, target = windows[0], windows[1]
    whole = all(one == slice(0, n) for one, n in zip(source, shape))
    in_place = name == "fftn" and whole and not turned and target == source  # both are the array itself
    apart = in_place or any(one.stop <= other.start or other.stop <= one.start for one, other in zip(source, target))
    square = np.random.default_rng(2).normal(size=(target[1].stop - target[1].start,) * 2) + 0j
    wanted = start.copy()
    seen = start[source].T if turned else start[source]
    wanted[target] = {"redistribute": lambda x: x, "matmul": lambda x: x @ square, "fftn": np.fft.fftn}.get(
        {"FFT": "fftn", "Redistribute": "redistribute"}.get(name, name)
    )(seen.copy())

    def body(context):
        a = pt.scatter(context, start, rule)
        read, written = a[source].T if turned else a[source], a[target]
        calls = {
            "redistribute": lambda: pt.redistribute(read, written),
            "Redistribute": lambda: pt.Redistribute(read, written).execute(),
            "fftn": lambda: pt.fft.fftn(read, out=written),
            "FFT": lambda: pt.fft.FFT(read, out=written).execute(),
            "matmul": lambda: pt.matmul(read, pt.scatter(context, square, "replicated"), out=written),
        }
        if apart:
            calls[name]()
            np.testing.assert_allclose(a.gather(), wanted, atol=1e-12)
            return
        with pytest.raises(pt.ArgumentError, match="overlap|same array"):
            calls[name]()
        assert not context.failed
        np.testing.assert_array_equal(a.gather(), start)

    pt.run(ranks, body, device="cpu", deadline=60)
