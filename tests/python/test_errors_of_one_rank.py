"""What one rank alone passes that is wrong is the same exception on every rank, at once."""

import gc
import inspect
import re
import time
import weakref

import numpy as np
import pytest
from shapes import spread, whole

import partita as pt


def calls(ctx, folder):
    """Name, call and arguments that are right; and for each what the last rank gives in their place."""
    a, b = spread(ctx, whole((6, 6)), pt.Slab(0)), spread(ctx, whole((6, 6)), pt.Slab(1))
    z, x = a.astype("complex128"), np.ones((ctx.size, 3))
    halo, multiply = pt.Halo(a, (1, 0)), pt.Matmul(a, b)
    extended = halo.execute(a)
    over = pt.spmd(lambda part: part, pt.Mesh({"x": ctx.size}), in_specs=pt.P("x", None), out_specs=pt.P("x", None))
    file, hdf5 = folder / "a.npy", folder / "a.h5"
    pt.io.write_npy(file, a)
    c, v = pt.eye(ctx, 6, distribution="slab:0"), pt.zeros(ctx, 6, pt.Slab(0))
    pair = pt.linalg.lu_factor(c)
    frozen = x.copy()
    frozen.flags.writeable = False
    return [
        ("matmul", lambda *o, **k: pt.matmul(*o, **k), (a, b), {}, [((a, b), {"speed": 3}), ((a, "x"), {}), ((a, b), {"method": "fast"}), ((a,), {})]),
        ("matmul", lambda *o: o[0] @ o[1], (a, b), {}, [((a, 3), {}), ((a, None), {}), ((a, "x"), {})]),
        ("Matmul", pt.Matmul, (a, b), {}, [((a, x), {}), ((a, b), {"order": "X"})]),
        ("Matmul.execute", multiply.execute, (), {}, [(("two",), {}), ((), {"gamma": 1})]),
        ("fftn", pt.fft.fftn, (z,), {}, [((z,), {"axes": (5,)}), ((z,), {"norm": "unit"}), ((z,), {"speed": 1}), ((x,), {"out": z})]),
        ("fft", pt.fft.fft, (z,), {}, [((z, "x"), {}), ((z, 0, None, 4), {})]),
        ("dct", pt.fft.dct, (a,), {}, [((a,), {"type": 7})]),
        ("FFT", pt.fft.FFT, (z,), {}, [((z, "c3c"), {}), ((z, "c2c", 9.5), {})]),
        ("redistribute", lambda *o, **k: o[0].redistribute(*o[1:], **k), (a, "slab:1"), {},
         [((a, "slob:1"), {}), ((a, "slab:1"), {"order": 3}), ((a,), {}), ((a, 7), {}), ((a, pt.P("x")), {})]),
        ("redistribute", pt.redistribute, (a, b), {}, [((a, b), {"axes": "ab"}), ((a, b), {"speed": 1}), ((x, b), {})]),
        ("sum", lambda *o, **k: o[0].sum(*o[1:], **k), (a, 0), {}, [((a, 7), {}), ((a, "x"), {}), ((a, 0), {"speed": 1})]),
        ("astype", lambda *o: o[0].astype(o[1]), (a, "float32"), {}, [((a, "float7"), {}), ((a, object), {})]),
        ("at", lambda *o: o[0].at(o[1]), (a, (1, 2)), {}, [((a, 1), {}), ((a, ("x", 2)), {})]),
        ("gather", lambda *o: o[0].gather(o[1]), (a, 0), {}, [((a, "0"), {})]),
        ("all_reduce", pt.all_reduce, (ctx, x), {},
         [((ctx, [1.0]), {}), ((ctx, x), {"reduction": "mean"}), ((ctx, x), {"op": "sum"}), ((ctx, x, frozen), {}),
          ((ctx, x.astype(object)), {}), ((ctx, x), {"reduction": 3}), ((ctx, x.astype(">f8")), {})]),
        ("all_gather", pt.all_gather, (ctx, x), {}, [((ctx, x), {"counts": "abc"}), ((ctx,), {})]),
        ("broadcast", pt.broadcast, (ctx, x), {}, [((ctx, "text"), {}), ((ctx, x, "0"), {})]),
        ("all_to_all", pt.all_to_all, (ctx, x), {}, [((ctx, None), {})]),
        ("scan", pt.scan, (ctx, x), {}, [((ctx, x), {"reduction": "median"})]),
        ("empty", pt.empty, (ctx, (6, 6), "slab:0"), {},
         [((ctx, (6, 6), "slab:0", "text"), {}), ((ctx, (6, "6"), "slab:0"), {}), ((ctx, 6.5, "slab:0"), {}), ((ctx, (6, 6), "slab:0"), {"space": "moon"})]),
        ("from_local", pt.from_local, (ctx, x, "slab:0"), {},
         [((ctx, [1], "slab:0"), {}), ((ctx, x.astype(object), "slab:0"), {}), ((ctx, x, "slab"), {}), ((ctx, np.full((ctx.size, 3), "text"), "slab:0"), {})]),
        ("full", pt.full, (ctx, 6, "slab:0", 1.0), {}, [((ctx, 6, "slab:0", "one"), {}), ((ctx, 6, "slab:0", [1, 2]), {"dtype": "float64"})]),
        ("arange", lambda *o: pt.arange(*o, distribution="slab:0"), (ctx, 9), {}, [((ctx, "9"), {})]),
        ("random", pt.random, (ctx, 6, "slab:0"), {}, [((ctx, 6, "slab:0"), {"seed": 1.5})]),
        ("Halo", pt.Halo, (a, (1, 0)), {}, [((a, ("x", 0)), {}), ((a, 1), {})]),
        ("Halo.execute", halo.execute, (a, extended), {}, [((a, [1]), {}), ((a, extended.astype(object)), {}), ((3, extended), {})]),
        ("SymmetricArray", pt.SymmetricArray, (ctx, 3), {}, [((ctx, 3, "text"), {}), ((ctx, 3), {"package": "jax"})]),
        ("solve", pt.linalg.solve, (c, v), {},
         [((c, "x"), {}), ((c, v), {"speed": 1}), ((c, v), {"assume_a": "odd"}), ((c, v), {"op": "none"}), ((c,), {})]),
        ("solve_triangular", pt.linalg.solve_triangular, (c, v), {}, [((c, v, 3), {}), ((c, None), {})]),
        ("lu_solve", pt.linalg.lu_solve, (pair, v), {}, [((c, v), {}), ((pair, v, "X"), {})]),
        ("LU", pt.linalg.LU, (c,), {}, [((c,), {"block": "many"}), ((c, 3), {})]),
        ("qr", pt.linalg.qr, (c,), {}, [((c, "economic"), {})]),
        ("lstsq", pt.linalg.lstsq, (c, v), {}, [((c, "x"), {})]),
        ("eigh", pt.linalg.eigh, (c,), {}, [((c, "X"), {}), ((c,), {"subset_by_index": 3})]),
        ("svd", pt.linalg.svd, (c,), {}, [((c,), {"base": "many"})]),
        ("polar", pt.linalg.polar, (c,), {}, [((c, "up"), {})]),
        ("pinv", pt.linalg.pinv, (c,), {}, [((c, 0.1), {"rtol": 0.1})]),
        ("matrix_power", pt.linalg.matrix_power, (c, 3), {}, [((c, 1.5), {})]),
        ("norm", pt.linalg.norm, (c,), {}, [((c, "odd"), {}), ((c, None, 7), {})]),
        ("solve_poisson", pt.spectral.solve_poisson, (a,), {}, [((a,), {"axes": (4,)}), ((a,), {"lengths": "ab"})]),
        ("read_npy", pt.io.read_npy, (ctx, file, "slab:0"), {}, [((ctx, 3, "slab:0"), {})]),
        ("write_npy", pt.io.write_npy, (file, a), {}, [((file, a), {"order": "X"}), ((file, x, a), {})]),
        ("write_hdf5", pt.io.write_hdf5, (hdf5, {"a": a}), {},
         [((hdf5, {"b": x, "a": a}), {}), ((hdf5, {"b": pt.io.Dataset(x), "a": pt.io.Dataset(a)}), {})]),
        ("spmd", over, (a,), {}, [((a, a), {})]),
        ("split", ctx.split, (0,), {}, [(("red",), {}), ((0, "key"), {}), ((), {})]),
        ("subgroup", ctx.subgroup, (range(ctx.size),), {}, [(("ab",), {}), ((None,), {}), ((range(ctx.size + 1),), {}), (([0.5],), {}), (([],), {}), (([0],), {})]),
        ("along", ctx.along, (pt.Mesh({"x": ctx.size}), "x"), {},
         [((pt.Mesh({"x": ctx.size}), "y"), {}), ((pt.Mesh({"x": 99}), "x"), {}), ((3, "x"), {}), ((pt.Mesh({"x": ctx.size}), 3), {})]),
        ("dot", pt.dot, (a, a), {}, [((a, "x"), {})]),
    ]  # fmt: skip


