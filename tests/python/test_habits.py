"""What users of NumPy pass and expect: it is right, or it says what is wrong. Silence is what must not be."""

import copy
import ctypes
import pickle
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest
from shapes import spread, whole

import partita as pt
from partita._numpy_functions import instead


def numbers(ctx):
    return np.arange(12.0).reshape(3, 4) + ctx.rank


def test_memory_in_any_form(ctx):
    x = numbers(ctx)
    total = sum(np.arange(12.0).reshape(3, 4) + rank for rank in range(ctx.size))
    frozen = x.copy()
    frozen.flags.writeable = False
    forms = {
        "F": (np.asfortranarray(x), total),
        "backwards": (x[::-1, ::-1], total[::-1, ::-1]),
        "frozen": (frozen, total),
        "broadcast": (np.broadcast_to(x[0], (3, 4)), np.broadcast_to(total[0], (3, 4))),
        "imaginary": ((1j * x).imag, total),
        "memoryview": (memoryview(x)[::2], total[::2]),
        "no dimension": (x[1, 1, ...], total[1, 1]),
        "nothing": (x[:, :0], total[:, :0]),
        "ctypes": ((ctypes.c_double * 4)(*x[0]), total[0]),
        "ctypes, two dimensions": (((ctypes.c_double * 4) * 3)(*(tuple(row) for row in x)), total),
        "a number of ctypes": (ctypes.c_double(x[1, 1]), total[1, 1]),
        "unaligned": (np.frombuffer(b"x" + x.tobytes(), np.float64, offset=1).reshape(3, 4), total),
    }
    for name, (form, wanted) in forms.items():
        found = pt.all_reduce(ctx, form, np.zeros(np.shape(wanted)))
        assert np.array_equal(found, wanted), name
        rule = "slab:0" if np.ndim(wanted) else "replicated"
        assert np.array_equal(pt.from_local(ctx, form, rule).local, np.asarray(form)), name
    into = (ctypes.c_double * 4)()
    assert pt.all_reduce(ctx, x[0], into) is into and list(into) == list(total[0])


def test_memory_that_says_something_else(ctx):
    x = numbers(ctx)
    masked = np.ma.masked_array(x, x > 5)
    for what, one in {
        "masked": masked,
        "dtype >f8": x.astype(">f8"),
        "dtype object": x.astype(object),
        "dtype float128": x.astype(np.longdouble),
        "datetime64": np.zeros((3, 4), "M8[s]"),
        "dtype <U": x.astype(str),
        "'a'": np.zeros((3, 4), [("a", "f8"), ("b", "i4")]),
        "strides of whole elements": np.zeros((3, 4), [("a", "f4"), ("b", "f8")])["b"],
    }.items():
        with pytest.raises(TypeError, match=what):
            pt.from_local(ctx, one, "slab:0")
        with pytest.raises(TypeError, match=what):
            pt.all_reduce(ctx, one, np.zeros((3, 4)))
        if not what.startswith("strides"):  # a source is made dense
            with pytest.raises(TypeError, match=what):
                pt.scatter(ctx, one, "slab:0")
    ctx.barrier()


def test_scattered_numbers(ctx):
    assert pt.scatter(ctx, 3.0, "replicated").local == 3.0 and pt.scatter(ctx, [[1, 2]], "slab:1").gather().tolist() == [[1, 2]]


def test_dtypes_that_are_not_said(ctx):
    for make in (pt.zeros, pt.empty):
        assert make(ctx, 3, "slab:0", None).dtype == np.zeros(3, None).dtype


