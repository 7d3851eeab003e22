"""Arrays in device memory, and streams. PARTITA_TEST_DEVICE=fake: devices whose memory is the host's and whose streams are
threads; =cuda: a GPU, with what is installed of CuPy and PyTorch."""

import ctypes
import importlib.util
import os
import sys
import threading
import time
import types

import numpy as np
import pytest
from fake_xla import library
from shapes import part, rules, whole

import partita as pt

FAKE = os.environ.get("PARTITA_TEST_DEVICE") == "fake"
pytestmark = pytest.mark.skipif(not os.environ.get("PARTITA_TEST_DEVICE"), reason="no device: PARTITA_TEST_DEVICE=fake or cuda")
on_fakes = pytest.mark.skipif(not FAKE, reason="only fake devices can be late")


class OnDevice:
    """What other packages have on a device, as they show it; its memory is NumPy's."""

    def __init__(self, array):
        self.array = array

    @property
    def __cuda_array_interface__(self):
        return {**self.array.__array_interface__, "version": 3}


def of_fakes(array):
    return OnDevice(array.copy()), lambda one: one.array


def of_torch(array):
    torch = pytest.importorskip("torch")
    return torch.as_tensor(array, device="cuda"), lambda one: one.cpu().numpy()


def of_cupy(array):
    cupy = pytest.importorskip("cupy")
    return cupy.asarray(array), cupy.asnumpy


PACKAGES = [of_fakes] if FAKE else [of_torch, of_cupy]


def host(array):
    return array.gather(space="host")


def test_arrays_are_made_on_the_device(ctx):
    assert ctx.device.startswith("cuda") and ctx.stream is not None
    for rule in rules(ctx.size):
        a = pt.full(ctx, (6, 5), rule, 2.0)
        assert a.space == "device" and (host(a) == 2).all()
        a[1:3] = 7
        assert a.at((2, 0)) == 7 and a.at((0, 0)) == 2
        assert a.sum() == 2 * 30 + 5 * 10 and (host(a.sum(axis=0)) == 22).all()
        again = a.redistribute(pt.Slab(1))
        assert again.space == "device" and (host(again) == host(a)).all()
        down = a.redistribute(pt.Slab(1), space="host")
        assert down.space == "host" and (down.gather() == host(a)).all()
    x = pt.random(ctx, (6, 5), pt.Slab(0), seed=3)
    y = pt.random(ctx, (6, 5), pt.Slab(0), seed=3, space="host")
    assert y.space == "host" and (host(x) == y.gather()).all()
    made = pt.from_function(ctx, (6, 5), pt.Slab(0), lambda i, j: i + 10.0 * j)
    assert made.space == "device" and host(made)[2, 3] == 32
    assert host(pt.arange(ctx, 7, distribution=pt.Slab(0)))[6] == 6
    assert a.copy(space="host").space == "host" and a.astype("float32").space == "device"
    with pytest.raises(pt.ArgumentError, match="space"):
        pt.empty(ctx, (3,), pt.Slab(0), space="moon")


@on_fakes
def test_device_memory_that_nobody_shows(ctx):
    a = pt.zeros(ctx, (4,), pt.Slab(0))
    with pytest.raises(pt.UnsupportedError, match="space='host'"):
        a.local
    with pytest.raises(pt.UnsupportedError):
        pt.SymmetricArray(ctx, (4,)).local
    assert pt.SymmetricArray(ctx, (4,), space="host").local.shape == (4,)
    ctx.barrier()


@pytest.mark.parametrize("package", PACKAGES)
def test_arrays_of_other_packages(ctx, package):
    x = whole((6, 5))
    for rule in rules(ctx.size):
        layout = pt.Layout(rule, x.shape, ctx.size)
        given, back = package(part(x, layout, ctx.rank))
        a = pt.from_local(ctx, given, rule)
        assert a.shape == x.shape and a.space == "device" and a.local is given
        assert (host(a) == x).all() and (host(a.T) == x.T).all()
        np.testing.assert_allclose(host(a @ a.T), x @ x.T)
        a[...] = 3
        ctx.synchronize()
        assert (back(given) == 3).all()


@pytest.fixture
def cupy(monkeypatch):
    """As much of CuPy as elementwise work takes, on fake devices; each rank says which its current stream is."""
    module = types.ModuleType("cupy")
    streams = threading.local()

    class ndarray(OnDevice):
        __module__ = "cupy"
        shape = property(lambda self: self.array.shape)
        dtype = property(lambda self: self.array.dtype)

        def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
            if out is not None:
                options["out"] = tuple(one.array for one in out)
            made = getattr(ufunc, method)(*(getattr(one, "array", one) for one in inputs), **options)
            return out[0] if out is not None else tuple(map(ndarray, made)) if isinstance(made, tuple) else ndarray(made)

        def __getitem__(self, key):
            return ndarray(self.array[key])

        def sum(self, axis):
            return ndarray(self.array.sum(axis))

    module.ndarray = ndarray
    module.empty = lambda shape, dtype: ndarray(np.empty(shape, dtype))
    module.from_dlpack = lambda part: ndarray(np.asarray(types.SimpleNamespace(__array_interface__=part.__cuda_array_interface__)))
    module.ascontiguousarray = lambda one: ndarray(np.ascontiguousarray(one.array))
    module.streams = streams
    module.cuda = types.SimpleNamespace(is_available=lambda: True, get_current_stream=lambda: streams)
    monkeypatch.setitem(sys.modules, "cupy", module)
    return module


