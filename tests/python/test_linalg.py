"""partita.linalg, against NumPy and SciPy."""

import contextlib

import numpy as np
import pytest
from shapes import numbers, rules, spread

import partita as pt
from partita import linalg

scipy_linalg = pytest.importorskip("scipy.linalg")

DTYPES = ["float32", "float64", "complex64", "complex128"]
TRANSPOSES = {0: np.asarray, 1: np.transpose, 2: lambda a: a.conj().T}
OPS = {"none": np.asarray, "transpose": np.transpose, "conjugate-transpose": lambda a: a.conj().T, "conjugate": np.conj}


def square(n, dtype="float64"):
    """Well conditioned, with row exchanges."""
    return numbers((n, n), dtype) + np.roll(3 * np.eye(n), 2, axis=0).astype(dtype)


def positive(n, dtype="float64"):
    a = numbers((n, n), dtype)
    return (a @ a.conj().T + n * np.eye(n)).astype(dtype)


def close(found, wanted):
    wanted = np.asarray(wanted)
    single = found.dtype.name in ("float32", "complex64")
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    np.testing.assert_allclose(found.gather(space="host"), wanted, rtol=1e-3 if single else 1e-9, atol=1e-3 if single else 1e-9)


def few(ctx):
    """Of all distributions."""
    return [pt.Slab(0), rules(ctx.size)[2], pt.Replicated()]


@contextlib.contextmanager
def same_error(ctx, kind, match):
    """Raised by all ranks with one text."""
    with pytest.raises(kind, match=match) as caught:
        yield caught
    text = np.zeros((1, 500), np.uint8)
    encoded = f"{type(caught.value).__name__} {caught.value}".encode()[:500]
    text[0, : len(encoded)] = list(encoded)
    assert len({bytes(one) for one in pt.all_gather(ctx, text)}) == 1


# --- linear systems


@pytest.mark.parametrize("dtype", DTYPES)
def test_solve(ctx, dtype):
    a, b = square(9, dtype), numbers((9, 4), dtype, 1)
    for rule in few(ctx):
        matrix, columns, column = spread(ctx, a, rule), spread(ctx, b, rule), spread(ctx, b[:, 0].copy(), pt.Slab(0))
        x = linalg.solve(matrix, columns)
        close(x, np.linalg.solve(a, b))
        assert x.layout == columns.layout
        close(linalg.solve(matrix, column), np.linalg.solve(a, b[:, 0]))
        close(linalg.solve(matrix, columns, transposed=True), np.linalg.solve(a.T, b))
        close(matrix, a), close(columns, b)


def test_every_distribution(ctx):
    a, b = square(11), numbers((11, 3), seed=1)
    wanted = np.linalg.solve(a, b)
    for i, rule in enumerate(rules(ctx.size)):
        other = rules(ctx.size)[(3 * i + 1) % len(rules(ctx.size))]
        x = linalg.solve(spread(ctx, a, rule), spread(ctx, b, other), distribution=pt.Slab(1), order="F")
        close(x, wanted)
        assert x.distribution == pt.Slab(1)
    close(linalg.solve(spread(ctx, a, "slab:0"), spread(ctx, b, pt.Slab(0)), distribution="replicated", heap=False), wanted)


def test_windows_and_transposed_views(ctx):
    whole, sides = numbers((14, 13)), numbers((12, 8), seed=1)
    window, columns = spread(ctx, whole, pt.Slab(0))[2:11, 3:12], spread(ctx, sides, pt.Slab(0))[1:10, 2:5]
    a, b = whole[2:11, 3:12], sides[1:10, 2:5]
    close(linalg.solve(window.T, columns), np.linalg.solve(a.T, b))
    close(linalg.inv(window), np.linalg.inv(a))
    q, r = linalg.qr(window.T)
    close(q @ r, a.T)
    target = pt.zeros(ctx, (12, 8), pt.Slab(1))
    assert linalg.LU(window).solve(columns, out=target[1:10, 2:5]).shape == (9, 3)
    inside = np.zeros((12, 8))
    inside[1:10, 2:5] = np.linalg.solve(a, b)
    close(target, inside)


def test_structures(ctx):
    a, b = positive(8, "complex128"), numbers((8, 2), "complex128", 1)
    columns = spread(ctx, b, pt.Slab(0))
    for rule in few(ctx):
        for lower in (False, True):
            stored = np.tril(a) if lower else np.triu(a)
            stored += 9 * (np.triu(np.ones((8, 8)), 1) if lower else np.tril(np.ones((8, 8)), -1))  # which is not read
            half = spread(ctx, stored, rule)
            for transposed in (False, True):
                x = linalg.solve(half, columns, lower, assume_a="pos", transposed=transposed)
                close(x, np.linalg.solve(a.T if transposed else a, b))
    for name, triangle in (("lower triangular", np.tril), ("upper triangular", np.triu)):
        for transposed in (False, True):
            x = linalg.solve(spread(ctx, a, pt.Slab(1)), columns, assume_a=name, transposed=transposed)
            close(x, np.linalg.solve(triangle(a).T if transposed else triangle(a), b))
    close(linalg.solve(spread(ctx, a, pt.Slab(1)), columns, assume_a="general"), np.linalg.solve(a, b))
    with same_error(ctx, pt.UnsupportedError, "assume_a.*'general'"):
        linalg.solve(columns, columns, assume_a="sym")
    with same_error(ctx, pt.ArgumentError, "assume_a: 'odd' is not known"):
        linalg.solve(columns, columns, assume_a="odd")


