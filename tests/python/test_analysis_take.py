"""Elements selected by arrays, next to NumPy's, and arrays of parts of any size."""

import math

import analysis_cases as cases
import numpy as np
import pytest

import partita as pt


def test_elements_of_indices(ctx):
    rng = np.random.default_rng(20)
    for _ in cases.some(80):
        x = cases.values(rng, tuple(max(1, extent) for extent in cases.shape(rng)), rng.choice(cases.DTYPES))
        axis = None if rng.random() < 0.3 else int(rng.integers(-x.ndim, x.ndim))
        extent = x.size if axis is None else x.shape[axis]
        index = rng.integers(-extent, extent, cases.shape(rng, int(rng.integers(1, 3)))).astype(rng.choice(["int64", "int32"]))
        a = cases.spread(ctx, rng, x)
        cases.same(pt.take(a, index, axis), np.take(x, index, axis))
        cases.same(pt.take(a, cases.spread(ctx, rng, index), axis), np.take(x, index, axis))
        far = index * 3
        for mode in ("wrap", "clip"):
            cases.same(pt.take(a, far, axis, mode=mode), np.take(x, far, axis, mode=mode))
    cases.same(pt.take(a, [], axis), np.take(x, np.zeros(0, int), axis))


def test_arrays_as_indices(ctx):
    rng = np.random.default_rng(25)
    for _ in cases.some(60):
        x = cases.values(rng, tuple(max(1, extent) for extent in cases.shape(rng)), rng.choice(cases.DTYPES), distinct=4)
        a, axis = cases.spread(ctx, rng, x), int(rng.integers(x.ndim))
        mask, lines = rng.integers(0, 2, x.shape[: int(rng.integers(1, x.ndim + 1))]) == 1, rng.integers(0, 2, x.shape[axis]) == 1
        index = rng.integers(-x.shape[axis], x.shape[axis], int(rng.integers(0, 9)))
        before = (slice(None),) * axis
        for key in (mask, (*before, lines), (*before, index), (*before, index, ..., slice(0, 1))):
            if not isinstance(key, tuple) or len(key) <= x.ndim or key[-1] != slice(0, 1):
                wanted = x[key]
                cases.same(a[key], wanted)
                spread = tuple(cases.spread(ctx, rng, one) if isinstance(one, np.ndarray) else one for one in (key if isinstance(key, tuple) else (key,)))
                cases.same(a[spread], wanted)
    one = x.flat[0].item()
    cases.same(a[a == one], x[x == one])


def test_numbers_are_converted_as_by_numpy(ctx):
    for dtype in ("bool", "int8", "uint8", "float32", "complex64"):
        for value in (0, 2, True, 1.5, 300, -1, 1j, np.int64(3), np.float64(2.5), math.nan):
            x = np.zeros(5, dtype)
            for key in (slice(None), [0, 4], "mask"):
                a = pt.zeros(ctx, (5,), pt.Slab(0), dtype=dtype)
                try:
                    x[x == x if key == "mask" else key] = value
                except Exception as error:
                    with pytest.raises((type(error), ValueError)):  # an OverflowError of the exchange is an ArgumentError
                        a[a == a if key == "mask" else key] = value
                else:
                    a[a == a if key == "mask" else key] = value
                    np.testing.assert_array_equal(a.gather(space="host"), x, err_msg=f"{dtype}, {value!r}, {key}")
                    x[:] = 0


def test_an_array_without_dimensions_on_one_rank(ctx):
    last = pt.parse(f"mesh:x=1:;ranks={ctx.size - 1}")
    a = pt.from_local(ctx, np.full(pt.Layout(last, (), ctx.size).local_shape(ctx.rank), 3.0), last, ())
    x = np.float64(3)
    for name in ("ravel", "unique", "median", "cumsum", "argmax", "sum", "std", "count_nonzero"):
        cases.same(getattr(pt, name)(a), getattr(np, name)(x))
    cases.same(pt.sort(a, None), np.sort(x, None))
    cases.same(pt.histogram(a)[0], np.histogram(x)[0])
    cases.same(pt.unique(a, return_inverse=True)[1], np.unique(x, return_inverse=True)[1])
    for scalar in (a.copy(), pt.squeeze(pt.from_local(ctx, np.full(int(ctx.rank == 0), 3.0), pt.BlockCyclic((ctx.size,), (2,)), (1,)))):
        pt.put(scalar, [0, 0], [7.0, 9.0])
        assert float(scalar) == 9
    for name in ("outer", "kron", "multiply"):
        cases.same(getattr(np, name)(a, a), getattr(np, name)(x, x))
    for found, wanted in ((pt.tile(a, 3), np.tile(x, 3)), (pt.repeat(a, 2), np.repeat(x, 2)), (pt.stack([a, a]), np.stack([x, x])), (a[None], x[None])):
        cases.same(found, wanted)


