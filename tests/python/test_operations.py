"""Matrix multiply, transforms, spectral helpers, against NumPy."""

import numpy as np
import pytest
from shapes import rules, spread, whole

import partita as pt


def close(found, wanted):
    np.testing.assert_allclose(found.gather(), wanted, rtol=1e-10, atol=1e-10)


def test_products(ctx):
    x, y = np.sin(whole((6, 9))), np.cos(whole((9, 5)))
    for rule in rules(ctx.size):
        a, b = spread(ctx, x, rule), spread(ctx, y, rule)
        close(a @ b, x @ y)
        close(b.T @ a.T, (x @ y).T)
        close(pt.matmul(b, a, op_a="transpose", op_b="transpose", epilogue="relu"), np.maximum((x @ y).T, 0))
        c = spread(ctx, whole((6, 5)), rule)
        close(pt.matmul(a, b, c=c, alpha=2, beta=-1), 2 * x @ y - whole((6, 5)))
        assert pt.matmul(a, b, c=c, beta=1, out=c) is c
        close(c, x @ y + whole((6, 5)))
    v = spread(ctx, whole((9,)), pt.Replicated())
    close(a @ v, x @ whole((9,)))
    bias = spread(ctx, whole((6,)), pt.Slab(0))
    close(pt.matmul(a, b, bias=bias, epilogue="bias", distribution="slab:1"), x @ y + whole((6, 1)))


def test_products_that_cannot_be(ctx):
    a = pt.zeros(ctx, (4, 5), pt.Slab(0))
    with pytest.raises(pt.ArgumentError):
        a @ a
    with pytest.raises(pt.ArgumentError, match="known: automatic, local"):
        pt.matmul(a, a.T, method="fast")
    with pytest.raises(TypeError, match="speed"):
        pt.matmul(a, a.T, speed=3)
    ctx.barrier()


def test_a_planned_product(ctx):
    x, y = np.sin(whole((6, 9))), np.cos(whole((9, 5)))
    a, b = spread(ctx, x, pt.Slab(0)), spread(ctx, y, pt.Slab(1))
    multiply = pt.Matmul(a, b)
    assert multiply.execute() is multiply.out
    close(multiply.out, x @ y)
    close(multiply.execute(alpha=3), 3 * x @ y)
    out = pt.zeros(ctx, (6, 5), pt.Replicated())
    again = pt.Matmul(a, b, out=out)
    again.reset(a + 1, b)
    close(again.execute(), (x + 1) @ y)
    assert again.autotune(runs=1) and again.workspace_size >= 0 and "matmul" in again.explain()
    again.release()


def test_transforms(ctx):
    real = np.sin(whole((6, 8)))
    field = real + 1j * np.cos(3 * real)
    for rule in rules(ctx.size):
        f, r = spread(ctx, field, rule), spread(ctx, real, rule)
        for norm in (None, "ortho", "forward"):
            close(pt.fft.fftn(f, norm=norm), np.fft.fftn(field, norm=norm))
            close(pt.fft.ifft(f, axis=0, norm=norm), np.fft.ifft(field, axis=0, norm=norm))
        close(pt.fft.fft(f), np.fft.fft(field))
        close(pt.fft.fft2(f), np.fft.fft2(field))
        close(pt.fft.rfftn(r, axes=(1, 0)), np.fft.rfftn(real, axes=(1, 0)))
        half = pt.fft.rfft2(r, output="cheapest")
        close(half, np.fft.rfft2(real))
        close(pt.fft.irfft2(half, (6, 8), distribution=rule), real)
        close(pt.fft.idctn(pt.fft.dctn(r)), real)
        close(pt.fft.idst(pt.fft.dst(r, type=3), type=3), real)
    odd = spread(ctx, real[:, :7].copy(), pt.Slab(0))
    close(pt.fft.irfft(pt.fft.rfft(odd), 7), real[:, :7])
    target = pt.zeros(ctx, (6, 8), pt.Slab(1), "complex128")
    assert pt.fft.fftn(f, out=target) is target
    close(target, np.fft.fftn(field))


