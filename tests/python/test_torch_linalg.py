"""partita.torch.linalg, against torch.linalg of whole matrices and against differences."""

import contextlib
import os

import numpy as np
import pytest

import partita as pt

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
if not hasattr(torch.library, "custom_op"):
    pytest.skip("PyTorch 2.4 or newer", allow_module_level=True)

import partita.torch as ptt  # noqa: E402
from partita.torch import linalg  # noqa: E402
from shapes import rules  # noqa: E402
from torch.autograd import forward_ad  # noqa: E402

WHERE = "cuda" if os.environ.get("PARTITA_TEST_DEVICE") == "cuda" else "cpu"
DTYPES = [torch.float64, torch.complex128]
of_dtypes = pytest.mark.parametrize("dtype", DTYPES, ids=str)


def numbers(shape, dtype, seed=0):
    """The same on all ranks."""
    return torch.randn(tuple(shape), dtype=dtype, generator=torch.Generator().manual_seed(17 * seed + len(shape)))


def square(n, dtype):
    return numbers((n, n), dtype) + 3 * torch.eye(n, dtype=dtype).roll(1, 0)


def positive(n, dtype):
    a = numbers((n, n), dtype, 1)
    return a @ a.mH + n * torch.eye(n, dtype=dtype)


def part(x, layout, ctx):
    """This rank's part of what all ranks have."""
    places = np.ix_(*(layout.indices(axis, ctx.rank) for axis in range(x.ndim)))
    return x[tuple(torch.as_tensor(some) for some in places)].clone().to(WHERE)


def assembled(x, layout, ctx, summed=False):
    """The whole of parts; of gradients the sum of the shares of replicas."""
    whole = torch.zeros(layout.shape, dtype=x.dtype)
    places = np.ix_(*(layout.indices(axis, ctx.rank) for axis in range(x.ndim)))
    counted = x.detach().cpu() if summed else x.detach().cpu() / copies(layout)
    whole[tuple(torch.as_tensor(some) for some in places)] = counted.resolve_conj()
    return pt.all_reduce(ctx, whole)


def copies(layout):
    return len(layout.owners((0,) * len(layout.shape)))


def everywhere(*shape, ctx):
    return pt.Layout(pt.Replicated(), shape, ctx.size)


def squares(results, layouts, ctx=None):
    """Of parts, or without `ctx` of whole tensors, with weights: as if every element were there once."""
    total = 0
    for i, (x, layout) in enumerate(zip(results, layouts)):
        weights = numbers(layout.shape, torch.float64, 50 + i)
        if ctx is not None:
            weights = part(weights, layout, ctx) / copies(layout)
        total = total + (weights * (x * x.conj()).real).sum()
    return total


def products(results, layouts, ctx):
    """Linear in the real and imaginary parts of the results."""
    total = 0
    for i, (x, layout) in enumerate(zip(results, layouts)):
        weights = part(numbers(layout.shape, x.dtype, 70 + i), layout, ctx) / copies(layout)
        total = total + (weights.conj() * x).real.sum()
    return total


def sum_of(ctx, value):
    return float(pt.all_reduce(ctx, np.array([float(torch.as_tensor(value).detach())]))[0])


def close(found, wanted, tolerance=1e-9):
    found, wanted = [x.detach().cpu().resolve_conj() if isinstance(x, torch.Tensor) else x for x in (found, wanted)]
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


def check(ctx, ours, theirs, wholes, layouts, of_results, loss=squares):
    """Values and gradients as those of `theirs(*wholes)`; second derivatives against differences of first ones."""
    wholes = [x.clone().requires_grad_() for x in wholes]
    wanted = theirs(*wholes)
    parts = [part(x.detach(), layout, ctx).requires_grad_() for x, layout in zip(wholes, layouts)]
    results = ours(*parts)
    with torch.no_grad():  # by another way, without factors for a derivative
        for one, other in zip(results, ours(*parts)):
            close(one, other)
    close(sum_of(ctx, squares(results, of_results, ctx)), squares(wanted, of_results))
    gradients = torch.autograd.grad(squares(results, of_results, ctx), parts)
    for found, layout, reference in zip(gradients, layouts, torch.autograd.grad(squares(wanted, of_results), wholes)):
        assert found.shape == layout.local_shape(ctx.rank)
        close(assembled(found, layout, ctx, summed=True), reference, 1e-8)
    wholes = [x.detach() for x in wholes]
    check_differences(ctx, ours, wholes, layouts, of_results, loss)
    check_forward(ctx, ours, theirs, wholes, layouts, of_results)