@pytest.mark.parametrize("known", [False, True])
def test_every_call(ctx, folder, known):
    """`known`: the others have the plans, and are in an execution when they hear of it: then the context has failed."""
    if ctx.size == 1:
        pytest.skip("one rank is all ranks")
    odd = ctx.size - 1
    for number, (name, _, right, _, wrongs) in enumerate(calls(ctx, folder)):
        for wrong in range(len(wrongs)):
            group = ctx.split(0)
            name, call, right, named, wrongs = calls(group, folder)[number]
            if name in ("read_npy", "write_npy", "write_hdf5"):
                if known:
                    continue
            elif known:
                call(*right, **named)
            begin = time.monotonic()
            with pytest.raises(pt.Error) as caught:
                if ctx.rank == odd:
                    call(*wrongs[wrong][0], **wrongs[wrong][1])
                else:
                    call(*right, **named)
                    group.barrier()  # those who need nothing of that rank are notified here
            text, what = str(caught.value), (name, wrong)
            assert time.monotonic() - begin < 20, what
            assert isinstance(caught.value, pt.ArgumentError) and text.startswith(f"rank {odd}: {name}"), (what, caught.value)
            if group.failed:
                planned = known or "." in name
                assert planned, what
            texts = [bytes(one).rstrip(b"\0").decode() for one in everyones(ctx, f"{type(caught.value).__name__} {text}")]
            assert len(set(texts)) == 1, (what, texts)
            if not group.failed:
                group.barrier()
    ctx.barrier()


