"""partita.compat.nvmath: what is wrong on one rank alone is the same exception on every rank, at once."""

import contextlib
import gc
import time
import types
import weakref

import numpy as np
import pytest
from nvmath_ranks import box, runtime

import partita as pt
import partita.compat.nvmath as nvmath
from partita.compat.nvmath import fft as nv
from partita.compat.nvmath import reshape
from partita.compat.nvmath.distribution import (
    BindDistributionError,
    BlockCyclic,
    Box,
    InvalidRedistributeState,
    ProcessGrid,
    Redistribute,
    Slab,
    redistribute,
)
from partita.compat.nvmath.linalg import DirectSolver, InvalidDirectSolverState, direct_solver
from partita.compat.nvmath.linalg.advanced import (
    InvalidMatmulState,
    Matmul,
    MatmulEpilog,
    matmul,
    matrix_qualifiers_dtype,
)
from partita.compat.nvmath.linalg.advanced._enums import CudaDataType


class Unpicklable:
    """What cannot be sent to other ranks."""

    def __reduce__(self):
        raise TypeError("this is not pickled")


class Wrong:
    """What one rank gives in the place of what is right: other positional arguments, and others by name."""

    def __init__(self, kind, match, *given, before=None, **named):
        self.kind, self.match, self.given, self.named, self.before = kind, match, given, named, before


def called(call, right, wrong, named):
    return call(*(wrong.given or right), **{**named, **wrong.named})


def of_qualifiers(**flags):
    qualifiers = np.zeros(3, matrix_qualifiers_dtype)
    for name, value in flags.items():
        qualifiers[0][name] = value
    return qualifiers


