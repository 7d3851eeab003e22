"""Functions of partita.linalg of many matrices, against NumPy."""

import numpy as np
import pytest
from shapes import spread
from test_linalg import DTYPES, close, numbers, same_error

import partita as pt
from partita import linalg


def definite(shape, dtype):
    a = numbers(shape, dtype)
    return (a @ np.swapaxes(a.conj(), -1, -2) + shape[-1] * np.eye(shape[-1])).astype(dtype)


def matches(found, wanted, dtype):
    tolerance = 1e-3 if dtype in ("float32", "complex64") else 1e-9
    np.testing.assert_allclose(found.gather(space="host"), wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("leading", [(5,), (2, 3)])
def test_batches(ctx, dtype, leading):
    a, b = numbers(leading + (4, 4), dtype) + 3 * np.eye(4).astype(dtype), numbers(leading + (4, 2), dtype, 1)
    p = definite(leading + (4, 4), dtype)
    for rule in (pt.Slab(0), pt.Slab(1), pt.Slab(len(leading) + 1), pt.Replicated()):
        batch, sides, positive = spread(ctx, a, rule), spread(ctx, b, rule), spread(ctx, p, rule)
        x = linalg.solve(batch, sides)
        close(x, np.linalg.solve(a, b))
        assert x.layout == sides.layout
        close(linalg.solve(batch, sides, transposed=True), np.linalg.solve(np.swapaxes(a, -1, -2), b))
        close(linalg.inv(batch), np.linalg.inv(a))
        close(linalg.cholesky(positive), np.linalg.cholesky(p))
        close(linalg.cholesky(positive, upper=True), np.swapaxes(np.linalg.cholesky(p).conj(), -1, -2))
        sign, logarithm = linalg.slogdet(batch)
        wanted = np.linalg.slogdet(a)
        close(sign, wanted[0]), close(logarithm, wanted[1])
        matches(linalg.det(batch), np.linalg.det(a), dtype)
        q, r = linalg.qr(batch)
        matches(q @ r, a, dtype)
        matches(linalg.qr(batch, "r"), r.gather(space="host"), dtype)
        values, vectors = linalg.eigh(positive, "U")
        close(values, np.linalg.eigvalsh(p)), close(linalg.eigvalsh(positive), np.linalg.eigvalsh(p))
        v = vectors.gather(space="host")
        np.testing.assert_allclose(p @ v, v * values.gather(space="host")[..., None, :], rtol=1e-3, atol=1e-3)
        assert linalg.eigh(positive, subset_by_index=(1, 2)).eigenvectors.shape == leading + (4, 2)
        u, s, vh = linalg.svd(batch)
        close(s, np.linalg.svd(a, compute_uv=False)), close(linalg.svdvals(batch), np.linalg.svd(a, compute_uv=False))
        np.testing.assert_allclose((u.gather(space="host") * s.gather(space="host")[..., None, :]) @ vh.gather(space="host"), a, rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(linalg.cond(batch), np.linalg.cond(a), rtol=1e-3)
        assert np.array_equal(linalg.matrix_rank(batch), np.linalg.matrix_rank(a))


def test_one_right_hand_side_for_all(ctx):
    a, b = numbers((5, 3, 3)) + 3 * np.eye(3), numbers((3, 2), seed=1)
    batch = spread(ctx, a, pt.Slab(0))
    close(linalg.solve(batch, spread(ctx, b, pt.Slab(0))), np.linalg.solve(a, b))
    close(linalg.solve(batch, spread(ctx, b[:, 0].copy(), pt.Slab(0))), np.linalg.solve(a, b[:, 0]))
    out = pt.zeros(ctx, (5, 3, 2), pt.Slab(1))
    assert linalg.solve(batch, spread(ctx, b, pt.Slab(0)), out=out) is out
    close(out, np.linalg.solve(a, b))


def test_rectangles(ctx):
    a = numbers((4, 6, 3))
    batch = spread(ctx, a, pt.Slab(0))
    u, s, vh = linalg.svd(batch, full_matrices=False)
    assert u.shape == (4, 6, 3) and s.shape == (4, 3) and vh.shape == (4, 3, 3)
    close(s, np.linalg.svd(a, compute_uv=False))
    q, r = linalg.qr(batch)
    assert q.shape == (4, 6, 3) and r.shape == (4, 3, 3)
    close(q @ r, a)
    with same_error(ctx, pt.UnsupportedError, "full_matrices"):
        linalg.svd(batch)
    with same_error(ctx, pt.UnsupportedError, "complete"):
        linalg.qr(batch, "complete")


def test_what_takes_no_batches(ctx):
    batch, b = spread(ctx, numbers((4, 3, 3)), pt.Slab(0)), spread(ctx, numbers((4, 3, 1)), pt.Slab(0))
    singular = spread(ctx, np.stack([np.eye(3), np.ones((3, 3))]), pt.Slab(0))
    with same_error(ctx, pt.SingularError, "matrix 1 of the batch"):
        linalg.inv(singular)
    for call in (
        lambda: linalg.LU(batch),
        lambda: linalg.Cholesky(batch),
        lambda: linalg.QR(batch),
        lambda: linalg.lu_factor(batch),
        lambda: linalg.solve_triangular(batch, b),
        lambda: linalg.solve(batch, b, refine=True),
        lambda: linalg.solve_refined(batch, b),
        lambda: linalg.pinv(batch),
        lambda: linalg.lstsq(batch, b),
        lambda: linalg.polar(batch),
        lambda: linalg.condition(batch),
    ):
        with same_error(ctx, pt.ArgumentError, "matrix"):
            call()
    with same_error(ctx, pt.UnsupportedError, "assume_a: 'pos' is not supported for batches"):
        linalg.solve(batch, b, assume_a="pos")
    with same_error(ctx, pt.ArgumentError, "only p=None, 2 and -2"):
        linalg.cond(batch, 1)
    with same_error(ctx, pt.UnsupportedError, "raw"):
        linalg.qr(batch, "raw")