def test_functions_of_numpy(ctx):
    x = whole((6, 4))
    a = spread(ctx, x, pt.Slab(0))
    assert np.sum(a) == x.sum() and np.max(a) == x.max() and np.mean(a) == x.mean() and np.any(a) and np.all(a)
    assert (np.sum(a, axis=np.int64(0)).gather() == x.sum(0)).all() and np.min(a, axis=(0, 1)).gather() == x.min() and np.prod(a) == x.prod()
    assert np.shape(a) == (6, 4) and np.ndim(a) == 2 and np.size(a) == 24 and np.transpose(a).shape == (4, 6)
    assert (np.transpose(a, np.array([1, 0])).gather() == x.T).all()
    assert np.array_equal(a, a) and np.allclose(a, a + 1e-12) and np.linalg.norm(a) == pytest.approx(np.linalg.norm(x))
    assert (np.concatenate((a, a)).gather() == np.concatenate((x, x))).all() and (np.where(a > 3, a, 0).gather() == np.where(x > 3, x, 0)).all()
    np.testing.assert_allclose(np.fft.fft(a.astype(complex)).gather(), np.fft.fft(x), rtol=1e-12)
    assert np.trace(a) == np.trace(x) and np.linalg.det(a[:4] * 0 + np.eye(4)) == pytest.approx(1) and np.argmax(a) == 23
    for function in (np.ediff1d, np.linalg.tensorinv, np.unwrap):
        with pytest.raises(TypeError, match=r"np\.[\w.]+ does not support distributed arrays.*gather"):
            function(a)
    for call in (np.asarray, np.array, np.copy):
        with pytest.raises(TypeError, match="gather"):
            call(a)
    for call in (np.add.accumulate, lambda one: np.add.outer(one, one)):
        with pytest.raises(pt.ArgumentError):
            call(a)


#: By the name of a function of NumPy that is refused, a call of it.
REFUSED = {
    "argpartition": lambda a: np.argpartition(a, 2),
    "array_equiv": lambda a: np.array_equiv(a, a),
    "array_repr": lambda a: np.array_repr(a),
    "array_str": lambda a: np.array_str(a),
    "atleast_1d": lambda a: np.atleast_1d(a),
    "atleast_2d": lambda a: np.atleast_2d(a),
    "atleast_3d": lambda a: np.atleast_3d(a),
    "block": lambda a: np.block([a, a]),
    "broadcast_arrays": lambda a: np.broadcast_arrays(a, a),
    "can_cast": lambda a: np.can_cast(a, "float32"),
    "choose": lambda a: np.choose(a, [a, a]),
    "compress": lambda a: np.compress([True], a),
    "copy": lambda a: np.copy(a),
    "copyto": lambda a: np.copyto(a, a),
    "delete": lambda a: np.delete(a, 1),
    "ediff1d": lambda a: np.ediff1d(a),
    "extract": lambda a: np.extract(a, a),
    "fix": lambda a: np.fix(a),
    "insert": lambda a: np.insert(a, 1, 2.0),
    "iscomplexobj": lambda a: np.iscomplexobj(a),
    "isrealobj": lambda a: np.isrealobj(a),
    "partition": lambda a: np.partition(a, 2),
    "place": lambda a: np.place(a, a, [1.0]),
    "putmask": lambda a: np.putmask(a, a, 1.0),
    "resize": lambda a: np.resize(a, 3),
    "result_type": lambda a: np.result_type(a, a),
    "save": lambda a: np.save("a.npy", a),
    "select": lambda a: np.select([a], [a]),
}


def test_every_alternative_is_named():
    assert set(REFUSED) == set(instead)


@pytest.mark.parametrize("name", REFUSED)
def test_alternatives_to_functions_of_numpy(ctx, name):
    a = spread(ctx, whole((6, 4)), pt.Slab(0))
    with pytest.raises(pt.TypeError) as caught:
        REFUSED[name](a)
    assert str(caught.value) == (
        f"np.{name} does not support distributed arrays: use {instead[name]}, .gather(), which communicates, or .local, this rank's part"
    )


