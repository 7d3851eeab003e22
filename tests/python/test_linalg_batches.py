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
    q, r = linalg.qr(batch, "complete")
    assert q.shape == (4, 6, 6) and r.shape == (4, 6, 3)
    close(q @ r, a), close(q @ np.conj(q).transpose((0, 2, 1)), np.broadcast_to(np.eye(6), q.shape))
    for one, other in ((batch, a), (batch.transpose((0, 2, 1)), a.transpose((0, 2, 1)))):
        u, s, vh = linalg.svd(one)
        close(s, np.linalg.svd(other, compute_uv=False))
        for found in (u, vh):
            assert found.shape[1] == found.shape[2]
            close(found @ np.conj(found).transpose((0, 2, 1)), np.broadcast_to(np.eye(found.shape[1]), found.shape))
        np.testing.assert_allclose((u.gather(space="host")[..., :3] * s.gather(space="host")[..., None, :]) @ vh.gather(space="host")[:, :3], other, atol=1e-12)


@pytest.mark.parametrize("dtype", [*DTYPES, "int32"])
@pytest.mark.parametrize("shape", [(5, 5), (4, 3, 3), (2, 3, 4, 4), (0, 2, 2), (3, 0, 0), (0, 0)])
def test_general_eigenvalues(ctx, dtype, shape):
    a = (4 * numbers(shape)).astype(dtype) if dtype == "int32" else numbers(shape, dtype)
    wanted = np.sort_complex(np.linalg.eigvals(a))
    for rule in (pt.Slab(0), pt.Slab(len(shape) - 1), pt.Replicated()):
        values, vectors = linalg.eig(spread(ctx, a, rule))
        assert values.dtype == vectors.dtype == (np.complex64 if dtype in ("float32", "complex64") else np.complex128)
        w, v = values.gather(space="host"), vectors.gather(space="host")
        matches(linalg.eigvals(spread(ctx, a, rule)), w, dtype)
        np.testing.assert_allclose(np.sort_complex(w.round(4)), wanted.round(4), atol=2e-4)
        np.testing.assert_allclose(a @ v, v * w[..., None, :], atol=1e-3 if v.dtype == np.complex64 else 1e-11)
        assert len(shape) > 2 or (vectors.layout.equivalent(spread(ctx, a, rule).layout) and values.distribution == pt.Replicated())
    if a.size and dtype != "int32":
        with same_error(ctx, pt.ArgumentError, "eigvals: A contains NaN or infinity"):
            linalg.eigvals(spread(ctx, np.where(np.arange(a.size).reshape(shape) == 1, np.nan, a), pt.Slab(0)))
    with same_error(ctx, pt.ArgumentError, "eig: A must be square"):
        linalg.eig(spread(ctx, a[..., :0].reshape(*shape[:-1], 0) if shape[-1] else np.ones((2, 3)), pt.Slab(0)))


def test_powers_of_batches(ctx):
    a = numbers((4, 3, 3)) + 2 * np.eye(3)
    for rule in (pt.Slab(0), pt.Slab(2), pt.Replicated()):
        for n in (0, 1, 3, -2):
            found = linalg.matrix_power(spread(ctx, a, rule), n)
            close(found, np.linalg.matrix_power(a, n))
            assert found.layout == spread(ctx, a, rule).layout


def test_one_vector_of_another_dtype(ctx):
    a, b = numbers((5, 3, 3)) + 3 * np.eye(3), numbers((3,), "float32", 1)
    for overwrite in (False, True):
        close(linalg.solve(spread(ctx, a, pt.Slab(0)), spread(ctx, b, pt.Slab(0)), overwrite_b=overwrite), np.linalg.solve(a, np.broadcast_to(b[:, None], (5, 3, 1)))[..., 0])


def solved_by_triangles(a, b, lower, unit):
    a = np.tril(a) if lower else np.triu(a)
    if unit:
        a = a - a * np.eye(a.shape[-1]) + np.eye(a.shape[-1])
    return np.linalg.solve(a, b).astype(b.dtype)


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_triangular(ctx, dtype):
    a, b = numbers((2, 3, 4, 4), dtype) + 3 * np.eye(4).astype(dtype), numbers((2, 3, 4, 2), dtype, 1)
    for rule in (pt.Slab(0), pt.Slab(1), pt.Slab(3), pt.Replicated()):
        batch, sides = spread(ctx, a, rule), spread(ctx, b, rule)
        for lower in (False, True):
            for unit in (False, True):
                x = linalg.solve_triangular(batch, sides, lower=lower, unit_diagonal=unit)
                close(x, solved_by_triangles(a, b, lower, unit))
                assert x.layout == sides.layout
            transposed = linalg.solve_triangular(batch, sides, "T", lower=lower)
            close(transposed, solved_by_triangles(np.swapaxes(a, -1, -2), b, not lower, False))
    close(linalg.solve(batch, sides, assume_a="lower triangular"), solved_by_triangles(a, b, True, False))
    singular = spread(ctx, np.stack([np.eye(3), np.tri(3, k=-1)]), pt.Slab(0))
    with same_error(ctx, pt.SingularError, "matrix 1 of the batch"):
        linalg.solve_triangular(singular, spread(ctx, numbers((3, 1)), pt.Slab(0)), lower=True)


@pytest.mark.parametrize("shape", [(4, 6, 3), (2, 2, 3, 5), (5, 4, 4)])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_least_squares(ctx, shape, dtype):
    a, b = numbers(shape, dtype), numbers(shape[:-1] + (2,), dtype, 1)
    a[0] = a[0, ..., :1]  # of rank 1
    inverses = np.linalg.pinv(a, rcond=1e-10)
    batch = spread(ctx, a, pt.Slab(0))
    close(linalg.pinv(batch, rcond=1e-10), inverses)
    for sides in (b, b[(0,) * (len(shape) - 2)]):
        found = linalg.lstsq(batch, spread(ctx, sides, pt.Slab(0)))
        close(found.x, inverses @ sides)
        assert np.array_equal(found.rank, np.linalg.matrix_rank(a)) and found.residuals.size == 0
        np.testing.assert_allclose(found.s, np.linalg.svd(a, compute_uv=False), atol=1e-12)
    one = b[(0,) * (len(shape) - 2)][:, 0].copy()
    close(linalg.lstsq(batch, spread(ctx, one, pt.Slab(0)), distribution=pt.Slab(1)).x, inverses @ one)


def test_residuals_of_batches(ctx):
    a, b = numbers((4, 6, 3)), numbers((4, 6, 2), seed=1)
    found = linalg.lstsq(spread(ctx, a, pt.Slab(0)), spread(ctx, b, pt.Slab(0)))
    for i in range(4):
        np.testing.assert_allclose(found.residuals[i], np.linalg.lstsq(a[i], b[i], rcond=None)[1])
    with same_error(ctx, pt.ArgumentError, "leading dimensions"):
        linalg.lstsq(spread(ctx, a, pt.Slab(0)), spread(ctx, b[:3].copy(), pt.Slab(0)))


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
        lambda: linalg.solve(batch, b, refine=True),
        lambda: linalg.solve_refined(batch, b),
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