def test_data_analysis(ctx):
    """Computed on the host; results are in device memory, numbers on every rank."""
    x = np.cos(whole((40,)) ** 2).round(1)
    a = pt.from_function(ctx, x.shape, pt.Slab(0), lambda i: x[i])
    order, (values, counts) = np.argsort(x, kind="stable"), np.unique(x, return_counts=True)
    found = [
        (pt.sort(a), np.sort(x)), (pt.argsort(a), order), (pt.cumsum(a), np.cumsum(x)), (pt.diff(a), np.diff(x)),
        (pt.unique(a, return_counts=True)[1], counts), (pt.take(a, pt.argsort(a)), x[order]), (pt.nonzero(a)[0], np.nonzero(x)[0]),
        (pt.isin(a, [0.5, 1.0]), np.isin(x, [0.5, 1.0])), (pt.searchsorted(pt.unique(a), a), np.searchsorted(values, x)),
        (pt.topk(a, 3).values, np.sort(x)[:-4:-1]), (pt.balance(pt.unique(a)), values),
    ]  # fmt: skip
    for ours, wanted in found:
        assert ours.space == "device"
        np.testing.assert_allclose(host(ours), wanted, rtol=1e-12, atol=1e-12)
    assert pt.median(a) == np.median(x) and (pt.histogram(a)[0] == np.histogram(x)[0]).all()
    y = whole((6, 4))
    b, index = pt.scatter(ctx, y, pt.Slab(0), space="device"), pt.scatter(ctx, np.array([0, 3, 0]), pt.Slab(0), space="device")
    b[index, 1], y[[0, 3, 0], 1] = pt.scatter(ctx, np.array([1.0, 2.0, 3.0]), pt.Slab(0), space="device"), [1, 2, 3]
    b[[1, 2], 2:], y[[1, 2], 2:] = np.ones((2, 2)), 1
    np.put(b, [5, -1], [8, 9]), np.put(y, [5, -1], [8, 9])
    assert b.space == "device" and (host(b) == y).all() and (host(b[index, [1, 2, 3]]) == y[[0, 3, 0], [1, 2, 3]]).all()
    assert (host(pt.unique(b, axis=0)) == np.unique(y, axis=0)).all()
    rows = np.full((2 + ctx.rank, 3), 1.0)
    assert pt.from_parts(ctx, OnDevice(rows) if FAKE else rows).sum() == sum(3 * (2 + rank) for rank in range(ctx.size))