def test_indices(ctx):
    x = whole((6, 4))
    a = spread(ctx, x, pt.Slab(0))
    for key in (..., (), (..., slice(1, 3)), slice(1, 100), slice(5, 2), (slice(-2, None), ...)):
        assert np.array_equal(a[key].gather(), x[key])
    for key, what in (
        (6, "index 6 is out of range"),
        ("x", "expected integers, slices, None"),
        ((..., ...), "2 indices"),
    ):
        for use in (lambda key=key: a[key], lambda key=key: a.__setitem__(key, 0)):
            with pytest.raises(IndexError, match=what) as caught:
                use()
            assert isinstance(caught.value, pt.IndexError)
    for use in (lambda: a[x[:3] > 0], lambda: a[[7]], lambda: pt.take(a, [9], 1), lambda: a.sum(4), lambda: a[[0, 1], [0, 1, 2]], lambda: a[[1.5]]):
        with pytest.raises(IndexError):
            use()
    assert np.array_equal(a.gather(), x)
    for key in ([0, 1], x > 3, np.array([5, -1, 0]), (slice(1, 3), [0, 2])):
        assert np.array_equal(a[key].gather(), x[key])
    assert np.array_equal(a[a > 3].gather(), x[x > 3])
    a[a > 12], x[x > 12] = 0, 0
    a[x > 8], x[x > 8] = 1, 1
    assert np.array_equal(a.gather(), x)
    with pytest.raises(pt.ArgumentError, match=r"an array of shape \(6, 4\) cannot be broadcast to \(\d+,\)"):
        a[a > 0] = a
    a[[0, 1]], x[[0, 1]] = [[1], [2]], [[1], [2]]
    assert np.array_equal(a.gather(), x)


def test_operators_in_place(ctx):
    x = whole((6, 4))
    a = spread(ctx, x, pt.Slab(0))
    part, whole_part = a.local, a
    a += 1
    a *= np.float32(2)
    a **= np.int8(2)
    a[:2] -= 1
    a[2:] = a[2:] / 2
    wanted = ((x + 1) * 2) ** 2
    wanted[:2] -= 1
    wanted[2:] /= 2
    assert a is whole_part and a.local is part and np.array_equal(a.gather(), wanted)
    with pytest.raises(TypeError):  # NumPy's, too
        a -= 1j
    with pytest.raises(pt.ArgumentError, match="expected a distributed array or a number, got range"):
        a += range(4)
    integers = spread(ctx, whole((6, 4), int), pt.Slab(0))
    with pytest.raises(TypeError):
        integers += 0.5
    with pytest.raises(OverflowError):
        spread(ctx, whole((6, 4), "int8"), pt.Slab(0)) + 1000
    b = spread(ctx, x, pt.Slab(0))
    b[:, 1:] = b[:, :-1]  # overlapping
    assert np.array_equal(b.gather(), x[:, [0, 0, 1, 2]])


def test_copies(ctx):
    a = spread(ctx, whole((6, 4)), pt.Slab(0))
    b = a.copy()
    b += 1
    assert np.array_equal(a.gather(), whole((6, 4)))
    for call in (copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match=r"\.copy\(\), a collective call"):
            call(a)
    with pytest.raises(TypeError, match="partita.io"):
        pickle.dumps(a)
    for made in (pt.Matmul(a, a.T), pt.fft.FFT(a.astype("complex128")), pt.Halo(a, (1, 0)), pt.SymmetricArray(ctx, 3), pt.Redistribute(a, a.copy())):
        for call in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match=f"{type(made).__name__}: it belongs to its context"):
                call(made)
    # What has a context is copied with the same one.
    assert copy.copy(ctx) is ctx and copy.deepcopy({"context": ctx, "rank": 3}) == {"context": ctx, "rank": 3}
    with pytest.raises(TypeError, match="a context cannot be pickled"):
        pickle.dumps(ctx)
    seen = weakref.ref(a)
    assert seen() is a
    layout, part = pickle.loads(pickle.dumps((a.layout, a.local)))
    assert np.array_equal(pt.from_local(ctx, part, layout.distribution, layout.shape).gather(), a.gather())


def test_what_no_option_is_called(ctx):
    a = pt.zeros(ctx, (4, 4), "slab:0", "complex128")
    for call, what in (
        (lambda: pt.fft.fft(a, length=8), "fft: unknown option length; known: .*method"),
        (lambda: pt.matmul(a, a, speed=1), "matmul: unknown option speed; known: .*epilogue"),
        (lambda: pt.redistribute(a, a.copy(), speed=1), "redistribute: unknown option speed"),
        (lambda: pt.fft.fft(a, method=3), "fft: method: expected str, got int$"),
        (lambda: a.redistribute(None), "expected a distribution.* got NoneType"),
    ):
        with pytest.raises(TypeError, match=what):
            call()