@contextlib.contextmanager
def dual_level(ctx):
    """PyTorch has one level for all threads of a process."""
    ctx.barrier()
    with forward_ad.dual_level() if ctx.rank == 0 or os.environ.get("PARTITA_TEST_GROUP") != "threads" else contextlib.nullcontext():
        ctx.barrier()
        yield
        ctx.barrier()
    ctx.barrier()


def check_forward(ctx, ours, theirs, wholes, layouts, of_results):
    """Along tangents of all operands, and of the last one alone: of what does not depend on signs and phases."""
    along = [numbers(x.shape, x.dtype, 90 + i) for i, x in enumerate(wholes)]

    def slopes(results):
        return [torch.zeros(x.shape, dtype=torch.float64) + forward_ad.unpack_dual((x * x.conj()).real).tangent.cpu() for x in results]

    def dual(xs, lines, moving):
        return [forward_ad.make_dual(x.clone(), line) if i in moving else x for i, (x, line) in enumerate(zip(xs, lines))]

    for moving in {tuple(range(len(wholes))), (len(wholes) - 1,)}:
        with dual_level(ctx):
            wanted = slopes(theirs(*dual(wholes, along, moving)))
            parts, lines = ([part(x, layout, ctx) for x, layout in zip(some, layouts)] for some in (wholes, along))
            for records in (False, True):
                given = [x.requires_grad_() for x in parts] if records else parts
                found = slopes(ours(*dual(given, lines, moving)))
                for one, other, layout in zip(found, wanted, of_results):
                    close(assembled(one, layout, ctx), other, 1e-8)


def check_differences(ctx, ours, wholes, layouts, of_results, loss):
    """First and second derivatives along a line."""
    along = [numbers(x.shape, x.dtype, 90 + i) for i, x in enumerate(wholes)]
    step = 1e-5

    def at(t):
        return [part(x + t * line, layout, ctx).requires_grad_() for x, line, layout in zip(wholes, along, layouts)]

    def slope(parts, graph=False):
        """Along the line: of each replica its share."""
        gradients = torch.autograd.grad(loss(ours(*parts), of_results, ctx), parts, create_graph=graph)
        return sum((part(line, layout, ctx).conj() * one).real.sum() for one, line, layout in zip(gradients, along, layouts))

    values = [sum_of(ctx, loss(ours(*at(t)), of_results, ctx)) for t in (step, -step)]
    parts = at(0)
    first = slope(parts, graph=True)
    close(sum_of(ctx, first), (values[0] - values[1]) / (2 * step), 1e-6)
    second = torch.autograd.grad(first, parts)
    found = sum((part(line, layout, ctx).conj() * one).real.sum() for one, line, layout in zip(second, along, layouts))
    slopes = [sum_of(ctx, slope(at(t))) for t in (step, -step)]
    close(sum_of(ctx, found), (slopes[0] - slopes[1]) / (2 * step), 1e-5)


def layouts_of(ctx, which, *shapes):
    return [pt.Layout(rules(ctx.size)[i], shape, ctx.size) for i, shape in zip(which, shapes)]


@of_dtypes
@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("which", [(0, 0, 1), (2, 5, 0), (5, 1, 5)])
def test_solve(ctx, dtype, transpose, which):
    a, b = square(7, dtype), numbers((7, 3), dtype)
    of_a, of_b, of_x = layouts_of(ctx, which, a.shape, b.shape, b.shape)
    check(
        ctx,
        lambda a, b: [linalg.solve(ctx, a, b, of_a, of_b, of_x, transpose_a=transpose)],
        lambda a, b: [torch.linalg.solve(a.mT if transpose else a, b)],
        [a, b], [of_a, of_b], [of_x], products,
    )  # fmt: skip


