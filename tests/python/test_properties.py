"""Any distribution of any array, against NumPy: hypothesis chooses."""

import numpy as np
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