def specifications(ctx):
    """Function, the arguments that are right, and the mistakes."""
    n = 2 * ctx.size
    real, whole = np.ones((2, n)), np.ones((2, n), complex)
    boxes = [box((n, n), axis, ctx.rank, ctx.size) for axis in (0, 1)]
    grid = BlockCyclic(ProcessGrid(shape=(1, ctx.size)), (1, 1))
    moved = [
        Wrong(TypeError, "operand", [[1.0]], Slab.X, Slab.Y),
        Wrong(TypeError, "operand", None, Slab.X, Slab.Y),
        Wrong(TypeError, "distribution", real, Slab.X, 1),
        Wrong(TypeError, "distribution", real, None, Slab.Y),
        Wrong(ValueError, "inconsistent", real, Slab.Z, Slab.Y),
        Wrong(ValueError, "dimensions", real[0], Slab.X, Slab.Y),
        Wrong(ValueError, "dtype", real.astype("f4"), Slab.X, Slab.Y),
        Wrong(BindDistributionError, "gives rank", np.ones((3, n)), Slab.X, Slab.Y),
        Wrong(ValueError, "problem size", np.ones((2, n + 1)), Slab.X, Slab.Y),
        Wrong(ValueError, "inconsistent", real, Slab.Y, Slab.Y),
        Wrong(ValueError, "inconsistent", real, Slab.X, Slab.X),
        Wrong(ValueError, "inconsistent|Box|box", real, boxes[0], Slab.Y),
        Wrong(ValueError, "inconsistent", real, grid, Slab.Y),
        Wrong(ValueError, "inconsistent", real, Slab.X, boxes[1]),
        Wrong(ValueError, "memory layout", np.asfortranarray(real), Slab.X, Slab.Y),
        Wrong(TypeError, "no_such", options={"no_such": 1}),
        Wrong(TypeError, "options", options=[]),
        Wrong(ValueError, "blocking", options={"blocking": False}),
        Wrong(ValueError, "options", options={"blocking": True}),
        Wrong(TypeError, "stream", stream="0"),
        Wrong(TypeError, "keyword", no_such=1),
        Wrong(TypeError, "positional|argument", real),
    ]
    boxed = [
        Wrong(TypeError, "argument|distribution", real, 3, boxes[1]),
        Wrong((TypeError, ValueError), None, real, (0, 0), boxes[1]),
        Wrong(ValueError, "Box", real, ((0, 0), (0, 0)), boxes[1]),
        Wrong(ValueError, "Box|box", real, ((0, 0), (1, 1)), boxes[1]),
        Wrong(TypeError, "no_such", options={"no_such": 1}),
    ]
    transformed = [
        Wrong(TypeError, "operand", [[1.0]], distribution=Slab.X),
        Wrong(ValueError, "dtype", real.astype("f2"), distribution=Slab.X),
        Wrong(ValueError, "dtype", real, distribution=Slab.X),
        Wrong(ValueError, "dtype", whole.astype("c8"), distribution=Slab.X),
        Wrong(ValueError, "dimensions", whole[0], distribution=Slab.X),
        Wrong(ValueError, "dimension", whole, distribution=Slab.Z),
        Wrong(ValueError, "distribution", whole, distribution=3),
        Wrong(ValueError, "distribution", whole, distribution=None),
        Wrong(ValueError, "two boxes", whole, distribution=boxes[0]),
        Wrong(ValueError, "boxes on some", whole, distribution=boxes),
        Wrong(ValueError, "inconsistent", whole, distribution=Slab.Y),
        Wrong(BindDistributionError, "gives rank", np.ones((3, n), complex), distribution=Slab.X),
        Wrong(ValueError, "problem size", np.ones((2, n + 1), complex), distribution=Slab.X),
        Wrong(TypeError, "no_such", options={"no_such": 1}),
        Wrong(TypeError, "options", options=3),
        Wrong(ValueError, "fft_type", options={"fft_type": "C2X"}),
        Wrong(ValueError, "fft_type|dtype", options={"fft_type": "R2C"}),
        Wrong(ValueError, "redistribute", options={"redistribute": "no"}),
        Wrong(ValueError, "options", options={"redistribute": False}),
        Wrong(ValueError, "last_axis_parity", options={"last_axis_parity": "none"}),
        Wrong(ValueError, "blocking", options={"blocking": 0}),
        Wrong(TypeError, "stream", stream="0"),
        Wrong(TypeError, "keyword", no_such=1),
    ]
    a, b, c = np.ones((2, n)), np.ones((n, 2)), np.ones((2, n))
    rules = [Slab.X, Slab.Y, Slab.X]
    multiplied = [
        Wrong(TypeError, "operand", [[1.0]], b),
        Wrong(TypeError, "operand", None, b),
        Wrong(ValueError, "matrices", a[0], b),
        Wrong(ValueError, "not supported|dtypes", a.astype("f4"), b),
        Wrong(ValueError, "dtypes", a.astype("f4"), b.astype("f4")),
        Wrong(ValueError, "number of operands", a, b, c, beta=1),
        Wrong(ValueError, "beta", a, b, c),
        Wrong(ValueError, "requires C", beta=1),
        Wrong(ValueError, "alpha", alpha="much"),
        Wrong(ValueError, "alpha", alpha=1j),
        Wrong(ValueError, "alpha", alpha=Unpicklable()),
        Wrong(ValueError, "alpha", alpha=2),
        Wrong(ValueError, "alpha", alpha=np.ones(2)),
        Wrong(ValueError, "expected three", distributions=rules[:2]),
        Wrong(ValueError, "expected three", distributions=None),
        Wrong(ValueError, "expected three", distributions=[Slab.X, Slab.Y, 0]),
        Wrong(ValueError, "inconsistent", distributions=[Slab.Y, Slab.Y, Slab.X]),
        Wrong(ValueError, "inconsistent", distributions=[Slab.X, Slab.Y, Slab.Y]),
        Wrong(ValueError, "inconsistent", distributions=[Slab.X, Slab.Y, Slab.Z]),
        Wrong(ValueError, "problem size", np.ones((2, n + 1)), b),
        Wrong(ValueError, "qualifiers", qualifiers=[0, 0, 0]),
        Wrong(ValueError, "real", qualifiers=of_qualifiers(is_conjugate=1)),
        Wrong(ValueError, "qualifiers", qualifiers=of_qualifiers(is_transpose=1)),
        Wrong(pt.UnsupportedError, "structure", qualifiers=of_qualifiers(structure="symmetric")),
        Wrong(TypeError, "no_such", options={"no_such": 1}),
        Wrong(TypeError, "options", options=7),
        Wrong(ValueError, None, options={"compute_type": 1000}),
        Wrong(ValueError, "compute_type", options={"compute_type": 68}),
        Wrong(ValueError, None, options={"scale_type": "f8"}),
        Wrong(ValueError, "scale_type", options={"scale_type": CudaDataType.CUDA_R_8U}),
        Wrong(ValueError, "result_type", options={"result_type": CudaDataType.CUDA_R_4F_E2M1}),
        Wrong(ValueError, "options", options={"algo_type": 1}),
        Wrong(ValueError, None, options={"algo_type": 17}),
        Wrong(ValueError, "sm_count", options={"sm_count_communication": 0}),
        Wrong(pt.UnsupportedError, "sm_count", options={"sm_count_communication": 4}),
        Wrong(ValueError, "result_amax", options={"result_amax": True}),
        Wrong(ValueError, "quantization_scales", quantization_scales={"a": 1}),
        Wrong(TypeError, "stream", stream="0"),
        Wrong(TypeError, "keyword", no_such=1),
    ]
    square, sides = np.asfortranarray(np.eye(n)[2 * ctx.rank : 2 * ctx.rank + 2]), np.ones((2, 3), order="F")
    solved = [
        Wrong(TypeError, "operand", [[1.0]], sides),
        Wrong(ValueError, "matrix A", square[0], sides),
        Wrong(TypeError, "one dtype", square, sides.astype("f4")),
        Wrong(ValueError, "dtypes", square.astype("f4"), sides.astype("f4")),
        Wrong(ValueError, "not supported", square.astype("f2"), sides.astype("f2")),
        Wrong(ValueError, "expected two", distributions=rules),
        Wrong(ValueError, "inconsistent", distributions=[Slab.Y, Slab.X]),
        Wrong(ValueError, "inconsistent", distributions=[Slab.X, Slab.Y]),
        Wrong(ValueError, "problem size", np.ones((2, n + 1)), sides),
        Wrong(ValueError, "dimensions", square, sides[:, 0]),
        Wrong(TypeError, "no_such", options={"no_such": 1}),
        Wrong(TypeError, "options", options=7),
        Wrong(ValueError, "blocking", options={"blocking": False}),
        Wrong(ValueError, "options", options={"inplace_a": False}),
        Wrong(ValueError, "inplace_b", options={"inplace_b": 1}),
        Wrong(pt.UnsupportedError, "handle", options={"handle": 1}),
        Wrong(TypeError, "stream", stream="0"),
        Wrong(TypeError, "keyword", no_such=1),
    ]
    planned = [
        Wrong(ValueError, None, epilog=3),
        Wrong(ValueError, None, epilog="relu"),
        Wrong(ValueError, "epilog", epilog=MatmulEpilog.RELU),
        Wrong(ValueError, "expects", epilog_inputs={"bias": np.ones(2)}),
        Wrong(TypeError, "epilog_inputs", epilog_inputs=[1]),
        Wrong(pt.UnsupportedError, "aux_quantization_scale", epilog_inputs={"aux_quantization_scale": 1.0}),
        Wrong(TypeError, "preferences", preferences=1),
        Wrong(TypeError, "no_such", preferences={"no_such": 1}),
        Wrong(ValueError, "aux_amax", preferences={"epilog": {"aux_amax": True}}),
        Wrong(pt.UnsupportedError, "aux_type", preferences={"epilog": {"aux_type": 1}}),
    ]
    allocated = [
        Wrong(ValueError, "package", (2, n), types.ModuleType("numpad")),
        Wrong(ValueError, "package", (2, n), None),
        Wrong(TypeError, None, "ab", np),
        Wrong((TypeError, ValueError), None, (2, n), np, dtype="float7"),
    ]
    heap = [
        Wrong(ValueError, "one size", (3, n), np),
        Wrong(ValueError, "axis_order", axis_order="K"),
        Wrong(ValueError, "axis_order", axis_order=(0, 0)),
        Wrong(TypeError, "keyword", no_such=1),
    ]
    roomy = [
        Wrong(ValueError, "memory_space", memory_space="moon"),
        Wrong(ValueError, "dtype", input_dtype="complex128"),
        Wrong(ValueError, "dtype", fft_type="C2C"),
        Wrong(ValueError, "distribution", distribution=None),
        Wrong(ValueError, "inconsistent", distribution=Slab.Y),
        Wrong(ValueError, "dimensions", (2,), np),
    ]
    of_products = {"distributions": rules}
    return [
        ("redistribute", redistribute, (real, Slab.X, Slab.Y), {}, moved),
        ("Redistribute", Redistribute, (real, Slab.X, Slab.Y), {}, moved),
        ("reshape", reshape.reshape, (real, *boxes), {}, boxed),
        ("Reshape", reshape.Reshape, (real, *boxes), {}, boxed),
        ("fft", nv.fft, (whole,), {"distribution": Slab.X}, transformed),
        ("FFT", nv.FFT, (whole,), {"distribution": Slab.X, "options": {"fft_type": "C2C"}}, transformed),
        ("rfft", nv.rfft, (real,), {"distribution": Slab.X}, [Wrong(ValueError, "fft_type", options={"fft_type": "C2C"})]),
        ("irfft", nv.irfft, (whole,), {"distribution": Slab.X}, [Wrong(ValueError, "options", options={"last_axis_parity": "odd"})]),
        ("matmul", matmul, (a, b), of_products, multiplied),
        ("Matmul", Matmul, (a, b), of_products, multiplied),
        ("matmul", matmul, (a, b), of_products, planned),
        ("direct_solver", direct_solver, (square, sides), {"distributions": rules[::2]}, solved),
        ("DirectSolver", DirectSolver, (square, sides), {"distributions": rules[::2]}, solved),
        ("allocate_operand", nv.allocate_operand, ((2, n), np), {"distribution": Slab.X}, allocated[:-1] + roomy),
        ("allocate_symmetric_memory", nvmath.allocate_symmetric_memory, ((2, n), np), {}, allocated + heap),
    ]  # fmt: skip