def test_keys_that_are_refused(ctx):
    a = pt.zeros(ctx, (2, 3), pt.Slab(0))
    for use in (lambda key: a[key], lambda key: a.__setitem__(key, 1)):
        for key, text in (
            (np.ones(3, bool), r"a mask of shape \(3,\) for dimensions of shape \(2,\)"),
            (([0, 1], [0, 1, 2]), r"indices of the shapes \(2,\), \(3,\) cannot be broadcast"),
            (([0, 1], 3), "index 3 is out of range for 3 elements"),
            (pt.scatter(ctx, np.array([0, -3]), pt.Slab(0)), "index -3 is out of range for 2 elements"),
            (([0], [0], [0]), "3 indices of an array of 2 dimensions"),
            (np.array([0.5]), "expected integers, slices, None, or arrays of integers or booleans"),
        ):
            with pytest.raises(pt.ArgumentError, match=text):
                use(key)
    for key, value, text in (
        ([0, 1], np.ones(2), r"values of shape \(2,\) cannot be broadcast to \(2, 3\)"),
        ([0, 1], pt.ones(ctx, 2, pt.Slab(0)), r"an array of shape \(2,\) cannot be broadcast to \(2, 3\)"),
        ([0, 1], np.ones(3, complex), "values of complex128 cannot be assigned to an array of float64"),
    ):
        with pytest.raises(pt.ArgumentError, match=text):
            a[key] = value
    cases.same(a, np.zeros((2, 3)))
    part = np.zeros(2)
    part.flags.writeable = False
    for write in (lambda b: b.__setitem__([0], 1), lambda b: pt.put(b, [0], 1), lambda b: pt.put_along_axis(b, np.array([0]), 1, 0)):
        with pytest.raises(pt.ArgumentError, match="read-only"):
            write(pt.from_local(ctx, part, pt.Slab(0)))
    if ctx.size > 1:
        for key, value in ((np.array([ctx.rank % 2]), 1), ([0], ctx.rank), ([0, 1], np.full((2, 3), ctx.rank))):
            with pytest.raises(pt.DisagreementError):
                a[key] = value
        with pytest.raises(pt.DisagreementError):
            a[[ctx.rank % 2], [0]]


def test_the_last_of_equal_indices_counts(ctx):
    rng = np.random.default_rng(26)
    many = 2000
    index, numbers = rng.integers(0, 40, many), np.arange(many)
    for kind in (pt.Slab(0), pt.BlockCyclic((ctx.size,), (3,)), pt.Replicated()):
        for spread_index, spread_numbers in ((False, False), (True, False), (False, True), (True, True)):
            for write in (lambda a, i, v: a.__setitem__(i, v), pt.put, lambda a, i, v: pt.put_along_axis(a, i, v, 0)):
                a, x = pt.zeros(ctx, 40, kind, "int64"), np.zeros(40, int)
                x[index] = numbers
                given = cases.spread(ctx, rng, index) if spread_index else index
                write(a, given, cases.spread(ctx, rng, numbers) if spread_numbers else numbers)
                cases.same(a, x)


def test_one_index(ctx):
    x = np.arange(24).reshape(4, 3, 2)
    a = pt.scatter(ctx, x, pt.Slab(0))
    one = pt.scatter(ctx, np.array(2), pt.Replicated())
    for axis in range(3):
        cases.same(pt.take(a, -1, axis), np.take(x, -1, axis))
        cases.same(pt.take(a, 7, axis, mode="clip", distribution=pt.Slab(1)), np.take(x, 7, axis, mode="clip"))
    cases.same(pt.take(a, one, 0), np.take(x, 2, 0))
    found = pt.take(a, 13)
    assert found.shape == () and int(found) == 13


def test_indices_that_are_refused(ctx):
    a = pt.arange(ctx, 5, distribution=pt.Slab(0))
    for wrong in (5, -6):
        with pytest.raises(pt.ArgumentError, match=f"index {wrong} is out of range for 5 elements"):
            pt.take(a, pt.scatter(ctx, np.array([0, 1, 2, wrong]), pt.Slab(0)))
    with pytest.raises(pt.ArgumentError, match="expected integers as indices, got float64"):
        pt.take(a, [0.5])
    with pytest.raises(pt.ArgumentError, match="got one number"):
        pt.take_along_axis(a, 3)
    with pytest.raises(pt.ArgumentError, match="mode 'any'; known: raise, wrap, clip"):
        pt.take(a, [0], mode="any")
    cases.same(pt.take(a, [4, -1]), np.array([4, 4]))


