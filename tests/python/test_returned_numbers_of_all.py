"""Every function of the package that takes an array, called with another one on one rank, or once too often there: DisagreementError on all ranks, and no
numbers that belong partly to another call."""

import contextlib
import os

import numpy as np
import pytest
from shapes import spread, whole

import partita as pt

SPACE = "device" if os.environ.get("PARTITA_TEST_DEVICE") else "host"

#: By name, of a matrix x of 24 x 6 elements, its first column v, the symmetric matrix s of 8 x 8 elements that is positive
#: definite, the complex matrix z and the cyclic matrix c, both like x, and ctx.
CALLS = {
    "all": lambda x, v, s, z, c, ctx: pt.all(x),
    "allclose": lambda x, v, s, z, c, ctx: pt.allclose(x, x),
    "any": lambda x, v, s, z, c, ctx: pt.any(x),
    "append": lambda x, v, s, z, c, ctx: pt.append(v, v),
    "argmax": lambda x, v, s, z, c, ctx: pt.argmax(x),
    "argmax along": lambda x, v, s, z, c, ctx: pt.argmax(x, axis=0),
    "argmin": lambda x, v, s, z, c, ctx: x.argmin(),
    "argsort": lambda x, v, s, z, c, ctx: pt.argsort(v),
    "argwhere": lambda x, v, s, z, c, ctx: pt.argwhere(x),
    "array_equal": lambda x, v, s, z, c, ctx: pt.array_equal(x, x),
    "astype": lambda x, v, s, z, c, ctx: x.astype("float32"),
    "at": lambda x, v, s, z, c, ctx: x.at((3, 4)),
    "average": lambda x, v, s, z, c, ctx: pt.average(x, axis=0),
    "balance": lambda x, v, s, z, c, ctx: pt.balance(x),
    "bincount": lambda x, v, s, z, c, ctx: pt.bincount(v.astype("int64")),
    "broadcast_to": lambda x, v, s, z, c, ctx: pt.broadcast_to(x, (2, 24, 6)),
    "column_stack": lambda x, v, s, z, c, ctx: pt.column_stack([v, v]),
    "concatenate": lambda x, v, s, z, c, ctx: pt.concatenate([x, x]),
    "copy": lambda x, v, s, z, c, ctx: x.copy(),
    "corrcoef": lambda x, v, s, z, c, ctx: pt.corrcoef(x, rowvar=False),
    "count_nonzero": lambda x, v, s, z, c, ctx: pt.count_nonzero(x),
    "cov": lambda x, v, s, z, c, ctx: pt.cov(x, rowvar=False),
    "cross": lambda x, v, s, z, c, ctx: pt.cross(x[:, :3], x[:, 3:]),
    "cumprod": lambda x, v, s, z, c, ctx: pt.cumprod(v),
    "cumsum": lambda x, v, s, z, c, ctx: pt.cumsum(x, axis=0),
    "cumulative_prod": lambda x, v, s, z, c, ctx: pt.cumulative_prod(v),
    "cumulative_sum": lambda x, v, s, z, c, ctx: pt.cumulative_sum(v),
    "diag": lambda x, v, s, z, c, ctx: pt.diag(x),
    "diagonal": lambda x, v, s, z, c, ctx: pt.diagonal(x),
    "diff": lambda x, v, s, z, c, ctx: pt.diff(x, axis=0),
    "diff after others": lambda x, v, s, z, c, ctx: pt.diff(x, axis=0, prepend=x, append=1.0),
    "digitize": lambda x, v, s, z, c, ctx: pt.digitize(v, [1.5, 40.5]),
    "dot": lambda x, v, s, z, c, ctx: pt.dot(v, v),
    "dot with a number": lambda x, v, s, z, c, ctx: pt.dot(pt.roll(x, 1, axis=0), 2.0),
    "dstack": lambda x, v, s, z, c, ctx: pt.dstack([x, x]),
    "einsum": lambda x, v, s, z, c, ctx: pt.einsum("ij,ij->", x, x),
    "einsum of products": lambda x, v, s, z, c, ctx: pt.einsum("ij,ik->jk", x, x),
    "expand_dims": lambda x, v, s, z, c, ctx: pt.expand_dims(x, 0),
    "fft": lambda x, v, s, z, c, ctx: pt.fft.fftn(z),
    "flatnonzero": lambda x, v, s, z, c, ctx: pt.flatnonzero(x),
    "flatten": lambda x, v, s, z, c, ctx: x.flatten(),
    "flip": lambda x, v, s, z, c, ctx: pt.flip(x),
    "fliplr": lambda x, v, s, z, c, ctx: pt.fliplr(x),
    "flipud": lambda x, v, s, z, c, ctx: pt.flipud(x),
    "gather": lambda x, v, s, z, c, ctx: x.gather(space="host"),
    "getitem of a mask": lambda x, v, s, z, c, ctx: v[v > 5],
    "getitem of indices": lambda x, v, s, z, c, ctx: x[[1, 17, 5]],
    "getitem of steps": lambda x, v, s, z, c, ctx: c[::-3, 1],
    "gradient": lambda x, v, s, z, c, ctx: pt.gradient(v),
    "histogram": lambda x, v, s, z, c, ctx: pt.histogram(x, 5, (0.0, 20000.0)),
    "histogram of a range": lambda x, v, s, z, c, ctx: pt.histogram(x, 5),
    "hstack": lambda x, v, s, z, c, ctx: pt.hstack([x, x]),
    "inner": lambda x, v, s, z, c, ctx: pt.inner(v, v),
    "interp": lambda x, v, s, z, c, ctx: pt.interp(v, [0.0, 20000.0], [0.0, 1.0]),
    "intersect1d": lambda x, v, s, z, c, ctx: pt.intersect1d(v, v),
    "isin": lambda x, v, s, z, c, ctx: pt.isin(v, [1.0, 7.0]),
    "item": lambda x, v, s, z, c, ctx: x[3:4, 4:5].item(),
    "kron": lambda x, v, s, z, c, ctx: pt.kron(x, x),
    "matmul": lambda x, v, s, z, c, ctx: pt.matmul(s, s),
    "max": lambda x, v, s, z, c, ctx: pt.max(x),
    "max of complex": lambda x, v, s, z, c, ctx: z.max(),
    "max with a number": lambda x, v, s, z, c, ctx: pt.max(x, axis=0, initial=5.0),
    "mean": lambda x, v, s, z, c, ctx: pt.mean(x),
    "mean of a mask": lambda x, v, s, z, c, ctx: pt.mean(x, where=x > 5),
    "median": lambda x, v, s, z, c, ctx: pt.median(x),
    "median along": lambda x, v, s, z, c, ctx: pt.median(x, axis=0),
    "min": lambda x, v, s, z, c, ctx: pt.min(x, axis=0),
    "nanargmax": lambda x, v, s, z, c, ctx: pt.nanargmax(x),
    "nanargmin": lambda x, v, s, z, c, ctx: pt.nanargmin(x, axis=0),
    "nancumprod": lambda x, v, s, z, c, ctx: pt.nancumprod(v),
    "nancumsum": lambda x, v, s, z, c, ctx: pt.nancumsum(x, axis=0),
    "nanmax": lambda x, v, s, z, c, ctx: pt.nanmax(x),
    "nanmean": lambda x, v, s, z, c, ctx: pt.nanmean(x),
    "nanmedian": lambda x, v, s, z, c, ctx: pt.nanmedian(x),
    "nanmin": lambda x, v, s, z, c, ctx: pt.nanmin(x),
    "nanpercentile": lambda x, v, s, z, c, ctx: pt.nanpercentile(x, 30),
    "nanprod": lambda x, v, s, z, c, ctx: pt.nanprod(v),
    "nanquantile": lambda x, v, s, z, c, ctx: pt.nanquantile(x, 0.3),
    "nanstd": lambda x, v, s, z, c, ctx: pt.nanstd(x),
    "nansum": lambda x, v, s, z, c, ctx: pt.nansum(x),
    "nanvar": lambda x, v, s, z, c, ctx: pt.nanvar(x),
    "nonzero": lambda x, v, s, z, c, ctx: pt.nonzero(x),
    "norm": lambda x, v, s, z, c, ctx: pt.norm(x),
    "outer": lambda x, v, s, z, c, ctx: pt.outer(v, v),
    "pad": lambda x, v, s, z, c, ctx: pt.pad(x, 1),
    "percentile": lambda x, v, s, z, c, ctx: pt.percentile(x, 30),
    "prod": lambda x, v, s, z, c, ctx: pt.prod(v),
    "ptp": lambda x, v, s, z, c, ctx: pt.ptp(x),
    "quantile": lambda x, v, s, z, c, ctx: pt.quantile(x, [0.3, 0.5]),
    "ravel": lambda x, v, s, z, c, ctx: pt.ravel(x),
    "redistribute": lambda x, v, s, z, c, ctx: pt.redistribute(x, pt.Slab(1)),
    "repeat": lambda x, v, s, z, c, ctx: pt.repeat(x, 2, axis=0),
    "reshape": lambda x, v, s, z, c, ctx: pt.reshape(x, (12, 12)),
    "roll": lambda x, v, s, z, c, ctx: pt.roll(x, 1, axis=0),
    "rot90": lambda x, v, s, z, c, ctx: pt.rot90(x),
    "searchsorted": lambda x, v, s, z, c, ctx: pt.searchsorted(v, [30.0, 3.0]),
    "searchsorted of arrays": lambda x, v, s, z, c, ctx: pt.searchsorted(pt.arange(ctx, 30.0, distribution=pt.Slab(0), space=SPACE), v),
    "setdiff1d": lambda x, v, s, z, c, ctx: pt.setdiff1d(v, v[:5]),
    "setxor1d": lambda x, v, s, z, c, ctx: pt.setxor1d(v, v[:5]),
    "sort": lambda x, v, s, z, c, ctx: pt.sort(v),
    "sort along": lambda x, v, s, z, c, ctx: pt.sort(x, axis=0),
    "squeeze": lambda x, v, s, z, c, ctx: pt.squeeze(x[:, :1]),
    "stack": lambda x, v, s, z, c, ctx: pt.stack([x, x]),
    "std": lambda x, v, s, z, c, ctx: pt.std(x),
    "std along": lambda x, v, s, z, c, ctx: x.std(axis=0),
    "sum": lambda x, v, s, z, c, ctx: pt.sum(x),
    "sum of a mask": lambda x, v, s, z, c, ctx: x.sum(0, initial=1.0, where=x > 5),
    "sum in another dtype": lambda x, v, s, z, c, ctx: x.sum(dtype="float32"),
    "take": lambda x, v, s, z, c, ctx: pt.take(x, [17, 3], axis=0),
    "take one": lambda x, v, s, z, c, ctx: pt.take(x, 17, axis=0),
    "take_along_axis": lambda x, v, s, z, c, ctx: pt.take_along_axis(x, np.zeros((2, 6), int) + 13, axis=0),
    "tensordot": lambda x, v, s, z, c, ctx: pt.tensordot(x, x),
    "tile": lambda x, v, s, z, c, ctx: pt.tile(x, 2),
    "to_string": lambda x, v, s, z, c, ctx: x.to_string(),
    "topk": lambda x, v, s, z, c, ctx: pt.topk(v, 3),
    "trapezoid": lambda x, v, s, z, c, ctx: pt.trapezoid(v),
    "union1d": lambda x, v, s, z, c, ctx: pt.union1d(v, v[:5]),
    "unique": lambda x, v, s, z, c, ctx: pt.unique(v),
    "unique_all": lambda x, v, s, z, c, ctx: pt.unique_all(v),
    "unique_counts": lambda x, v, s, z, c, ctx: pt.unique_counts(v),
    "unique_inverse": lambda x, v, s, z, c, ctx: pt.unique_inverse(v),
    "unique_values": lambda x, v, s, z, c, ctx: pt.unique_values(v),
    "unstack": lambda x, v, s, z, c, ctx: pt.unstack(x),
    "var": lambda x, v, s, z, c, ctx: pt.var(x),
    "var of a mask": lambda x, v, s, z, c, ctx: pt.var(x, axis=0, where=x > 5),
    "vdot": lambda x, v, s, z, c, ctx: pt.vdot(x, x),
    "vecdot": lambda x, v, s, z, c, ctx: pt.vecdot(x, x),
    "vecdot along": lambda x, v, s, z, c, ctx: pt.vecdot(x, x, axis=0),
    "vstack": lambda x, v, s, z, c, ctx: pt.vstack([x, x]),
    "linalg.cholesky": lambda x, v, s, z, c, ctx: pt.linalg.cholesky(s),
    "linalg.cond": lambda x, v, s, z, c, ctx: pt.linalg.cond(s),
    "linalg.det": lambda x, v, s, z, c, ctx: pt.linalg.det(s),
    "linalg.eig": lambda x, v, s, z, c, ctx: pt.linalg.eig(s),
    "linalg.eigh": lambda x, v, s, z, c, ctx: pt.linalg.eigh(s),
    "linalg.eigvals": lambda x, v, s, z, c, ctx: pt.linalg.eigvals(s),
    "linalg.eigvalsh": lambda x, v, s, z, c, ctx: pt.linalg.eigvalsh(s),
    "linalg.inv": lambda x, v, s, z, c, ctx: pt.linalg.inv(s),
    "linalg.lstsq": lambda x, v, s, z, c, ctx: pt.linalg.lstsq(x, v),
    "linalg.matrix_norm": lambda x, v, s, z, c, ctx: pt.linalg.matrix_norm(x, ord=1),
    "linalg.matrix_power": lambda x, v, s, z, c, ctx: pt.linalg.matrix_power(s, 3),
    "linalg.matrix_rank": lambda x, v, s, z, c, ctx: pt.linalg.matrix_rank(s),
    "linalg.multi_dot": lambda x, v, s, z, c, ctx: pt.linalg.multi_dot([s, s, s]),
    "linalg.pinv": lambda x, v, s, z, c, ctx: pt.linalg.pinv(s),
    "linalg.polar": lambda x, v, s, z, c, ctx: pt.linalg.polar(s),
    "linalg.qr": lambda x, v, s, z, c, ctx: pt.linalg.qr(s),
    "linalg.slogdet": lambda x, v, s, z, c, ctx: pt.linalg.slogdet(s),
    "linalg.solve": lambda x, v, s, z, c, ctx: pt.linalg.solve(s, s),
    "linalg.svd": lambda x, v, s, z, c, ctx: pt.linalg.svd(s),
    "linalg.svdvals": lambda x, v, s, z, c, ctx: pt.linalg.svdvals(s),
    "linalg.vector_norm": lambda x, v, s, z, c, ctx: pt.linalg.vector_norm(x, ord=1),
    "fft.rfftn": lambda x, v, s, z, c, ctx: pt.fft.rfftn(x),
    "fft.dctn": lambda x, v, s, z, c, ctx: pt.fft.dctn(x),
    "fft.fftshift": lambda x, v, s, z, c, ctx: pt.fft.fftshift(x),
    "spectral.convolve": lambda x, v, s, z, c, ctx: pt.spectral.convolve(s, s),
}

