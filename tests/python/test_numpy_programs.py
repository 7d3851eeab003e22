"""Random calls against NumPy, on 1, 2, 3 and 5 ranks: a few of each, PARTITA_NUMPY_PROGRAMS of them if that is set."""

import os

import numpy_statistics  # noqa: F401: its cases
import pytest
from numpy_programs import compare, compare_chain

import partita as pt

PROGRAMS = int(os.environ.get("PARTITA_NUMPY_PROGRAMS", "150"))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of slices without numbers
@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
@pytest.mark.parametrize("one, programs", [(compare, PROGRAMS), (compare_chain, PROGRAMS // 3)])
def test_random_calls(one, programs, ranks):
    first = 100_000 * ranks

    def body(ctx):
        for seed in range(first, first + programs):
            one(ctx, seed)

    pt.run(ranks, body, device="cpu", deadline=60)
