"""partita.compat.nvmath.linalg, against NumPy."""

import logging
import math
import sys

import numpy as np
import pytest
from nvmath_ranks import Heard, Stream, box, layout, part, runtime, two_dimensional
from shapes import numbers

import partita as pt
from partita.compat.nvmath import linalg
from partita.compat.nvmath.distribution import BlockNonCyclic, ProcessGrid, Slab
from partita.compat.nvmath.linalg._internal.epilog_protocol import gelu_aux_mm_shape, relu_aux_mm_shape
from partita.compat.nvmath.linalg.advanced import (
    InvalidMatmulState,
    Matmul,
    MatmulAlgoType,
    MatmulComputeType,
    MatmulEpilog,
    MatmulEpilogPreferences,
    MatmulOptions,
    MatmulPlanPreferences,
    matmul,
    matrix_qualifiers_dtype,
    numroc,
)
from partita.compat.nvmath.linalg.advanced._enums import CudaDataType

M, N, K = 10, 9, 7


def qualified(*flags):
    """(transposed, conjugated) of A and of B."""
    qualifiers = np.zeros(3, matrix_qualifiers_dtype)
    for one, (transposed, conjugated) in zip(qualifiers, flags):
        one["is_transpose"], one["is_conjugate"] = transposed, conjugated
    return qualifiers


class Parts:
    """What a rank has of matrices, and the products that they make."""

    def __init__(self, ctx, dtype="float64", rules=(Slab.X, Slab.Y, Slab.X)):
        self.ctx, self.rules = ctx, list(rules)
        self.A, self.B, self.C = numbers((M, K), dtype, 1), numbers((K, N), dtype, 2), numbers((M, N), dtype, 3)
        self.a, self.b, self.c = (self.of(one, rule) for one, rule in zip((self.A, self.B, self.C), self.rules))

    def of(self, whole, rule=None):
        return np.asfortranarray(part(whole, self.rules[2] if rule is None else rule, self.ctx.rank, self.ctx.size))

    def rows(self):
        """Of D, here."""
        return layout(self.rules[2], (M, N), self.ctx.size).indices(0, self.ctx.rank)

    def product(self, *more, **options):
        return matmul(self.a, self.b, *more, distributions=self.rules, **options)


def close(found, wanted, tolerance=1e-10):
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


def test_any_distributions(ctx):
    with runtime(ctx):
        rules = two_dimensional(ctx.size)
        for i, a in enumerate(rules):
            for j, b in enumerate(rules):
                parts = Parts(ctx, rules=(a, b, rules[(i + 2 * j) % len(rules)]))
                found = parts.product()
                close(found, parts.of(parts.A @ parts.B))
                assert found.flags.f_contiguous


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_qualifiers(ctx, dtype):
    flags = [(0, 0), (1, 0)] + ([(1, 1), (0, 1)] if "complex" in dtype else [])
    tolerance = 1e-4 if dtype in ("float32", "complex64") else 1e-10
    with runtime(ctx):
        for of_a in flags:
            for of_b in flags:
                parts = Parts(ctx, dtype)
                shown = [one.T if flag[0] else one for one, flag in ((parts.A, of_a), (parts.B, of_b))]
                shown = [one.conj() if flag[1] else one for one, flag in zip(shown, (of_a, of_b))]
                mine = [parts.of(one, Slab.Y) for one in shown]
                found = matmul(*mine, distributions=[Slab.Y, Slab.Y, Slab.X], qualifiers=qualified(of_a, of_b))
                close(found, parts.of(parts.A @ parts.B), tolerance)
                assert found.dtype == dtype


def test_qualifiers_that_cannot_be(ctx):
    with runtime(ctx):
        parts = Parts(ctx)
        with pytest.raises(ValueError, match="real"):
            parts.product(qualifiers=qualified((1, 1)))
        for wrong in (np.zeros(3), np.zeros(2, matrix_qualifiers_dtype), [0, 0, 0]):
            with pytest.raises(ValueError, match="qualifiers"):
                parts.product(qualifiers=wrong)
        of_c = qualified((0, 0), (0, 0), (1, 0))
        with pytest.raises(ValueError, match="C cannot be transposed"):
            parts.product(qualifiers=of_c)
        structured = qualified()
        structured[0]["structure"] = "triangular"
        with pytest.raises(pt.UnsupportedError, match="structure"):
            parts.product(qualifiers=structured)
        if ctx.size > 1:
            with pytest.raises(ValueError, match="qualifiers"):
                square = np.ones(Slab.X.shape(ctx.rank, (4, 4)), complex)
                matmul(square, square, distributions=[Slab.X] * 3, qualifiers=qualified((ctx.rank == 0, 0)))


