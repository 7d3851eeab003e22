"""Plans of thousands of ranks, without ranks."""

import json

import pytest

import partita as pt
from partita.plans import Operand, Topology, explain_redistribute, plan_fft, plan_matmul, plan_redistribute


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
    with pytest.raises(pt.UnsupportedError):
        planned.verify()


def test_what_would_move():
    assert "8x8" in explain_redistribute(pt.Layout(pt.Slab(0), (8, 8), 4), "slab:1")