#: Collective functions that take no array, whose array belongs to each rank, or which write into one.
OTHERS = """
all_gather all_reduce all_to_all arange broadcast empty empty_like eye from_function from_local from_parts full full_like linspace normal
ones ones_like put put_along_axis random receive reduce reduce_scatter round run scan scatter scatter_from send send_receive zeros zeros_like
""".split()


def test_all_functions_are_here():
    named = {name.split(" ")[0] for name in CALLS}
    assert [name for name in pt.__all__ if getattr(getattr(pt, name), "is_collective", False) and name not in named.union(OTHERS)] == []


def values_of(found):
    """What this rank has of a result, in NumPy arrays."""
    if isinstance(found, pt.Array):
        return [np.array((found if found._core.on_host else found.copy(space="host")).local)]
    if isinstance(found, (tuple, list)):
        return [one for each in found for one in values_of(each)]
    return [np.array(found)]


def given(ctx, kind):
    x = whole((24, 6)) if kind == 0 else 1000 + whole((24, 6)) ** 2
    s = np.diag(np.arange(8.0) + 3 + 5 * kind) + 0.1 * (1 + kind)
    slabs = [spread(ctx, one, pt.Slab(0)).copy(space=SPACE) for one in (x, x[:, 0], s, x + 1j)]
    return (*slabs, spread(ctx, x, pt.BlockCyclic((3, 1), (3, 6))).copy(space=SPACE), ctx)


@pytest.mark.parametrize("too_many", [False, True], ids=["another", "one too many"])
@pytest.mark.parametrize("name", CALLS)
def test_no_wrong_number(name, too_many):
    without_error = []

    def program(ctx):
        of = [given(ctx, kind) for kind in range(2)]
        for _ in range(2):
            right = [values_of(CALLS[name](*one)) for one in of]
        odd = ctx.rank == ctx.size - 1

        def expect(other):
            for found, wanted in zip(values_of(CALLS[name](*of[other])), right[other]):
                np.testing.assert_array_equal(found, wanted)

        with pytest.raises(pt.DisagreementError):
            if too_many and odd:
                expect(0)
            for turn in range(3):
                expect(int(not turn and odd and not too_many))
            ctx.barrier()
        without_error.append(ctx.rank)

    with contextlib.suppress(pt.FailedContextError):  # of the end of a context that could not go on
        pt.run(3, program, device="cuda" if SPACE == "device" else "cpu", deadline=60)
    assert sorted(without_error) == [0, 1, 2]