def test_factors_and_c(ctx):
    with runtime(ctx):
        parts = Parts(ctx)
        close(parts.product(alpha=3), parts.of(3 * parts.A @ parts.B))
        kept = parts.c.copy()
        found = parts.product(parts.c, alpha=0.5, beta=2.0, options={"inplace": False})
        close(found, parts.of(0.5 * parts.A @ parts.B + 2 * parts.C))
        assert found is not parts.c and (parts.c == kept).all()
        assert parts.product(c=parts.c, beta=1) is parts.c  # as since 1.0
        close(parts.c, parts.of(parts.A @ parts.B + parts.C))
        with pytest.raises(ValueError, match="beta"):
            parts.product(parts.c)
        for name in ("alpha", "beta"):
            with pytest.raises(ValueError, match=name):
                parts.product(parts.c, **{"beta": 1, name: "much"})
        with pytest.raises(ValueError, match="alpha"):
            parts.product(alpha=1j)
        if ctx.size > 1:
            with pytest.raises(ValueError, match="alpha"):
                parts.product(alpha=1 + ctx.rank)


def test_inplace_without_a_c(ctx):
    """As in nvmath: there is nothing that it would be written into."""
    with runtime(ctx):
        parts = Parts(ctx)
        before = parts.a.copy(), parts.b.copy()
        with Matmul(parts.a, parts.b, distributions=parts.rules, options={"inplace": True}) as product:
            product.plan()
            found = product.execute()
            assert not product.inplace and found is not parts.a and found is not parts.b
        close(found, parts.of(parts.A @ parts.B))
        assert (parts.a == before[0]).all() and (parts.b == before[1]).all()


def test_whose_inplace_it_is(ctx):
    from partita.compat.nvmath import _version

    try:
        for version, usual in (("0.8", False), ("0.9", False), ("1.0", True)):
            _version.choose(version)
            assert MatmulOptions().inplace is usual
    finally:
        _version.choose("1.0")
    with pytest.raises(ValueError, match="version"):
        _version.choose("2.0")


def test_types(ctx):
    T, D = MatmulComputeType, CudaDataType
    with runtime(ctx):
        for dtype, allowed in (
            ("float16", {T.COMPUTE_16F, T.COMPUTE_16F_PEDANTIC, T.COMPUTE_32F, T.COMPUTE_32F_PEDANTIC}),
            ("float32", {one for one in T if "32F" in one.name}),
            ("float64", {one for one in T if "64F" in one.name}),
            ("complex64", {one for one in T if "32F" in one.name}),
            ("complex128", {one for one in T if "64F" in one.name}),
        ):
            parts = Parts(ctx, dtype)
            for compute in T:
                if compute in allowed:
                    found = parts.product(options={"compute_type": compute})
                    tolerance = {"float16": 0.1, "float32": 1e-3, "complex64": 1e-3}.get(dtype, 1e-10)
                    close(found, parts.of(parts.A @ parts.B), tolerance)
                else:
                    with pytest.raises(ValueError, match="compute_type"):
                        parts.product(options={"compute_type": int(compute)})
        half = Parts(ctx, "float16")
        third = half.product(alpha=1 / 3, options={"compute_type": T.COMPUTE_16F, "scale_type": D.CUDA_R_16F})
        assert third.dtype == np.float16
        with Matmul(half.a, half.b, distributions=half.rules, alpha=1 / 3, options={"scale_type": D.CUDA_R_16F}) as product:
            assert product._factors[0] == float(np.float16(1 / 3)) and product._types.compute == "f16"
        with pytest.raises(ValueError, match="scale_type"):
            half.product(options={"compute_type": T.COMPUTE_32F, "scale_type": D.CUDA_R_16F})
        with pytest.raises(ValueError, match="scale_type"):
            half.product(options={"scale_type": D.CUDA_R_8U})
        assert half.product(options={"result_type": D.CUDA_R_32F}).dtype == np.float32
        with pytest.raises(ValueError, match="result_type"):
            half.product(half.c, beta=1, options={"result_type": D.CUDA_R_32F})
        with pytest.raises(ValueError, match="result_type"):
            half.product(options={"result_type": D.CUDA_R_4F_E2M1})
        with pytest.raises(ValueError, match="supported are"):  # said by the library
            Parts(ctx).product(options={"result_type": D.CUDA_R_32F})
        with pytest.raises(ValueError, match="not supported"):
            matmul(half.a, Parts(ctx).b, distributions=half.rules)
        for rules in (None, 3, half.rules[:2], [None] * 3):
            with pytest.raises(ValueError, match="distributions: expected three"):
                matmul(half.a, half.b, distributions=rules)