def test_transforms_of_other_lengths(ctx):
    """Cut off or followed by zeros, along axes that are cut between ranks and others, as NumPy does."""
    real = np.sin(whole((6, 8)))
    field = real + 1j * np.cos(3 * real)
    for rule in rules(ctx.size):
        z, r = spread(ctx, field, rule), spread(ctx, real, rule)
        for n in (3, 8, 11):
            for axis in (0, -1):
                for name in ("fft", "ifft", "irfft"):
                    close(getattr(pt.fft, name)(z, n, axis), getattr(np.fft, name)(field, n, axis))
                close(pt.fft.rfft(r, n, axis, "ortho"), np.fft.rfft(real, n, axis, "ortho"))
        for s in ((4, 8), (9, -1), (7, 5)):
            for name in ("fft2", "ifftn", "irfft2", "irfftn"):
                close(getattr(pt.fft, name)(z, s, (0, 1)), getattr(np.fft, name)(field, s, (0, 1)))
            close(pt.fft.rfftn(r, s, (1, 0)), np.fft.rfftn(real, s, (1, 0)))
        close(pt.fft.fftn(z, (5,)), np.fft.fftn(field, (5,), (-1,)))
    out = pt.zeros(ctx, (6, 11), pt.Slab(0), "complex128")
    assert pt.fft.fft(z, 11, -1, None, out) is out
    close(out, np.fft.fft(field, 11))


def test_transforms_of_other_dtypes(ctx):
    """As NumPy converts them."""
    for dtype in ("float64", "float32", "float16", "int32", "bool"):
        given = (whole((6, 8)) % 7 > 2).astype(dtype) if dtype == "bool" else (whole((6, 8)) % 7).astype(dtype)
        a = spread(ctx, given, pt.Slab(0))
        for name in ("fftn", "ifft", "rfftn", "irfft"):
            # Of half precision NumPy's irfft rounds the result to it again.
            wanted = getattr(np.fft, name)(given.astype("float32") if dtype == "float16" else given)
            found = getattr(pt.fft, name)(a)
            assert found.dtype == wanted.dtype, (name, dtype)
            tolerance = 1e-12 if wanted.real.dtype == np.float64 else 1e-5
            assert np.allclose(found.gather(), wanted, tolerance, tolerance * 100), (name, dtype)
        assert np.array_equal(a.gather(), given)


def test_cosines_and_sines_are_those_of_scipy(ctx):
    scipy_fft = pytest.importorskip("scipy.fft")
    real = np.sin(whole((6, 7)))
    a = spread(ctx, real, pt.Slab(0))
    for name in ("dct", "idct", "dst", "idst"):
        ours, theirs = getattr(pt.fft, name), getattr(scipy_fft, name)
        for type in (1, 2, 3, 4):
            for norm in (None, "ortho", "forward"):
                close(ours(a, type, norm=norm), theirs(real, type, norm=norm))
                for orthogonalize in (False, True):
                    given = {"norm": norm, "orthogonalize": orthogonalize}
                    close(ours(a, type, 9, 0, **given), theirs(real, type, 9, 0, **given))
            ours_n, theirs_n = getattr(pt.fft, f"{name}n"), getattr(scipy_fft, f"{name}n")
            close(ours_n(a, type, norm="ortho"), theirs_n(real, type, norm="ortho"))
            close(ours_n(a, type, (4, 9), orthogonalize=True), theirs_n(real, type, (4, 9), orthogonalize=True))
    plan = pt.fft.FFT(a, "dct3", norm="ortho", out=pt.zeros(ctx, (6, 7), pt.Slab(1)))
    close(plan.execute(), scipy_fft.dctn(real, 3, norm="ortho"))
    a[...] = 0
    plan.inverse()
    close(a, real)


def test_a_planned_transform(ctx):
    field = np.exp(1j * whole((6, 8)))
    a = spread(ctx, field, pt.Slab(0))
    plan = pt.fft.FFT(a, output="cheapest")
    close(plan.execute(), np.fft.fftn(field))
    a[...] = 0
    assert plan.inverse() is a
    close(a, field)
    assert plan.workspace_size >= 0 and plan.plan.operation and plan.explain(json=True).startswith("{")


def test_transforms_that_cannot_be(ctx):
    real = pt.zeros(ctx, (6, 8), pt.Slab(0))
    for call in [
        lambda: pt.fft.FFT(real),
        lambda: pt.fft.rfftn(real.astype("complex128")),
        lambda: pt.fft.rfft(real, axis=2),
        lambda: pt.fft.dct(real, type=5),
        lambda: pt.fft.dct(real.astype("complex128")),
        lambda: pt.fft.rfft(real, norm="unit"),
        lambda: pt.fft.rfft(real, orthogonalize=True),
    ]:
        with pytest.raises(pt.ArgumentError):
            call()


