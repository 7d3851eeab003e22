"""Arrays: made of what people have, seen, gathered, reduced."""

import array as arrays_of_python
import gc
import sys
import weakref

import numpy as np
import pytest
from shapes import part, rules, spread, whole

import partita as pt

DTYPES = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 complex64 complex128".split()


@pytest.mark.parametrize("dtype", DTYPES)
def test_local_memory_is_wrapped_not_copied(ctx, dtype):
    local = whole((3, 2), dtype)
    a = pt.from_local(ctx, local, pt.Slab(0))
    assert a.local is local and a.dtype == local.dtype and a.shape == (3 * ctx.size, 2) and a.local_shape == (3, 2)
    assert (a.gather() == np.concatenate([local] * ctx.size)).all()
    assert np.shares_memory(a[:, 1:].local, local) and np.shares_memory(a.T.local, local)


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_local_memory_of_ml_dtypes(ctx, name):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    local = whole((3, 2), getattr(ml_dtypes, name))
    a = pt.from_local(ctx, local, pt.Slab(0))
    assert a.local is local and a.dtype == local.dtype and a.redistribute(pt.Slab(1)).dtype == local.dtype
    assert (a.gather() == np.concatenate([local] * ctx.size)).all() and (a.astype("float32").local == local).all()
    np.testing.assert_array_equal(pt.broadcast(ctx, local.copy()), local)
    local[0, 0] = 5
    assert a.at((0, 0)) == 5 and (a + a).dtype == local.dtype


def test_shapes_are_what_the_parts_add_up_to(ctx):
    for shape in [(7, 5), (1, 1), (ctx.size, 9), (0, 4)]:
        for rule in rules(ctx.size):
            layout = pt.Layout(rule, shape, ctx.size)
            a = pt.from_local(ctx, np.zeros(layout.local_shape(ctx.rank)), rule)
            assert a.shape == shape and a.layout == layout


def test_memory_of_any_strides_and_kinds(ctx):
    source = whole((6, 8))
    for local in [source[::2, ::-2], np.asfortranarray(source), source.T, source[:0]]:
        a = pt.from_local(ctx, local, pt.Slab(0))
        assert a.local is local
        assert (a.gather() == np.concatenate([local] * ctx.size)).all()
    plain = pt.from_local(ctx, arrays_of_python.array("d", [1, 2, 3]), pt.Slab(0))
    assert plain.sum() == 6 * ctx.size
    words = pt.from_local(ctx, bytearray(b"abc"), pt.Slab(0))
    assert words.dtype == np.uint8 and words.shape == (3 * ctx.size,)