def test_hints(ctx):
    A = MatmulAlgoType
    gathering, scattering = (Slab.X, Slab.Y, Slab.X), (Slab.Y, Slab.X, Slab.Y)
    m = n = k = 6 * ctx.size
    with runtime(ctx):
        for rules, method, number in ((gathering, "all-gather", 3), (scattering, "reduce-scatter", 2), ((Slab.X,) * 3, None, 0)):
            a, b = numbers((m, k)), numbers((k, n))
            mine = [part(one, rule, ctx.rank, ctx.size) for one, rule in zip((a, b), rules)]
            for hint in A:
                heard = Heard()
                options = {"algo_type": hint, "logger": heard.logger}
                with Matmul(*mine, distributions=rules, options=options) as product:
                    product.plan()
                    close(product.execute(), part(a @ b, rules[2], ctx.rank, ctx.size))
                    assert product._expected_algo == (number if ctx.size > 1 else 5)
                    chosen = next(iter(product._products.values())).plan.method
                piecewise = hint in (A.SPLIT_P2P, A.ATOMIC_P2P)
                if piecewise and method and ctx.size > 1:
                    assert chosen == method
                assert (logging.WARNING in heard.levels()) == (hint != A.DEFAULT and not (piecewise and (method or ctx.size == 1)))
        with pytest.raises(ValueError):
            MatmulOptions(algo_type=17)


def test_options_that_there_are_not(ctx):
    with runtime(ctx):
        parts = Parts(ctx)
        with pytest.raises(pt.UnsupportedError, match="sm_count"):
            parts.product(options={"sm_count_communication": 4})
        for count in (0, -1, 1.5):
            with pytest.raises(ValueError, match="sm_count"):
                MatmulOptions(sm_count_communication=count)
        for name in ("result_amax", "block_scaling"):
            with pytest.raises(ValueError, match=name):
                parts.product(options={name: True})
        with pytest.raises(ValueError, match="quantization_scales"):
            parts.product(quantization_scales={"a": 1})
        for blocking in (False, "never"):
            with pytest.raises(ValueError, match="blocking"):
                MatmulOptions(blocking=blocking)
        close(parts.product(options=MatmulOptions(blocking=True)), parts.of(parts.A @ parts.B))
        with pytest.raises(TypeError, match="options"):
            parts.product(options=[])


GELU = np.vectorize(lambda x: 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))))


def every_place(ctx):
    rules = two_dimensional(ctx.size)
    return [(Slab.X, Slab.Y, Slab.X), (Slab.Y, Slab.X, Slab.Y), (rules[3],) * 3, (rules[4], rules[4], rules[3])]


