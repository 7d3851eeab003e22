"""Thousands of calls leave memory and references where they were."""

import gc
import resource
import sys

import numpy as np

import partita as pt

CALLS = 10_000


def growth(call, calls=CALLS):
    """Objects and bytes that `calls` calls leave."""
    for _ in range(200):
        call()
    gc.collect()
    objects, memory = len(gc.get_objects()), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(calls):
        call()
    gc.collect()
    return len(gc.get_objects()) - objects, 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory)


def test_memory_is_flat():
    with pt.initialize(device="cpu") as context:
        local, numbers = np.ones((16, 16)), np.ones(100)
        a, b = (pt.from_local(context, local, pt.Slab(0)) for _ in range(2))
        z, out = a.astype("complex128"), pt.zeros(context, (16, 16), pt.Slab(1))
        before = sys.getrefcount(local), sys.getrefcount(a), sys.getrefcount(numbers)
        for name, call in {
            "wrap": lambda: pt.from_local(context, local, pt.Slab(0), (16, 16)),
            "wrap without shape": lambda: pt.from_local(context, local, pt.Slab(0)),
            "empty": lambda: pt.empty(context, (64, 64), pt.Slab(0)).local,
            "ufunc": lambda: (a + b) * 2,
            "window": lambda: a[1:5].T.local,
            "redistribute": lambda: a.redistribute(pt.Slab(1)),
            "into": lambda: pt.redistribute(a, out),
            "matmul": lambda: a @ b,
            "fft": lambda: pt.fft.fftn(z),
            "sum": lambda: a.sum(0),
            "total": lambda: a.sum(),
            "all_reduce": lambda: pt.all_reduce(context, numbers, numbers),
            "layout": lambda: (a.layout.indices(0, 0), hash(a.layout), a.distribution == pt.Slab(0)),
            "error": lambda: refused(a),
        }.items():
            objects, memory = growth(call, CALLS if name in ("wrap", "ufunc", "all_reduce") else CALLS // 10)
            assert objects < 100, (name, objects)
            assert memory < 8 << 20, (name, memory)
        context.collect()
        assert (sys.getrefcount(local), sys.getrefcount(a), sys.getrefcount(numbers)) == before


def refused(a):
    try:
        a.sum(5)
    except pt.ArgumentError:
        pass
    try:
        pt.all_reduce(a.context, np.ones(2), reduction="mean")
    except pt.ArgumentError:
        pass