class OfDlpack:
    """What hands out memory by DLPack and can nothing else."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OfOldDlpack(OfDlpack):
    """Before its version 1.0, which said nothing of what may be written."""

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()


@pytest.mark.parametrize("of", [OfDlpack, OfOldDlpack, memoryview], ids=lambda of: of.__name__)
def test_memory_of_no_package_is_seen_by_numpy(ctx, of):
    memory = whole((4, 3))
    a = pt.from_local(ctx, of(memory), pt.Slab(0))
    assert a.shape == (4 * ctx.size, 3) and type(a.local) is np.ndarray and np.shares_memory(a.local, memory)
    a[1:2] = 7
    assert (memory[1] == 7).all() == (ctx.rank == 0)
    a += 1
    assert ((a + a).local == 2 * memory).all() and (a.gather()[:4] == pt.broadcast(ctx, memory.copy())).all()
    a.fill(5)
    assert (memory == 5).all()


def test_fill_takes_a_number(ctx):
    """In memory of the host as on devices, and not what NumPy makes of a text or a row."""
    a = pt.full(ctx, (3, 4), pt.Slab(0), 2.0)
    for value in ("3", b"3", None, [1.0], np.ones(4)):
        with pytest.raises(TypeError, match="fill: value: expected a number, got"):
            a.fill(value)
    with pytest.raises(TypeError, match="fill: value: expected a number, got str"):
        a[1:] = "3"
    assert a.gather(space="host").sum() == 24


def test_buffers_keep_their_size(ctx):
    buffer = bytearray(b"abc")
    a = pt.from_local(ctx, buffer, pt.Slab(0))
    with pytest.raises(BufferError):
        buffer.append(0)
    del a
    ctx.collect()
    gc.collect()
    buffer.append(0)


def test_what_may_only_be_read_is_only_read(ctx):
    local = whole((4, 2))
    local.flags.writeable = False
    a = pt.from_local(ctx, local, pt.Slab(0))
    assert (a.redistribute(pt.Slab(1)).gather() == a.gather()).all()
    out = pt.zeros(ctx, a.shape, pt.Slab(0))
    for write in [
        lambda: a.__setitem__(slice(0, 1), 0),
        lambda: np.add(a, 1, out=a),
        lambda: pt.redistribute(out, a),
        lambda: a[1:].__setitem__(slice(0, 1), 0),
        lambda: pt.Redistribute(out, a).execute(),
    ]:
        with pytest.raises(pt.ArgumentError, match="read-only"):
            write()
    assert not a[1:].local.flags.writeable
    assert (local == whole((4, 2))).all()


def test_what_one_rank_may_only_read_is_written_on_none(ctx):
    local = whole((4, 2))
    local.flags.writeable = ctx.rank != ctx.size - 1
    for shape in (None, (4 * ctx.size, 2)):
        a = pt.from_local(ctx, local, pt.Slab(0), shape)
        for write in [lambda: a.fill(0), lambda: pt.redistribute(pt.zeros(ctx, a.shape, pt.Slab(1)), a), lambda: np.add(a, 1, out=a)]:
            with pytest.raises(pt.ArgumentError, match="read-only"):
                write()
    ctx.barrier()
    assert (local == whole((4, 2))).all()


def test_owners_live_as_long_as_arrays_and_no_longer(ctx):
    class Owned(np.ndarray):
        pass

    local = np.zeros((2, 3)).view(Owned)
    seen = weakref.ref(local)
    a = pt.from_local(ctx, local, pt.Slab(0))
    window = a[1:]
    del local, a
    gc.collect()
    assert seen() is not None
    del window
    ctx.collect()
    gc.collect()
    assert seen() is None


def test_local_parts_keep_the_memory(ctx):
    local = pt.full(ctx, (40, 3), pt.Slab(0), 2.0).local
    gc.collect()
    ctx.collect()
    pt.full(ctx, (40, 3), pt.Slab(0), 5.0)
    assert (local == 2.0).all() and local.flags.writeable


def test_bad_parts_are_refused_on_every_rank(ctx):
    with pytest.raises(pt.ArgumentError, match="local part of rank"):
        pt.from_local(ctx, np.zeros((2 if ctx.rank else 3, 2)), pt.Slab(0), (2 * ctx.size, 2))
    with pytest.raises(TypeError, match="datetime64"):
        pt.from_local(ctx, np.zeros(3, "datetime64[s]"), pt.Slab(0), (3 * ctx.size,))
    for nothing in [3.0, [1, 2], None]:
        with pytest.raises(TypeError, match="from_local: expected an array with DLPack"):
            pt.from_local(ctx, nothing, pt.Slab(0))
    many = np.zeros((1,) * (9 if ctx.rank == ctx.size - 1 else 2))
    with pytest.raises(pt.ArgumentError, match="9 dimensions"):
        pt.from_local(ctx, many, pt.Slab(0))
    with pytest.raises(pt.ArgumentError, match="9 dimensions"):
        pt.scatter(ctx, many, pt.Slab(0), root=ctx.size - 1)
    with pytest.raises(pt.ArgumentError, match=">f8"):
        pt.empty(ctx, (3,), pt.Slab(0), ">f8")
    with pytest.raises(pt.ArgumentError, match="has no mesh"):
        pt.empty(ctx, (3,), pt.P("x"))
    with pytest.raises(pt.ArgumentError, match="float128|longdouble|is not supported"):
        pt.empty(ctx, (3,), pt.Slab(0), "longdouble")
    ctx.barrier()


def test_arrays_begin_with_what_is_asked(ctx):
    for rule in rules(ctx.size):
        for name, made, wanted in [
            ("zeros", pt.zeros(ctx, (5, 7), rule, "int32"), np.zeros((5, 7), "int32")),
            ("full", pt.full(ctx, (5, 7), rule, 2 + 1j), np.full((5, 7), 2 + 1j)),
            ("eye", pt.eye(ctx, 5, 7, distribution=rule, diagonal=1), np.eye(5, 7, 1)),
            ("function", pt.from_function(ctx, (5, 7), rule, lambda i, j: 10.0 * i + j), np.fromfunction(lambda i, j: 10.0 * i + j, (5, 7))),
            ("scatter", pt.scatter(ctx, whole((5, 7)) if ctx.rank == ctx.size - 1 else None, rule, root=ctx.size - 1), whole((5, 7))),
        ]:
            assert made.dtype == wanted.dtype and (made.gather() == wanted).all(), (name, rule)
    assert (pt.arange(ctx, 2, 30, 3, distribution=pt.Slab(0)).gather() == np.arange(2, 30, 3)).all()
    assert (pt.arange(ctx, 1.0, 0.0, -0.25, distribution=pt.Slab(0)).gather() == np.arange(1.0, 0.0, -0.25)).all()
    for dtype in ("float32", "float16"):  # in which steps are rounded
        for given in ((0, 0.3, 0.1), (0, 0.6, 0.2), (0, 1, 0.1), (0, 0.9, 0.3)):
            made = pt.arange(ctx, *given, distribution=pt.Slab(0), dtype=dtype)
            assert made.shape == np.arange(*given, dtype=dtype).shape, (dtype, given)
    for value in (False, True, 0, 1):
        assert (pt.full(ctx, (3,), pt.Slab(0), value, "bool").gather() == np.full(3, value, "bool")).all()
    assert not pt.zeros(ctx, (3,), pt.Slab(0), bool).any()
    with pytest.raises(pt.ArgumentError, match="is no bool"):
        pt.full(ctx, (3,), pt.Slab(0), 2, "bool")
    if ctx.size > 1:
        for differing in ({"seed": ctx.rank}, {"normal": ctx.rank == 1}):
            with pytest.raises(pt.DisagreementError, match="seed and normal"):
                pt.random(ctx, (3,), pt.Replicated(), **differing)
    assert pt.random(ctx, (3,), pt.Replicated(), seed=2**64 - 1).shape == (3,)
    a, b = (pt.random(ctx, (6, 5), rule, "complex64", seed=7) for rule in (pt.Slab(0), pt.Slab(1)))
    assert (a.gather() == b.gather()).all() and len(np.unique(a.gather())) == 30
    with pt.Mesh({"x": ctx.size}):
        assert pt.zeros(ctx, (4, 4), pt.P("x", None)).distribution == pt.Partitioned(pt.current_mesh(), pt.P("x", None))


def test_redistribution_between_all_rules(ctx):
    source = whole((9, 11))
    for rule in rules(ctx.size):
        a = spread(ctx, source, rule)
        for other in rules(ctx.size):
            b = a.redistribute(other)
            assert (b.local == part(source, b.layout, ctx.rank)).all()
        into = pt.zeros(ctx, (11, 9), rule)
        assert pt.redistribute(a, into, axes=[1, 0]) is into and (into.gather() == source.T).all()
        assert (a.redistribute(a.layout).gather() == source).all()
    plan = pt.Redistribute(a, b)
    a.local[...] += 1
    assert plan.execute() is b and (b.gather() == source + 1).all() and "redistribute" in plan.explain()


def test_windows_and_transposed_arrays(ctx):
    source = whole((9, 11))
    for rule in rules(ctx.size):
        a = spread(ctx, source, rule)
        for key in [slice(2, 7), (slice(None), slice(-4, None)), (Ellipsis, slice(0, 3)), (slice(3, 3),), slice(100, 200)]:
            assert (a[key].gather() == source[key]).all()
        assert (a.T.gather() == source.T).all() and (a[1:4].T[2:].gather() == source[1:4].T[2:]).all()
        a[2:5, 1:] = -1
        changed = source.copy()
        changed[2:5, 1:] = -1
        a[7:8] = a[7:8] * 2
        changed[7:8] *= 2
        assert (a.gather() == changed).all()
    for turned in (np.transpose(a), np.transpose(a, (1, 0)), a.transpose((1, 0)), a.transpose(1, 0), a.transpose()):
        assert (turned.gather() == changed.T).all()
    assert (a.transpose([0, -1]).gather() == changed).all()
    for key in [9, (0, 0, 0), (Ellipsis, Ellipsis)]:
        with pytest.raises(pt.ArgumentError):
            a[key]
    a[1:2] = np.zeros(11)
    changed[1:2] = 0
    assert (a.gather() == changed).all()
    assert a.at((8, 10)) == source[8, 10]


def test_reductions(ctx):
    source = np.cos(whole((6, 7)))
    for rule in rules(ctx.size):
        a = spread(ctx, source, rule)
        for name in "sum prod min max mean any all".split():
            assert getattr(a, name)() == pytest.approx(getattr(source, name)(), rel=1e-13), name
            for axis in (0, -1, (0, 1)):
                found = getattr(a, name)(axis, keepdims=True).gather()
                np.testing.assert_allclose(found, getattr(source, name)(axis, keepdims=True), rtol=1e-13, atol=1e-13)
        assert pt.norm(a) == pytest.approx(np.linalg.norm(source)) and np.sum(a) == a.sum() and np.mean(a) == a.mean()
        assert (np.mean(a, axis=0).gather() == a.mean(0).gather()).all()
        assert pt.vdot(a, a) == pytest.approx((source**2).sum()) and pt.vdot(a * 1j, a * (1 + 0j)) == pytest.approx(-1j * (source**2).sum())
        on_root = a.sum(0, root=ctx.size - 1)
        assert on_root.local_shape == ((7,) if ctx.rank == ctx.size - 1 else (0,))
    with pytest.raises(pt.ArgumentError):
        a.sum(2)
    assert np.mean(a, dtype="float32") == np.float32(np.mean(a, dtype="float32"))
    assert spread(ctx, whole((3, 3), "int8"), pt.Slab(0)).sum(0, dtype="int16").dtype == np.int16
    assert isinstance(spread(ctx, whole((3, 3), "int8"), pt.Slab(0)).sum(), int)


def test_gathering_copies_printing(ctx):
    source = whole((4, 5), "float32")
    a = spread(ctx, source, pt.Slab(1))
    root = a.gather(root=ctx.size - 1)
    assert (root is None) == (ctx.rank != ctx.size - 1)
    if root is not None:
        assert (root == source).all()
    assert (a.astype("int64").gather() == source).all() and a.astype(np.int64).dtype == np.int64
    copied = a.copy()
    copied[...] = 0
    assert (a.gather() == source).all()
    assert a.to_string() == np.array2string(source)
    assert "4x5 slab:1" in repr(a) and str(a.local) in str(a)
    assert np.array_equal([row.gather() for row in a], source) and len(a) == 4 and a.nbytes == 4 * 5 * 4 and a.itemsize == 4
    for what in [bool, np.asarray, float]:
        with pytest.raises((TypeError, ValueError)):
            what(a)


def test_texts_are_numpys(ctx):
    """Numbers of every dtype, near each other and far apart, cut, in several lines, and of more dimensions."""
    random, nan, inf = np.random.default_rng(7), np.nan, np.inf
    samples = [
        random.normal(size=(7, 3)), random.normal(size=30) * 1e-3, random.normal(size=40) * 10.0 ** random.integers(-20, 20, 40),
        np.array([1.30400005, 1.74880904]), np.array([3.3e9, 9.05e-6]), np.array([0.1 + 0.2, 1.0]), np.array([1e16, 1.0]),
        np.array([nan, 1.0, -inf]), np.array([nan, inf]), np.array([nan, 1e9, -inf, -0.0]), np.zeros(3), np.array([0.0, -1e-300]),
        np.array([99999.5, 0.00010001]), np.array([999999.5, 1234.0]), np.array([1000.0, 1.0]), np.array([1001.0, 1.0]), np.arange(2000.0), random.normal(size=(30, 40)),
        random.normal(size=(2, 3, 4)), random.integers(-1000, 1000, (9, 20)).astype(float), np.array([[1e100, nan], [1.5, 2.5]]),
    ]  # fmt: skip
    for x in samples:
        for dtype in ("float64", "float32", "float16", "complex128", "complex64", "int64", "int8", "bool"):
            with np.errstate(all="ignore"):
                y = (x - 2j * x[::-1]).astype(dtype) if "complex" in dtype else x.astype(dtype)
            a = spread(ctx, y, pt.Slab(0))
            assert a.to_string() == np.array2string(y), (dtype, y)
            assert a.to_string(threshold=5, edge=1, precision=3) == np.array2string(y, threshold=5, edgeitems=1, precision=3)
    for x in (np.array(1.5), np.array(True), np.array(-3), np.zeros((0, 4))):
        assert pt.full(ctx, x.shape, pt.Replicated(), x.item() if x.size else 0.0).to_string() == np.array2string(x)


def test_packages_are_kept(ctx):
    torch = pytest.importorskip("torch")
    local = torch.arange(6.0).reshape(3, 2)
    a = pt.from_local(ctx, local, pt.Slab(0))
    assert a.local is local
    b = a.redistribute(pt.Slab(1)) + 1
    assert isinstance(b.local, torch.Tensor) and isinstance((a.T @ a).local, torch.Tensor)


def test_references_are_balanced(ctx):
    local = np.zeros((3, 3))
    before = sys.getrefcount(local)
    for _ in range(50):
        pt.from_local(ctx, local, pt.Slab(0), (3 * ctx.size, 3))
    ctx.collect()
    assert sys.getrefcount(local) == before


def test_a_default_context_and_distribution(ctx):
    """Functions that make arrays need neither, and layouts that differ are redistributed."""
    with pt.default(ctx, pt.Slab(1)):
        a = pt.zeros((4, 6))
        assert a.layout == pt.Layout(pt.Slab(1), (4, 6), ctx.size) and pt.ones(3, dtype="int8").dtype == np.int8
        for made in (pt.full((), 2.0), pt.arange(5), pt.linspace(0, 1, 7), pt.random((3, 4)), pt.eye(3), pt.fft.fftfreq(8)):
            assert made.context == ctx
        assert (pt.linspace(0, 1, 7).gather() == np.linspace(0, 1, 7)).all() and (pt.fft.rfftfreq(9, 0.5).gather() == np.fft.rfftfreq(9, 0.5)).all()
        assert all((pt.fft.fftfreq(n, 0.5).gather() == np.fft.fftfreq(n, 0.5)).all() for n in (8, 9))
        like = pt.empty_like(a, "float32")
        assert like.layout == a.layout and like.dtype == np.float32 and pt.empty_like(a).dtype == a.dtype and pt.empty_like(a, shape=3).shape == (3,)
        assert pt.zeros((4, 6), pt.Slab(0)).distribution == pt.Slab(0) and pt.zeros(ctx, (4, 6), pt.Slab(0)).distribution == pt.Slab(0)
        b = pt.full((4, 6), 2.0, distribution=pt.Slab(0))
        assert ((a + b).gather() == 2).all() and (a + b).layout == a.layout and (np.where(b > 1, a, b).gather() == 0).all()
        a += b
        assert (a.gather() == 2).all()
    with pytest.raises(TypeError, match="argument: 'distribution'"):
        pt.zeros((4, 6), pt.Slab(0))
    if ctx.size > 1:
        with pytest.raises(pt.ArgumentError, match="the layouts differ"):
            a + b
    n = pt.normal(ctx, (2000,), pt.Slab(0), loc=3.0, scale=0.5, seed=1)
    assert abs(n.mean() - 3) < 0.1 and abs(n.std() - 0.5) < 0.1
