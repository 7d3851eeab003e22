"""partita.jax.linalg in compiled programs, against jax.numpy.linalg of whole matrices and against differences."""

import numpy as np
import pytest
from jax_cases import ERROR, dot, jax, jnp, once, pj, some
from shapes import part, rules

import partita as pt

linalg = pj.linalg
REAL, COMPLEX = np.float64, np.complex128


def numbers(shape, dtype, seed=0):
    """The same on all ranks."""
    generator = np.random.default_rng(seed)
    values = generator.standard_normal(shape) + 1j * generator.standard_normal(shape)
    return values.astype(dtype) if np.issubdtype(dtype, np.complexfloating) else values.real


def square(n, dtype):
    return numbers((n, n), dtype) + np.roll(3 * np.eye(n), 2, axis=0)


def positive(n, dtype):
    a = numbers((n, n), dtype)
    return a @ a.conj().T + n * np.eye(n)


def layouts_of(ctx, which, *shapes):
    return [pt.Layout(rules(ctx.size)[i], shape, ctx.size) for i, shape in zip(which, shapes)]


def everywhere(*shape, ctx):
    return pt.Layout(pt.Replicated(), shape, ctx.size)


def here(ctx, array, layout):
    return jnp.asarray(part(np.asarray(array), layout, ctx.rank).copy())


def close(found, wanted, tolerance=1e-9):
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


def squared(x):
    """What does not depend on signs and phases."""
    return jnp.real(x * jnp.conj(x))


def check(ctx, ours, theirs, wholes, layouts, of_results, of_value=lambda x: x, twice=False):
    """Values and forward derivatives as those of `theirs`, in reverse as forward; `twice`: second ones against differences of first ones."""
    tangents = [numbers(x.shape, x.dtype, 20 + i) for i, x in enumerate(wholes)]

    def values(function):
        return lambda *xs: [of_value(x) for x in function(*xs)]

    @jax.jit
    def along(xs, ts):
        return jax.jvp(values(ours), xs, ts)

    @jax.jit
    def pulled(xs, ts, weights):
        return jax.vjp(values(ours), *xs)[1](weights)

    @jax.jit
    def of_slopes(xs, ts, weights):
        def slopes(*xs):
            return jax.jvp(values(ours), xs, ts)[1]

        return jax.jvp(slopes, xs, ts)[1], jax.vjp(slopes, *xs)[1](weights)

    xs, ts = (tuple(here(ctx, x, layout) for x, layout in zip(some, layouts)) for some in (wholes, tangents))
    wanted, of_line = once(ctx, lambda: jax.jvp(values(theirs), tuple(map(jnp.asarray, wholes)), tuple(map(jnp.asarray, tangents))))
    weights = [some(layout.local_shape(ctx.rank), x.dtype, ctx.rank) for x, layout in zip(wanted, of_results)]
    found, forward = along(xs, ts)
    for i, layout in enumerate(of_results):
        close(found[i], here(ctx, wanted[i], layout))
        close(forward[i], here(ctx, of_line[i], layout), 1e-8)
    back = pulled(xs, ts, weights)
    assert [(one.shape, one.dtype) for one in back] == [(x.shape, x.dtype) for x in xs]
    close(dot(ctx, forward, weights), dot(ctx, ts, back), 1e-8)
    if not twice:
        return
    second, back = of_slopes(xs, ts, weights)
    ends = [along(tuple(x + step * t for x, t in zip(xs, ts)), ts)[1] for step in (1e-5, -1e-5)]
    for one, up, down in zip(second, *ends):
        close(one, (up - down) / 2e-5, 1e-4)
    close(dot(ctx, second, weights), dot(ctx, ts, back), 1e-8)


@pytest.mark.parametrize("dtype, transpose, which", [(REAL, False, (0, 0, 1)), (COMPLEX, True, (2, 5, 0)), (COMPLEX, False, (5, 1, 5))])
def test_solve(ctx, dtype, transpose, which):
    a, b = square(7, dtype), numbers((7, 3), dtype, 1)
    of_a, of_b, of_x = layouts_of(ctx, which, a.shape, b.shape, b.shape)
    with pj.Group(ctx):
        check(
            ctx,
            lambda a, b: [linalg.solve(a, b, of_a, of_b, of_x, transpose_a=transpose)],
            lambda a, b: [jnp.linalg.solve(a.T if transpose else a, b)],
            [a, b], [of_a, of_b], [of_x], twice=dtype == COMPLEX,
        )  # fmt: skip