def everyones(ctx, text):
    """The texts of all ranks."""
    mine = np.zeros(4000, np.uint8)
    data = text.encode()[:4000]
    mine[: len(data)] = list(data)
    return [bytes(one).rstrip(b"\0").decode() for one in pt.all_gather(ctx, mine[None])]


def raised_alike(ctx, group, call, wrong, what):
    """The exception, which is that of the mistake, of one class and text on all ranks."""
    begin, found = time.monotonic(), None
    try:
        call()
        group.barrier()  # a rank that needs nothing of that rank is notified here
    except Exception as error:
        found = error
    assert time.monotonic() - begin < 20, what
    texts = everyones(ctx, f"{type(found).__name__} {found}")
    assert len(set(texts)) == 1, (what, texts)
    assert isinstance(found, wrong.kind), (what, texts[0])
    with pytest.raises(wrong.kind, match=wrong.match):
        raise found
    return found


@pytest.mark.parametrize("number", range(15))
def test_specifications(ctx, number):
    if ctx.size == 1:
        pytest.skip("one rank is all ranks")
    odd = ctx.size - 1
    with runtime(ctx):
        name, call, right, named, wrongs = specifications(ctx)[number]
        for place, wrong in enumerate(wrongs):
            mistake = wrong if ctx.rank == odd else Wrong(None, None)
            raised_alike(ctx, ctx, lambda: called(call, right, mistake, named), wrong, (name, place, wrong.match))  # noqa: B023
            assert not ctx.failed
        called(call, right, Wrong(None, None), named)


