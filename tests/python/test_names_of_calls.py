"""Where one rank makes another call, all ranks raise the same error, which names both calls as the program made them, and none of their steps."""

import re

import numpy as np
import pytest
import test_flat
from test_errors_of_one_rank import everyones

import partita as pt

#: What needs no other rank: the one that calls it is with the others afterwards.
LOCAL = set(
    "Array.fill Array.indices Array.transpose angle array_split clip einsum_path hsplit imag isclose matrix_transpose moveaxis permute_dims real split "
    "swapaxes vsplit where nan_to_num round tril triu".split()
)
#: Before the call, these make another one.
FIRST = {
    "take_along_axis": "argsort",
    **dict.fromkeys(("put", "put_along_axis", "keys", "linalg.rank_k_update"), "copy"),
    **dict.fromkeys(("bincount", "intersect1d", "searchsorted", "setdiff1d", "setxor1d", "union1d"), "ravel"),
    "masks": "getitem",
    "LU.solve": "factorize",
}
#: What is none of the package's functions, or is of one rank.
OTHERS = {"indices", "ufuncs"}


def of_group(ctx):
    group = ctx.split(0)
    return group, group, pt.random(group, (16, 16), pt.Slab(0), seed=3)


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize(
    "subject",
    [test_flat.of_arrays, test_flat.of_numpys, test_flat.of_analysis, test_flat.of_products, test_flat.of_linear_algebra, test_flat.of_transforms],
    ids=lambda one: one.__name__,
)
def test_both_calls_are_named(ctx, subject, known):
    """`known`: all ranks have the plans, and the one executes at once."""
    if ctx.size == 1:
        pytest.skip("one rank is all ranks")
    one = ctx.size - 1
    group, *given = of_group(ctx)
    calls = subject(*given)
    for name in sorted(name for name in calls if " " not in name and name not in OTHERS | test_flat.SLOW):
        if group.failed:  # between nodes
            group, *given = of_group(ctx)
            calls = subject(*given)
        if known:
            calls[name]()
        text = ""
        try:
            calls[name]() if group.rank == one else group.barrier()
            group.barrier()
            if name in LOCAL and group.rank == one:
                group.barrier()
        except pt.DisagreementError as error:
            text = str(error)
        assert len({bytes(each) for each in everyones(ctx, text)}) == 1, (name, text)
        if name in LOCAL:
            assert not text
            continue
        shown = FIRST.get(name, name.rpartition(".")[2])
        assert text.startswith("the ranks called different operations: barrier on rank"), (name, text)
        text = re.sub(r" \(execution \d+ of the context\)$", "", text)  # which a rank has done, between nodes
        assert text.endswith((f"; {shown} on rank {one}", f".{shown} on rank {one}")), (name, text)
    ctx.barrier()


RESULTS = {
    "a ufunc": lambda a: a + 1,
    "a result of a result": lambda a: -abs(a),
    "a replica first": lambda a: np.ones(16) * a,
    "in other layouts": lambda a: a * a.redistribute(pt.Replicated()),
    "a function of elements": lambda a: np.clip(a, 0.25, 0.5),
    "a choice": lambda a: np.where(a > 0.5, a, 0.0),
    "moved elements": lambda a: np.roll(a, 1, 0),
    "another shape": lambda a: a.reshape(8, 32),
    "sorted": lambda a: np.sort(a, 1),
}


@pytest.mark.parametrize("made", RESULTS.values(), ids=RESULTS)
@pytest.mark.parametrize("wanted", [lambda a: a.sum(), lambda a: np.argmax(a), lambda a: a.redistribute(pt.Slab(1))], ids=["sum", "argmax", "redistribute"])
def test_results_of_different_arrays(ctx, made, wanted):
    """What a rank makes of an array alone is known by that array."""
    group = ctx.split(0)
    x, y = (pt.random(group, (16, 16), pt.Slab(0), seed=seed) for seed in (1, 2))
    of_x, of_y = made(x), made(y)
    wanted(of_x), wanted(of_y)
    if ctx.size > 1:
        with pytest.raises(pt.DisagreementError, match="a result of array .* on rank 0; .*a result of array"):
            wanted(of_x if ctx.rank == 0 else of_y)
            group.barrier()
    ctx.barrier()
