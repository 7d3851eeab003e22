"""NumPy's functions dispatch to those of the package (`__array_function__`)."""

import numpy as np
import pytest
from shapes import spread, whole

import partita as pt
from partita import _numpy_functions

NAMES = """
argmax argmin std var ptp median quantile percentile histogram bincount cumsum cumprod diff sort argsort unique searchsorted where clip nonzero any all
count_nonzero isin sum prod min max mean take roll flip concatenate stack reshape ravel squeeze expand_dims broadcast_to tile repeat pad tril triu trace outer
dot vdot kron tensordot einsum zeros_like ones_like empty_like full_like linalg.norm real imag average round
nansum nanprod nanmin nanmax nanmean nanvar nanstd nanargmin nanargmax nanmedian nanquantile nanpercentile nancumsum nancumprod
fft.fft fft.ifft fft.fftn fft.ifftn fft.rfftn fft.irfftn fft.hfft fft.ihfft fft.fftshift fft.ifftshift
""".split()


def numpys(name):
    """The function of a name with a module."""
    found = np
    for part in name.split("."):
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_dispatch(name):
    assert callable(_numpy_functions._functions()[numpys(name)])


#: Of a matrix of 4 x 3 elements.
OF_LINALG = {
    "outer": lambda a: np.linalg.outer(a[0], a[:, 0]),
    "outer of a NumPy array": lambda a: np.linalg.outer(np.arange(2.0), a[0]),
    "trace": lambda a: np.linalg.trace(a),
    "trace of a diagonal": lambda a: np.linalg.trace(a, offset=1, dtype="float32"),
    "traces": lambda a: np.linalg.trace(np.stack([a, 2 * a])),
    "diagonal": lambda a: np.linalg.diagonal(a, offset=-1),
    "diagonals": lambda a: np.linalg.diagonal(np.stack([a, 2 * a])),
    "tensordot": lambda a: np.linalg.tensordot(a, a, axes=([0], [0])),
    "matmul": lambda a: np.linalg.matmul(a, np.transpose(a)),
    "cross": lambda a: np.linalg.cross(a, a[0] * 0 + 1),
    "cross along": lambda a: np.linalg.cross(a[:3], a[1:], axis=0),
    "vecdot": lambda a: np.linalg.vecdot(a * 1j, a * (1 + 1j)),
    "vecdot along": lambda a: np.linalg.vecdot(a, a, axis=0),
    "matrix_transpose": lambda a: np.linalg.matrix_transpose(a),
}


@pytest.mark.skipif(not hasattr(np.linalg, "outer"), reason="an older NumPy")
@pytest.mark.parametrize("call", OF_LINALG.values(), ids=OF_LINALG)
@pytest.mark.parametrize("rule", [pt.Slab(0), pt.Replicated()], ids=str)
def test_second_names_in_linalg(ctx, call, rule):
    x = whole((4, 3))
    with pt.default(ctx, rule):  # parts of a matrix in layouts that differ
        found, wanted = call(spread(ctx, x, rule)), call(x)
    assert not isinstance(found, pt.Array) or found.dtype == wanted.dtype
    found = found.gather() if isinstance(found, pt.Array) else np.asarray(found)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


@pytest.mark.skipif(not hasattr(np.linalg, "outer"), reason="an older NumPy")
def test_outer_products_of_vectors_only(ctx):
    a = spread(ctx, whole((4, 3)), pt.Slab(0))
    with pytest.raises(pt.ArgumentError, match="outer: an array of 2 dimensions; expected two vectors"):
        np.linalg.outer(a, a[0])
    assert np.outer(a, a[0]).shape == (12, 3)


def test_unknown_keywords(ctx):
    a = spread(ctx, whole((4, 3)), pt.Slab(0))
    remedy = r"omit it, or call NumPy with \.gather\(\), which communicates; known: .*keepdims"
    for call, what in (
        (lambda: np.var(a, mean=a[:1]), f"var: unknown keyword mean: {remedy}, where"),
        (lambda: pt.sum(a, speed=1), f"sum: unknown keyword speed: {remedy}, initial"),
        (lambda: a.sum(speed=1), f"sum: unknown keyword speed: {remedy}"),
        (lambda: np.quantile(a, 0.5, weights=a), f"quantile: unknown keyword weights: {remedy}"),
        (lambda: pt.zeros(ctx, 3, "slab:0", speed=1), "zeros: unknown keyword speed: omit it; known: context, shape, distribution"),
        (lambda: np.clip(a, 0, 1, where=a > 0), "clip: unknown keyword where: omit it, or .*; known: a, a_min"),
    ):
        with pytest.raises(pt.TypeError, match=what):
            call()