def test_epilogs(ctx):
    E = MatmulEpilog
    with runtime(ctx):
        for rules in every_place(ctx):
            parts = Parts(ctx, rules=rules)
            AB, bias = parts.A @ parts.B, numbers((M,), seed=4)
            given = {"bias": bias[parts.rows()].reshape(-1, 1)}
            relu = lambda x: np.maximum(x, 0)  # noqa: E731
            for epilog, wanted in ((E.RELU, relu(AB)), (E.GELU, GELU(AB)), (E.DEFAULT, AB), (None, AB)):
                close(parts.product(epilog=epilog), parts.of(wanted))
            for epilog, function in ((E.BIAS, lambda x: x), (E.RELU_BIAS, relu), (E.GELU_BIAS, GELU)):
                close(parts.product(epilog=epilog, epilog_inputs=given), parts.of(function(AB + bias[:, None])))
            given["bias"] = given["bias"].reshape(-1)
            for epilog, name in ((E.RELU_AUX, "relu_aux"), (E.GELU_AUX, "gelu_aux")):
                for with_bias in (False, True):
                    kind = E[epilog.name + "_BIAS"] if with_bias else epilog
                    before = AB + bias[:, None] if with_bias else AB
                    found, aux = parts.product(epilog=kind, epilog_inputs=given if with_bias else None)
                    close(found, parts.of((relu if name == "relu_aux" else GELU)(before)))
                    assert list(aux) == [name] and aux[name].flags.f_contiguous
                    check_auxiliary(aux[name], parts.of(before), name)


def check_auxiliary(aux, before, name):
    rows, columns = before.shape
    if name == "gelu_aux":
        assert aux.shape == gelu_aux_mm_shape(rows, columns) and aux.dtype == before.dtype
        close(aux[:rows], before)
        return
    assert aux.shape == relu_aux_mm_shape(rows, columns) and aux.dtype == np.uint8
    bits = np.unpackbits(aux, axis=0, bitorder="little")
    assert (bits[:rows] == (before > 0)).all() and not bits[rows:].any()


def test_backward_epilogs(ctx):
    E = MatmulEpilog
    with runtime(ctx):
        for rules in every_place(ctx):
            parts = Parts(ctx, rules=rules)
            AB, x = parts.A @ parts.B, numbers((M, N), seed=5)
            _, relu_aux = matmul(parts.a, parts.b, distributions=parts.rules, epilog=E.RELU_AUX)
            local = parts.of(x)
            shape = gelu_aux_mm_shape(*local.shape)
            gelu_aux = np.zeros(shape, order="F")
            gelu_aux[: len(local)] = local
            step = 1e-5
            slope = (GELU(x + step) - GELU(x - step)) / (2 * step)
            for kind, inputs, wanted in (
                ("DRELU", relu_aux, AB * (AB > 0)),
                ("DGELU", {"gelu_aux": gelu_aux}, AB * slope),
            ):
                close(parts.product(epilog=E[kind], epilog_inputs=inputs), parts.of(wanted), 1e-8)
                found, aux = parts.product(epilog=E[kind + "_BGRAD"], epilog_inputs=inputs)
                close(found, parts.of(wanted), 1e-8)
                close(aux[kind.lower() + "_bgrad"], wanted.sum(1)[parts.rows()], 1e-8)
            found, aux = parts.product(epilog=E.BGRADA)
            close(found, parts.of(AB))
            close(aux["bgrada"], parts.A.sum(1)[parts.rows()])
            close(parts.product(epilog=E.BGRADB)[1]["bgradb"], parts.B.sum(0))


def test_all_reduce(ctx):
    with runtime(ctx):
        parts = Parts(ctx, rules=(Slab.Y, Slab.X, Slab.X))
        close(parts.product(epilog=MatmulEpilog.ALLREDUCE), parts.A @ parts.B)
        mine = np.asfortranarray(np.full((M, N), 1.0 + ctx.rank))
        total = sum(1.0 + rank for rank in range(ctx.size))
        for inplace in (False, True):
            with Matmul(parts.a, parts.b, mine, beta=2, distributions=parts.rules, options={"inplace": inplace}) as product:
                product.plan(epilog=MatmulEpilog.ALLREDUCE)
                found = product.execute()
            close(found, parts.A @ parts.B + 2 * total)
            assert (found is mine) == inplace
        if ctx.size > 1:
            with pytest.raises(ValueError, match="ALLREDUCE"):
                parts.product(parts.of(parts.C, Slab.X), beta=1, epilog=MatmulEpilog.ALLREDUCE)


