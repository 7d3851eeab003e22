"""Results in memory that arrays have left."""

import threading

import numpy as np
import pytest

import partita as pt
from partita import _freed_memory


def test_memory_is_used_again_when_no_array_refers_to_it(ctx, monkeypatch):
    monkeypatch.setattr(_freed_memory, "blocks", _freed_memory.Blocks(1 << 10, 1 << 28, 16))
    x = np.arange(4096.0 * ctx.size)
    a = pt.scatter(ctx, x, pt.Slab(0))
    here = a.local.copy()
    kept = [a + a, a * 2, np.divmod(2 * a, 1)[0]]  # the first ones of their kinds are NumPy's own
    for turn in range(20):
        kept.append(a + a)
        kept.append(np.divmod(2 * a, 1)[0])
        part = (a * 2).local[5:]  # a view of memory whose array is gone
        kept.append(pt.from_local(ctx, (a + a).local, pt.Slab(0)))
        if turn % 3:
            kept = kept[2:]
        for one in kept:
            np.testing.assert_array_equal(one.local, 2 * here)
        np.testing.assert_array_equal(part, 2 * here[5:])
        np.testing.assert_array_equal((a > turn).local, here > turn)
        np.testing.assert_array_equal((1 / (a + 1)).local, 1 / (here + 1))
    del kept, part, one
    known = {block.ctypes.data for block in _freed_memory.blocks.kept}
    if ctx.size == 1:  # ranks as threads replace each other's
        assert {(a + a).local.ctypes.data for _ in range(5)} <= known
        assert {one.local.ctypes.data for _ in range(5) for one in np.divmod(a, 3)} <= known


def test_threads_have_blocks_of_their_own():
    blocks = _freed_memory.Blocks(1, 1 << 20, 16)
    mine = blocks.empty((1000,), np.dtype(np.uint8)).ctypes.data
    theirs = []
    thread = threading.Thread(target=lambda: theirs.append((list(blocks.kept), blocks.smallest)))
    thread.start()
    thread.join()
    assert theirs == [([], 1)]
    assert blocks.empty((1000,), np.dtype(np.uint8)).ctypes.data == mine


@pytest.mark.parametrize("descending", [False, True])
def test_sorted_results_keep_their_memory(ctx, descending):
    rng = np.random.default_rng(5)
    found, wanted = [], []
    for turn in range(12):
        x = rng.random(6000 + turn % 2)  # parts of two sizes
        found.append(pt.sort(pt.scatter(ctx, x, pt.Slab(0)), descending=descending))
        wanted.append(np.sort(x)[::-1] if descending else np.sort(x))
        if turn % 3 == 2:
            del found[0], wanted[0]
        for one, values in zip(found, wanted):
            np.testing.assert_array_equal(one.gather(), values)


def test_blocks_are_bounded():
    blocks = _freed_memory.Blocks(1, 1 << 20, 16)
    for size in (1 << 18, 1 << 17, 1 << 19, 1 << 16, 3 << 17) * 5:
        blocks.empty((size,), np.dtype(np.uint8))[:] = 1
        assert sum(one.nbytes for one in blocks.kept) <= 1 << 20
    for extent in range(40):
        blocks.empty((extent + 1,), np.dtype(np.float32))
        assert len(blocks.kept) <= 16
