"""Timelines, measured and planned."""

import json

import numpy as np
import pytest
from shapes import spread, whole

import partita as pt
from partita.plans import Operand, Topology, plan_redistribute


def test_what_ranks_do_is_recorded(ctx):
    a = spread(ctx, whole((8, 6)), pt.Slab(0))
    found = []
    measured = pt.trace.record(ctx, lambda: found.append((a.redistribute(pt.Slab(1)), a.T @ a)))
    assert (found[0][1].gather() == whole((8, 6)).T @ whole((8, 6))).all()
    assert measured.name == "measured" and len(measured.ranks) == ctx.size
    assert f"{ctx.size} ranks" in repr(measured)
    for steps in measured.ranks:
        assert {one.execution for one in steps} == {0, 1}
        assert all(0 <= one.begin <= one.end and one.kind and one.what and one.line == 0 for one in steps)
        assert [one.begin for one in steps] == sorted(one.begin for one in steps)
    assert min(steps[0].begin for steps in measured.ranks) == 0
    everyone = [one.tobytes() for one in np.array_split(pt.all_gather(ctx, np.array([measured.ranks[0][0].end])), ctx.size)]
    assert len(set(everyone)) == 1  # every rank has the same of all
    assert pt.trace.record(ctx, lambda: None).ranks == [[]] * ctx.size


def test_a_trace_is_json_of_all_timelines(ctx):
    a = spread(ctx, whole((8, 6)), pt.Slab(0))
    measured = pt.trace.record(ctx, lambda: a.redistribute(pt.Slab(1)))
    planned = plan_redistribute(a.operand, Operand(pt.Layout(pt.Slab(1), (8, 6), ctx.size), "float64"), ctx.topology).timeline("laptop")
    assert planned.name == "planned" and len(planned.ranks) == ctx.size
    events = json.loads(pt.trace.chrome_trace(planned, measured))["traceEvents"]
    drawn = [event for event in events if event["ph"] == "X"]
    assert len(drawn) == sum(len(steps) for one in (planned, measured) for steps in one.ranks)
    assert len({event["pid"] for event in drawn}) == 2


def test_what_a_recording_raises(ctx):
    class Odd(Exception):
        pass

    def body():
        if ctx.rank == ctx.size - 1:
            raise Odd("of the last rank")

    with pytest.raises(Odd if ctx.rank == ctx.size - 1 else pt.Error, match="of the last rank"):
        pt.trace.record(ctx, body)
    with pytest.raises(pt.ArgumentError, match="being recorded already"):
        pt.trace.record(ctx, lambda: pt.trace.record(ctx, lambda: None))
    with pytest.raises(pt.ArgumentError, match="record"), pt.traffic(ctx):
        pt.trace.record(ctx, lambda: None)
    with pytest.raises(pt.ArgumentError, match="shape"):
        pt.trace.record(ctx, lambda: pt.zeros(ctx, (2, 2), pt.Slab(0)) @ pt.zeros(ctx, (3, 3), pt.Slab(0)))
    ctx.barrier()
    assert not ctx.failed


def test_timelines_of_many_ranks_are_refused():
    rows, columns = (Operand(pt.Layout(pt.Slab(axis), (256, 256), 65), "float64") for axis in (0, 1))
    with pytest.raises(pt.ArgumentError, match="64"):
        plan_redistribute(rows, columns, Topology(65)).timeline("cluster")
