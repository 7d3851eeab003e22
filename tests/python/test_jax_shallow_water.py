"""The ocean of examples/python, on any ranks, beside NumPy's form of it that the benchmarks have: one process, one step after the other."""

import functools
import importlib.util
import io
import os
import pathlib
import sys
import threading
from unittest import mock

import numpy as np
import pytest
from conftest import PROCESSES, RANKS

jax = pytest.importorskip("jax")
import partita.jax as pj  # noqa: E402

root = pathlib.Path(__file__).resolve().parents[2]
rows, columns, steps = 26, 44, 30
one_at_a_time = threading.Lock()
shared = not PROCESSES and RANKS > (os.cpu_count() or 1)


def load(path):
    specification = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@functools.lru_cache(maxsize=None)
def serial():
    """h, u, v after the first step and `steps` others."""
    words = ["shallow_water.py", "numpy", str(rows), str(columns), str(steps)]
    with mock.patch.object(sys, "argv", words), mock.patch.object(sys, "stdin", io.StringIO()):
        peer = load(root / "benchmarks" / "peers" / "shallow_water.py")
    return np.stack([field[1:-1, 1:-1] for field in peer.state[:3]])


@pytest.mark.skipif(shared, reason="programs with loops run in XLA's own threads, of which a process has as many as cores")
def test_steps_in_one_jit(ctx):
    example = load(root / "examples" / "python" / "shallow_water.py")
    with one_at_a_time:
        wanted = serial()
    layout = example.layout_of(rows, columns, ctx.size)
    fields = example.beginning(layout, ctx.rank)
    with pj.Group(ctx):
        found = jax.jit(lambda fields: example.run(layout, ctx.rank, fields, steps + 1))(fields)
    own = wanted[:, layout.indices(1, ctx.rank)][:, :, layout.indices(2, ctx.rank)]
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, own, rtol=0, atol=2e-4)  # h is some 100 m: 20 times its rounding
    assert abs(own - fields).max() > 1e-2  # and it has moved
