"""Results in memory that arrays have left."""

import gc

import numpy as np

import partita as pt
from partita import _freed_memory


def test_memory_is_used_again_when_no_array_refers_to_it(ctx, monkeypatch):
    monkeypatch.setattr(_freed_memory, "smallest", 1 << 10)
    monkeypatch.setattr(_freed_memory, "_blocks", [])
    x = np.arange(4096.0 * ctx.size)
    a = pt.scatter(ctx, x, pt.Slab(0))
    here = a.local.copy()
    kept = [a + a, a * 2]  # the first ones of their kinds are NumPy's own
    for turn in range(20):
        kept.append(a + a)
        part = (a * 2).local[5:]  # a view of memory whose array is gone
        kept.append(pt.from_local(ctx, (a + a).local, pt.Slab(0)))
        if turn % 3:
            kept = kept[2:]
        gc.collect()
        for one in kept:
            np.testing.assert_array_equal(one.local, 2 * here)
        np.testing.assert_array_equal(part, 2 * here[5:])
        np.testing.assert_array_equal((a > turn).local, here > turn)
        np.testing.assert_array_equal((1 / (a + 1)).local, 1 / (here + 1))
    del kept, part, one
    known = {block.ctypes.data for block in _freed_memory._blocks}
    assert ctx.size > 1 or {(a + a).local.ctypes.data for _ in range(5)} <= known  # ranks as threads share the blocks
    assert len(_freed_memory._blocks) <= 17


def test_blocks_are_bounded(monkeypatch):
    monkeypatch.setattr(_freed_memory, "smallest", 1)
    monkeypatch.setattr(_freed_memory, "_blocks", [])
    monkeypatch.setattr(_freed_memory, "_most", 1 << 20)
    for size in (1 << 18, 1 << 17, 1 << 19, 1 << 16, 3 << 17) * 5:
        array = _freed_memory.empty((size,), np.dtype(np.uint8))
        array[:] = 1
        assert sum(one.nbytes for one in _freed_memory._blocks) <= 1 << 20
    for _ in range(40):
        _freed_memory.empty((len(_freed_memory._blocks) + 5,), np.dtype(np.float32))
        assert len(_freed_memory._blocks) <= 17
