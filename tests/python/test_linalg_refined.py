"""Refined solutions, estimates of condition numbers, updates of one triangle."""

import numpy as np
import pytest
from shapes import rules, spread
from test_linalg import DTYPES, OPS, close, few, numbers, positive, same_error, square

import partita as pt
from partita import linalg


@pytest.mark.parametrize("dtype", DTYPES)
def test_refined_solutions(ctx, dtype):
    a, b = square(9, dtype), numbers((9, 4), dtype, 1)
    for rule in few(ctx):
        matrix, columns = spread(ctx, a, rule), spread(ctx, b, pt.Slab(1))
        for op, of in OPS.items():
            found = linalg.solve_refined(matrix, columns, op=op)
            close(found.x, np.linalg.solve(of(a), b))
            assert found.x.layout == columns.layout and not found.fell_back and not found.reason
            assert found.backward_error < (1e-6 if dtype in ("float32", "complex64") else 1e-15)
        close(linalg.solve(matrix, columns, refine=True, transposed=True), np.linalg.solve(a.T, b))
        x = linalg.solve(matrix, spread(ctx, b[:, 0].copy(), pt.Slab(0)), refine=True, distribution="replicated")
        close(x, np.linalg.solve(a, b[:, 0]))
        assert x.distribution == pt.Replicated()
        close(matrix, a), close(columns, b)


def test_refined_structures_and_memory(ctx):
    a, b = positive(8, "complex128"), numbers((8, 2), "complex128", 1)
    matrix, columns = spread(ctx, a, pt.Slab(0)), spread(ctx, b, pt.Slab(0))
    found = linalg.solve_refined(matrix, columns, assume_a="pos")
    close(found.x, np.linalg.solve(a, b))
    assert found.iterations > 0
    out = pt.zeros(ctx, (8, 2), pt.Slab(1), dtype="complex128")
    assert linalg.solve(matrix, columns, assume_a="positive definite", refine=True, out=out) is out
    close(out, np.linalg.solve(a, b))
    assert linalg.solve(matrix, columns, refine=True, overwrite_b=True) is columns
    close(columns, np.linalg.solve(a, b))
    with same_error(ctx, pt.ArgumentError, "assume_a: 'lower triangular' cannot be refined"):
        linalg.solve(matrix, columns, assume_a="lower triangular", refine=True)
    with same_error(ctx, pt.SingularError, "not positive definite"):
        linalg.solve(spread(ctx, a - 100 * np.eye(8), pt.Slab(0)), columns, assume_a="pos", refine=True)


def test_refined_by_gmres_or_in_full_precision(ctx):
    n = 40
    a = numbers((n, n)) * np.logspace(0, -6, n) @ numbers((n, n), seed=2)
    b = numbers(n, seed=3)
    found = linalg.solve_refined(spread(ctx, a, pt.Slab(0)), spread(ctx, b, pt.Slab(0)), compute="tf32")
    assert not found.fell_back and found.iterations > 2
    x = found.x.gather(space="host")
    assert np.linalg.norm(a @ x - b) <= 1e-14 * np.linalg.norm(a) * np.linalg.norm(x)
    close_rows = np.array([[1, 1], [1, 1 + 1e-12]])
    found = linalg.solve_refined(spread(ctx, close_rows, pt.Slab(0)), spread(ctx, np.array([1.0, 3]), pt.Slab(0)))
    assert found.fell_back and "singular" in found.reason
    found = linalg.solve_refined(spread(ctx, square(9), pt.Slab(0)), spread(ctx, numbers(9), pt.Slab(0)), iterations=0)
    assert found.fell_back and "0 corrections" in found.reason and found.iterations == 0


@pytest.mark.parametrize("dtype", DTYPES)
def test_estimates_of_condition_numbers(ctx, dtype):
    a, definite = square(12, dtype), positive(12, dtype)
    for rule in rules(ctx.size)[:4]:
        matrix = spread(ctx, a, rule)
        for p in (1, np.inf):
            wanted = np.linalg.cond(a, p)
            estimate = linalg.condition(matrix, p)
            assert wanted / 3 <= estimate <= wanted * 1.001
            factors = linalg.LU(matrix)
            assert factors.condition(matrix, p) == pytest.approx(estimate)
            assert factors.condition(np.linalg.norm(a, p), p) == pytest.approx(estimate, rel=1e-3)
    for lower in (False, True):
        factors = linalg.Cholesky(spread(ctx, definite, pt.Slab(0)), lower=lower)
        estimate = factors.condition(spread(ctx, definite, pt.Slab(0)))
        assert np.linalg.cond(definite, 1) / 3 <= estimate <= np.linalg.cond(definite, 1) * 1.001
    assert linalg.condition(pt.full(ctx, (3, 3), pt.Slab(0), 1.0)) == np.inf
    with same_error(ctx, pt.ArgumentError, "condition: p: expected 1 or inf, got 2"):
        linalg.condition(spread(ctx, a, pt.Slab(0)), 2)
    with same_error(ctx, pt.UnsupportedError, "use LU"):
        linalg.QR(spread(ctx, a, pt.Slab(0))).condition(1.0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_rank_k_updates(ctx, dtype):
    a, c = numbers((9, 5), dtype), numbers((9, 9), dtype, 1)
    for rule in rules(ctx.size)[:4]:
        for upper, symmetric in ((False, False), (True, False), (False, True)):
            target = spread(ctx, c, rule)
            assert linalg.rank_k_update(spread(ctx, a, pt.Slab(0)), target, upper=upper, symmetric=symmetric, alpha=2, beta=-1) is target
            half = np.triu if upper else np.tril
            wanted = 2 * a @ (a.T if symmetric else a.conj().T) - c
            np.testing.assert_allclose(half(target.gather(space="host")), half(wanted), rtol=1e-3, atol=1e-3)
    target = pt.empty(ctx, (5, 5), pt.Slab(0), dtype=dtype)
    linalg.rank_k_update(spread(ctx, a, pt.Slab(0)), target, op="conjugate-transpose")
    np.testing.assert_allclose(np.tril(target.gather(space="host")), np.tril(a.conj().T @ a), rtol=1e-3, atol=1e-3)
    with same_error(ctx, pt.ArgumentError, "C must be 9 x 9"):
        linalg.rank_k_update(spread(ctx, a, pt.Slab(0)), target)