@pytest.mark.parametrize("replicated", [False, True])
def test_solve_of_one_right_hand_side(ctx, replicated):
    a, b = square(7, REAL), numbers((7,), REAL, 1)
    (of_a,) = layouts_of(ctx, [3], a.shape)
    of_b = pt.Layout(pt.Replicated() if replicated else pt.BlockCyclic((ctx.size,), (2,)), (7,), ctx.size)
    with pj.Group(ctx):
        check(ctx, lambda a, b: [linalg.solve(a, b, of_a, of_b)], lambda a, b: [jnp.linalg.solve(a, b)], [a, b], [of_a, of_b], [of_b])


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("lower, unit, transpose", [(False, False, False), (True, True, False), (True, False, True)])
def test_solve_triangular(ctx, left, lower, unit, transpose):
    dtype = COMPLEX if left == transpose else REAL
    a, b = square(7, dtype) / 4 + np.eye(7), numbers((7, 4) if left else (4, 7), dtype, 1)
    of_a, of_b, of_x = layouts_of(ctx, (0, 1, 2), a.shape, b.shape, b.shape)

    def theirs(a, b):
        how = {"left_side": left, "lower": lower, "transpose_a": transpose, "unit_diagonal": unit}
        return [jax.lax.linalg.triangular_solve(a, b, **how)]

    how = {"left": left, "lower": lower, "transpose_a": transpose, "unit_diagonal": unit}
    with pj.Group(ctx):
        check(ctx, lambda a, b: [linalg.solve_triangular(a, b, of_a, of_b, of_x, **how)], theirs, [a, b], [of_a, of_b], [of_x], twice=transpose)


@pytest.mark.parametrize("dtype, which", [(COMPLEX, 0), (REAL, 2), (REAL, 5)])
def test_functions_of_one_matrix(ctx, dtype, which):
    a = square(6, dtype)
    (of_a,), number = layouts_of(ctx, [which], a.shape), everywhere(ctx=ctx)

    def ours(a):
        return [linalg.inv(a, of_a), *linalg.slogdet(a, of_a), linalg.det(a, of_a)]

    with pj.Group(ctx):
        theirs = lambda a: [jnp.linalg.inv(a), *jnp.linalg.slogdet(a), jnp.linalg.det(a)]  # noqa: E731
        check(ctx, ours, theirs, [a], [of_a], [of_a] + [number] * 3, twice=which != 2)


def test_a_shared_determinant_counts_once(ctx):
    a = square(6, np.complex128)
    (of_a,) = layouts_of(ctx, [1], a.shape)
    with pj.Group(ctx):
        found = jax.jit(jax.grad(lambda a: linalg.slogdet(a, of_a, shared=True).logabsdet))(here(ctx, a, of_a))
    close(found, here(ctx, jax.grad(lambda a: jnp.linalg.slogdet(a)[1])(jnp.asarray(a)), of_a))


@pytest.mark.parametrize("dtype, upper, which", [(COMPLEX, False, 0), (COMPLEX, True, 2), (REAL, False, 5)])
def test_cholesky(ctx, dtype, upper, which):
    a = positive(6, dtype)
    of_a, of_l = layouts_of(ctx, (which, 1), a.shape, a.shape)
    with pj.Group(ctx):
        check(
            ctx,
            lambda a: [linalg.cholesky(a, of_a, of_l, upper=upper)],
            lambda a: [jnp.linalg.cholesky(a, upper=upper)],
            [a], [of_a], [of_l], twice=which != 0,
        )  # fmt: skip
        one_triangle = jax.jit(lambda a: linalg.cholesky(a, of_a, upper=upper, symmetrize_input=False))
        close(one_triangle(here(ctx, np.triu(a) if upper else np.tril(a), of_a)), here(ctx, jnp.linalg.cholesky(a, upper=upper), of_a))


def polar_of(a):
    """By singular vectors."""
    u, s, vh = jnp.linalg.svd(a, full_matrices=False)
    return [u @ vh, (vh.conj().T * s) @ vh]


