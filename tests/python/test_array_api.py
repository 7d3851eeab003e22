"""The suite of https://github.com/data-apis/array-api-tests on one rank, if PARTITA_ARRAY_API_TESTS is its folder; and what it does not cover.

On more ranks: see array_api_plugin.py.
"""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import partita as pt
from partita import array_api as xp

SUITE = os.environ.get("PARTITA_ARRAY_API_TESTS")


@pytest.mark.skipif(not SUITE, reason="PARTITA_ARRAY_API_TESTS is not set")
def test_the_suite_of_the_standard():
    here, package = pathlib.Path(__file__).parent, pathlib.Path(pt.__file__).parents[1]
    paths = [str(package), str(here), f"{SUITE}/array-api/src", os.environ.get("PYTHONPATH", "")]
    options = ["-q", "-p", "array_api_plugin", "--derandomize", "--disable-deadline", "--max-examples=5", "-W", "ignore"]
    environment = {**os.environ, "PYTHONPATH": ":".join(paths), "ARRAY_API_TESTS_MODULE": "partita.array_api", "ARRAY_API_TESTS_VERSION": "2025.12"}
    run = [sys.executable, "-m", "pytest", *options, "array_api_tests/"]
    ended = subprocess.run(run, cwd=SUITE, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout[-5000:] + ended.stderr[-1000:]


def test_programs_of_the_standard(ctx):
    """Written for any namespace: principal components of rows, with the default distribution of the ranks."""

    def components(x):
        xp = x.__array_namespace__()
        centred = x - xp.mean(x, axis=0)
        values, vectors = xp.linalg.eigh(centred.T @ centred / (x.shape[0] - 1))
        return xp.flip(values), centred @ xp.flip(vectors, axis=1)

    rows = np.random.default_rng(3).normal(size=(40, 4)) * np.array([4.0, 3.0, 2.0, 1.0])
    with pt.default(ctx, pt.Slab(0)):
        variances, scores = components(xp.asarray(rows))
        found = np.linalg.svd(rows - rows.mean(0), compute_uv=False) ** 2 / 39
        np.testing.assert_allclose(variances.gather(), found)
        np.testing.assert_allclose(np.var(scores.gather(), axis=0, ddof=1), found)
        assert float(xp.sum(xp.ones((3, 4)))) == 12 and xp.sum(xp.ones(3)).shape == () and xp.argmax(xp.asarray([1, 3, 2])).dtype == xp.int64
        assert xp.result_type(xp.float32, xp.int8) == xp.float32 and xp.isdtype(xp.int8, "signed integer") and xp.finfo(xp.float32).bits == 32
        total, = xp.broadcast_arrays(xp.asarray(5.0))
        assert bool(total == 5) and xp.asarray([True, False]).device == "cpu"
        if ctx.size > 1:
            with pytest.raises(pt.DisagreementError, match="differs from that of rank 0"):
                xp.asarray([ctx.rank])
    with pytest.raises(pt.ArgumentError, match="no context"):
        xp.zeros(3)