def test_an_unknown_keyword_of_one_rank(ctx):
    a = spread(ctx, whole((4, 3)), pt.Slab(0))
    if ctx.size == 1:
        pytest.skip("one rank is all ranks")
    with pytest.raises(pt.ArgumentError, match="unknown keyword speed"):
        a.sum(speed=1) if ctx.rank == 1 else a.sum()


#: By name, of reductions of a matrix of 6 x 4 elements and a mask, what all ranks raise.
REFUSED = {
    "a mask of numbers": (lambda a, mask: np.sum(a, where=a), "sum: where: expected booleans, got float64"),
    "a mask of a larger shape": (lambda a, mask: np.sum(a[0], where=mask), r"sum: where: a mask of shape \(6, 4\) cannot be broadcast to \(4,\)"),
    "no smallest element": (lambda a, mask: np.min(a, where=mask), "min: where needs initial"),
    "no number": (lambda a, mask: np.max(a, initial="x"), "max.*could not convert"),
    "a text as a mask": (lambda a, mask: a.mean(where="x"), "mean.*got str"),
    "no array in the place of one": (lambda a, mask: np.diff(a, append=a[:0].ravel()[:, None, None]), "concatenate: array 1 has shape"),
    "two numbers for three dimensions": (lambda a, mask: np.pad(a, 1, constant_values=[1, 2, 3]), "pad.*broadcast"),
    "another mode": (lambda a, mask: np.pad(a, 1, "mean"), "pad: mode 'mean': supported are 'constant', 'empty', 'edge'"),
    "an index out of range": (lambda a, mask: np.take(a, 6, 0), "index 6 is out of range|out of bounds"),
}


@pytest.mark.parametrize("call, what", REFUSED.values(), ids=REFUSED)
def test_options_that_are_refused(ctx, call, what):
    a = spread(ctx, whole((6, 4)), pt.Slab(0))
    with pytest.raises((pt.ArgumentError, pt.TypeError, pt.IndexError), match=what):
        call(a, a > 3)
    ctx.barrier()


def test_options_that_differ(ctx):
    """The ranks compare them, also in methods."""
    a = spread(ctx, whole((6, 4)), pt.Slab(0))
    if ctx.size == 1:
        pytest.skip("one rank is all ranks")
    for call in (lambda mask: np.sum(a, where=mask), lambda mask: a.sum(where=mask), lambda mask: a.mean(where=mask), lambda mask: a.std(where=mask)):
        with pytest.raises(pt.DisagreementError, match="where"):
            call(np.arange(4) > ctx.rank)
    for call in (lambda number: np.sum(a, initial=number), lambda number: a.max(initial=number)):
        with pytest.raises(pt.DisagreementError, match="initial"):
            call(ctx.rank)


def test_arrays_without_elements_grow(ctx):
    """No rank has a box that the layout of the result could be taken from."""
    nothing = pt.scatter(ctx, np.zeros((0, 3)), pt.Box.from_cuts([[0] * (ctx.size + 1), [0, 3]]))
    x = whole((4, 3))
    assert np.array_equal(np.concatenate([nothing, spread(ctx, x, pt.Slab(0))]).gather(), x)
    assert np.array_equal(np.diff(spread(ctx, x, pt.Replicated()), axis=0, prepend=nothing).gather(), np.diff(x, axis=0))
    assert np.array_equal(np.pad(nothing, 1, constant_values=((1, 2), (3, 4))).gather(), np.pad(np.zeros((0, 3)), 1, constant_values=((1, 2), (3, 4))))


def test_a_number_of_all_ranks_is_not_the_array(ctx):
    """What `initial` and `where` add stays in the distribution of the result that is asked for."""
    x = whole((6, 4))
    a = spread(ctx, x, pt.Slab(0))
    found = pt.sum(a, 0, initial=1, where=x > 3, distribution=pt.Slab(0))
    assert str(found.distribution) == "slab:0" and np.array_equal(found.gather(), np.sum(x, 0, initial=1, where=x > 3))
    assert np.sum(a, where=x > 3, initial=0.5) == np.sum(x, where=x > 3, initial=0.5)
    assert np.add.reduce(a, where=x > 3, initial=2).gather().tolist() == np.add.reduce(x, where=x > 3, initial=2).tolist()
    assert np.max(a[:0], initial=3) == 3 and np.max(a[:0], 0, initial=3).gather().tolist() == [3] * 4
