"""NumPy's ufuncs on distributed arrays: local, or refused."""

import numpy as np
import pytest
from shapes import rules, spread, whole

import partita as pt
from partita._agreement import alike
from partita._replicas import require_equal


def test_operators_are_numpys(ctx):
    x, y = whole((5, 7)), np.sin(whole((5, 7)))
    for rule in rules(ctx.size):
        a, b = spread(ctx, x, rule), spread(ctx, y, rule)
        for found, wanted in [
            (a + b, x + y), (a - 2, x - 2), (3 * b, 3 * y), (a / b, x / y), (a // 2, x // 2), (a**2, x**2), (-b, -y),
            (a % 3 == 0, x % 3 == 0), (np.maximum(a, b), np.maximum(x, y)), (np.exp(1j * b), np.exp(1j * y)),
            (abs(b) < 0.5, abs(y) < 0.5), (np.hypot(a, b), np.hypot(x, y)),
        ]:  # fmt: skip
            assert found.layout.equivalent(a.layout) and found.dtype == wanted.dtype
            np.testing.assert_array_equal(found.gather(), wanted)
        quotient, rest = np.divmod(a, 4)
        assert (quotient.gather() == x // 4).all() and (rest.gather() == x % 4).all()


def test_in_place_and_out(ctx):
    x = whole((4, 6))
    a = spread(ctx, x, pt.Slab(0))
    memory = a.local
    a += 1
    a *= a
    np.sqrt(a, out=a)
    np.add(a, 1, out=a, where=a > 10)
    assert a.local is memory and (a.gather() == np.where(x + 1 > 10, x + 2, x + 1)).all()
    with pytest.raises(pt.ArgumentError, match="from_local"):
        np.add(a, 1, out=(np.zeros(3),))


def test_nothing_is_communicated(ctx):
    a = pt.full(ctx, (9, 9), pt.Slab(0), 2.0)
    with pt.traffic(ctx) as moved:
        np.sqrt(a + a) * 3 - a
    assert moved.operations == [] and moved.total.messages == 0


def test_elementwise_functions_are_local(ctx):
    """A rank may call them alone, with numbers of its own, as ufuncs."""
    x = np.linspace(-2, 2, 35).reshape(5, 7)
    for rule in rules(ctx.size):
        a = spread(ctx, x, rule)
        if ctx.rank == ctx.size - 1:
            part, number = a.local, float(ctx.rank)
            for found, wanted in [
                (pt.where(a > number, a, number), np.where(part > number, part, number)), (np.clip(a, -1, number), np.clip(part, -1, number)),
                (a.round(1), part.round(1)), (pt.isclose(a, number), np.isclose(part, number)), (pt.nan_to_num(a), part), (pt.angle(a), np.angle(part)),
            ]:  # fmt: skip
                np.testing.assert_array_equal(found.local, wanted)
    assert a.sum() == pytest.approx(0)


def test_arguments_are_compared_once(ctx):
    """What a call has compared between ranks, the calls within it do not compare again."""

    def compare(a):
        require_equal("compare", a._core.context, [np.full(3, ctx.rank)])

    a = pt.zeros(ctx, 3, pt.Slab(0))
    alike(compare)(a)
    if ctx.size > 1:
        with pytest.raises(pt.DisagreementError):
            compare(a)


def test_what_is_broadcast(ctx):
    x, row, column = whole((6, 8)), np.cos(whole((8,))), np.sin(whole((6, 1)))
    for rule in rules(ctx.size):
        a = spread(ctx, x, rule)
        for one, values in [(row, row), (column, column), (x, x)]:
            b = spread(ctx, values, pt.Replicated())
            assert ((a * b).gather() == x * values).all() and (b + a).layout.equivalent(a.layout)
    beside = spread(ctx, column, pt.Slab(0)) + spread(ctx, x, pt.Slab(0))
    assert (beside.gather() == column + x).all()
    outer = spread(ctx, row, pt.Replicated()) * spread(ctx, column, pt.Replicated())
    assert (outer.gather() == row * column).all()


def test_layouts_that_differ_name_the_way_out(ctx):
    if ctx.size == 1:
        pytest.skip("one rank has everything")
    a, b = pt.zeros(ctx, (8, 8), pt.Slab(0)), pt.zeros(ctx, (8, 8), pt.Slab(1))
    with pytest.raises(pt.ArgumentError) as caught:
        a + b
    text = str(caught.value)
    assert "redistribute operand 2 to the layout of operand 1: b.redistribute(a.layout)" in text
    with pt.traffic(ctx) as moved:
        b = b.redistribute(a.layout)
    total = pt.all_reduce(ctx, np.array([moved.total.node_bytes + moved.total.network_bytes]))[0]
    assert "8x8 slab:0" in text and "8x8 slab:1" in text and f"{total} bytes" in text
    assert (a + b).sum() == 0
    row, column = pt.zeros(ctx, (8,), pt.Slab(0)), pt.zeros(ctx, (8, 1), pt.Slab(0))
    with pytest.raises(pt.ArgumentError, match=r"redistribute operand 2, which is broadcast, to partita.Replicated\(\)$"):
        a + row
    assert ((a + row.redistribute(pt.Replicated())).gather() == 0).all()
    with pytest.raises(pt.ArgumentError, match="redistribute operand 1, which .*; redistribute operand 2, which"):
        row + column
    whole_ones = row.redistribute(pt.Replicated()) + column.redistribute(pt.Replicated())
    assert whole_ones.shape == (8, 8)
    with pytest.raises(pt.ArgumentError, match="redistribute out to the layout of operand 1"):
        np.add(a, a, out=pt.zeros(ctx, (8, 8), pt.Slab(1)))
    with pytest.raises(pt.ArgumentError, match="cannot be broadcast"):
        a + pt.zeros(ctx, (7, 8), pt.Slab(0))


def test_windows_across_a_cut(ctx):
    """Neighbours' differences: their layouts differ, and one redistribution is enough."""
    x = whole((9, 4)) ** 2
    a = spread(ctx, x, pt.Slab(0))
    upper, lower = a[1:], a[:-1]
    if ctx.size > 1:
        with pytest.raises(pt.ArgumentError, match="operand 2 is .*redistribute operand 2 to the layout of operand 1"):
            upper - lower
        lower = lower.redistribute(upper.layout)
    assert ((upper - lower).gather() == np.diff(x, axis=0)).all()


def test_what_is_refused(ctx):
    a = pt.zeros(ctx, (4, 4), pt.Slab(0))
    with pytest.raises(pt.ArgumentError, match="from_local"):
        a + range(4)
    with pytest.raises(pt.ArgumentError, match="a.sum"):
        np.add.accumulate(a)
    assert np.matmul(a, a).shape == (4, 4) and (a @ np.zeros((4, 4))).shape == (4, 4) and (np.zeros(4) @ a).shape == (4,)
    if ctx.size > 1:  # the contribution of one rank is the whole
        partial = pt.zeros(ctx, (4, 4), f"mesh:x={ctx.size}:-,-;partial=sum:x")
        with pytest.raises(pt.ArgumentError, match="partial"):
            partial + 1
    with pytest.raises(pt.ArgumentError):
        a @ np.zeros((3, 4))


def test_numpy_arrays_are_replicas(ctx):
    """If all ranks have the same: one small message each tells; else all ranks get the error."""
    x, row = whole((6, 4)), np.cos(whole((4,)))
    for rule in rules(ctx.size):
        a = spread(ctx, x, rule)
        assert ((a + row).gather() == x + row).all() and ((row - a).gather() == row - x).all() and ((a > x / 2).gather() == (x > x / 2)).all()
        a += row
        assert (a.gather() == x + row).all() and a.layout == spread(ctx, x, rule).layout
    if ctx.size > 1:
        with pytest.raises(pt.DisagreementError, match="the NumPy array of rank 1 differs from that of rank 0; .*from_local"):
            a + (row + (ctx.rank == 1))
        with pytest.raises(pt.DisagreementError, match="differs"):
            a + row.astype("float32" if ctx.rank else "float64")
        with pt.traffic(ctx) as moved:
            a * row
        assert len(moved.operations) == 1