@pytest.mark.parametrize("dtype, shape, which", [(REAL, (5, 5), 0), (COMPLEX, (9, 4), 1), (REAL, (8, 3), 5), (COMPLEX, (5, 5), 5)])
def test_polar(ctx, dtype, shape, which):
    a = numbers(shape, dtype)
    (of_a,) = layouts_of(ctx, [which], shape)
    with pj.Group(ctx):
        check(ctx, lambda a: [*linalg.polar(a, of_a)], polar_of, [a], [of_a], linalg.polar_result(of_a), twice=which != 0)


def test_polar_of_equal_singular_values_has_derivatives(ctx):
    (of_a,) = layouts_of(ctx, [0], (5, 3))
    weights = numbers((5, 3), REAL, 3)
    with pj.Group(ctx):
        a, own = here(ctx, np.eye(5, 3), of_a), here(ctx, weights, of_a)
        gradient = jax.jit(jax.grad(lambda a: jnp.sum(linalg.polar(a, of_a).U * own)))(a)
        top = weights[:3]
        close(gradient, here(ctx, np.concatenate([(top - top.T) / 2, weights[3:]]), of_a))
        with pytest.raises(pt.ArgumentError, match="at least as many rows as columns"):
            linalg.polar_result(pt.Layout(pt.Slab(0), (3, 5), ctx.size))


@pytest.mark.parametrize("dtype, shape, which", [(REAL, (6, 6), 0), (COMPLEX, (9, 4), 1), (REAL, (8, 3), 5)])
def test_qr(ctx, dtype, shape, which):
    a = numbers(shape, dtype)
    (of_a,) = layouts_of(ctx, [which], shape)
    with pj.Group(ctx):
        check(ctx, lambda a: [*linalg.qr(a, of_a)], lambda a: [*jnp.linalg.qr(a)], [a], [of_a], linalg.qr_result(of_a), twice=which == 1)


def test_qr_of_more_columns_than_rows(ctx):
    a = numbers((3, 5), np.float64)
    (of_a,) = layouts_of(ctx, [0], a.shape)
    with pj.Group(ctx):
        found = jax.jit(lambda a: linalg.qr(a, of_a))(here(ctx, a, of_a))
        for one, layout, wanted in zip(found, linalg.qr_result(of_a), jnp.linalg.qr(a)):
            close(one, here(ctx, wanted, layout))
        with pytest.raises(pt.UnsupportedError, match="at least as many rows as columns"):
            jax.jvp(lambda a: linalg.qr(a, of_a), (here(ctx, a, of_a),), (here(ctx, a, of_a),))


@pytest.mark.parametrize("dtype, UPLO, which", [(REAL, "L", 0), (COMPLEX, "U", 2), (REAL, "L", 5)])
def test_eigh(ctx, dtype, UPLO, which):
    a = positive(5, dtype)
    (of_a,), of_w = layouts_of(ctx, [which], a.shape), everywhere(5, ctx=ctx)
    with pj.Group(ctx):
        check(ctx, lambda a: [*linalg.eigh(a, of_a, UPLO)], lambda a: [*jnp.linalg.eigh(a, UPLO)], [a], [of_a], [of_w, of_a], squared, which == 2)


def test_ranks_without_elements(ctx):
    """They make the calls of the others, in second derivatives of vectors alone."""
    a, of_a = positive(3, REAL), pt.Layout(pt.BlockCyclic((1, ctx.size), (3, 3)), (3, 3), ctx.size)
    with pj.Group(ctx):
        check(
            ctx, lambda a: [linalg.eigh(a, of_a).eigenvectors], lambda a: [jnp.linalg.eigh(a)[1]], [a], [of_a], [of_a], squared, twice=True
        )


@pytest.mark.parametrize("dtype, shape, which", [(REAL, (5, 5), 0), (COMPLEX, (7, 4), 1), (COMPLEX, (4, 7), 2), (REAL, (4, 7), 5)])
def test_svd(ctx, dtype, shape, which):
    a = numbers(shape, dtype)
    (of_a,), of_s = layouts_of(ctx, [which], shape), everywhere(min(shape), ctx=ctx)
    of_u, of_vh = linalg.svd_result(of_a)

    def multiplied(u, s, vh, product):
        """With what depends on the phases of pairs."""
        return [squared(u), s, squared(vh), product(u, vh)]

    def ours(a):
        return multiplied(*linalg.svd(a, of_a), lambda u, vh: pj.matmul(u, vh, of_u, of_vh, of_a))

    def theirs(a):
        return multiplied(*jnp.linalg.svd(a, full_matrices=False), jnp.matmul)

    with pj.Group(ctx):
        check(ctx, ours, theirs, [a], [of_a], [of_u, of_s, of_vh, of_a], twice=which == 1)