def test_epilogs_that_cannot_be(ctx):
    E = MatmulEpilog
    with runtime(ctx):
        parts = Parts(ctx)
        rows, columns = parts.c.shape
        for epilog, inputs, match in (
            (E.BIAS, None, "expects"),
            (E.RELU, {"bias": np.zeros(rows)}, "expects"),
            (E.BIAS, {"bias": np.zeros(rows + 1)}, "shape"),
            (E.BIAS, {"bias": np.zeros(rows, "float32")}, "float64"),
            (E.DRELU, {"relu_aux": np.zeros(relu_aux_mm_shape(rows, columns), "int8")}, "uint8"),
            (E.DGELU, {"gelu_aux": np.zeros((rows, columns + 1))}, "shape"),
        ):
            with pytest.raises(ValueError, match=match):
                parts.product(epilog=epilog, epilog_inputs=inputs)
        with pytest.raises(pt.UnsupportedError, match="aux_quantization_scale"):
            parts.product(epilog=E.RELU_AUX, epilog_inputs={"aux_quantization_scale": 1.0})
        with pytest.raises(ValueError):
            parts.product(epilog=3)
        same = MatmulPlanPreferences(epilog=MatmulEpilogPreferences(aux_type=CudaDataType.CUDA_R_64F))
        assert parts.product(epilog=E.GELU_AUX, preferences=same)[1]["gelu_aux"].dtype == np.float64
        for epilog, wanted in ((E.GELU_AUX, {"aux_type": 0}), (E.RELU_AUX, {"aux_type": 1}), (E.GELU, {"aux_type": 1})):
            with pytest.raises(pt.UnsupportedError, match="aux_type"):
                parts.product(epilog=epilog, preferences={"epilog": wanted})
        with pytest.raises(ValueError, match="aux_amax"):
            parts.product(epilog=E.GELU_AUX, preferences={"epilog": {"aux_amax": True}})
        if ctx.size > 1:
            with pytest.raises(ValueError, match="epilog"):
                parts.product(epilog=E.RELU if ctx.rank else E.GELU)


def test_states(ctx):
    with runtime(ctx):
        parts, other, stream = Parts(ctx), numbers((M, K), seed=6), Stream()
        heard = Heard()
        options = {"logger": heard.logger, "inplace": False}
        product = Matmul(parts.a, parts.b, parts.c, distributions=parts.rules, alpha=2, beta=1, options=options, stream=stream)
        assert (product.mm_traits.M, product.mm_traits.N, product.mm_traits.K) == (M, N, K)
        with pytest.raises(RuntimeError, match="before plan"):
            product.execute()
        product.plan(stream=stream)
        first = product.execute(stream=stream, release_workspace=True)
        assert stream.waits == 3 and heard.levels() == {logging.INFO}
        wanted = 2 * parts.A @ parts.B + parts.C
        close(first, parts.of(wanted))
        product.reset_operands(a=parts.of(other, Slab.X), alpha=1, beta=0.5, stream=stream)
        close(product.execute(), parts.of(other @ parts.B + 0.5 * parts.C))
        close(first, parts.of(wanted))  # it was the caller's
        product.reset_operands_unchecked(a=parts.a)
        close(product.execute(), parts.of(parts.A @ parts.B + 0.5 * parts.C))
        for given, match in (
            ({}, "nothing"),
            ({"a": parts.a[:, :-1]}, "shape"),
            ({"b": parts.b.astype("float32")}, "data type"),
            ({"alpha": "x"}, "alpha"),
            ({"quantization_scales": {"a": 1}}, "quantization_scales"),
        ):
            with pytest.raises(ValueError, match=match):
                product.reset_operands(**given)
        product.release_operands()
        with pytest.raises(RuntimeError, match="after the operands have been released"):
            product.execute()
        with pytest.raises(RuntimeError, match="released"):
            product.plan()
        with pytest.raises(ValueError, match="all operands"):
            product.reset_operands(a=parts.a)
        product.reset_operands(a=parts.a, b=parts.b, c=parts.c)
        close(product.execute(), parts.of(parts.A @ parts.B + 0.5 * parts.C))
        product.free()
        product.free()
        for call in (product.plan, product.execute, product.release_operands, lambda: product.reset_operands(alpha=1)):
            with pytest.raises(InvalidMatmulState):
                call()
        with Matmul(parts.a, parts.b, distributions=parts.rules) as two:
            two.plan()
            with pytest.raises(ValueError, match="no C"):
                two.reset_operands(c=parts.c)
            for reset in (two.reset_operands, two.reset_operands_unchecked):
                with pytest.raises(ValueError, match="no C"):
                    reset(beta=2)
                with pytest.raises(ValueError, match="8-bit"):
                    reset(quantization_scales={"a": 2})
            close(two.execute(), parts.of(parts.A @ parts.B))