def steps(ctx):
    """A planned object, its step, the right arguments, and the mistakes: `before` is what the rank has done with the object."""
    n = 2 * ctx.size
    real, whole = np.ones((2, n)), np.ones((2, n), complex)
    a, b = np.ones((2, n)), np.ones((n, 2))
    free, release = (lambda one: one.free()), (lambda one: getattr(one, "release_operand", getattr(one, "release_operands", None))())

    def unfactorized(solver):
        solver._factorized = False

    def moving():
        return Redistribute(real, Slab.X, Slab.Y)

    def transform():
        return nv.FFT(whole, distribution=Slab.X)

    def product():
        return Matmul(a, b, distributions=[Slab.X, Slab.Y, Slab.X])

    def system():
        return DirectSolver(np.eye(n)[2 * ctx.rank : 2 * ctx.rank + 2].copy(), a[:, :2].copy(), distributions=[Slab.X, Slab.X])

    for make, invalid, other in (
        (moving, InvalidRedistributeState, real),
        (transform, nv.InvalidFFTState, whole),
        (product, InvalidMatmulState, {"a": a, "b": b}),
        (system, InvalidDirectSolverState, {"a": a, "b": a[:, :2]}),
    ):
        freed, released = Wrong(invalid, "freed", before=free), Wrong(RuntimeError, "released", before=release)
        stream, keyword = Wrong(TypeError, "stream", stream="0"), Wrong(TypeError, "keyword", no_such=1)
        unplanned = Wrong(RuntimeError, "before plan", before=lambda one: setattr(one, "_planned", False))
        yield make, "plan", (), {}, [freed, released, stream, keyword]
        if make is system:
            yield make, "factorize", (), {}, [freed, released, unplanned, stream, keyword]
            yield make, "solve", (), {}, [freed, released, unplanned, Wrong(RuntimeError, "before factorize", before=unfactorized), stream, keyword]
            yield make, "reset_operands", (), other, [
                freed, stream, keyword, Wrong(ValueError, "shape", a=a[:1]), Wrong(ValueError, "data type", b=a[:, :2].astype("f4")),
                Wrong(TypeError, "operand", a=[1]), Wrong(ValueError, "given", a=None), Wrong(ValueError, "nothing", a=None, b=None),
            ]  # fmt: skip
            yield make, "reset_operands_unchecked", (), other, [freed, stream, Wrong(TypeError, "operand", a=[1])]
            continue
        yield make, "execute", (), {}, [freed, released, unplanned, stream, keyword]
        if make is product:
            yield make, "reset_operands", (), other, [
                freed, stream, keyword, Wrong(ValueError, "alpha", alpha="x"), Wrong(ValueError, "given", alpha=2),
                Wrong(ValueError, "no C", beta=1), Wrong(ValueError, "no C", c=a), Wrong(ValueError, "shape", a=a[:1]),
                Wrong(ValueError, "data type", a=a.astype("f4")), Wrong(TypeError, "operand", a=[1]), Wrong(ValueError, "given", a=None),
                Wrong(ValueError, "8-bit", quantization_scales={"a": 1}), Wrong(ValueError, "expects", epilog_inputs={"bias": a[0]}),
            ]  # fmt: skip
            yield make, "reset_operands", (), {"alpha": 3}, [Wrong(ValueError, "alpha", alpha=2), Wrong(ValueError, "nothing", alpha=None)]
            yield make, "reset_operands_unchecked", (), other, [freed, stream, Wrong(TypeError, "operand", a=[1]), Wrong(ValueError, "no C", beta=1)]
        else:
            resets = [
                freed, stream, keyword, Wrong(TypeError, "operand", [1]), Wrong(ValueError, "shape", other[:1]),
                Wrong(ValueError, "data type", other.real.astype("f4")), Wrong(ValueError, "operand", None),
            ]  # fmt: skip
            yield make, "reset_operand", (other,), {}, resets
            yield make, "reset_operand_unchecked", (other,), {}, [freed, stream, Wrong(TypeError, "operand", [1])]
    yield transform, "reset_operand", (whole,), {}, [
        Wrong(ValueError, "distribution", distribution=3), Wrong(ValueError, "cannot change", distribution=Slab.Y),
        Wrong(ValueError, "kind of distribution differs", distribution=[box((n, n), axis, ctx.rank, ctx.size) for axis in (0, 1)]),
    ]  # fmt: skip
    yield transform, "execute", (), {}, [Wrong(ValueError, "direction", direction="sideways"), Wrong(ValueError, None, direction=5)]


