"""NumPy arrays and lists next to distributed arrays, in every function of several arrays: NumPy's result, whichever operand they are."""

import time

import numpy as np
import pytest
from shapes import spread

import partita as pt

vectors = np.array([3.0, 1.0, 2.0, 5.0]), np.array([1.0, 2.0, 2.0, 7.0])
matrix = np.arange(16.0).reshape(4, 4) % 5 + 4 * np.eye(4)

functions = {
    "add": lambda x, y: np.add(x, y), "allclose": lambda x, y: np.allclose(x, y), "append": lambda x, y: np.append(x, y),
    "array_equal": lambda x, y: np.array_equal(x, y), "average": lambda x, y: np.average(x, weights=y),
    "bincount": lambda x, y: np.bincount([3, 1, 2, 5] if isinstance(x, list) else x.astype(int), weights=y),
    "concatenate": lambda x, y: np.concatenate([x, y]), "corrcoef": lambda x, y: np.corrcoef(x, y), "cov": lambda x, y: np.cov(x, y),
    "cross": lambda x, y: np.cross(x[:3], y[:3]), "digitize": lambda x, y: np.digitize(x, y),
    "dot": lambda x, y: np.dot(x, y), "einsum": lambda x, y: np.einsum("i,j->ij", x, y), "histogram": lambda x, y: np.histogram(x, [0, 1, 3, 6], weights=y)[0],
    "inner": lambda x, y: np.inner(x, y), "intersect1d": lambda x, y: np.intersect1d(x, y), "isclose": lambda x, y: np.isclose(x, y),
    "isin": lambda x, y: np.isin(x, y), "kron": lambda x, y: np.kron(x, y), "matmul": lambda x, y: np.matmul(x, y), "maximum": lambda x, y: np.maximum(x, y),
    "outer": lambda x, y: np.outer(x, y), "searchsorted": lambda x, y: np.searchsorted(np.sort(x), y), "setdiff1d": lambda x, y: np.setdiff1d(x, y),
    "setxor1d": lambda x, y: np.setxor1d(x, y), "stack": lambda x, y: np.stack([x, y]), "tensordot": lambda x, y: np.tensordot(x, y, 1),
    "trapezoid": lambda x, y: np.trapezoid(x, y) if hasattr(np, "trapezoid") else np.trapz(x, y), "union1d": lambda x, y: np.union1d(x, y),
    "vdot": lambda x, y: np.vdot(x, y), "vecdot": lambda x, y: np.vecdot(x, y) if hasattr(np, "vecdot") else np.vdot(x, y),
}  # fmt: skip


@pytest.mark.parametrize("name", functions)
def test_each_operand(ctx, name):
    function = functions[name]
    wanted = function(*vectors)
    first, second = (spread(ctx, one, pt.Slab(0)) for one in vectors)
    for operands in [(first, vectors[1]), (first, vectors[1].tolist()), (vectors[0], second), (vectors[0].tolist(), second)]:
        found = function(*operands)
        found = found.gather() if isinstance(found, pt.Array) else found
        assert np.allclose(found, wanted) and np.shape(found) == np.shape(wanted), type(operands[0])


def test_right_hand_sides(ctx):
    a, b = spread(ctx, matrix, pt.Slab(1)), spread(ctx, vectors[0], pt.Slab(0))
    positive = spread(ctx, matrix @ matrix.T, pt.Slab(0))
    wanted = np.linalg.solve(matrix, vectors[0])
    factors, root = pt.linalg.lu_factor(a), pt.linalg.cho_factor(positive)
    for values in (vectors[0], vectors[0].tolist(), [3, 1, 2, 5]):
        assert np.allclose(pt.linalg.solve(a, values).gather(), wanted)
        assert np.allclose(pt.linalg.lu_solve(factors, values).gather(), wanted)
        assert np.allclose(np.linalg.lstsq(a, values)[0].gather(), wanted)
        assert np.allclose(pt.linalg.cho_solve(root, values).gather(), np.linalg.solve(matrix @ matrix.T, vectors[0]))
        assert np.allclose(pt.linalg.solve_triangular(a, values, lower=True).gather(), np.linalg.solve(np.tril(matrix), vectors[0]))
    assert np.allclose(pt.linalg.solve(matrix, b).gather(), wanted)