def test_nobody_keeps_operands_and_results(ctx):
    group = ctx.split(0)
    with runtime(group):
        parts = Parts(group)
        mine = parts.a.copy(order="F")
        holders = sys.getrefcount(mine)
        product = Matmul(mine, parts.b, distributions=parts.rules)
        product.plan()
        product.execute()
        product.reset_operands(a=parts.a)
        close(product.execute(), parts.of(parts.A @ parts.B))
        assert sys.getrefcount(mine) == holders
    left = group.close()  # while there is the product, no block of a result
    assert product.valid_state and left.count("bytes at") == left.count("scratch of a plan"), left


def test_other_inputs_of_an_epilog(ctx):
    with runtime(ctx):
        parts, bias = Parts(ctx), numbers((M,), seed=7)
        with Matmul(parts.a, parts.b, distributions=parts.rules) as product:
            product.plan(epilog=MatmulEpilog.BIAS, epilog_inputs={"bias": bias[parts.rows()]})
            close(product.execute(), parts.of(parts.A @ parts.B + bias[:, None]))
            product.reset_operands(epilog_inputs={"bias": 2 * bias[parts.rows()]})
            close(product.execute(), parts.of(parts.A @ parts.B + 2 * bias[:, None]))
            product.release_operands()
            with pytest.raises(ValueError, match="epilog_inputs"):
                product.reset_operands(a=parts.a, b=parts.b)


def test_products_that_cannot_be(ctx):
    with runtime(ctx):
        parts = Parts(ctx)
        for given, match in (
            ((parts.a, parts.a), "K is"),
            ((parts.a[0], parts.b), "matrices"),
            ((parts.a, parts.b[None]), "matrices"),
        ):
            with pytest.raises(ValueError, match=match):
                matmul(*given, distributions=[Slab.X, Slab.X if given[1] is parts.a else Slab.Y, Slab.X])
        for wrong in ([Slab.X] * 2, [Slab.X, Slab.Y, 0]):
            with pytest.raises(ValueError, match="distributions"):
                matmul(parts.a, parts.b, distributions=wrong)
        with pytest.raises(ValueError, match="C: has shape"):
            wide = np.ones(Slab.X.shape(ctx.rank, (M, N + 1)))
            parts.product(wide, beta=1)
        with pytest.raises(ValueError, match="dimensions"):
            matmul(parts.a, parts.b, distributions=[Slab.X, Slab.Y, Slab.Z])
        with pytest.raises(TypeError, match="operand"):
            matmul([[1.0]], parts.b, distributions=parts.rules)
        if ctx.size > 1:
            with pytest.raises(ValueError, match="problem size is inconsistent"):
                matmul(np.ones((2, K + ctx.rank)), parts.b, distributions=parts.rules)
        ctx.barrier()


def test_boxes_of_matrices(ctx):
    with runtime(ctx):
        boxes = [box(shape, axis, ctx.rank, ctx.size) for shape, axis in (((M, K), 0), ((K, N), 1), ((M, N), 0))]
        parts = Parts(ctx)
        close(matmul(parts.a, parts.b, distributions=boxes), parts.of(parts.A @ parts.B))


def test_numroc(ctx):
    with runtime(ctx):
        for n in (0, 1, 17, 64):
            for block in (1, 3, 64):
                for first in range(ctx.size):
                    rule = pt.BlockCyclic(pt.ProcessGrid((ctx.size,), first=(first,)), (block,))
                    assert numroc(n, block, ctx.rank, first, ctx.size) == pt.Layout(rule, (n,), ctx.size).local_shape(ctx.rank)[0]
        grid = ProcessGrid(shape=(ctx.size, 1))
        assert BlockNonCyclic(grid).shape(ctx.rank, (2 * ctx.size, 3)) == (2, 3)


def test_names_of_two_packages():
    assert linalg.ComputeType is MatmulComputeType
