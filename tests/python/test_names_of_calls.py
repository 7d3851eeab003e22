"""Where one rank makes another call, all ranks raise the same error, which names both calls as the program made them, and none of their steps."""

import re

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