@of_dtypes
@pytest.mark.parametrize("rule", [pt.Slab(0), pt.Replicated(), pt.BlockNonCyclic((1,))], ids=str)
def test_solve_of_one_right_hand_side(ctx, dtype, rule):
    if isinstance(rule, pt.BlockNonCyclic):
        rule = pt.BlockCyclic((ctx.size,), (2,))
    a, b = square(7, dtype), numbers((7,), dtype)
    (of_a,), of_b = layouts_of(ctx, [3], a.shape), pt.Layout(rule, (7,), ctx.size)
    check(ctx, lambda a, b: [linalg.solve(ctx, a, b, of_a, of_b)], lambda a, b: [torch.linalg.solve(a, b)], [a, b], [of_a, of_b], [of_b])


@of_dtypes
@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("upper, unit, transpose", [(True, False, False), (False, True, False), (False, False, True), (True, True, True)])
def test_solve_triangular(ctx, dtype, left, upper, unit, transpose):
    a, b = square(7, dtype) / 4 + torch.eye(7), numbers((7, 4) if left else (4, 7), dtype)
    of_a, of_b, of_x = layouts_of(ctx, (0, 1, 2), a.shape, b.shape, b.shape)

    def theirs(a, b):
        a = a.triu() if upper else a.tril()
        how = {"upper": upper != transpose, "left": left, "unitriangular": unit}
        return [torch.linalg.solve_triangular(a.mT if transpose else a, b, **how)]

    how = {"upper": upper, "left": left, "unitriangular": unit, "transpose_a": transpose}
    check(ctx, lambda a, b: [linalg.solve_triangular(ctx, a, b, of_a, of_b, of_x, **how)], theirs, [a, b], [of_a, of_b], [of_x], products)


@of_dtypes
@pytest.mark.parametrize("which", [0, 2, 5])
def test_functions_of_one_matrix(ctx, dtype, which):
    a = square(6, dtype)
    (of_a,), number = layouts_of(ctx, [which], a.shape), everywhere(ctx=ctx)
    check(ctx, lambda a: [linalg.inv(ctx, a, of_a)], lambda a: [torch.linalg.inv(a)], [a], [of_a], [of_a], products)
    check(ctx, lambda a: [*linalg.slogdet(ctx, a, of_a)], lambda a: [*torch.linalg.slogdet(a)], [a], [of_a], [number] * 2, products)
    check(ctx, lambda a: [linalg.det(ctx, a, of_a)], lambda a: [torch.linalg.det(a)], [a], [of_a], [number], products)


@of_dtypes
def test_a_shared_determinant_counts_once(ctx, dtype):
    a = square(6, dtype).requires_grad_()
    (of_a,) = layouts_of(ctx, [1], a.shape)
    own = part(a.detach(), of_a, ctx).requires_grad_()
    (found,) = torch.autograd.grad(linalg.slogdet(ctx, own, of_a, shared=True).logabsdet, own)
    (wanted,) = torch.autograd.grad(torch.linalg.slogdet(a).logabsdet, a)
    close(assembled(found, of_a, ctx, summed=True), wanted)
    line = numbers(a.shape, dtype, 1)
    with dual_level(ctx):
        results = linalg.slogdet(ctx, forward_ad.make_dual(part(a.detach(), of_a, ctx), part(line, of_a, ctx)), of_a, shared=True)
        theirs = torch.linalg.slogdet(forward_ad.make_dual(a.detach(), line))
        close(*[forward_ad.unpack_dual(one.logabsdet).tangent for one in (results, theirs)])


def hermitian(function, layout, ctx):
    """`function` of B + B^H, of which each part of B is given."""
    flipped = layout.permuted([1, 0])
    return lambda b: function(b + ptt.redistribute(ctx, b.mH.contiguous(), flipped, layout))


@of_dtypes
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("which", [0, 2, 5])
def test_cholesky(ctx, dtype, upper, which):
    b = positive(6, dtype) / 2
    of_a, of_l = layouts_of(ctx, (which, 1), b.shape, b.shape)
    ours = hermitian(lambda a: [linalg.cholesky(ctx, a, of_a, of_l, upper=upper)], of_a, ctx)
    check(ctx, ours, lambda b: [torch.linalg.cholesky(b + b.mH, upper=upper)], [b], [of_a], [of_l], products)
    own = part(2 * b, of_a, ctx).requires_grad_()
    linalg.cholesky(ctx, own, of_a, upper=upper).abs().sum().backward()
    gradient = assembled(own.grad, of_a, ctx, summed=True)
    close(gradient, gradient.mH, 1e-14)