def test_lengths_that_cannot_be(ctx):
    """No length is taken for one that was not given."""
    real = pt.zeros(ctx, (6, 8), pt.Slab(0))
    half = pt.zeros(ctx, (6, 5), pt.Slab(0), "complex128")
    for n in (0, -1, -2):
        for name in ("fft", "ifft", "rfft", "irfft", "dct", "dst", "idct", "idst"):
            with pytest.raises(pt.ArgumentError, match=f"{n}, but a line has at least one element"):
                given = (2, n) if "ct" in name or "st" in name else (n,)
                getattr(pt.fft, name)(real, *given)
    for call, what in (
        (lambda: pt.fft.irfft2(half, (4, 0)), "the length along axis 1 is 0"),
        (lambda: pt.fft.fftn(half, (0, 1)), "the length along axis 0 is 0"),
        (lambda: pt.fft.fftn(half, (4, -2)), "the length along axis 1 is -2"),
        (lambda: pt.fft.fftn(half, (4, 4, 4)), "s has 3 lengths, but the array has 2 dimensions"),
        (lambda: pt.fft.fftn(half, (4, 4), (0,)), "s has 2 lengths, but there are 1 axes"),
        (lambda: pt.fft.irfftn(half, last_length=-7), "last_length is -7"),
        (lambda: pt.fft.irfftn(half, last_length=0), "last_length is 0"),
        (lambda: pt.fft.FFT(half, "c2r", last_length=-3), "last_length is -3"),
    ):
        with pytest.raises(pt.ArgumentError, match=what):
            call()
    for n in (2.5, "4"):
        with pytest.raises(TypeError):
            pt.fft.fft(half, n)
    if ctx.size > 1:
        with pytest.raises(pt.ArgumentError, match="rank 1"):
            pt.fft.fft(real, 0 if ctx.rank == 1 else 8)


def test_norms(ctx):
    x = np.sin(whole((6, 7)))
    a = spread(ctx, x, pt.Slab(0))
    assert np.isclose(pt.norm(a), np.linalg.norm(x)) and np.isclose(pt.norm(a, "fro"), np.linalg.norm(x, "fro"))
    close(pt.norm(a, None, 0), np.linalg.norm(x, None, 0))
    close(pt.norm(a, 2, 1, True), np.linalg.norm(x, 2, 1, True))
    for order in (0, 3, "odd"):
        with pytest.raises(pt.ArgumentError, match="the norm of order"):
            pt.norm(a, order)


def test_spectral_helpers(ctx):
    n = 16
    x = 2 * np.pi * np.arange(n) / n
    u = np.sin(x)[:, None] * np.cos(2 * x)[None, :]
    a = spread(ctx, u, pt.Slab(0))
    close(pt.spectral.solve_poisson(a * -5.0), u)
    along_x, along_y = pt.spectral.gradient(a)
    close(along_x, np.cos(x)[:, None] * np.cos(2 * x)[None, :])
    close(along_y, -2 * np.sin(x)[:, None] * np.sin(2 * x)[None, :])
    close(pt.spectral.multiply(a, lambda k: -(k[0] ** 2 + k[1] ** 2)), -5 * u)
    close(pt.spectral.convolve(a, a), np.fft.ifft2(np.fft.fft2(u) ** 2).real)
    wide = pt.spectral.resize(pt.fft.fftn(a.astype("complex128")), (n, n), (24, 24))
    assert np.allclose(pt.fft.ifftn(wide).gather()[::3, ::3], u[::2, ::2])
    with pytest.raises(ZeroDivisionError):
        pt.spectral.multiply(a, lambda k: 1 / 0)
    with pytest.raises(TypeError, match="NoneType"):
        pt.spectral.multiply(a, lambda k: None)
    close(pt.spectral.multiply(a, lambda k: np.float32(2)), 2 * u)