def test_an_axis_is_named_once(ctx):
    a, line = pt.ones(ctx, (3, 3), pt.Slab(0)), pt.ones(ctx, (1, 3), pt.Slab(1))
    calls = {name: lambda name=name: getattr(pt, name)(a, axis=(0, -2)) for name in ("sum", "median", "var", "nanmax", "count_nonzero", "flip", "gradient")}
    for order in (None, "fro", 1, -np.inf, 2, "nuc"):
        calls[f"norm {order}"] = lambda order=order: pt.norm(a, order, (0, -2))
    calls["squeeze"], calls["expand_dims"] = (lambda: pt.squeeze(line, (0, 0))), (lambda: pt.expand_dims(a, (1, -3)))
    for name, call in calls.items():
        with pytest.raises(pt.ArgumentError, match="axis . is named twice"):
            call()
            pytest.fail(name)


def test_arguments_of_wrong_types_are_named(ctx):
    """The argument, what is expected, and what was given, in one line; of the library's classes, too."""
    a, here = pt.zeros(ctx, (4, 4), "slab:0"), np.zeros(3)
    of_all = [
        (lambda: pt.zeros(ctx, "abc", "slab:0"), "zeros: shape: expected an integer or a sequence of integers, got 'abc'"),
        (lambda: pt.zeros(ctx, (4, 2.5), "slab:0"), r"zeros: shape: expected an integer .* got \(4, 2.5\)"),
        (lambda: pt.zeros(ctx, (4, 2**70), "slab:0"), r"zeros: shape: expected tuple\[int, ...\], and this tuple does not fit"),
        (lambda: pt.zeros(ctx, 4, "slab:0", order=3), "zeros: order: expected str, got int"),
        (lambda: pt.random(ctx, 4, "slab:0", seed="x"), "seed|integer"),
        (lambda: pt.eye(ctx, 4, "5", distribution="slab:0"), "eye: columns: expected int, got str"),
        (lambda: a.sum(axis="x"), "sum: axis: expected an integer or a sequence of integers, got 'x'"),
        (lambda: a.sum(0, root="x"), r"sum: root: expected int \| None, got str"),
        (lambda: a.at(["x", 1]), r"at: index: expected tuple\[int, ...\], and this tuple does not fit"),
        (lambda: pt.broadcast(ctx, here, "0"), "broadcast: root: expected int, got str"),
        (lambda: pt.all_reduce(ctx, here, reduction=7), "all_reduce: reduction: expected str, got int"),
        (lambda: a @ range(4), r"expected a distributed array, got range; partita.from_local\(context, x, partita.Replicated\(\)\)"),
        (lambda: a + range(4), r"expected a distributed array or a number, got range; partita.from_local\(context, x, partita.Rep"),
    ]
    for call, what in of_all:
        with pytest.raises(pt.ArgumentError, match=what) as caught:
            call()
        assert "\n" not in str(caught.value)
    for call, what in (
        (lambda: pt.Slab("x"), r"^Slab\(\): axis: expected int, got str$"),
        (lambda: pt.Slab(), r"^Slab\(\): the argument axis is missing: int$"),
        (lambda: pt.Slab(0, 1, 2, 3, 4), r"^Slab\(\): takes \d arguments, got 5$"),
        (lambda: pt.Slab(0, size=3), r"^Slab\(\): there is no argument size$"),
        (lambda: pt.BlockCyclic((1, 2), 3), r"^BlockCyclic\(\): .*block.*: expected tuple\[int, ...\], got int$"),
        (lambda: pt.Mesh(3), r"^Mesh\(\): axes: expected dict\[str, int\], got int$"),
        (lambda: pt.Mesh({"x": "y"}), r"^Mesh\(\): axes: expected a size of type int, got str$"),
        (lambda: pt.P(3), r"^P\(\): dimensions: expected str, a sequence of str or None, got int$"),
        (lambda: pt.ProcessGrid("a"), r"^ProcessGrid\(\): extents: expected tuple\[int, ...\], got str$"),
        (lambda: pt.Layout(pt.Slab(0), (4,), 2**40), r"^Layout\(\): one of these: shape: .*; ranks: expected int, and this int does not fit$"),
        (lambda: a.layout.local_shape("x"), r"^local_shape\(\): rank: expected int, got str$"),
    ):
        with pytest.raises(TypeError, match=what):
            call()
    ctx.barrier()


