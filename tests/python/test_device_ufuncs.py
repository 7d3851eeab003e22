"""Elementwise work and views of arrays in device memory, by the library alone: neither CuPy nor PyTorch is imported."""

import os

import analysis_cases as cases
import numpy as np
import numpy_programs
import numpy_statistics  # noqa: F401: more of its cases
import pytest
from shapes import rules, whole

import partita as pt

pytestmark = pytest.mark.skipif(not os.environ.get("PARTITA_TEST_DEVICE"), reason="no device: PARTITA_TEST_DEVICE=fake or cuda")

UNARY = [
    "negative", "absolute", "fabs", "sqrt", "exp", "log", "sin", "cos", "tanh", "floor", "ceil", "rint", "trunc", "tan", "arcsin", "arccos", "arctan",
    "sinh", "cosh", "log2", "log10", "log1p", "expm1", "square", "positive", "reciprocal", "conjugate", "isnan", "isinf", "isfinite", "logical_not", "invert",
]  # fmt: skip
BINARY = [
    "add", "subtract", "multiply", "true_divide", "maximum", "minimum", "power", "float_power", "hypot", "arctan2", "remainder", "floor_divide", "divmod",
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or",
]  # fmt: skip


def agree(found, wanted, dtype):
    """Within the last digits of numbers that are computed in the dtype."""
    assert found.space == "device" and found.dtype == wanted.dtype
    exact = wanted.dtype.kind in "biu"
    digits = 0 if exact else 4 * np.finfo(wanted.dtype).eps
    np.testing.assert_allclose(found.gather(space="host"), wanted, rtol=digits, atol=digits, equal_nan=True)


def outcome(function, *operands):
    """Its result, or the exception that says that there is none."""
    try:
        with np.errstate(all="ignore"):
            return function(*operands)
    except (TypeError, ValueError) as error:
        return error


def check(ufunc, given, arrays):
    """NumPy's results and errors, or the error that names the way out; which of them it was."""
    wanted = outcome(ufunc, *given)
    try:
        found = outcome(ufunc, *arrays) if isinstance(wanted, Exception) else ufunc(*arrays)
    except pt.UnsupportedError as error:
        assert "a.copy(space='host')" in str(error)
        return False
    if isinstance(wanted, Exception):
        assert isinstance(found, Exception), ufunc
        return False
    for one, values in zip(found if isinstance(found, tuple) else [found], wanted if isinstance(wanted, tuple) else [wanted]):
        agree(one, values, given[0].dtype)
    return True


def test_functions_are_numpys(ctx):
    rng, done = np.random.default_rng(1), {}
    for dtype in cases.DTYPES:
        x, y = (cases.values(rng, (4, 3), dtype, 9) for _ in range(2))
        holed = cases.with_nans(rng, x)  # quotients of complex numbers that are not finite differ
        a, b, c = (pt.scatter(ctx, one, pt.Slab(0), space="device") for one in (x, y, holed))
        for name in UNARY:
            done[name, dtype] = check(getattr(np, name), (holed,), (c,))
        for name in BINARY:
            done[name, dtype] = check(getattr(np, name), (x, y), (a, b))
            if np.dtype(dtype).kind != "c":
                check(getattr(np, name), (holed, y), (c, b))
    for name in UNARY + BINARY:
        assert done[name, "bool" if name in ("invert", "bitwise_and", "bitwise_or") else "float32"], name
    for name in ("add", "multiply", "true_divide", "less", "remainder", "floor_divide", "absolute", "isnan", "square"):
        assert all(done[name, dtype] for dtype in ("int8", "uint16", "int64", "float16", "float64")), name
    assert all(done[name, "complex64"] for name in ("add", "multiply", "true_divide", "absolute", "equal", "negative", "conjugate", "isfinite", "square"))