@of_dtypes
@pytest.mark.parametrize("shape, which", [((6, 6), 0), ((9, 4), 1), ((9, 4), 2), ((8, 3), 5)])
def test_qr(ctx, dtype, shape, which):
    a = numbers(shape, dtype)
    (of_a,) = layouts_of(ctx, [which], shape)
    layouts = linalg.qr_result(of_a)
    check(ctx, lambda a: [*linalg.qr(ctx, a, of_a)], lambda a: [*torch.linalg.qr(a)], [a], [of_a], layouts, products)


def test_qr_of_more_columns_than_rows(ctx):
    a = numbers((3, 5), torch.float64)
    (of_a,) = layouts_of(ctx, [0], a.shape)
    own = part(a, of_a, ctx).requires_grad_()
    q, r = linalg.qr(ctx, own, of_a)
    whole = [assembled(x, layout, ctx) for x, layout in zip((q, r), linalg.qr_result(of_a))]
    close(whole[0] @ whole[1], a)
    with pytest.raises(pt.UnsupportedError, match="at least as many rows as columns"):
        q.sum().backward()
    ctx.barrier()


@of_dtypes
@pytest.mark.parametrize("UPLO", ["L", "U"])
@pytest.mark.parametrize("which", [0, 2, 5])
def test_eigh(ctx, dtype, UPLO, which):
    b = positive(5, dtype)
    (of_a,), of_w = layouts_of(ctx, [which], b.shape), everywhere(5, ctx=ctx)
    ours = hermitian(lambda a: [*linalg.eigh(ctx, a, of_a, UPLO)], of_a, ctx)
    check(ctx, ours, lambda b: [*torch.linalg.eigh(b + b.mH, UPLO)], [b], [of_a], [of_w, of_a])


def test_eigenvalues_that_are_equal_have_gradients(ctx):
    (of_a,) = layouts_of(ctx, [0], (4, 4))
    own = part(torch.eye(4, dtype=torch.float64), of_a, ctx).requires_grad_()
    linalg.eigh(ctx, own, of_a).eigenvalues.sum().backward()
    close(assembled(own.grad, of_a, ctx, summed=True), ctx.size * torch.eye(4))


@of_dtypes
@pytest.mark.parametrize("shape, which", [((5, 5), 0), ((7, 4), 1), ((4, 7), 2), ((4, 7), 5)])
def test_svd(ctx, dtype, shape, which):
    a = numbers(shape, dtype)
    (of_a,), of_s = layouts_of(ctx, [which], shape), everywhere(min(shape), ctx=ctx)
    of_u, of_vh = linalg.svd_result(of_a)
    check(
        ctx, lambda a: [*linalg.svd(ctx, a, of_a)], lambda a: [*torch.linalg.svd(a, full_matrices=False)], [a], [of_a],
        [of_u, of_s, of_vh],
    )  # fmt: skip

    def rotated(u, s, vh, multiply):
        """What depends on the phases of pairs."""
        return [multiply(u * s.sqrt().to(u.dtype), vh)]

    def ours(a):
        return rotated(*linalg.svd(ctx, a, of_a), lambda u, vh: ptt.matmul(ctx, u, vh, of_u, of_vh, of_a))

    def theirs(a):
        return rotated(*torch.linalg.svd(a, full_matrices=False), torch.matmul)

    if of_u.is_replicated or of_u.distribution != pt.Slab(1):  # of whose columns all are on each rank
        check(ctx, ours, theirs, [a], [of_a], [of_a], products)
    check(ctx, lambda a: [linalg.svd(ctx, a, of_a).S], lambda a: [torch.linalg.svdvals(a)], [a], [of_a], [of_s], products)


def polar_of(a):
    """By singular vectors."""
    u, s, vh = torch.linalg.svd(a, full_matrices=False)
    return [u @ vh, (vh.mH * s) @ vh]


@of_dtypes
@pytest.mark.parametrize("shape, which", [((5, 5), 0), ((7, 4), 1), ((7, 4), 2), ((8, 3), 5)])
def test_polar(ctx, dtype, shape, which):
    a = numbers(shape, dtype)
    (of_a,) = layouts_of(ctx, [which], shape)
    check(ctx, lambda a: [*linalg.polar(ctx, a, of_a)], polar_of, [a], [of_a], linalg.polar_result(of_a), products)