def test_results_in_given_memory(ctx):
    a, b = square(7), numbers((7, 3), seed=1)
    wanted = np.linalg.solve(a, b)
    for rule in few(ctx):
        matrix, columns = spread(ctx, a, rule), spread(ctx, b, rule)
        out = pt.zeros(ctx, (7, 3), pt.Slab(1))
        assert linalg.solve(matrix, columns, out=out) is out
        close(out, wanted), close(columns, b)
        assert linalg.solve(matrix, columns, overwrite_a=True, overwrite_b=True) is columns
        close(columns, wanted)
        assert linalg.solve(spread(ctx, np.tril(a) + 9 * np.eye(7), rule), out, assume_a="lower triangular", out=columns) is columns


def test_dtypes_are_converted(ctx):
    a = np.arange(9).reshape(3, 3) % 5 + np.eye(3, dtype=int)
    integers, real = spread(ctx, a, pt.Slab(0)), spread(ctx, np.ones(3, "float32"), pt.Slab(0))
    close(linalg.solve(integers, real), np.linalg.solve(a, np.ones(3)))
    close(linalg.solve(integers.astype("float32"), real.astype("complex128")), np.linalg.solve(a, np.ones(3)).astype("complex128"))
    close(linalg.inv(integers), np.linalg.inv(a))
    close(linalg.LU(integers.astype("complex64")).solve(real), np.linalg.solve(a, np.ones(3)).astype("complex64"))
    for wrong in ("float16", "bfloat16"):
        with contextlib.suppress(ImportError), same_error(ctx, pt.ArgumentError, "supported are"):
            linalg.LU(integers.astype(wrong))
    with same_error(ctx, pt.ArgumentError, "convert"):
        linalg.LU(integers.astype("float64")).solve(real.astype("complex64"))


@pytest.mark.parametrize("dtype", DTYPES)
def test_solve_triangular(ctx, dtype):
    a, b = square(8, dtype) + 5 * np.eye(8).astype(dtype), numbers((8, 3), dtype, 1)
    for rule in few(ctx):
        matrix, columns = spread(ctx, a, rule), spread(ctx, b, rule)
        for lower in (False, True):
            for unit in (False, True):
                for trans, letter in ((0, "N"), (1, "T"), (2, "C")):
                    wanted = scipy_linalg.solve_triangular(a, b, trans, lower, unit)
                    if unit:  # grows
                        wanted = wanted.astype("complex128" if wanted.dtype.kind == "c" else "float64")
                        found = linalg.solve_triangular(matrix, columns, letter, lower, unit).gather(space="host")
                        assert np.abs(found - wanted).max() < 1e-3 * np.abs(wanted).max()
                    else:
                        close(linalg.solve_triangular(matrix, columns, trans, lower, unit), wanted)
    with same_error(ctx, pt.ArgumentError, "trans: expected"):
        linalg.solve_triangular(matrix, columns, 3)


# --- factors


@pytest.mark.parametrize("dtype", DTYPES)
def test_lu_pairs(ctx, dtype):
    a, b = square(9, dtype), numbers((9, 2), dtype, 1)
    lu, piv = scipy_linalg.lu_factor(a)
    for rule in few(ctx):
        matrix, columns = spread(ctx, a, rule), spread(ctx, b, pt.Slab(0))
        ours = linalg.lu_factor(matrix, block=4)
        close(ours[0], lu), close(ours[1], piv), close(matrix, a)
        assert ours[0].layout == matrix.layout
        copies = spread(ctx, ours[0].gather(space="host"), pt.Slab(1)), spread(ctx, ours[1].gather(space="host"), pt.Slab(0))
        for pair in (ours, copies):
            for trans, transpose in TRANSPOSES.items():
                close(linalg.lu_solve(pair, columns, trans), np.linalg.solve(transpose(a), b))
        again = linalg.lu_factor(matrix, overwrite_a=True)
        close(matrix, lu)
        assert linalg.lu_solve(again, columns, overwrite_b=True) is columns
        close(columns, np.linalg.solve(a, b))
    with pytest.raises((ValueError, pt.Error)):
        ours[0].fill(0)