def test_products_of_8_bits(ctx):
    pytest.importorskip("ml_dtypes")
    x, y = np.ones((4, 8)), np.ones((8, 4))
    a, b = (spread(ctx, one, pt.Slab(0)).astype("float8_e4m3fn") for one in (x, y))
    half, quarter, amax = (pt.full(ctx, (), pt.Replicated(), value, "float32") for value in (0.5, 0.25, 0))
    close(pt.matmul(a, b, scale_a=half, scale_b=quarter), x @ y / 8)
    d = pt.matmul(a, b, result="float8_e5m2", scale_a=half, scale_d=half, amax_d=amax, scale_mode="tensor")
    assert d.dtype.name == "float8_e5m2" and amax.gather() == 4
    close(d.astype("float64"), x @ y / 4)
    planned = pt.Matmul(a, b, scale_a=half)
    close(planned.execute(), x @ y / 2)
    planned.reset(a, b, scale_a=quarter)
    close(planned.execute(), x @ y / 4)
    with pytest.raises(TypeError, match="unknown array scale_c"):
        planned.reset(a, b, scale_c=half)
    with pytest.raises(pt.UnsupportedError):
        pt.matmul(a, b, scale_a=half, scale_mode="block32-ue8m0")
    with pytest.raises(pt.ArgumentError, match="known: automatic, f16"):
        pt.matmul(a, b, compute="f12")
    close(pt.matmul(a, b, compute="float32", space="host", wisdom_file=""), x @ y)


def test_the_dtype_in_which_sums_travel(ctx):
    pytest.importorskip("ml_dtypes")
    a, b = pt.full(ctx, (4, 32), pt.Slab(1), 1, "bfloat16"), pt.full(ctx, (32, 3), pt.Slab(0), 0.5, "bfloat16")
    d = pt.matmul(a, b, reduce_dtype="bfloat16", distribution=pt.Replicated())
    assert d.dtype == a.dtype
    close(d.astype("float64"), np.full((4, 3), 16))
    with pytest.raises(pt.UnsupportedError, match="cannot reduce sums"):
        pt.matmul(a, b, reduce_dtype="float16")
    for unknown in ("bfloat17", "\udc80"):  # the latter is no UTF-8
        with pytest.raises(pt.ArgumentError, match="is not supported"):
            pt.matmul(a, b, reduce_dtype=unknown)


def test_what_is_no_distributed_array(ctx):
    a, plain = pt.zeros(ctx, (4, 4), pt.Slab(0)), np.zeros((4, 4))
    for call in [
        lambda: pt.matmul(a, {0.0}),
        lambda: pt.matmul(plain, plain),
        lambda: pt.matmul(a, a, c=plain),
        lambda: pt.matmul(a, a, out=plain),
        lambda: pt.matmul(a, a, bias=plain, epilogue="bias"),
        lambda: pt.matmul(a, None),
        lambda: pt.Matmul(a, plain),
        lambda: pt.dot(plain, plain),
        lambda: pt.norm(plain),
        lambda: pt.fft.fftn(plain),
        lambda: pt.fft.FFT(plain),
        lambda: pt.redistribute(plain, "slab:0"),
        lambda: pt.Redistribute(a, plain),
        lambda: pt.Halo(plain, (1, 1)),
        lambda: pt.spectral.gradient(plain),
        lambda: pt.io.write_npy("a.npy", plain),
    ]:
        with pytest.raises(TypeError, match="distributed array"):
            call()
    ctx.barrier()


def test_objects_put_results_where_one_line_calls_do():
    """By the machine of the context, whatever machine the process would take by itself."""

    def body(context):
        for m, n, k in [(64, 64, 64), (40, 300, 3000), (2000, 16, 16), (16, 2000, 500)]:
            for rule_a, rule_b in [(pt.Slab(0), pt.Slab(0)), (pt.Slab(1), pt.Slab(0)), (pt.Slab(1), pt.Slab(1))]:
                a, b = pt.zeros(context, (m, k), rule_a), pt.zeros(context, (k, n), rule_b)
                assert pt.Matmul(a, b).out.layout == (a @ b).layout
        for shape in [(8, 8, 8), (64, 32, 16), (6, 300, 5)]:
            field = pt.zeros(context, shape, pt.Slab(1), dtype="complex128")
            assert pt.fft.FFT(field, output="cheapest").out.layout == pt.fft.fftn(field, output="cheapest").layout

    for machine in ["laptop", "cluster", "node-8-gpu"]:
        pt.run(4, body, device="cpu", machine=machine)