def test_operands_of_several_kinds(ctx):
    """Numbers, other dtypes, and what is broadcast, in any layout."""
    x, row = whole((6, 5)), np.arange(5, dtype="int16")
    for rule in rules(ctx.size):
        a = pt.scatter(ctx, x, rule, space="device")
        b = pt.scatter(ctx, row, pt.Replicated(), space="device")
        f = a.astype("float32")
        found = [
            (2 * a + b, 2 * x + row), (b / 4, row / 4), (f * 2.5, x.astype("float32") * 2.5), (1j * b, 1j * row), (a**2, x**2),
            (a // 2 % 3, x // 2 % 3), (f + np.float64(1), x.astype("float32") + np.float64(1)), (abs(-a), x), (b == 2, row == 2),
            ((a > 4) & (a < 20), (x > 4) & (x < 20)), (pt.where(a > b, a, 0), np.where(x > row, x, 0)), (np.clip(a, 3, 8), np.clip(x, 3, 8)),
            (pt.where(b > 1, 1.5, 2), np.where(row > 1, 1.5, 2)), (a.round(-1), x.round(-1)), ((1j * a).imag, x), ((1j * a).conj().imag, -x),
            (a + row, x + row), (pt.angle(a - 3), np.angle(x - 3)), (pt.isclose(a, x[0, 1]), np.isclose(x, x[0, 1])),
        ]  # fmt: skip
        for one, wanted in found:
            agree(one, wanted, None)
    holed = np.array([np.nan, np.inf, -np.inf, 1.5])
    agree(pt.nan_to_num(pt.scatter(ctx, holed, pt.Slab(0), space="device"), nan=2.0, posinf=3.0), np.nan_to_num(holed, nan=2.0, posinf=3.0), None)


def test_results_are_written_in_place(ctx):
    x = whole((4, 6))
    a = pt.scatter(ctx, x, pt.Slab(0), space="device")
    memory = a._core.__cuda_array_interface__["data"]
    a += 1
    a *= a
    np.sqrt(a, out=a)
    np.add(a, 1, out=a, where=a > 10)
    a[a > 20] = 0
    wanted = np.where(x + 1 > 10, x + 2, x + 1)
    agree(a, np.where(wanted > 20, 0, wanted), None)
    assert a._core.__cuda_array_interface__["data"] == memory
    lower, upper = a[:, :5], a[:, 1:]
    wanted = a.gather(space="host")
    wanted[:, 1:] += wanted[:, :5]
    np.add(upper, lower, out=upper)  # which overlap
    agree(a, wanted, None)
    with pytest.raises(pt.ArgumentError, match="out is int32"):
        np.add(a, 1, out=pt.zeros(ctx, (4, 6), pt.Slab(0), "int32", space="device"))


def test_work_is_local(ctx):
    a = pt.full(ctx, (9, 9), pt.Slab(0), 2.0, space="device")
    if ctx.rank == ctx.size - 1:  # without the others, with numbers of its own
        found = pt.where(np.sqrt(a + a) * ctx.rank > 1, a, 0.5)
        assert found.space == "device" and found.layout == a.layout
    ctx.barrier()
    with pt.traffic(ctx) as moved:
        a * a - a
    assert moved.operations == [] and moved.total.messages == 0


def test_memory_is_used_again(ctx):
    a = pt.full(ctx, 1000 * ctx.size, pt.Slab(0), 1.0, space="device")
    places = set()
    for _ in range(10):
        b = a + 1
        places.add(b._core.__cuda_array_interface__["data"])
        assert b.sum() == 2000 * ctx.size
        del b
    assert len(places) == 1


def test_what_is_refused(ctx):
    a = pt.full(ctx, (4, 4), pt.Slab(0), 2, "int32", space="device")
    with pytest.raises(pt.UnsupportedError, match=r"power: not available for these dtypes in device memory.*a\.copy\(space='host'\)"):
        a**3
    with pytest.raises(pt.UnsupportedError, match="gcd"):
        np.gcd(a, 2)
    with pytest.raises(pt.UnsupportedError, match="memory"):
        a + pt.zeros(ctx, (4, 4), pt.Slab(0), "int32", space="host")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_random_calls(ctx):
    """All functions with NumPy's names."""
    for seed in range(100):
        numpy_programs.compare(ctx, 1000 * ctx.size + seed, space="device")


def test_views_and_moves(ctx):
    x = whole((6, 8))
    for rule in rules(ctx.size):
        a = pt.scatter(ctx, x, rule, space="device")
        found = [
            (a[::2], x[::2]), (a[:, ::-1], x[:, ::-1]), (a[2], x[2]), (a[:, None, 3:], x[:, None, 3:]), (a.reshape(8, 6), x.reshape(8, 6)),
            (a.ravel(), x.ravel()), (pt.roll(a, 3), np.roll(x, 3)), (pt.pad(a, 1, constant_values=5), np.pad(x, 1, constant_values=5)),
            (pt.tril(a), np.tril(x)), (pt.diagonal(a), np.diagonal(x)), (pt.outer(a[0], a[1]), np.outer(x[0], x[1])),
            (pt.repeat(a, 2), np.repeat(x, 2)), (pt.pad(a, 2, "reflect"), np.pad(x, 2, "reflect")),
            (pt.average(a, 0, np.arange(6)), np.average(x, 0, np.arange(6))),
        ]  # fmt: skip
        for one, wanted in found:
            agree(one, wanted, None)
        assert pt.argmax(a) == x.argmax() and pt.argmin(-a) == x.argmax() and abs(pt.std(a) - x.std()) < 1e-12
        agree(pt.argmax(a, 1), x.argmax(1), None)
        agree(pt.max(a * 1j, 0, initial=3), np.max(x * 1j, 0, initial=3), None)
        agree(pt.var(a, 0), x.var(0), None)


def test_sorted_on_the_device(ctx):
    rng = np.random.default_rng(3)
    for dtype in cases.REALS:
        for many in (1, 37, 6000):  # more are exchanged than copied to all ranks
            x = cases.with_nans(rng, cases.values(rng, many, dtype))
            for rule in (pt.Slab(0), pt.Replicated(), pt.BlockCyclic((ctx.size,), (3,))):
                a = pt.scatter(ctx, x, rule, space="device")
                for descending in (False, True):
                    ordered, order = pt.sort(a, descending=descending), pt.argsort(a, descending=descending)
                    assert ordered.space == order.space == "device" and ordered.layout.equivalent(a.layout) and order.layout.equivalent(a.layout)
                    wanted = np.sort(x)[::-1] if descending else np.sort(x)
                    np.testing.assert_array_equal(ordered.gather(space="host"), wanted)
                    stable = many - 1 - np.argsort(x[::-1], kind="stable")[::-1] if descending else np.argsort(x, kind="stable")
                    np.testing.assert_array_equal(order.gather(space="host"), stable)


def test_operands_with_other_layouts_name_the_call(ctx):
    a, b = pt.full(ctx, (6, 5), pt.Slab(0), 1.0), pt.full(ctx, (6, 5), pt.Slab(1), 2.0)
    assert (a + b.redistribute(a.layout)).gather(space="host").sum() == 90
    if ctx.size > 1:
        with pytest.raises(pt.ArgumentError, match=r"the layouts differ: .* redistribute operand 2 .* moves [0-9]+ bytes"):
            a + b
        with pytest.raises(pt.ArgumentError, match="the layouts differ"):
            a[1:] - a[:-1]