def test_loops_batches_and_checkpoints(ctx):
    """Three steps of an inverse iteration, of two vectors."""
    a, b = positive(6, np.float64) / 6, numbers((2, 6), np.float64, 1)
    (of_a,), of_b = layouts_of(ctx, [0], a.shape), pt.Layout(pt.Slab(0), (6,), ctx.size)

    def iterated(solve, a, b):
        def step(b, _):
            return jnp.sin(solve(a, b)), jnp.sum(b)

        return jax.lax.scan(jax.checkpoint(step), b, None, length=3)[0]

    def ours(a, b):
        return jnp.sum(jax.vmap(lambda b: iterated(lambda a, b: linalg.solve(a, b, of_a, of_b), a, b))(b) ** 2)

    def theirs(a, b):
        return jnp.sum(jax.vmap(lambda b: iterated(jnp.linalg.solve, a, b))(b) ** 2)

    wanted = jax.grad(theirs, (0, 1))(jnp.asarray(a), jnp.asarray(b))
    own = here(ctx, b.T, pt.Layout(pt.Slab(0), (6, 2), ctx.size)).T
    with pj.Group(ctx):
        found = jax.jit(jax.grad(ours, (0, 1)))(here(ctx, a, of_a), own)
        values, vectors = jax.jit(jax.vmap(lambda a: linalg.eigh(a, of_a)))(jnp.stack([here(ctx, a, of_a)] * 2))
    close(found[0], here(ctx, wanted[0], of_a))
    close(found[1], here(ctx, wanted[1].T, pt.Layout(pt.Slab(0), (6, 2), ctx.size)).T)
    close(values, np.stack([np.linalg.eigvalsh(a)] * 2))
    assert vectors.shape == (2, *of_a.local_shape(ctx.rank))


def test_errors(ctx):
    ones = np.ones((4, 4))
    of_a, of_b, of_wide = layouts_of(ctx, (0, 0, 1), (4, 4), (4, 2), (4, 5))
    a, b = here(ctx, ones, of_a), here(ctx, ones[:, :2], of_b)
    with pj.Group(ctx):
        solve = jax.jit(lambda a, b: linalg.solve(a, b, of_a, of_b))
        assert solve(here(ctx, ones + np.eye(4), of_a), b).shape == b.shape
        for call, text in (
            (lambda: solve(a, b), "SingularError: .*singular"),
            (lambda: jax.jit(jax.grad(lambda a: jnp.sum(solve(a, b))))(a), "SingularError"),
            (lambda: linalg.cholesky(-a, of_a), "SingularError: .*not positive definite"),
            (lambda: linalg.solve_triangular(0 * a, b, of_a, of_b), "SingularError"),
            (lambda: jax.jit(jax.grad(lambda a: linalg.slogdet(a, of_a).logabsdet))(a), "SingularError"),
        ):
            with pytest.raises((ERROR, ValueError), match=text):
                jax.block_until_ready(call())
        sign, logarithm = linalg.slogdet(a, of_a)
        assert sign == 0 and logarithm == -np.inf
        with pytest.raises(pt.ArgumentError, match=r"solve: B must have the shape \[4\] or \[4, r\], but its shape is \(5, 2\)"):
            (of_long,) = layouts_of(ctx, [0], (5, 2))
            linalg.solve(a, here(ctx, np.ones((5, 2)), of_long), of_a, of_long)
        with pytest.raises(pt.ArgumentError, match="must be square"):
            linalg.inv(here(ctx, np.ones((4, 5)), of_wide), of_wide)
        with pytest.raises(pt.ArgumentError, match="float64 and float32"):
            linalg.solve(a, b.astype(jnp.float32), of_a, of_b)
        with pytest.raises(pt.ArgumentError, match="int64; convert"):
            linalg.slogdet(a.astype(int), of_a)
        with pytest.raises(pt.ArgumentError, match="gives rank"):
            linalg.cholesky(jnp.ones((9, 9)), of_a)
        assert solve(here(ctx, ones + np.eye(4), of_a), b).shape == b.shape