def test_polar_of_equal_singular_values_has_gradients(ctx):
    a, weights = torch.eye(5, 3, dtype=torch.float64), numbers((5, 3), torch.float64, 3)
    (of_a,) = layouts_of(ctx, [0], a.shape)
    own = part(a, of_a, ctx).requires_grad_()
    u, _ = linalg.polar(ctx, own, of_a)
    (u * part(weights, of_a, ctx)).sum().backward()
    top = weights[:3]
    close(assembled(own.grad, of_a, ctx, summed=True), torch.cat([(top - top.mT) / 2, weights[3:]]))
    with pytest.raises(pt.ArgumentError, match="at least as many rows as columns"):
        linalg.polar_result(pt.Layout(pt.Slab(0), (3, 5), ctx.size))


def test_errors(ctx):
    a, b = part(torch.ones(4, 4), *layouts_of(ctx, [0], (4, 4)), ctx), part(torch.ones(4, 2), *layouts_of(ctx, [0], (4, 2)), ctx)
    of_a, of_b, of_wide = layouts_of(ctx, (0, 0, 1), (4, 4), (4, 2), (4, 5))
    for given in (a, a.clone().requires_grad_()):
        with pytest.raises(pt.SingularError) as caught:
            linalg.solve(ctx, given, b, of_a, of_b)
        assert caught.value.index == 1
    with pytest.raises(pt.SingularError, match="not positive definite"):
        linalg.cholesky(ctx, -a, of_a)
    with pytest.raises(pt.SingularError):
        linalg.solve_triangular(ctx, 0 * a, b, of_a, of_b, upper=True)
    sign, logarithm = linalg.slogdet(ctx, a.clone().requires_grad_(), of_a)
    assert sign == 0 and logarithm == -np.inf
    with pytest.raises(pt.SingularError):
        logarithm.backward()
    with pytest.raises(pt.ArgumentError, match=r"solve: B must have the shape \[4\] or \[4, r\], but its shape is \(5, 2\)"):
        linalg.solve(ctx, a, part(torch.ones(5, 2), *layouts_of(ctx, [0], (5, 2)), ctx), of_a, *layouts_of(ctx, [0], (5, 2)))
    with pytest.raises(pt.ArgumentError, match="must be square"):
        linalg.inv(ctx, part(torch.ones(4, 5), of_wide, ctx), of_wide)
    with pytest.raises(pt.ArgumentError, match="float32 and float64"):
        linalg.solve(ctx, a, b.double(), of_a, of_b)
    with pytest.raises(pt.ArgumentError, match="int64; convert"):
        linalg.slogdet(ctx, a.long(), of_a)
    with pytest.raises(pt.ArgumentError, match="gives rank"):
        linalg.cholesky(ctx, a[:0, :1], of_a)
    with pytest.raises(pt.ArgumentError, match="UPLO"):
        linalg.eigh(ctx, a, of_a, "X")
    assert not ctx.failed


def test_single_precision_and_a_step_of_a_gaussian_process(ctx):
    """-log p(y) of a covariance with a parameter, which each rank has."""
    n, dtype = 9, torch.float32
    x, y = torch.linspace(0, 1, n), torch.sin(torch.linspace(0, 5, n))
    (of_a,), of_y = layouts_of(ctx, [2], (n, n)), pt.Layout(pt.Slab(0), (n,), ctx.size)
    rows, columns = (torch.as_tensor(of_a.indices(axis, ctx.rank)) for axis in (0, 1))

    def covariance(scale, left, right):
        gaps = (left[:, None] - right[None, :]) / scale
        return (-(gaps**2)).exp() + 0.1 * (left[:, None] == right[None, :])

    scale = torch.tensor(0.3, dtype=dtype, requires_grad=True)
    a = covariance(scale, x[rows], x[columns]).to(WHERE)
    own = part(y, of_y, ctx)
    loss = (own * linalg.solve(ctx, a, own, of_a, of_y)).sum() + linalg.slogdet(ctx, a, of_a).logabsdet / ctx.size
    loss.backward()
    whole = torch.tensor(0.3, dtype=dtype, requires_grad=True)
    k = covariance(whole, x, x)
    (y @ torch.linalg.solve(k, y) + torch.logdet(k)).backward()
    close(sum_of(ctx, scale.grad), whole.grad, 1e-3)