def test_no_context_where_one_is_wanted(ctx):
    for call in (
        lambda: pt.empty((4, 4), (4, 4), "slab:0"),
        lambda: pt.all_reduce(np.ones(3), np.ones(3)),
        lambda: pt.SymmetricArray((3,), "float64"),
        lambda: pt.from_local(context=np.ones(3), local=np.ones(3), distribution="slab:0"),
        lambda: pt.send(3, np.ones(3), 0),
    ):
        with pytest.raises(pt.TypeError, match="expected a context as the first argument, got (tuple|ndarray|int)"):
            call()
    with pytest.raises(TypeError, match="made by from_local"):
        pt.Array(np.ones(3))
    with pytest.raises(TypeError, match="made by initialize"):
        pt.Context(None)
    with pytest.raises(TypeError, match="a distributed array"):
        pt.fft.irfft(np.ones(3))
    ctx.barrier()


def test_no_axes(ctx):
    """An empty list is none, and not all; and a scalar has none."""
    a, scalar = pt.zeros(ctx, (4, 6), "slab:0"), pt.full(ctx, (), pt.Replicated(), 2.0)
    z = a.astype("complex128")
    for call in (
        lambda: pt.fft.fftn(z, axes=()),
        lambda: pt.fft.irfftn(z, axes=[]),
        lambda: pt.fft.FFT(z, axes=()),
        lambda: pt.spectral.gradient(a, axes=()),
        lambda: pt.spectral.convolve(a, a, axes=()),
        lambda: pt.spectral.solve_poisson(a, axes=np.zeros(0, int)),
    ):
        with pytest.raises(pt.ArgumentError, match="no axes are given"):
            call()
    for call in (
        lambda: pt.fft.fftn(scalar.astype("complex128")),
        lambda: pt.spectral.gradient(scalar),
        lambda: pt.spectral.convolve(scalar, scalar),
        lambda: pt.spectral.solve_poisson(scalar),
        lambda: pt.spectral.multiply(scalar, lambda k: 1.0),
    ):
        with pytest.raises(pt.ArgumentError, match="a scalar has no axis"):
            call()


def test_what_functions_of_the_program_give(ctx):
    """Numbers, in the shape that is wanted; not nothing, which NumPy takes for nan, nor what a mask hides."""
    for given, what in ((None, "has returned None"), (np.ma.array([1.0], mask=[True]), "masked arrays are not supported"), ("x", "could not convert"), (1j, "complex")):
        with pytest.raises(pt.ArgumentError, match=what):
            pt.from_function(ctx, (4, 3), "slab:0", lambda i, j, given=given: given)
    assert pt.from_function(ctx, (4, 3), "slab:0", lambda i, j: 2).sum() == 24


def test_variances_of_infinities_and_nan(ctx):
    x = np.array([[np.inf, 1, np.nan], [1, 2, 3]])  # sums that are exact in any order
    a = spread(ctx, x, pt.Slab(1))
    with np.errstate(invalid="ignore"):
        assert np.isnan(pt.nanvar(a)) and np.isnan(pt.nanstd(a))
        assert np.array_equal(pt.nanvar(a, 1).gather(), np.nanvar(x, 1), equal_nan=True)


def test_overlapping_windows(ctx):
    """What overlaps is refused, on all ranks; what lies between the other's elements is not."""
    main, x = ctx, whole((6, 8))
    for source, destination, overlap in (
        (lambda a: a, lambda a: a.T, True),
        (lambda a: a[:, 0:7], lambda a: a[:, 1:8], True),
        (lambda a: a[:, 0:4], lambda a: a[:, 4:8], False),
    ):
        ctx = main.split(0)
        a = spread(ctx, x if not overlap or source(x).shape[1] == 7 else x[:, :6], pt.Slab(0))
        before = a.gather()
        if overlap:
            for call in (pt.redistribute, lambda *given: pt.Redistribute(*given).execute()):
                with pytest.raises(pt.ArgumentError, match="overlap in memory"):
                    call(source(a), destination(a))
            assert not ctx.failed and np.array_equal(a.gather(), before)
        else:
            pt.redistribute(source(a), destination(a))
            assert np.array_equal(a.gather(), np.concatenate([x[:, :4], x[:, :4]], 1))
    main.barrier()