def test_values_that_differ(ctx):
    if ctx.size == 1:
        pytest.skip("one rank")
    mine = vectors[1] + (ctx.rank == 1)
    a = spread(ctx, vectors[0], pt.Slab(0))
    for call in (lambda: np.dot(a, mine), lambda: a + mine.tolist(), lambda: np.union1d(a, mine), lambda: np.bincount(a.astype(int), mine)):
        with pytest.raises(pt.DisagreementError):
            call()
    b = spread(ctx, vectors[1], pt.Slab(0))
    for call in (np.dot, np.vdot, np.union1d, pt.matmul) if ctx.device == "cpu" else ():  # with devices the context fails
        with pytest.raises(pt.DisagreementError):
            call(a, vectors[1] if ctx.rank == 1 else b)
    assert np.dot(a, vectors[1]) == np.dot(*vectors)


@pytest.mark.parametrize("wrong", [[[1], [1, 2]], np.array([None] * 4), ["a"] * 4], ids=["ragged", "objects", "strings"])
def test_values_of_one_rank_that_are_none(ctx, wrong):
    """All ranks raise the same."""
    if ctx.size == 1:
        pytest.skip("one rank")
    calls = [
        lambda a, values: a + values, lambda a, values: np.where(a > 1, a, values), lambda a, values: a.__iadd__(values), lambda a, values: np.concatenate([a, values]),
        lambda a, values: a @ values, np.dot, lambda a, values: np.einsum("i,i", a, values), np.union1d,
    ]  # fmt: skip
    for call in calls if ctx.device == "cpu" else ():  # with devices the context fails
        group = ctx.split(0)
        a, begin = spread(group, vectors[0], pt.Slab(0)), time.monotonic()
        with pytest.raises(pt.ArgumentError) as caught:
            call(a, wrong if ctx.rank == 1 else vectors[1])
        texts = np.zeros(ctx.size * 400, np.uint8)
        mine = np.frombuffer(str(caught.value).encode()[:400].ljust(400), np.uint8)
        pt.all_gather(ctx, mine, texts)
        assert (texts.reshape(-1, 400) == mine).all() and time.monotonic() - begin < 20, str(caught.value)


def test_ufuncs_reduce(ctx):
    x = matrix - 3
    a = spread(ctx, x, pt.Slab(0))
    for ufunc in (np.add, np.multiply, np.maximum, np.minimum, np.logical_and, np.logical_or):
        for given, options in [((), {}), ((1,), {}), ((), {"axis": None}), ((), {"axis": 1, "keepdims": True})]:
            found, wanted = ufunc.reduce(a, *given, **options), ufunc.reduce(x, *given, **options)
            found = found.gather() if isinstance(found, pt.Array) else found
            assert np.allclose(found, wanted) and np.shape(found) == np.shape(wanted)
    with pytest.raises(pt.ArgumentError, match="only elementwise calls are supported"):
        np.add.accumulate(a)


def test_exchanges_of_hashes(ctx):
    """Products and ufuncs have one of their own; functions that compare their arguments have none."""
    a = spread(ctx, matrix, pt.Slab(0))
    for call, many in ((lambda: a @ vectors[0], 1), (lambda: np.dot(vectors[0], a), 1), (lambda: a + vectors[0], 1), (lambda: np.append(a, matrix, 1), 0)):
        with pt.traffic(ctx) as moved:
            call()
        assert [one.operation for one in moved.operations].count("all_gather") == (many if ctx.size > 1 else 0)
