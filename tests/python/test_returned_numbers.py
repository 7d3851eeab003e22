"""What a call returns where one rank makes another call, and all is cached: its own numbers or an error, never numbers that belong partly to another call."""

import contextlib
import os

import numpy as np
import pytest
from shapes import spread, whole

import partita as pt

SPACE = "device" if os.environ.get("PARTITA_TEST_DEVICE") else "host"


def sums(ctx, x, y):
    return lambda other: (y if other else x).sum()


def sums_along(ctx, x, y):
    return lambda other: local((y if other else x).sum(axis=0))


def products(ctx, x, y):
    right = pt.eye(ctx, x.shape[1], distribution=pt.Slab(1), space=SPACE)
    return lambda other: local((y if other else x) @ right)


def redistributions(ctx, x, y):
    return lambda other: local((y if other else x).redistribute(pt.Slab(1)))


def running_sums(ctx, x, y):
    return lambda other: local((y if other else x).cumsum(axis=0))


def ghost_cells(ctx, x, y):
    halo = pt.Halo(x, (1, 0))
    return lambda other: np.array(halo.execute(y if other else x))


def local(array):
    return np.array((array if SPACE == "host" else array.copy(space="host")).local)


CALLS = [sums, sums_along, products, redistributions, running_sums] + ([ghost_cells] if SPACE == "host" else [])


@pytest.mark.parametrize("per_node", [0, 1, 2], ids="{} a node".format)
@pytest.mark.parametrize("too_many", [False, True], ids=["another", "one too many"])
@pytest.mark.parametrize("make", CALLS, ids=lambda make: make.__name__)
def test_no_wrong_number(make, too_many, per_node):
    without_error = []

    def program(ctx):
        x, y = (spread(ctx, values, pt.Slab(0)).copy(space=SPACE) for values in (whole((24, 6)), 1000 + whole((24, 6)) ** 2))
        call = make(ctx, x, y)
        for _ in range(2):
            right = [call(False), call(True)]
        odd = ctx.rank == ctx.size - 1

        def expect(other):
            np.testing.assert_array_equal(call(other), right[other])

        with pytest.raises(pt.DisagreementError):
            if too_many and odd:
                expect(False)
            for turn in range(3):
                expect(not turn and odd and not too_many)
            ctx.barrier()
        without_error.append(ctx.rank)

    with contextlib.suppress(pt.FailedContextError):  # of the end of a context that could not go on
        pt.run(4, program, device="cuda" if SPACE == "device" else "cpu", ranks_per_node=per_node, deadline=60)
    assert sorted(without_error) == [0, 1, 2, 3]
