"""Random arrays in random distributions, for comparisons with NumPy."""

import os

import numpy as np

import partita as pt

DTYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64", "complex64", "complex128"]
REALS = [name for name in DTYPES if not name.startswith("complex")]


def some(many):
    """The numbers of random cases: a third of them, on fake devices, which compute the same, a tenth; with PARTITA_FULL=1 all, more with larger
    numbers."""
    return range(max(many * int(os.environ.get("PARTITA_FULL") or 0), many // (10 if os.environ.get("PARTITA_TEST_DEVICE") == "fake" else 3)))


def values(rng, shape, dtype, distinct=None):
    """Numbers with many ties, of both signs, and some that are not a number."""
    kind = np.dtype(dtype).kind
    numbers = rng.integers(0, distinct or rng.choice([3, 50, 10**6]), shape)
    if kind == "u":
        return numbers.astype(dtype)
    numbers = numbers - rng.integers(0, 50)
    if kind == "c":
        return (numbers + 1j * rng.permuted(numbers)).astype(dtype)
    if kind == "f":
        return (numbers % 5000 / 4).astype(dtype)
    return numbers.astype(dtype)


def with_nans(rng, x):
    """The same, with some NaNs, infinities and negative zeros."""
    x = x.copy()
    if x.dtype.kind in "fc" and x.size:
        for value in (np.nan, np.inf, -np.inf, -0.0):
            x[rng.random(x.shape) < 0.1] = value
        if x.dtype.kind == "c":
            x.imag[rng.random(x.shape) < 0.1] = np.nan
    return x


def rule(rng, shape, ranks):
    """A distribution of any kind, often uneven, with empty parts."""
    if not shape:
        return pt.Replicated()
    cut = int(rng.integers(len(shape)))
    grid = [1] * len(shape)
    grid[cut] = ranks
    kind = rng.integers(8)
    if kind <= 1:
        return pt.Slab(cut)
    if kind == 2:
        return pt.Replicated()
    if kind == 3:
        points = sorted(int(point) for point in rng.integers(0, shape[cut] + 1, ranks - 1))
        return pt.Box.from_cuts([[0, *points, n] if axis == cut else [0, n] for axis, n in enumerate(shape)])
    if kind == 4:
        return pt.BlockCyclic(tuple(grid), tuple(int(rng.integers(1, 4)) for _ in shape))
    if kind == 5:
        return pt.BlockNonCyclic(tuple(grid))
    two = 2 if ranks % 2 == 0 else 1
    mesh = pt.Mesh({"x": two, "y": ranks // two})
    names = [None] * len(shape)
    names[cut] = "y" if kind == 6 else ("y", "x")
    if kind == 6 and len(shape) > 1:
        names[cut - 1] = "x"
    return pt.Partitioned(mesh, pt.P(*names))


def shape(rng, dimensions=None, most=9):
    """Extents that may be 0 and 1."""
    many = int(rng.integers(1, 4)) if dimensions is None else dimensions
    return tuple(int(rng.integers(0 if rng.random() < 0.1 else 1, most)) for _ in range(many))


def spread(ctx, rng, x):
    """A NumPy array, which all ranks have, in a distribution drawn by all alike; sometimes transposed."""
    if x.ndim > 1 and rng.random() < 0.2:
        return pt.scatter(ctx, np.ascontiguousarray(x.T), rule(rng, x.shape[::-1], ctx.size)).T
    return pt.scatter(ctx, x, rule(rng, x.shape, ctx.size))


def same(found, wanted):
    """NumPy's result, bit for bit except for the sign of zeros."""
    found = found.gather(space="host") if isinstance(found, pt.Array) else found
    assert np.shape(found) == np.shape(wanted), (np.shape(found), np.shape(wanted))
    assert np.asarray(found).dtype == np.asarray(wanted).dtype, (np.asarray(found).dtype, np.asarray(wanted).dtype)
    np.testing.assert_array_equal(found, wanted)