def test_lu_of_rectangles(ctx):
    for shape in ((7, 4), (4, 7)):
        a = numbers(shape)
        ours = linalg.lu_factor(spread(ctx, a, pt.Slab(1)))
        for found, wanted in zip(ours, scipy_linalg.lu_factor(a)):
            close(found, wanted)
        with same_error(ctx, pt.ArgumentError, "square"):
            linalg.lu_solve(ours, pt.zeros(ctx, shape[0], pt.Slab(0)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_cholesky(ctx, dtype):
    a, b = positive(9, dtype), numbers((9, 2), dtype, 1)
    for rule in few(ctx):
        matrix, columns = spread(ctx, a, rule), spread(ctx, b, pt.Slab(0))
        lower = linalg.cholesky(matrix)
        close(lower, np.linalg.cholesky(a))
        assert lower.layout == matrix.layout
        close(linalg.cholesky(matrix, upper=True), np.linalg.cholesky(a).conj().T)
        for is_lower in (False, True):
            c, same = linalg.cho_factor(matrix, is_lower)
            assert same is is_lower
            close(c, np.linalg.cholesky(a) if is_lower else np.linalg.cholesky(a).conj().T)
            close(linalg.cho_solve((c, is_lower), columns), np.linalg.solve(a, b))
            copy = spread(ctx, scipy_linalg.cho_factor(a, is_lower)[0], pt.Slab(1))
            close(linalg.cho_solve((copy, is_lower), columns), np.linalg.solve(a, b))
            factors = linalg.Cholesky(matrix, lower=is_lower)
            for op, transposed in OPS.items():
                close(factors.solve(columns, op=op), np.linalg.solve(transposed(a), b))
            close(factors.solve(columns, op="conjugate_transpose"), np.linalg.solve(a, b))
            assert np.isclose(factors.log_determinant()[1], np.linalg.slogdet(a)[1], rtol=1e-4)


@pytest.mark.parametrize("shape", [(9, 5), (5, 9), (6, 6), (24, 2)])
def test_qr(ctx, shape):
    for dtype in DTYPES:
        a = numbers(shape, dtype)
        for rule in few(ctx):
            matrix = spread(ctx, a, rule)
            q, r = linalg.qr(matrix)
            close(q @ r, a)
            close(q.T @ np.conj(q), np.eye(min(shape)).astype(dtype))
            assert np.array_equal(np.triu(r.gather(space="host")), r.gather(space="host")) and (q.shape, r.shape) == ((shape[0], min(shape)), (min(shape), shape[1]))
            # Tall matrices are factorized by rows, where the signs may be others.
            close(abs(linalg.qr(matrix, "r")), np.abs(r.gather(space="host")))
            h, tau = linalg.qr(matrix, "raw")
            close(abs(linalg.QR.from_packed(h.T, tau).q()), np.abs(q.gather(space="host")))
            b = spread(ctx, numbers((shape[0], 2), dtype, 1), pt.Slab(0))
            factors = linalg.QR(matrix)
            close(factors.multiply_q(factors.multiply_q(b, op="conjugate-transpose")), b.gather(space="host"))
            q, r = linalg.qr(matrix, "complete")
            assert (q.shape, r.shape) == ((shape[0], shape[0]), shape) and not np.tril(r.gather(space="host"), -1).any()
            close(q @ r, a), close(q.T @ np.conj(q), np.eye(shape[0]).astype(dtype))
    with same_error(ctx, pt.ArgumentError, "mode: 'economic' is not known"):
        linalg.qr(matrix, "economic")


def test_objects(ctx):
    a, other, b = square(10), square(10)[::-1].copy() + np.eye(10), numbers((10, 3), seed=1)
    matrix, columns = spread(ctx, a, pt.Slab(0)), spread(ctx, b, pt.Slab(1))
    factors = linalg.LU(matrix, block=4)
    for op, transposed in OPS.items():
        close(factors.solve(columns, op=op), np.linalg.solve(transposed(a), b))
    assert factors.solve(columns, out=columns) is columns
    close(columns, np.linalg.solve(a, b))
    factors.factorize(spread(ctx, other, pt.Slab(1)))
    close(factors.solve(columns, distribution=pt.Replicated()), np.linalg.solve(other, columns.gather(space="host")))
    close(factors.packed(matrix), scipy_linalg.lu_factor(other)[0])
    assert factors.shape == (10, 10) and factors.first_zero_pivot is None
    assert "lu" in factors.explain() and "lu" in factors.plan.operation and "{" in factors.explain(steps=True, json=True)
    with pytest.raises(TypeError, match="LU: it belongs to its context"):
        factors.__reduce__()
    tall = linalg.QR(spread(ctx, numbers((10, 4)), pt.Slab(0)))
    close(tall.solve(spread(ctx, b, pt.Slab(0))), np.linalg.lstsq(numbers((10, 4)), b, rcond=None)[0])
    small = numbers((4, 3), seed=2)
    close(tall.solve(spread(ctx, small, pt.Slab(0)), op="conjugate-transpose"), np.linalg.lstsq(numbers((10, 4)).T, small, rcond=None)[0])


# --- functions of matrices


@pytest.mark.parametrize("dtype", DTYPES)
def test_inverses_and_determinants(ctx, dtype):
    a = square(7, dtype)
    for rule in few(ctx):
        matrix = spread(ctx, a, rule)
        found = linalg.inv(matrix)
        close(found, np.linalg.inv(a))
        assert found.layout == matrix.layout
        assert np.isclose(linalg.det(matrix), np.linalg.det(a), rtol=1e-3)
        ours, theirs = linalg.slogdet(matrix), np.linalg.slogdet(a)
        assert np.isclose(ours.sign, theirs[0], rtol=1e-3) and np.isclose(ours.logabsdet, theirs[1], rtol=1e-3)
        assert isinstance(ours.sign, complex if dtype.startswith("complex") else float)
    large = spread(ctx, 1e300 * np.eye(4), pt.Slab(0))
    assert linalg.det(large) == np.inf and np.isclose(linalg.slogdet(large)[1], 4 * np.log(1e300))


@pytest.mark.parametrize("shape", [(9, 4), (4, 9), (5, 5)])
def test_lstsq(ctx, shape):
    for dtype in DTYPES:
        a, b = numbers(shape, dtype) + 2 * np.eye(*shape).astype(dtype), numbers((shape[0], 3), dtype, 1)
        low = a[:, :2] @ numbers((2, shape[1]), dtype, 2)  # of rank 2
        eps = max(shape) * np.finfo(dtype).eps  # that of float64 is NumPy's own for all dtypes
        for rule in few(ctx):
            for matrix in (a, low):
                for sides in (b, b[:, 0].copy()):
                    found = linalg.lstsq(spread(ctx, matrix, rule), spread(ctx, sides, rule if sides.ndim == 2 else pt.Slab(0)))
                    x, residuals, rank, s = np.linalg.lstsq(matrix, sides, rcond=eps)
                    close(found.x, x)
                    assert found.residuals.dtype == residuals.dtype and found.residuals.shape == residuals.shape
                    assert np.allclose(found.residuals, residuals, rtol=1e-3) and found.rank == rank
                    assert found.s.dtype == s.dtype and np.allclose(found.s, s, rtol=1e-4, atol=1e-4)
    matrix, sides = spread(ctx, a, pt.Slab(1)), spread(ctx, b, pt.Slab(0))
    for rcond in (0.9, -1):
        close(linalg.lstsq(matrix, sides, rcond, distribution="slab:1").x, np.linalg.lstsq(a, b, rcond)[0])
    assert linalg.lstsq(matrix, sides, distribution="slab:1").x.distribution == pt.Slab(1)


def test_norms(ctx):
    x, field = numbers((6, 7), "complex128"), numbers((3, 4, 5))
    for rule in (pt.Slab(0), pt.Slab(1), pt.Replicated()):
        a = spread(ctx, x, rule)
        for order in (None, "fro", 1, -1, np.inf, -np.inf, 2, -2, "nuc"):
            assert np.isclose(linalg.norm(a, order), np.linalg.norm(x, order)), order
            if order is not None:
                close(linalg.norm(a, order, (1, 0), True), np.linalg.norm(x, order, (1, 0), True))
        for order in (None, 0, 1, 2, 3, 0.5, np.inf, -np.inf):
            for axis in (0, 1):
                close(linalg.norm(a, order, axis), np.linalg.norm(x, order, axis))
        f = spread(ctx, field, rule)
        for order in ("fro", 1, np.inf, -1, 2, -2, "nuc"):
            close(linalg.norm(f, order, (0, 2)), np.linalg.norm(field, order, (0, 2)))
            close(linalg.norm(f, order, (2, 0), True), np.linalg.norm(field, order, (2, 0), True))
            close(linalg.matrix_norm(f, ord=order), np.linalg.norm(field, order, (1, 2)))
        for order in ("fro", "nuc", 2, -2, 1, np.inf):
            assert np.isclose(linalg.matrix_norm(a, ord=order), np.linalg.norm(x, order))
        for order in (0, 1, 2, 4, np.inf, -np.inf):
            assert np.isclose(linalg.vector_norm(a, ord=order), np.linalg.norm(x.ravel(), order))
    integers = spread(ctx, np.arange(-4, 5, dtype="int8"), pt.Slab(0))
    assert linalg.norm(integers, 1) == 20 and linalg.vector_norm(integers, ord=np.inf) == 4
    none = pt.zeros(ctx, (0, 2, 3), pt.Slab(0))
    assert linalg.matrix_norm(none, ord=2).shape == (0,)
    assert (linalg.matrix_norm(none.transpose(1, 0, 2), ord="nuc").gather(space="host") == 0).all()
    with pytest.raises(pt.ArgumentError, match="an empty matrix, \\(0, 3\\)"):
        linalg.matrix_norm(none.transpose(1, 0, 2), ord=2)
    for array, order, axis in ((a, 3, None), (a, "odd", None), (f, 3, (0, 1)), (f, 2, None)):
        with pytest.raises(pt.ArgumentError, match="the norm of order"):
            linalg.norm(array, order, axis)
    assert linalg.norm is pt.norm


# --- eigenvalues and singular values


@pytest.mark.parametrize("dtype", DTYPES)
def test_eigenvalues(ctx, dtype):
    a = positive(13, dtype)
    wanted = np.linalg.eigh(a)
    for rule in few(ctx):
        for uplo, triangle in (("L", np.tril), ("U", np.triu)):
            matrix = spread(ctx, triangle(a) + 9 * (1 - triangle(np.ones((13, 13)))).astype(dtype), rule)
            for base in (0, 8) if rule == pt.Slab(0) else (0,):
                values, vectors = linalg.eigh(matrix, uplo, base=base)
                close(values, wanted[0]), close(linalg.eigvalsh(matrix, uplo.lower(), base=base), wanted[0])
                assert vectors.layout == matrix.layout and values.distribution == pt.Replicated()
                v = vectors.gather(space="host")
                np.testing.assert_allclose(a @ v, v * wanted[0], atol=1e-3 if v.dtype.itemsize < 8 or dtype == "complex64" else 1e-10)
                close(pt.matmul(vectors, vectors, op_a="conjugate-transpose"), np.eye(13).astype(dtype))
    values, vectors = linalg.eigh(matrix, "U", subset_by_index=(2, 4))
    close(values, wanted[0][2:5]), close(pt.matmul(vectors, vectors, op_a="conjugate-transpose"), np.eye(3).astype(dtype))
    assert np.abs(a @ vectors.gather(space="host") - vectors.gather(space="host") * wanted[0][2:5]).max() < 1e-3
    for first, last in ((0, 12), (12, 12), (1, 11)):
        for base in (0, 4):
            values, vectors = linalg.eigh(matrix, "U", subset_by_index=(first, last), base=base)
            assert vectors.shape == (13, last - first + 1)
            close(values, wanted[0][first : last + 1])
    integers = linalg.eigvalsh(spread(ctx, np.diag([3, 1, 2]), pt.Slab(0)))
    close(integers, np.array([1.0, 2.0, 3.0]))


@pytest.mark.parametrize("shape", [(13, 5), (5, 13), (11, 11)])
def test_singular_values(ctx, shape):
    for dtype in DTYPES:
        a, k = numbers(shape, dtype), min(shape)
        wanted = np.linalg.svd(a, compute_uv=False)
        for rule in few(ctx):
            matrix = spread(ctx, a, rule)
            for base in (0, k - 2) if rule == pt.Slab(0) else (0,):
                u, s, vh = linalg.svd(matrix, shape[0] == shape[1], base=base)
                assert (u.shape, vh.shape) == ((shape[0], k), (k, shape[1]))
                close(s, wanted), close(linalg.svdvals(matrix, base=base), wanted)
                close(pt.matmul(u, u, op_a="conjugate-transpose"), np.eye(k).astype(dtype))
                close(pt.matmul(vh, vh, op_b="conjugate-transpose"), np.eye(k).astype(dtype))
                single = s.dtype == np.float32
                np.testing.assert_allclose(u.gather(space="host") * s.gather(space="host") @ vh.gather(space="host"), a, atol=1e-4 if single else 1e-11)
            close(linalg.svd(matrix, compute_uv=False), wanted)
            for side in ("right", "left"):
                for found, theirs in zip(linalg.polar(matrix, side), scipy_linalg.polar(a, side)):
                    close(found, theirs)
            u, s, vh = linalg.svd(matrix)
            assert (u.shape, vh.shape) == ((shape[0], shape[0]), (shape[1], shape[1]))
            close(u.T @ np.conj(u), np.eye(shape[0]).astype(dtype)), close(vh @ np.conj(vh).T, np.eye(shape[1]).astype(dtype))
            np.testing.assert_allclose(u.gather(space="host")[:, :k] * s.gather(space="host") @ vh.gather(space="host")[:k], a, atol=1e-4 if single else 1e-11)


def test_pseudo_inverses(ctx):
    for dtype in DTYPES:
        for shape in ((9, 4), (4, 9), (6, 6)):
            a = numbers(shape, dtype)
            low = a[:, :2] @ numbers((2, shape[1]), dtype, 1)
            for rule in few(ctx):
                matrix = spread(ctx, a, rule)
                found = linalg.pinv(matrix)
                close(found, np.linalg.pinv(a))
                assert shape[0] != shape[1] or found.layout == matrix.layout
                close(linalg.pinv(spread(ctx, low, rule), rtol=None), np.linalg.pinv(low, 1e-5))
                close(linalg.pinv(matrix, 0.7), np.linalg.pinv(a, 0.7))
    close(linalg.pinv(pt.zeros(ctx, (4, 3), pt.Slab(0))), np.zeros((3, 4)))
    window = spread(ctx, numbers((12, 9)), pt.Slab(0))[2:9, 1:8]
    close(linalg.pinv(window), np.linalg.pinv(numbers((12, 9))[2:9, 1:8]))


def test_conditions_and_ranks(ctx):
    for dtype in ("float32", "complex128"):
        a, tall = square(8, dtype), numbers((9, 3), dtype)
        low = tall @ numbers((3, 7), dtype, 1)
        for rule in few(ctx):
            matrix = spread(ctx, a, rule)
            for p in (None, 2, -2, "fro", "nuc", 1, -1, np.inf, -np.inf):
                assert np.isclose(linalg.cond(matrix, p), np.linalg.cond(a, p), rtol=1e-3), p
            assert np.isclose(linalg.cond(spread(ctx, tall, rule)), np.linalg.cond(tall), rtol=1e-3)
            assert linalg.matrix_rank(matrix) == 8 and linalg.matrix_rank(spread(ctx, low, rule)) == 3
            assert linalg.matrix_rank(matrix, 3.0) == np.linalg.matrix_rank(a, 3.0)
            assert linalg.matrix_rank(matrix, rtol=0.5) == np.linalg.matrix_rank(a, rtol=0.5)
    zero = pt.zeros(ctx, (3, 3), pt.Slab(0))
    assert linalg.matrix_rank(zero) == 0 and linalg.cond(zero) == linalg.cond(zero, "fro") == np.inf
    assert linalg.matrix_rank(pt.full(ctx, 4, pt.Slab(0), 1.0)) == 1 and linalg.matrix_rank(pt.zeros(ctx, 4, pt.Slab(0))) == 0


def test_powers(ctx):
    a = square(7) / 4
    for rule in few(ctx):
        matrix = spread(ctx, a, rule)
        for n in (0, 1, 2, 5, 6, -1, -3):
            found = linalg.matrix_power(matrix, n)
            close(found, np.linalg.matrix_power(a, n))
            assert found is not matrix and found.layout == matrix.layout
    integers = np.arange(9).reshape(3, 3)
    close(linalg.matrix_power(spread(ctx, integers, pt.Slab(0)), 3), np.linalg.matrix_power(integers, 3))


# --- edges


def test_empty_and_small(ctx):
    none, one = pt.zeros(ctx, (0, 0), pt.Slab(0)), pt.full(ctx, (1, 1), pt.Slab(0), 4.0)
    assert linalg.solve(none, pt.zeros(ctx, (0, 3), pt.Slab(0))).shape == (0, 3)
    assert linalg.solve(spread(ctx, square(5), pt.Slab(0)), pt.zeros(ctx, (5, 0), pt.Slab(0))).shape == (5, 0)
    assert linalg.det(none) == 1 and linalg.slogdet(none) == (1, 0) and linalg.inv(none).shape == (0, 0)
    assert linalg.cholesky(none).shape == (0, 0) and linalg.lu_factor(none)[1].shape == (0,)
    q, r = linalg.qr(pt.zeros(ctx, (4, 0), pt.Slab(0)))
    assert q.shape == (4, 0) and r.shape == (0, 0)
    assert linalg.eigh(none).eigenvectors.shape == (0, 0) and linalg.svdvals(none).shape == (0,)
    assert [part.shape for part in linalg.svd(pt.zeros(ctx, (4, 0), pt.Slab(0)), False)] == [(4, 0), (0,), (0, 0)]
    assert linalg.matrix_rank(none) == 0 and linalg.norm(none, "nuc") == 0 and linalg.matrix_power(none, 3).shape == (0, 0)
    assert linalg.pinv(pt.zeros(ctx, (4, 0), pt.Slab(0))).shape == (0, 4)
    assert linalg.lstsq(pt.zeros(ctx, (4, 0), pt.Slab(0)), pt.zeros(ctx, (4, 2), pt.Slab(0))).x.shape == (0, 2)
    assert linalg.eigvalsh(one).at((0,)) == 4 and linalg.svdvals(one).at((0,)) == 4 and linalg.cond(one) == 1
    assert linalg.solve(one, pt.full(ctx, 1, pt.Slab(0), 8.0)).at((0,)) == 2
    assert linalg.cholesky(one).at((0, 0)) == 2 and linalg.det(one) == 4 and linalg.inv(one).at((0, 0)) == 0.25


def test_singular_matrices(ctx):
    a = square(9)
    a[:, 5] = 0
    matrix, b = spread(ctx, a, pt.Slab(0)), pt.full(ctx, 9, pt.Slab(0), 1.0)
    for call in (lambda: linalg.solve(matrix, b), lambda: linalg.inv(matrix), lambda: linalg.lu_solve(linalg.lu_factor(matrix), b)):
        with same_error(ctx, pt.SingularError, r"singular: element \(5, 5\)") as caught:
            call()
        assert caught.value.index == 5 and isinstance(caught.value, np.linalg.LinAlgError) and not ctx.failed
    assert linalg.LU(matrix).first_zero_pivot == 5
    assert linalg.det(matrix) == 0 and linalg.slogdet(matrix) == (0, -np.inf)
    with same_error(ctx, pt.SingularError, "singular") as caught:
        linalg.solve_triangular(matrix, b)
    assert caught.value.index == 5
    close(linalg.lstsq(matrix, b).x, np.linalg.lstsq(a, np.ones(9), rcond=None)[0])
    assert linalg.cond(matrix, 1) == np.inf and linalg.matrix_rank(matrix) == 8
    with same_error(ctx, pt.SingularError, "singular"):
        linalg.matrix_power(matrix, -2)


def test_indefinite_matrices(ctx):
    a = positive(9)
    a[6, 6] = -1
    matrix, b = spread(ctx, a, pt.Slab(1)), pt.full(ctx, 9, pt.Slab(0), 1.0)
    calls = (
        lambda: linalg.cholesky(matrix),
        lambda: linalg.cholesky(matrix, upper=True),
        lambda: linalg.cho_factor(matrix),
        lambda: linalg.solve(matrix, b, assume_a="pos"),
    )
    for call in calls:
        with same_error(ctx, np.linalg.LinAlgError, "not positive definite.* order 7") as caught:
            call()
        assert caught.value.index == 6 and type(caught.value) is pt.SingularError
    factors = linalg.Cholesky(spread(ctx, positive(9), pt.Slab(1)))
    with same_error(ctx, pt.SingularError, "not positive definite"):
        factors.factorize(matrix)
    with same_error(ctx, pt.ArgumentError, "factoriz"):
        factors.solve(b)
    factors.factorize(spread(ctx, positive(9), pt.Slab(0)))
    close(factors.solve(b), np.linalg.solve(positive(9), np.ones(9)))


def test_wrong_arguments(ctx):
    a, tall, b = pt.eye(ctx, 4, distribution="slab:0"), pt.eye(ctx, 5, 4, distribution="slab:0"), pt.zeros(ctx, 4, pt.Slab(0))
    wrong = [
        (lambda: linalg.solve(tall, b), "square"),
        (lambda: linalg.solve(a, pt.zeros(ctx, 5, pt.Slab(0))), "B must have the shape"),
        (lambda: linalg.solve(b, b), "matrix"),
        (lambda: linalg.inv(tall), "square"),
        (lambda: linalg.det(tall), "square"),
        (lambda: linalg.cholesky(tall), "square"),
        (lambda: linalg.solve_triangular(tall, b), "square"),
        (lambda: linalg.lstsq(tall, b), "B must have the shape"),
        (lambda: linalg.solve(a, b, out=tall), "X must be"),
        (lambda: linalg.eigh(tall), "square"),
        (lambda: linalg.eigvalsh(a, "X"), "UPLO: expected 'L' or 'U'"),
        (lambda: linalg.eigh(a, subset_by_index=(1, 4)), "subset_by_index: expected 0 <= first"),
        (lambda: linalg.svdvals(b), "matrix"),
        (lambda: linalg.svd(b), "matrix"),
        (lambda: linalg.polar(b), "matrix"),
        (lambda: linalg.polar(a, "up"), "side: expected"),
        (lambda: linalg.pinv(a, 0.1, rtol=0.1), "exclude each other"),
        (lambda: linalg.pinv(b), "matrix"),
        (lambda: linalg.matrix_rank(a, 0.1, rtol=0.1), "exclude each other"),
        (lambda: linalg.cond(tall, 1), "square"),
        (lambda: linalg.cond(a[:0]), "cond: an empty matrix"),
        (lambda: linalg.norm(a[:0], 2), "norm: an empty matrix"),
        (lambda: linalg.matrix_power(tall, 2), "square"),
        (lambda: linalg.eigh(pt.full(ctx, (3, 3), pt.Slab(0), np.nan)), "NaN"),
        (lambda: linalg.solve(a, a[:2], out=a[1:3]), "B must have the shape"),
        (lambda: linalg.LU(a).solve(b, op="inverse"), "op"),
        (lambda: linalg.LU(a).packed(tall), "shape"),
        (lambda: linalg.LU(a).factorize(tall), "shape"),
        (lambda: linalg.LU.from_packed(a, pt.full(ctx, 4, "replicated", 9, "int32")), "exchanged"),
        (lambda: linalg.LU.from_packed(a, b), "pivots"),
        (lambda: linalg.matrix_norm(b), "x: expected at least two dimensions"),
        (lambda: linalg.vector_norm(b, ord="fro"), "ord: expected a number"),
    ]
    for call, text in wrong:
        with same_error(ctx, pt.ArgumentError, text):
            call()
    numpys = np.eye(4)
    types = [
        (lambda: linalg.solve({1.0}, b), "expected a distributed array, got set"),
        (lambda: linalg.solve(a, None), "expected a distributed array, got None"),
        (lambda: linalg.lu_solve(a, b), "lu_and_piv: expected the pair"),
        (lambda: linalg.cho_solve(3, b), "c_and_lower: expected the pair"),
        (lambda: linalg.solve(a, b, speed=3), "unknown option speed"),
        (lambda: linalg.lstsq(a, b, speed=3), "unknown option speed"),
        (lambda: linalg.eigh(a, subset_by_index=3), "subset_by_index: expected the pair"),
        (lambda: linalg.matrix_power(a, 1.5), "integer"),
        (lambda: linalg.svd(numpys), "expected a distributed array, got ndarray"),
        (lambda: linalg.solve(a, b, check_finite=False), "unknown option check_finite"),
    ]
    for call, text in types:
        with same_error(ctx, pt.TypeError, text):
            call()
    frozen = pt.from_local(ctx, np.broadcast_to(np.ones(1), (4,)), pt.Replicated())
    with same_error(ctx, pt.ArgumentError, "b: the array is read-only"):
        linalg.solve(a, frozen, overwrite_b=True)
    with same_error(ctx, pt.ArgumentError, "a: the array is read-only"):
        linalg.LU(pt.from_local(ctx, np.broadcast_to(np.ones(1), (4, 4)), pt.Replicated()), overwrite=True)


def test_other_packages(ctx):
    torch = pytest.importorskip("torch")
    a, b = square(6), numbers((6, 2), seed=1)
    matrix = pt.from_local(ctx, torch.from_numpy(a), pt.Replicated())
    columns = pt.from_local(ctx, torch.from_numpy(b), pt.Replicated())
    x = linalg.solve(matrix, columns)
    assert isinstance(x.local, torch.Tensor) and isinstance(linalg.inv(matrix).local, torch.Tensor)
    np.testing.assert_allclose(x.local.numpy(), np.linalg.solve(a, b))


def test_singular_errors_are_values():
    import copy
    import pickle

    error = pt.SingularError("the text", 3)
    for same in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert type(same) is pt.SingularError and str(same) == "the text" and same.index == 3
    assert pt.SingularError("x").index is None and isinstance(error, (ValueError, np.linalg.LinAlgError))


def test_plans_without_ranks():
    of = pt.plans.Operand(pt.Layout("slab:0", (256, 256), 4), "float64")
    sides = pt.plans.Operand(pt.Layout("slab:0", (256, 8), 4), "float64")
    for kind in ("lu", "cholesky", "qr"):
        factoring = pt.plans.plan_factorization(of, pt.Topology(4), kind, block=64)
        solving = pt.plans.plan_solve(of, sides, pt.Topology(4), kind, block=64)
        for planned in (factoring, solving):
            assert planned.ranks == 4 and planned.simulate("laptop").seconds > 0 and planned.explain(1)
            with pytest.raises(pt.UnsupportedError, match="verify"):
                planned.verify()
    with pytest.raises(pt.ArgumentError, match="kind"):
        pt.plans.plan_factorization(of, pt.Topology(4), "svd")


def test_grids_pivoting_and_memory_of_plans():
    of = pt.plans.Operand(pt.Layout("slab:0", (256, 256), 4), "float64")
    sides = pt.plans.Operand(pt.Layout("slab:0", (256, 1), 4), "float64")
    nodes = pt.Topology(4, 1)
    grid = pt.plans.plan_factorization(of, nodes, block=32, grid=(2, 2), pivoting="tournament")
    assert "on a grid of 2x2 ranks" in grid.explain(1)
    assert "2x2" in pt.plans.plan_solve(of, sides, nodes, block=32, grid=(2, 2)).explain(1)
    with pytest.raises(pt.UnsupportedError, match="tournament"):
        pt.plans.plan_factorization(of, nodes, grid=(2, 2), pivoting="partial").explain(1)
    whole = pt.plans.plan_factorization(of, nodes, grid=(1, 4), memory_limit=1 << 22)
    narrow = pt.plans.plan_factorization(of, nodes, grid=(1, 4), memory_limit=1 << 18)
    assert "1 panels of 256 columns" in whole.explain(1) and "16 panels of 16 columns" in narrow.explain(1)
    with pytest.raises(pt.ArgumentError, match="a memory limit of 1000 bytes is too small: rank 1 requires"):
        pt.plans.plan_factorization(of, nodes, grid=(1, 4), memory_limit=1000).explain(1)
    with pytest.raises(pt.ArgumentError, match="solve: a memory limit of 10 bytes"):
        pt.plans.plan_solve(of, sides, nodes, memory_limit=10).explain(1)
    with pytest.raises(pt.ArgumentError, match="pivoting"):
        pt.plans.plan_factorization(of, nodes, pivoting="complete")


def test_grids_pivoting_and_memory(ctx):
    a, b = numbers((30, 30)) + 5 * np.eye(30), numbers((30, 2), seed=1)
    matrix, sides = spread(ctx, a, pt.Slab(0)), spread(ctx, b, pt.Slab(0))
    for options in ({"grid": (ctx.size, 1)}, {"grid": (1, ctx.size), "pivoting": "partial"}, {"memory_limit": 1 << 20}):
        factors = linalg.LU(matrix, block=4, **options)
        close(factors.solve(sides, memory_limit=1 << 20), np.linalg.solve(a, b))
        if "grid" in options:
            assert f"{options['grid'][0]}x" in factors.explain() or options["grid"][0] == 1
        close(linalg.lu_solve(linalg.lu_factor(matrix, block=4, **options), sides), np.linalg.solve(a, b))
    positive = a @ a.T
    of_grid = linalg.Cholesky(spread(ctx, positive, pt.Slab(0)), block=4, grid=(ctx.size, 1), memory_limit=1 << 20)
    close(of_grid.solve(sides), np.linalg.solve(positive, b))
    close(linalg.solve(matrix, sides, memory_limit=1 << 20), np.linalg.solve(a, b))
    close(linalg.QR(matrix, memory_limit=1 << 20).solve(sides), np.linalg.solve(a, b))
    if ctx.size > 1:
        with same_error(ctx, pt.ArgumentError, "a memory limit of 1 bytes is too small"):
            linalg.solve(matrix, sides, memory_limit=1)
    with same_error(ctx, pt.ArgumentError, "memory_limit must not be negative"):
        linalg.LU(matrix, memory_limit=-1)
    with same_error(ctx, pt.ArgumentError, "grid"):
        linalg.LU(matrix, grid=(ctx.size, 2))