@pytest.mark.parametrize("known", [False, True])
def test_steps_of_objects(ctx, known):
    """`known`: the other ranks have executed it before, and may keep what they need: then their context has failed."""
    if ctx.size == 1:
        pytest.skip("one rank is all ranks")
    odd = ctx.size - 1
    group = ctx.split(0)
    nvmath.initialize(0, group)
    for number in range(len(list(steps(group)))):
        mistakes = list(steps(group))[number][4]
        for place, wrong in enumerate(mistakes):
            if group.failed:
                nvmath.finalize()
                group = ctx.split(0)
                nvmath.initialize(0, group)
            make, step, right, named, mistakes = list(steps(group))[number]
            wrong, made = mistakes[place], make()
            made.plan()
            if step == "solve":
                made.factorize()
            if known:
                made.factorize() if isinstance(made, DirectSolver) else made.execute()
            mistake = wrong if ctx.rank == odd else Wrong(None, None)
            if mistake.before:
                mistake.before(made)
            what = (type(made).__name__, step, wrong.match, known)
            error = raised_alike(ctx, group, lambda: called(getattr(made, step), right, mistake, named), wrong, what)  # noqa: B023
            if "inconsistent" not in str(error):
                assert f"rank {odd}: {type(made).__name__}.{step}: " in str(error), (what, error)
    with contextlib.suppress(pt.Error):
        nvmath.finalize()
    ctx.barrier()


