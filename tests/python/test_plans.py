"""Plans of thousands of ranks, without ranks."""

import json

import pytest
from shapes import rules

import partita as pt
from partita._numbers import numbers_of_matmul
from partita.plans import Operand, Planned, Topology, explain_redistribute, plan_fft, plan_matmul, plan_redistribute


def operand(rule, shape, ranks, dtype="float64"):
    return Operand(pt.Layout(rule, shape, ranks), dtype)


def test_redistribution_of_4096_ranks():
    rows, columns = (operand(pt.Slab(axis), (8192, 8192), 4096) for axis in (0, 1))
    planned = plan_redistribute(rows, columns, Topology(4096, 8))
    plan = planned.plan(3071)
    assert planned.ranks == 4096 and plan.rank == 3071 and plan.steps > 0
    moved = planned.traffic(3071)
    assert moved.node_bytes + moved.network_bytes == 8 * 2 * (8192 - 2) and moved.local_bytes == 8 * 4
    found = planned.simulate("cluster")
    assert found.seconds > 0 and found.total_bytes == pytest.approx(8 * 8192 * 8190, rel=0.01)
    assert "redistribute" in planned.explain(7) and json.loads(planned.explain(7, json=True))


def test_plans_are_verified():
    planned = plan_redistribute(operand(pt.Slab(0), (9, 7), 3), operand(pt.BlockCyclic((1, 3), (2, 2)), (9, 7), 3), Topology(3))
    planned.verify()
    with pytest.raises(pt.ArgumentError):
        plan_redistribute(operand(pt.Slab(0), (9, 7), 3), operand(pt.Slab(0), (9, 8), 3), Topology(3)).plan(0)


def test_products_and_transforms():
    a = operand(pt.BlockCyclic((64, 64), (128, 128)), (16384, 16384), 4096)
    planned = plan_matmul(a, a, Topology(4096, 8), method="summa-c", machine="cluster")
    assert planned.plan(5).method == "summa-c" and planned.simulate("cluster").seconds > 0
    field = operand(pt.Slab(0), (64, 64, 64), 16, "complex128")
    assert plan_fft(field, Topology(16), output="cheapest").simulate().seconds > 0
    with pytest.raises(pt.ArgumentError, match="too large"):
        planned.verify()
    real = operand(pt.Slab(0), (8, 8), 2)
    with pytest.raises(pt.UnsupportedError, match="dct2"):
        plan_fft(real, Topology(2), kind="dct2").verify()
    with pytest.raises(pt.UnsupportedError, match="bias"):
        Planned(plan_matmul(real, real, Topology(2))._core, lambda: numbers_of_matmul(real, real, real, {"epilogue": "bias"})).verify()


@pytest.mark.parametrize("ranks", [1, 3, 4])
def test_plans_that_compute_are_verified(ranks):
    topology = Topology(ranks, 2)
    for one, other in zip(rules(ranks), rules(ranks)[1:] + rules(ranks)[:1]):
        a, b = operand(one, (6, 9), ranks), operand(other, (9, 5), ranks)
        planned = plan_matmul(a, b, topology, alpha=2)
        planned.verify()
        plan_matmul(a, b, topology, operand(one, (6, 5), ranks), epilogue="relu").verify()
        z = operand(one, (6, 8), ranks, "complex128")
        plan_fft(z, topology, operand(other, (6, 8), ranks, "complex128")).verify()
    plan_matmul(b, a, topology, op_a="transpose", op_b="transpose", epilogue="gelu").verify()
    c = operand(pt.Slab(0), (4, 6), ranks, "complex128")
    plan_matmul(c, z, topology, op_b="conjugate", alpha=1j).verify()
    plan_fft(z, topology, axes=[1], inverse=True, norm="ortho").verify()
    half = plan_fft(operand(pt.Slab(0), (6, 8), ranks), topology, kind="r2c", norm="forward")
    half.verify()
    plan_fft(operand(pt.Slab(1), (6, 5), ranks, "complex128"), topology, kind="c2r", last_length=8).verify()
    v = operand(pt.Replicated(), (9,), ranks)
    plan_matmul(operand(pt.Slab(0), (6, 9), ranks), v, topology).verify()
    plan_matmul(v, v, topology).verify()
    right = numbers_of_matmul(a, b, a, {})
    wrong = right._replace(wanted=right.wanted + 1)
    with pytest.raises(pt.Error):
        Planned(planned._core, lambda: wrong).verify()


def test_what_would_move():
    assert "8x8" in explain_redistribute(pt.Layout(pt.Slab(0), (8, 8), 4), "slab:1")