def test_bins_are_numpys(ctx):
    """Of elements and weights in device memory; edges of all kinds, equal ones, and elements on edges and beyond."""
    rng = np.random.default_rng(31)
    for dtype in ("bool", "uint8", "int16", "int64", "uint64", "float16", "float32", "float64"):
        x = rng.integers(0, 2 if dtype == "bool" else 100, 301).astype(dtype)
        if x.dtype.kind == "f":
            x = (x / 7).astype(dtype)
            x[:4] = [np.nan, -0.0, np.inf, -np.inf]
        a, w = pt.scatter(ctx, x, pt.Slab(0), space="device"), rng.normal(size=301)
        b = pt.scatter(ctx, w, pt.Slab(0), space="device")
        numbers = x.view(np.uint8) if dtype == "bool" else x
        for edges in ([0, 1, 3, 8], [0, 0, 1, 1, 14, 14], np.linspace(-2, 60.5, 40), [-np.inf, 0.25, np.inf], np.array([2, 60], np.uint64), np.arange(13000) / 100):
            for weights, heavy in ((None, None), (b, w), (b.astype("float32"), w.astype("float32"))):
                found, wanted = pt.histogram(a, edges, weights=weights), np.histogram(numbers, edges, weights=heavy)
                assert found[0].dtype == wanted[0].dtype
                np.testing.assert_allclose(found[0], wanted[0], rtol=1e-4, atol=1e-4)
                np.testing.assert_array_equal(found[1], wanted[1])
        limits = None if x.dtype.kind != "f" else (0.5, 12)
        for density in (False, True):
            np.testing.assert_array_equal(pt.histogram(a, 20, limits, density)[0], np.histogram(numbers, 20, limits, density)[0])
        if dtype in ("uint8", "int16", "int64"):
            np.testing.assert_array_equal(pt.bincount(a, minlength=20000), np.bincount(x, minlength=20000))
            np.testing.assert_allclose(pt.bincount(a, b), np.bincount(x, w), rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(pt.bincount(a, w), np.bincount(x, w), rtol=1e-12, atol=1e-12)
    with pytest.raises(pt.ArgumentError, match="-3 is negative"):
        pt.bincount(pt.scatter(ctx, np.array([4, -3]), pt.Slab(0), space="device"))


@pytest.fixture
def without_copies(monkeypatch):
    """Elements of device memory are not looked at on the host."""
    monkeypatch.setattr("partita._device_parts.DevicePart.on_host", None)


def test_indices_stay_on_the_device(ctx, without_copies):
    """Of one axis that each rank has completely."""
    rng = np.random.default_rng(32)
    x = whole((2 * ctx.size, 5, 3))
    a = pt.scatter(ctx, x, pt.Slab(0), space="device")
    picks, own = rng.integers(-5, 5, (2, 4)), rng.integers(-5, 5, (2 * ctx.size, 7, 3))
    far, index, each = (pt.scatter(ctx, one, pt.Slab(0), space="device") for one in (picks * 9, picks.astype("int32"), own))
    found = [
        (pt.take(a, index, 1), np.take(x, picks, 1)), (pt.take(a, picks, 1), np.take(x, picks, 1)), (a[:, index], x[:, picks]),
        (pt.take(a, far, 1, mode="wrap"), np.take(x, picks * 9, 1, mode="wrap")), (pt.take(a, far, 1, mode="clip"), np.take(x, picks * 9, 1, mode="clip")),
        (pt.take_along_axis(a, each, 1), np.take_along_axis(x, own, 1)), (pt.take_along_axis(a, own, 1), np.take_along_axis(x, own, 1)),
    ]  # fmt: skip
    for ours, wanted in found:
        assert ours.space == "device"
        np.testing.assert_array_equal(host(ours), wanted)


def test_indices_out_of_range(ctx):
    a, beyond = pt.zeros(ctx, (2 * ctx.size, 5, 3), pt.Slab(0)), pt.scatter(ctx, np.array([0, 5, -6]), pt.Slab(0), space="device")
    for call in (lambda: pt.take(a, beyond, 1), lambda: a[:, [0, 5]], lambda: pt.take_along_axis(a, np.full((1, 1, 3), 5), 1)):
        with pytest.raises(IndexError, match="index 5 is out of range for 5 elements"):
            call()


def test_searches_stay_on_the_device(ctx, without_copies):
    rng = np.random.default_rng(33)
    values = rng.integers(0, 50, 200) / 4
    values[:3] = np.nan
    for dtype in ("float32", "int64", "uint8"):
        with np.errstate(invalid="ignore"):
            x, y = np.sort(values.astype(dtype)), rng.permuted(values)[:99].astype(dtype)
        a, b = (pt.scatter(ctx, one, pt.Slab(0), space="device") for one in (x, y))
        edges = np.array([9.0, 7.5, 2.25])
        found = [(pt.searchsorted(a, b, side), np.searchsorted(x, y, side)) for side in ("left", "right")]
        found += [(pt.isin(b, a), np.isin(y, x)), (pt.isin(b, [1.5, 3], invert=True), np.isin(y, [1.5, 3], invert=True))]
        found += [(pt.digitize(b, one, right), np.digitize(y, one, right)) for one in (edges, edges[::-1]) for right in (False, True)]
        for ours, wanted in found:
            assert ours.space == "device"
            np.testing.assert_array_equal(host(ours), wanted)


def test_each_rank_looks_for_its_own_numbers(ctx):
    x = whole((50,))
    a = pt.scatter(ctx, x, pt.Slab(0), space="device")
    np.testing.assert_array_equal(pt.searchsorted(a, [[1.5, ctx.rank]]), np.searchsorted(x, [[1.5, ctx.rank]]))


@pytest.fixture
def few_samples(monkeypatch):
    monkeypatch.setattr("partita._device_parts._samples", 1 << 10)


def test_the_largest_of_many(ctx, few_samples):
    """Of which those beyond a bound are sorted, unless there are too many of these."""
    rng = np.random.default_rng(34)
    x = rng.integers(0, 1 << 20, ctx.size << 15).astype("float32")
    x[5::1000] = np.nan
    for y in (x, np.nan_to_num(x).astype("int32"), np.zeros_like(x)):
        a = pt.scatter(ctx, y, pt.Slab(0), space="device")
        for largest in (True, False):
            found = pt.topk(a, 200, largest=largest)
            order = len(y) - 1 - np.argsort(y[::-1], kind="stable")[::-1] if largest else np.argsort(y, kind="stable")
            np.testing.assert_array_equal(host(found.values), y[order[:200]])
            np.testing.assert_array_equal(host(found.indices), order[:200])


def test_functions_with_numpys_names(ctx):
    """Elements that change places, and what products and reductions are composed of."""
    x, y = np.cos(whole((6, 5))), np.sin(whole((5, 4)))
    for rule in rules(ctx.size):
        a, b = (pt.scatter(ctx, one, rule, space="device") for one in (x, y))
        found = [
            (pt.roll(a, 2, 0), np.roll(x, 2, 0)), (pt.flip(a), np.flip(x)), (pt.tile(a, 2), np.tile(x, 2)), (pt.repeat(a, 2, 1), np.repeat(x, 2, 1)),
            (pt.concatenate([a, a]), np.concatenate([x, x])), (pt.moveaxis(a, 0, 1), x.T), (pt.einsum("ij,jk->ki", a, b), (x @ y).T),
            (pt.einsum("ij,ij->ji", a, a), (x * x).T), (pt.diagonal(a[:2]), np.diagonal(x[:2])),
            (pt.zeros_like(a), 0 * x), (pt.max(a, 0), x.max(0)), (pt.tensordot(a, b, 1), x @ y), (pt.fft.fftshift(a), np.fft.fftshift(x)),
        ]  # fmt: skip
        for ours, wanted in found:
            assert ours.space == "device"
            np.testing.assert_allclose(host(ours), wanted, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(float(ours.sum()), wanted.sum(), rtol=1e-12, atol=1e-12)  # ranks without elements have the same array


@on_fakes
def test_elementwise_work_is_local(ctx, cupy):
    cupy.streams.ptr = ctx.stream
    for extent in (6, 2):  # some ranks may have nothing
        x, row = whole((extent, 5)), np.cos(whole((5,)))
        layout = pt.Layout(pt.Slab(0), x.shape, ctx.size)
        a = pt.from_local(ctx, cupy.ndarray(part(x, layout, ctx.rank).copy()), pt.Slab(0))
        b = pt.from_local(ctx, cupy.ndarray(row.copy()), pt.Replicated())
        if ctx.rank == ctx.size - 1:  # without the others
            np.divmod(np.sqrt(a) * 3 - a, 2)
        ctx.barrier()
        with pt.traffic(ctx) as moved:
            sums, (quotient, rest) = 2 * a + b, np.divmod(a, 4)
            a *= 2
        assert moved.operations == []
        for found, wanted in [(sums, 2 * x + row), (quotient, x // 4), (rest, x % 4), (a, 2 * x)]:
            assert found.space == "device" and type(found.local) is cupy.ndarray
            assert (host(found) == wanted).all()
        np.testing.assert_allclose(host(sums @ sums.T), (2 * x + row) @ (2 * x + row).T)


@pytest.mark.parametrize("package", PACKAGES)
def test_collectives(ctx, package):
    mine = np.full(4 * ctx.size, ctx.rank + 1.0)
    total = ctx.size * (ctx.size + 1) / 2

    def both(size):
        (source, _), (target, back) = package(mine), package(np.zeros(size))
        return source, target, lambda: (ctx.synchronize(), back(target))[1]

    source, target, result = both(mine.size)
    assert pt.all_reduce(ctx, source, target) is target and (result() == total).all()
    source, target, result = both(mine.size * ctx.size)
    pt.all_gather(ctx, source, target)
    assert (result().reshape(ctx.size, -1) == np.arange(1.0, ctx.size + 1)[:, None]).all()
    source, target, result = both(4)
    pt.reduce_scatter(ctx, source, target)
    assert (result() == total).all()
    source, target, result = both(mine.size)
    pt.all_to_all(ctx, source, target)
    assert (result().reshape(ctx.size, -1) == np.arange(1.0, ctx.size + 1)[:, None]).all()
    source, target, result = both(mine.size)
    pt.scan(ctx, source, target)
    assert (result() == (ctx.rank + 1) * (ctx.rank + 2) / 2).all()
    pt.broadcast(ctx, source, root=ctx.size - 1, stream=ctx.stream)
    pt.all_reduce(ctx, source, target, reduction="max", stream=ctx.stream)
    assert (result() == ctx.size).all()
    with pytest.raises(pt.UnsupportedError):
        pt.all_reduce(ctx, mine, stream=ctx.stream)


@on_fakes
def test_planned_transforms_in_streams(ctx):
    other = ctx.split(0)
    a = pt.full(ctx, (4, 6), pt.Slab(0), 1.0, "complex128")
    plan = pt.fft.FFT(a)
    plan.inverse()
    for value in (1.0, 2.0):
        late(other.stream)
        a.fill(value, stream=other.stream)
        plan.execute(stream=other.stream)
        assert plan.out.at((0, 0), stream=other.stream) == 24 * value
        late(other.stream)
        a.fill(0, stream=other.stream)
        plan.inverse(stream=other.stream)
        assert abs(a.at((3, 5), stream=other.stream) - value) < 1e-12
    assert (np.abs(host(pt.fft.fftn(a)) - host(plan.out)) < 1e-12).all()


@on_fakes
def test_transforms_of_one_line_in_streams(ctx):
    """What is transformed is late; in another stream old numbers would be transformed."""
    other, x = ctx.split(0), whole((4, 6))
    a, z = (pt.zeros(ctx, x.shape, pt.Slab(0), dtype) for dtype in ("float64", "complex128"))
    out = pt.zeros(ctx, x.shape, pt.Slab(1), "complex128")
    for value in (0.0, 1.0, 2.0):  # the plans are made first, with what is there
        given = {"stream": other.stream}
        late(other.stream)
        z.fill(value, **given)
        assert pt.fft.fftn(z, out=out, **given) is out
        back = pt.fft.ifftn(out, **given)
        assert out.at((0, 0), **given) == 24 * value and back.at((3, 5), **given) == value
        late(other.stream)
        a.fill(value, **given)
        half = pt.fft.rfft2(a, **given)
        assert half.at((0, 0), **given) == 24 * value
        assert abs(pt.fft.irfft2(half, **given).at((3, 5), **given) - value) < 1e-12
        late(other.stream)
        a.fill(value, **given)
        assert abs(pt.fft.idctn(pt.fft.dctn(a, **given), **given).at((1, 2), **given) - value) < 1e-12
        assert abs(pt.fft.idst(pt.fft.dst(a, type=3, **given), type=3, **given).at((1, 2), **given) - value) < 1e-12
        sent = pt.scatter(ctx, value + x, pt.Slab(0), **given)
        assert sent.space == "device" and sent.at((3, 5), **given) == value + x[3, 5]
    down = z.copy(space="host")
    for call in (lambda: pt.fft.fftn(down, stream=other.stream), lambda: pt.fft.fftn(z, out=down, stream=other.stream)):
        with pytest.raises(pt.UnsupportedError, match="stream-ordered calls require device arrays"):
            call()
    ctx.barrier()


def test_linear_algebra(ctx):
    linalg, x = pt.linalg, np.cos(whole((7, 7))) + 4 * np.eye(7)
    y, definite = np.sin(whole((7, 2))), x @ x.T
    a, b, p = (pt.from_function(ctx, one.shape, pt.Slab(0), lambda i, j, one=one: one[i, j]) for one in (x, y, definite))
    q, r = linalg.qr(a)
    found = [
        (linalg.solve(a, b), np.linalg.solve(x, y)),
        (linalg.solve(p, b, assume_a="pos", transposed=True), np.linalg.solve(definite, y)),
        (linalg.lu_solve(linalg.lu_factor(a), b, 1), np.linalg.solve(x.T, y)),
        (linalg.cho_solve(linalg.cho_factor(p), b), np.linalg.solve(definite, y)),
        (linalg.cholesky(p), np.linalg.cholesky(definite)),
        (linalg.inv(a), np.linalg.inv(x)),
        (linalg.lstsq(a[:, :4], b).x, np.linalg.lstsq(x[:, :4], y, rcond=None)[0]),
        (q @ r, x),
        (linalg.eigvalsh(p, "U"), np.linalg.eigvalsh(definite)),
        (linalg.svd(a).S, np.linalg.svd(x, compute_uv=False)),
        (linalg.pinv(a[:, :4]), np.linalg.pinv(x[:, :4])),
        (linalg.lstsq(a[:, :4].T, b[:4]).x, np.linalg.lstsq(x[:, :4].T, y[:4], rcond=None)[0]),
        (linalg.matrix_power(a, 3), np.linalg.matrix_power(x, 3)),
        (linalg.solve(a, b, refine=True), np.linalg.solve(x, y)),
    ]
    many = np.stack([x, definite, x.T])
    batch = pt.from_function(ctx, many.shape, pt.Slab(0), lambda i, j, k: many[i, j, k])
    found += [
        (linalg.solve(batch, b), np.linalg.solve(many, y)),
        (linalg.inv(batch), np.linalg.inv(many)),
        (linalg.slogdet(batch).logabsdet, np.linalg.slogdet(many)[1]),
        (linalg.svdvals(batch), np.linalg.svd(many, compute_uv=False)),
    ]
    assert np.linalg.cond(x, 1) / 3 <= linalg.condition(a) <= np.linalg.cond(x, 1) * 1.001
    for ours, wanted in found:
        assert ours.space == "device"
        np.testing.assert_allclose(host(ours), wanted, rtol=1e-9, atol=1e-9)
    assert np.isclose(linalg.det(a), np.linalg.det(x)) and np.allclose(linalg.lstsq(a[:, :4], b).residuals, np.linalg.lstsq(x[:, :4], y, rcond=None)[1])
    up, down = a.copy(space="host"), b.copy(space="host")
    for left, right in ((a, down), (up, b), (up, down)):
        mixed = linalg.solve(left, right)
        assert mixed.space == right.space
        np.testing.assert_allclose(host(mixed), np.linalg.solve(x, y), rtol=1e-9, atol=1e-9)
    with pytest.raises(pt.SingularError, match="singular"):
        linalg.inv(pt.zeros(ctx, (3, 3), pt.Slab(0)))


@on_fakes
def test_linear_algebra_in_streams(ctx):
    """Right-hand sides are late; in another stream old numbers would be solved for."""
    other, linalg = ctx.split(0), pt.linalg
    a, b, t = pt.eye(other, 4, distribution="slab:0"), pt.zeros(other, (4, 2), pt.Slab(0)), pt.zeros(other, (4, 4), pt.Slab(0))
    factors = linalg.LU(a)
    for value in (0.0, 1.0, 2.0):  # the plans are made first, with what is there
        given = {"stream": other.stream}
        late(other.stream)
        b.fill(value, **given)
        assert linalg.solve(a, b, **given).at((3, 1), **given) == value
        late(other.stream)
        b.fill(value, **given)
        assert factors.solve(b, **given).at((3, 1), **given) == value
        late(other.stream)
        b.fill(3 * value, **given)
        assert factors.solve(b, out=b, **given) is b and b.at((0, 1), **given) == 3 * value
        late(other.stream)
        b.fill(value, **given)
        late(other.stream)
        t.fill(1 + value, **given)
        assert np.isclose(linalg.solve_triangular(t, b, lower=True, **given).at((0, 0), **given), value / (1 + value))
        late(other.stream)
        b.fill(value, **given)
        assert np.isclose(linalg.lstsq(a, b, **given).x.at((2, 0), **given), value)
    with pytest.raises(pt.UnsupportedError):
        linalg.solve(a, b.copy(space="host"), stream=other.stream)
    ctx.barrier()


@on_fakes
def test_spectral_helpers_in_streams(ctx):
    """The field is late; in another stream old numbers would be worked on."""
    other, shape = ctx.split(0), (4, 6)
    a, z = (pt.zeros(ctx, shape, pt.Slab(0), dtype) for dtype in ("float64", "complex128"))
    given = {"stream": other.stream}
    for value in (1.0, 2.0):
        calls = {
            (3, 5): lambda: pt.spectral.multiply(a, lambda k: 3.0, **given).at((3, 5), **given) - 3 * value,
            (0, 0): lambda: pt.spectral.convolve(a, a, **given).at((0, 0), **given) - 24 * value * value,
            (1, 1): lambda: pt.spectral.solve_poisson(a, **given).at((1, 1), **given),
            (2, 2): lambda: pt.spectral.gradient(a, **given)[1].at((2, 2), **given),
        }
        for call in calls.values():
            late(other.stream)
            a.fill(value, **given)
            assert abs(call()) < 1e-9
        late(other.stream)
        z.fill(value, **given)
        assert abs(pt.spectral.resize(z, shape, (8, 12), **given).at((0, 0), **given) - 4 * value) < 1e-9
    ctx.barrier()


@on_fakes
def test_operands_on_both_sides_wait_for_the_packages_stream(ctx, cupy):
    """Of device memory that is written late, beside host memory, in a call that no stream can take."""
    other, x = ctx.split(0), whole((6, 6))
    cupy.streams.ptr = other.stream
    mine = part(x, pt.Layout(pt.Slab(0), x.shape, ctx.size), ctx.rank)
    a = pt.from_local(ctx, cupy.ndarray(np.zeros_like(mine)), pt.Slab(0))
    eye, down = (pt.zeros(ctx, x.shape, pt.Slab(0), space="host") for _ in range(2))
    eye.local[...] = part(np.eye(6), eye.layout, ctx.rank)
    for value in (1.0, 2.0):
        for call in (
            lambda: eye @ a,
            lambda: a @ eye,
            lambda: pt.matmul(a, eye, out=down),
            lambda: pt.redistribute(a, down),
        ):
            late(other.stream)
            a.fill(value)
            assert (host(call()) == value).all()
    z, into = a.astype("complex128"), pt.zeros(ctx, x.shape, pt.Slab(0), "complex128", space="host")
    late(other.stream)
    z.fill(3)
    assert abs(pt.fft.fftn(z, out=into).gather()[0, 0] - 3 * 36) < 1e-12


@on_fakes
def test_streams_of_programs_for_nvmath(ctx, cupy):
    """What a stream holds is waited for: the given one, by default the package's current one."""
    from nvmath_ranks import Stream, runtime
    from partita.compat.nvmath.distribution import Slab, redistribute
    from partita.compat.nvmath.linalg.advanced import matmul

    other, another = ctx.split(0), ctx.split(0)
    x = np.zeros((6 // ctx.size, 6))
    array = pt.from_local(ctx, cupy.ndarray(x), pt.Slab(0))
    with runtime(ctx):
        for value, stream in ((1.0, None), (2.0, Stream(another.stream)), (3.0, another.stream)):
            cupy.streams.ptr = other.stream
            written = other.stream if stream is None else another.stream
            late(written)
            array.fill(value, stream=written)
            found = redistribute(x.copy() * 0 + value, Slab.X, Slab.Y, stream=stream)  # of NumPy, too
            assert (x == value).all() and (found == value).all()
            late(written)
            array.fill(10 * value, stream=written)
            product = matmul(x, np.eye(6)[:, ctx.rank :: ctx.size].copy(), distributions=[Slab.X, Slab.Y, Slab.X], stream=stream)
            assert (x == 10 * value).all() and abs(product.sum() - 10 * value * product.size) < 1e-9
        with pytest.raises(TypeError, match="__cuda_stream__"):
            redistribute(x, Slab.X, Slab.Y, stream="fast")


class WithProtocol:
    def __init__(self, handle):
        self.handle = handle

    def __cuda_stream__(self):
        return (0, self.handle)


class LikeTorch:
    def __init__(self, handle):
        self.cuda_stream = handle


class LikeCupy:
    def __init__(self, handle):
        self.ptr = handle


@on_fakes
@pytest.mark.parametrize("number", [0, 1, 2])
def test_small_numbers_of_streams_are_those_of_cuda(ctx, number):
    """0 and 1 the default stream, which ranks that are threads share, 2 the thread's own."""
    a, twin = pt.zeros(ctx, (6, 6), pt.Slab(0)), {0: 1, 1: 0, 2: 2}[number]
    for value in (1.0, 2.0):
        late(number)
        a.fill(value, stream=number)
        assert (a.copy(space="host", stream=twin).local == value).all()
    if number == 2:
        late(number)
        a.fill(3, stream=number)
        assert (a.redistribute(pt.Slab(1), stream=number).gather(space="host", stream=number) == 3).all()
    ctx.synchronize(number)
    ctx.barrier()


@pytest.mark.parametrize("number", [-1, 3, 5, 4095, 1 << 64, WithProtocol(-1), LikeTorch(5)])
def test_numbers_that_are_no_stream_are_refused_on_all_ranks(ctx, number):
    a = pt.zeros(ctx, (6, 6), pt.Slab(0))
    with pytest.raises(pt.ArgumentError, match="is not a cudaStream_t"):
        a.redistribute(pt.Slab(1), stream=number if ctx.rank == ctx.size - 1 else None)
    with pytest.raises(pt.ArgumentError, match="is not a cudaStream_t"):
        ctx.synchronize(number)
    for wrong in (True, 1.0):
        with pytest.raises(TypeError, match="__cuda_stream__"):
            a.fill(0, stream=wrong)
    ctx.barrier()


@on_fakes
def test_streams_of_memory_that_are_none_are_refused(ctx):
    class OfNoStream(OnDevice):
        @property
        def __cuda_array_interface__(self):
            return {**super().__cuda_array_interface__, "stream": 5}

    with pytest.raises(pt.ArgumentError, match="is not a cudaStream_t"):
        pt.broadcast(ctx, OfNoStream(np.ones(3)))
    ctx.barrier()


@on_fakes
def test_what_goes_while_its_stream_works_lets_other_ranks_come_to_their_part(ctx):
    """Ranks that are threads need the interpreter's lock for that."""
    a, b = pt.zeros(ctx, (600, 64), pt.Slab(0)), pt.zeros(ctx, (64, 600), pt.Slab(0))
    makes = [
        lambda: pt.fft.FFT(a, kind="r2c"),
        lambda: pt.Matmul(a, b),
        lambda: pt.Redistribute(a, pt.zeros(ctx, (600, 64), pt.Slab(1))),
    ]
    began = time.monotonic()
    for make in makes:
        plan = make()
        if ctx.rank == ctx.size - 1:
            time.sleep(0.05)
        plan.execute(stream=ctx.stream)
        del plan
        ctx.synchronize()
    assert time.monotonic() - began < 20  # and not the deadline


@on_fakes
@pytest.mark.parametrize("kind", [int, np.int64, WithProtocol, LikeTorch, LikeCupy])
def test_work_goes_into_the_stream_that_is_given(ctx, kind):
    """All of it is late, and in order: in another stream something would read old values."""
    other = ctx.split(0)
    stream = kind(other.stream)
    a, b = pt.zeros(ctx, (6, 6), pt.Slab(0)), pt.zeros(ctx, (6, 6), pt.Slab(1))
    plan, multiply = pt.Redistribute(a, b), pt.Matmul(a, b)
    for value in (1.0, 2.0):
        late(other.stream)
        a.fill(value, stream=stream)
        assert pt.redistribute(a, b, stream=stream) is b
        assert (b.copy(space="host", stream=stream).gather() == value).all()
        late(other.stream)
        a.fill(value + 10, stream=stream)
        plan.execute(stream=stream)
        assert b.sum(stream=stream) == 36 * (value + 10)
        late(other.stream)
        a.fill(value, stream=stream)
        multiply.execute(stream=stream)
        product = pt.matmul(a, b, stream=stream)
        assert (multiply.out.gather(space="host", stream=stream) == 6 * value * (value + 10)).all()
        assert product.at((0, 0), stream=stream) == 6 * value * (value + 10)
        late(other.stream)
        a.fill(value + 20, stream=stream)
        moved = a.redistribute(pt.Replicated(), stream=stream)
        ctx.barrier(stream=stream)
        ctx.synchronize(stream)
        assert host(moved)[5, 5] == value + 20
    with pytest.raises(TypeError, match="__cuda_stream__"):
        a.fill(0, stream="fast")
    down = a.copy(space="host")
    with pytest.raises(pt.UnsupportedError):
        down.sum(stream=stream)
    ctx.barrier()


@on_fakes
def test_who_shows_an_array_says_in_which_stream_it_is_written(ctx):
    other = ctx.split(0)

    class Late(OnDevice):
        @property
        def __cuda_array_interface__(self):
            return {**super().__cuda_array_interface__, "stream": other.stream}

    given, target = Late(np.zeros(3)), Late(np.zeros(3))
    late(other.stream)
    pt.broadcast(ctx, given)
    written = pt.from_local(ctx, OnDevice(given.array), pt.Slab(0))
    late(other.stream)
    written.fill(ctx.rank + 1, stream=other.stream)
    pt.all_reduce(ctx, given, target)
    ctx.synchronize(other.stream)
    assert (target.array == ctx.size * (ctx.size + 1) / 2).all()
    late(other.stream)
    written.fill(4, stream=other.stream)
    assert (host(pt.from_local(ctx, given, pt.Slab(0))) == 4).all()


@on_fakes
def test_halos_in_streams(ctx):
    other = ctx.split(0)
    a = pt.zeros(ctx, (6 * ctx.size,), pt.Slab(0))
    halo = pt.Halo(a, (1,), periodic=[True])
    extended = OnDevice(np.zeros(8))
    for value in (1.0, 2.0):
        late(other.stream)
        a.fill(value, stream=other.stream)
        halo.execute(a, extended, stream=other.stream)
        ctx.synchronize(other.stream)
        assert (extended.array == value).all()
    a.fill(3)
    halo.start(a, extended)
    halo.finish()
    ctx.synchronize()
    assert (extended.array == 3).all()


def late(stream, milliseconds=30):
    library().partita_delay_fake_stream(ctypes.c_void_p(stream), milliseconds)


@pytest.mark.skipif(FAKE or importlib.util.find_spec("torch") is None, reason="PyTorch on a GPU")
def test_the_current_stream_of_torch(ctx):
    import torch

    x = torch.zeros(1 << 20, device="cuda")
    a = pt.from_local(ctx, x, pt.Slab(0))
    for value in range(1, 20):
        with torch.cuda.stream(torch.cuda.Stream()):
            x.fill_(value)
            y = a.redistribute(pt.Replicated()).local
            z = pt.all_reduce(ctx, x)
            assert y.is_cuda and y.shape == ((1 << 20) * ctx.size,)
            assert (y == value).all() and (z == value * ctx.size).all()
            torch.cuda.current_stream().synchronize()
    b = pt.full(ctx, (8,), pt.Slab(0), 2.0)
    own = torch.as_tensor(b.local)  # of CuPy where the program has imported that, too
    assert own.is_cuda and bool((own == 2).all())
    for dtype in (torch.bfloat16, torch.float8_e4m3fn):
        small = pt.from_local(ctx, torch.ones(4, device="cuda").to(dtype), pt.Slab(0))
        assert small.redistribute(pt.Replicated()).local.dtype == dtype


@pytest.mark.skipif(FAKE or importlib.util.find_spec("cupy") is None, reason="CuPy on a GPU")
def test_the_current_stream_of_cupy(ctx):
    import cupy

    x = cupy.zeros(1 << 20)
    a = pt.from_local(ctx, x, pt.Slab(0))
    for value in range(1, 20):
        with cupy.cuda.Stream(non_blocking=True):
            x.fill(value)
            y = a.redistribute(pt.Replicated()).local
            assert isinstance(y, cupy.ndarray) and bool((y == value).all())
            assert bool((pt.all_reduce(ctx, x) == value * ctx.size).all())
            cupy.cuda.get_current_stream().synchronize()
    assert float((a + 1).sum()) > 0