def test_a_subgroup_of_some(ctx):
    """The others make it, or come to a call of all: all raise what one rank has passed, and the context has failed."""
    if ctx.size < 3:
        pytest.skip("some are all")
    odd, mesh = ctx.size - 1, pt.Mesh({"x": ctx.size // 2, "y": 2}) if ctx.size % 2 == 0 else None
    for wrong in ("ab", [0, 99], [0]):
        group = ctx.split(0)
        with pytest.raises(pt.ArgumentError, match=f"^rank {odd}: subgroup: ") as caught:
            if ctx.rank == odd:
                group.subgroup(wrong)
            elif ctx.rank == 0:
                group.subgroup([0, odd])
            group.barrier()
        assert len({bytes(one) for one in everyones(ctx, f"{type(caught.value).__name__} {caught.value}")}) == 1
        assert group.failed
    # What the members find together is reported to the others, too, and the context can still be used.
    group = ctx.split(0)
    with pytest.raises(pt.DisagreementError, match="subgroup: the ranks disagree on the list of ranks"):
        if ctx.rank < 2:
            group.subgroup([ctx.rank, 1 - ctx.rank])
        group.barrier()
    group.barrier()
    if mesh is not None:
        group = ctx.split(0)
        with pytest.raises(pt.ArgumentError, match=f"^rank {odd}: along: "):
            group.along(mesh, "z" if ctx.rank == odd else "y")
            group.barrier()
    ctx.barrier()


def test_a_subgroup_that_is_wrong_in_different_ways(ctx):
    """A rank that is alone in its list with its error waits for those that are not in it, and they for it."""
    begin = time.monotonic()
    group = ctx.split(0)
    with pytest.raises(pt.ArgumentError, match="subgroup: .*twice"):
        group.subgroup([0, 0])
    assert time.monotonic() - begin < 20
    group.barrier()


def test_messages_between_two(ctx):
    """What is wrong is this rank's own, of the family, before anything is sent; what is sent after all still comes."""
    x, frozen, own = np.arange(4.0), np.zeros(4), ctx.split(0)
    frozen.flags.writeable = False
    following, before = (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size
    wrong_to_send = [([1.0],), (x.astype(object),), (x.astype(">f8"),), (None,), ("text",), (np.ma.array(x),)]
    sends = [(*one, following) for one in wrong_to_send] + [(x, 99), (x, "0"), (x, -1), (x, following, 1.5), (x, following, 2**40), (x,)]
    receives = [([1.0], before), (frozen, before), (x.astype(object), before), (x, 99), (x, None), (x,)]
    exchanges = [(x, following, frozen, before), ([1], following, x, before), (x, 99, x, before), (x, following, x, "0"), (x, following)]
    if ctx.rank == 0:
        for call, wrongs in ((pt.send, sends), (pt.receive, receives), (pt.send_receive, exchanges)):
            for arguments in wrongs:
                with pytest.raises(pt.ArgumentError) as caught:
                    call(own, *arguments)
                assert "rank 0: " not in str(caught.value) and "\n" not in str(caught.value)
            with pytest.raises(pt.TypeError, match=f"{call.__name__}.*unknown keyword speed: omit it; known: context"):
                call(own, *arguments, speed=3)
    assert (pt.send_receive(own, x + ctx.rank, following, np.zeros(4), before) == x + before).all()
    own.barrier()


def test_a_partner_does_not_wait_for_ever(ctx):
    """Who has erred and goes on to what all do is missed in it; who ends by the error is heard of with its text."""
    if ctx.size == 1:
        pytest.skip("nobody to wait for")
    begin = time.monotonic()
    group = ctx.split(0)
    with pytest.raises(pt.DisagreementError, match="different operations: receive on rank 0; barrier on rank"):
        if ctx.rank == 0:
            pt.receive(group, np.zeros(3), 1)
        if ctx.rank == 1:
            with pytest.raises(pt.TypeError):
                pt.send(group, [1.0], 0)
        group.barrier()
    assert group.failed
    group = ctx.split(0)
    with pytest.raises(pt.TypeError if ctx.rank == 1 else pt.LostPeerError, match="expected an array of NumPy.* got list"), group:
        if ctx.rank == 1:
            pt.send(group, [1.0], 0)
        if ctx.rank == 0:
            pt.receive(group, np.zeros(3), 1)
        group.barrier()
    assert time.monotonic() - begin < 40
    ctx.barrier()


def everyones(ctx, text):
    mine = np.zeros((1, 2000), np.uint8)
    encoded = text.encode()[:2000]
    mine[0, : len(encoded)] = list(encoded)
    return pt.all_gather(ctx, mine)


def test_what_a_function_of_the_program_raises(ctx):
    """It comes out of its rank as it is, and the others hear of it. Where they execute what they have planned, the context has failed."""
    main = ctx

    def odd(*_):
        if ctx.rank == 0:
            raise LookupError("not in the table")
        return 1.0

    def of_part(part):
        odd()
        return part

    over = pt.spmd(of_part, pt.Mesh({"x": main.size}), in_specs=pt.P("x", None), out_specs=pt.P("x", None))
    for call in (
        lambda: pt.from_function(ctx, (4, 4), "slab:0", odd).sum(),
        lambda: over(a),
        lambda: pt.spectral.multiply(a, odd),
    ):
        ctx = main.split(0)
        a = spread(ctx, whole((4, 4)), pt.Slab(0))
        with pytest.raises(LookupError if ctx.rank == 0 else pt.Error, match="not in the table") as caught:
            call()
        if ctx.rank > 0:
            assert type(caught.value) is pt.Error and str(caught.value).startswith("rank 0: ") and "LookupError" in str(caught.value)
    main.barrier()


def test_what_a_function_raises_is_raised_in_its_own_call(ctx):
    """On all ranks, which are in step afterwards."""

    def odd(*given):
        if ctx.rank == ctx.size - 1:
            raise ValueError("not in the table")
        return given[0]

    mesh = pt.Mesh({"x": ctx.size})
    a = spread(ctx, whole((16, 16)), pt.Slab(0))  # each rank has modes
    for call in (
        lambda: pt.from_function(ctx, (4,), "slab:0", odd),
        lambda: pt.from_function(ctx, (4,), "slab:0", lambda i: [1, 2, 3, 4, 5] if ctx.rank == 0 else i),
        lambda: pt.spmd(odd, mesh, in_specs=pt.P("x", None), out_specs=None)(a),
        lambda: pt.spectral.multiply(a, lambda wave: odd(1.0)),
    ):
        with pytest.raises(pt.Error, match="not in the table|could not broadcast") as caught:
            call()
        assert ctx.size == 1 or str(caught.value).startswith("rank "), str(caught.value)
        assert pt.full(ctx, (3,), "slab:0", 1).sum() == 3
        assert not ctx.failed


def test_any_text_is_told(ctx):
    """Of an exception that has none, or one that is no UTF-8, or with zero bytes in it."""
    main = ctx

    class Mute(Exception):
        def __str__(self):
            raise RuntimeError("no text")

    for error, kind, text in ((Mute(), Mute, "Mute: .its text is not available"), (ValueError("a\udc80\0b"), pt.ArgumentError, r"a\\udc80\\x00b")):
        ctx = main.split(0)

        def odd(i, ctx=ctx, error=error):
            if ctx.rank == 0:
                raise error
            return 1.0 * i

        alone = ctx.size == 1 and kind is Mute
        with pytest.raises(kind if ctx.rank == 0 else pt.Error) as caught:
            pt.from_function(ctx, (4,), "slab:0", odd).sum()
        if not alone and not (ctx.rank == 0 and kind is Mute):
            assert re.search(text, str(caught.value)), str(caught.value)
        other = main.split(0)
        with pytest.raises((type(error), pt.Error)), other:
            if ctx.rank == 0:
                raise error
            other.barrier()
        assert other.failed
    main.barrier()


def test_what_all_pass_is_as_on_one_rank(ctx):
    with pytest.raises(pt.TypeError, match="^from_local: expected an array with DLPack"):
        pt.from_local(ctx, [1], "slab:0")
    for call in (lambda: pt.all_reduce(ctx, [1.0]), lambda: pt.empty(ctx, 3, "slab:0", speed=1)):
        with pytest.raises(pt.TypeError) as caught:
            call()
        assert isinstance(caught.value, (TypeError, pt.ArgumentError)) and "rank" not in str(caught.value)
    ctx.barrier()


def test_without_a_context_among_the_arguments():
    def body(ctx):
        with pytest.raises(TypeError, match="^rank 0: fftn: expected a distributed array" if ctx.rank else "distributed array"):
            pt.fft.fftn(3 if ctx.rank == 0 else pt.zeros(ctx, 4, "slab:0", "complex128"))
        array = pt.zeros(ctx, 4, "slab:0")
        stored = np.zeros(4) if ctx.rank == 0 else array
        with pytest.raises(TypeError, match="^rank 0: write_hdf5: expected a distributed array" if ctx.rank else "distributed array"):
            pt.io.write_hdf5("none.h5", {"a": pt.io.Dataset(stored)})
        other = ctx.split(0)  # which of the two is meant is unknown
        if ctx.rank == 0:
            with pytest.raises(TypeError, match="^expected a distributed array"):
                pt.fft.fftn(3)
        other.barrier()

    pt.run(2, body)


def test_ranks_that_err_in_different_ways(ctx):
    if ctx.size == 1:
        pytest.skip("one rank errs in one way")
    with pytest.raises(pt.ArgumentError, match="^rank 0: "):
        pt.zeros(ctx, 4, "slab:0" if ctx.rank > 1 else f"slob:{ctx.rank}")
    with pytest.raises(pt.DisagreementError, match="different operations"):
        if ctx.rank == 0:
            ctx.barrier()
        else:
            ctx.collect()
    ctx.barrier()


def collective_functions():
    for module in (pt, pt.fft, pt.io, pt.linalg, pt.spectral, pt.trace):
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing):
                yield from ((f"{name}.{one}", method) for one, method in vars(thing).items() if inspect.isfunction(method))
            elif inspect.isfunction(thing):
                yield name, thing


def test_all_that_is_collective_tells():
    """By what the docstrings say. Not: what ends a context or makes one; spmd gives such a function."""
    others = {"initialize", "run", "Context.close", "spmd"}
    for name, function in collective_functions():
        if name in others or "Collective" not in (function.__doc__ or ""):
            continue
        assert getattr(function, "is_collective", False), name


def test_what_was_refused_is_not_kept(ctx):
    """An exception that is done with leaves nothing of the call behind: contexts and arrays live no longer than their names."""

    class Anything:
        pass

    gc.collect()
    gc.disable()
    try:
        wrong = Anything()
        seen = weakref.ref(wrong)
        try:
            pt.zeros(ctx, wrong, pt.Slab(0))
            refused = False
        except pt.Error:
            refused = True
        del wrong
        assert refused and seen() is None
    finally:
        gc.enable()


def calls_that_differ(context):
    """Calls whose arguments rank 0 alone has, and the one that differs."""
    a = pt.random(context, (12, 10), pt.Slab(0), seed=1)
    line = pt.random(context, 30, pt.Slab(0), seed=2)
    first = context.rank == 0
    many = np.arange(30) > (3 if first else 4)
    return {
        "axis": lambda: pt.sort(a, axis=0 if first else 1),
        "descending": lambda: pt.sort(line, descending=first),
        "q": lambda: pt.quantile(line, 0.1 if first else 0.9),
        "indices": lambda: pt.take(line, [1, 2] if first else [3, 4]),
        "key": lambda: line[many],
        "ddof": lambda: pt.std(line) if first else line.std(ddof=1),
        "return_counts": lambda: pt.unique(line, return_counts=first),
        "arrays": lambda: pt.concatenate([line] * (2 if first else 3)),
        "shape": lambda: pt.reshape(a, (10, 12) if first else (120,)),
    }


@pytest.mark.parametrize("name", ["axis", "descending", "q", "indices", "key", "ddof", "return_counts", "arrays", "shape"])
def test_arguments_of_composed_calls_are_compared(ctx, name):
    if ctx.size == 1:
        pytest.skip("needs several ranks")
    with pytest.raises(pt.DisagreementError, match=rf"the ranks disagree on {name}: .* on rank 0; .* on rank"):
        calls_that_differ(ctx)[name]()
    assert pt.full(ctx, 4, pt.Slab(0), 1.0).sum() == 4  # the context remains usable


@pytest.mark.parametrize("other", ["ij,jk->ki", "ij,kj->ik", "ji,jk->ik", "ij,jk->k"])
@pytest.mark.parametrize("known", [False, True])
def test_products_of_other_equations(other, known):
    """A product of two matrices by einsum compares nothing of its own: the multiply is another one."""

    def body(context):
        a = pt.from_function(context, (6, 6), pt.Slab(0), lambda i, j: i + 2.0 * j)
        b = a.copy()
        for equation in ("ij,jk->ik", other) if known else ():
            np.testing.assert_array_equal(pt.einsum(equation, a, b).gather(), np.einsum(equation, a.gather(), b.gather()))
        with pytest.raises(pt.DisagreementError):
            pt.einsum(other if context.rank == 1 else "ij,jk->ik", a, b)

    pt.run(2, body)