def test_traffic_without_a_context():
    def body(ctx):
        a = pt.zeros(ctx, (4, 4), "slab:0")
        with pt.traffic() as moved:
            a.redistribute("slab:1")
        assert len(moved.operations) == 1
        other = ctx.split(0)
        with pytest.raises(pt.ArgumentError, match="pass the context"):
            pt.traffic()
        with pytest.raises(TypeError, match="expected a context, got int"):
            pt.traffic(3)
        other.barrier()

    pt.run(2, body)


def test_threads_with_a_context_each():
    """Several at once, each with one of its own; and the arrays of one are dropped by another."""
    kept, errors = [], []

    def work(seed):
        try:
            with pt.initialize(device="cpu") as ctx:
                for turn in range(30):
                    a = pt.random(ctx, (16, 16), "slab:0", seed=seed)
                    kept.append(a @ a.T + turn)
                    assert np.isclose((a * 2).sum(), 2 * a.sum()) and pt.all_reduce(ctx, np.ones(3)).sum() == 3
                    if len(kept) > 20:
                        del kept[:10]
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not errors, errors
    kept.clear()


def test_threads_with_one_context():
    """One is in it at a time; who comes second is told so, and nothing is wrong afterwards."""
    with pt.initialize(device="cpu") as ctx:
        a, wrong, done = pt.random(ctx, (32, 32), "slab:0"), [], [0]

        def work(number):
            for _ in range(300):
                try:
                    (lambda: pt.zeros(ctx, 4, "slab:0"), lambda: a @ a, a.sum, lambda: pt.all_reduce(ctx, np.ones(3)))[number]()
                    done[0] += 1
                except pt.ArgumentError as error:
                    if "another thread" not in str(error):
                        wrong.append(error)
                except BaseException as error:
                    wrong.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert not wrong and done[0] > 0, wrong
        assert np.allclose((a @ a).gather(), a.local @ a.local)


@pytest.mark.parametrize("end", ["", "sys.exit(3)", "raise KeyError('end')", "del ctx", "import gc; gc.collect()"])
def test_programs_that_end_in_the_middle(end):
    """With contexts and arrays in cycles, in threads, in callbacks of exit."""
    text = f"""
import atexit, os, sys, threading, weakref
import numpy as np, partita as pt
class Holder:
    def __del__(self):
        self.a.local[0, 0] += 1
ctx = pt.initialize(device="cpu")
holder = Holder(); holder.a = pt.zeros(ctx, (8, 8), "slab:0"); holder.me = holder
later = weakref.finalize(holder, lambda a: a.local, holder.a @ holder.a)
atexit.register(lambda: holder.a + 1)
threading.Thread(target=lambda: holder.a + 1).start()
views = [holder.a.local[i:] for i in range(3)]
window = holder.a[2:].T
print("here", flush=True)
{end}
"""
    ended = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
    wanted = {"sys.exit(3)": 3, "raise KeyError('end')": 1}.get(end, 0)
    assert ended.returncode == wanted and ended.stdout == "here\n", ended
    assert "Traceback" not in ended.stderr or end.startswith("raise"), ended


def test_assignment_of_another_view_of_the_memory(ctx):
    """NumPy's result, although the windows have different layouts."""
    for shape in ((13,), (13, 3)):
        for change in (
            lambda x: x.__setitem__(slice(1, None), x[:-1]),
            lambda x: x.__setitem__(slice(None, -2), x[2:]),
            lambda x: x.__setitem__(slice(None), x[::-1]),
            lambda x: x.__setitem__(slice(3, 9), x[:6]),
        ):
            wanted = np.arange(np.prod(shape), dtype="float64").reshape(shape)
            found = spread(ctx, wanted, pt.Slab(0))
            wanted = wanted.copy()
            change(wanted)
            change(found)
            assert np.array_equal(found.gather(), wanted)