def test_sorted_by_another_array(ctx):
    rng = np.random.default_rng(21)
    keys, rows = rng.permutation(40), rng.normal(size=(40, 3))
    order = pt.argsort(pt.scatter(ctx, keys, pt.Slab(0)))
    found = pt.take(pt.scatter(ctx, rows, pt.Slab(0)), order, 0)
    cases.same(found, rows[np.argsort(keys)])
    assert str(found.distribution) == "slab:0"


def test_elements_of_each_line(ctx):
    rng = np.random.default_rng(24)
    for _ in cases.some(60):
        x = cases.values(rng, tuple(max(1, extent) for extent in cases.shape(rng)), rng.choice(cases.DTYPES))
        axis = int(rng.integers(-x.ndim, x.ndim))
        a = cases.spread(ctx, rng, x)
        cases.same(pt.take_along_axis(a, pt.argsort(a, axis), axis), np.sort(x, axis))
        index = rng.integers(-x.shape[axis], x.shape[axis], x.shape)
        cases.same(pt.take_along_axis(a, cases.spread(ctx, rng, index), axis), np.take_along_axis(x, index, axis))
    with pytest.raises(pt.ArgumentError, match=r"has shape \(4,\), but indices \(2, 2\)"):
        pt.take_along_axis(pt.zeros(ctx, 4, pt.Slab(0)), pt.zeros(ctx, (2, 2), pt.Slab(0), "int64"))


def test_arrays_of_parts(ctx):
    rows = 3 * ctx.rank if ctx.rank % 2 else 2
    part = np.full((rows, 2), ctx.rank, np.float32)
    a = pt.from_parts(ctx, part)
    wanted = np.concatenate([np.full((3 * rank if rank % 2 else 2, 2), rank, np.float32) for rank in range(ctx.size)])
    assert a.local is part
    cases.same(a, wanted)
    even = pt.balance(a)
    cases.same(even, wanted)
    assert str(even.distribution) == "slab:0" and pt.balance(even) is even
    cases.same(pt.from_parts(ctx, part.T.copy(), 1), wanted.T)
    cases.same(pt.sort(a, 0), np.sort(wanted, 0))
    nothing = pt.from_parts(ctx, np.zeros((0, 3)))
    cases.same(pt.balance(nothing), np.zeros((0, 3)))


def test_parts_that_are_refused(ctx):
    with pytest.raises(pt.ArgumentError, match="no dimensions"):
        pt.from_parts(ctx, np.array(1.0))
    with pytest.raises(pt.TypeError, match="from_parts: expected an array"):
        pt.from_parts(ctx, "rows")
    if ctx.size > 1:
        with pytest.raises(pt.ArgumentError, match=r"shapes \(2, 1\) on rank 0 and \(2, 2\) on rank 1; only the extents along axis 0 may differ"):
            pt.from_parts(ctx, np.zeros((2, 1 + ctx.rank)))
        with pytest.raises(pt.ArgumentError, match="different numbers of dimensions"):
            pt.from_parts(ctx, np.zeros((2,) * (1 + ctx.rank % 2)))
        with pytest.raises(pt.ArgumentError, match="dtype|disagree"):
            pt.from_parts(ctx, np.zeros(2, np.float32 if ctx.rank else np.float64))


def test_steps_are_assigned_in_any_layout(ctx):
    """Also along cyclic blocks, where what is selected has no layout."""
    rng = np.random.default_rng(51)
    for _ in cases.some(40):
        x = cases.values(rng, cases.shape(rng, 2, 12), "float64")
        a = cases.spread(ctx, rng, x)
        step = int(rng.choice([-3, -2, 2, 3]))
        for key in [(slice(None, None, step),), (..., slice(1, None, abs(step))), (slice(None, None, step), slice(None, None, -2)), (slice(0, None, 2), None, slice(None))]:
            values = cases.values(rng, x[key].shape, rng.choice(["float64", "int32"]))
            a[key], x[key] = (cases.spread(ctx, rng, values), values) if rng.integers(2) else (values, values)
            cases.same(a, x)
            a[key], x[key] = 3, 3
            cases.same(a, x)
        if 0 not in x.shape:
            columns = rng.integers(0, x.shape[1], 2)
            a[::2, columns], x[::2, columns] = 7, 7
            a[::2, 0], x[::2, 0] = 1.5, 1.5
            cases.same(a, x)