def test_memory_that_one_rank_has_freed(ctx):
    if ctx.size == 1:
        pytest.skip("one rank is all ranks")
    with runtime(ctx):
        mine = nvmath.allocate_symmetric_memory((2, 2), np)
        for wrong in ([np.ones(3)], [[1]], [mine, mine]):
            given = wrong if ctx.rank == 0 else [mine]
            call = lambda: nvmath.free_symmetric_memory(*given)  # noqa: B023, E731
            raised_alike(ctx, ctx, call, Wrong(TypeError, "rank 0: free_symmetric_memory"), wrong)
        nvmath.free_symmetric_memory(mine)  # nothing was freed before


def test_nobody_keeps_what_was_refused(ctx):
    """Neither the exception nor what it was raised of holds the operands, once it has been handled."""
    gc.collect()
    with runtime(ctx):
        mine = np.ones((2, 2 * ctx.size))
        seen = weakref.ref(mine)
        with pytest.raises(ValueError, match="dimensions"):
            redistribute(mine, Slab.Z, Slab.X)
        gc.disable()
        del mine
        try:
            assert seen() is None
        finally:
            gc.enable()


def test_beginnings(ctx):
    """Once the ranks are connected, all of them raise what is wrong on one."""
    if ctx.size == 1:
        pytest.skip("one rank is all ranks")
    for kind, match, given in (
        (TypeError, "rank 0: initialize: device_id", ("0", ctx)),
        (ValueError, "backend must be", (0, ctx, ["gloo"])),
        (ValueError, "at least one", (0, ctx, [])),
    ):
        wrong = Wrong(kind, match)
        raised_alike(ctx, ctx, lambda: nvmath.initialize(*(given if ctx.rank == 0 else (0, ctx))), wrong, match)  # noqa: B023
        assert nvmath.get_context() is None and not ctx.failed
