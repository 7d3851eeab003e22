"""partita.compat.nvmath: products of 8-bit floats, each of their options."""

import numpy as np
import pytest
from nvmath_ranks import part, runtime

import partita as pt
from partita.compat.nvmath.distribution import Slab
from partita.compat.nvmath.linalg.advanced import Matmul, MatmulComputeType, MatmulEpilog, MatmulQuantizationScales, matmul
from partita.compat.nvmath.linalg.advanced._enums import CudaDataType

ml_dtypes = pytest.importorskip("ml_dtypes")
E4M3, E5M2 = (np.dtype(one) for one in (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2))
OF_E4M3, OF_E5M2 = CudaDataType.CUDA_R_8F_E4M3, CudaDataType.CUDA_R_8F_E5M2
F16, F32 = CudaDataType.CUDA_R_16F, CudaDataType.CUDA_R_32F
M, N, K = 6, 4, 8
RULES = [Slab.X, Slab.Y, Slab.X]


class Parts:
    """A and B of small integers, whose products are exact, and this rank's parts."""

    def __init__(self, ctx, of_a=E4M3, of_b=E4M3):
        self.ctx = ctx
        whole = [((np.arange(rows * columns) * step) % 5 - 2.0).reshape(rows, columns) for rows, columns, step in ((M, K, 3), (K, N, 7))]
        self.d = whole[0] @ whole[1]
        self.a, self.b = (self.of(one, rule).astype(dtype) for one, rule, dtype in zip(whole, RULES, (of_a, of_b)))

    def of(self, whole, rule=Slab.X):
        return part(whole, rule, self.ctx.rank, self.ctx.size)

    def product(self, c=None, **options):
        return matmul(self.a, self.b, c, distributions=RULES, **options)

    def close(self, found, wanted, dtype=np.float32):
        assert found.dtype == dtype
        np.testing.assert_array_equal(found.astype(np.float64), self.of(wanted).astype(dtype).astype(np.float64))


@pytest.mark.parametrize("of_a, of_b", [(E4M3, E4M3), (E4M3, E5M2), (E5M2, E4M3), (E5M2, E5M2)])
def test_result_types(ctx, of_a, of_b):
    with runtime(ctx):
        parts = Parts(ctx, of_a, of_b)
        parts.close(parts.product(), parts.d, of_a)
        for number, dtype in ((OF_E4M3, E4M3), (OF_E5M2, E5M2), (F32, np.float32), (F16, np.float16)):
            parts.close(parts.product(options={"result_type": number}), parts.d, dtype)
        parts.close(parts.product(options={"result_type": CudaDataType.CUDA_R_16BF}), parts.d, ml_dtypes.bfloat16)
        with pytest.raises(ValueError):
            parts.product(options={"result_type": CudaDataType.CUDA_R_64F})


def test_scales(ctx):
    with runtime(ctx):
        parts, wide = Parts(ctx), {"result_type": F32}
        for scales, factor in (
            ({"a": 0.5}, 0.5),
            ({"b": 4}, 4),
            ({"a": np.float32([0.5]), "b": np.array(0.25, np.float32)}, 0.125),
            (MatmulQuantizationScales(a=2, b=2.0), 4),
        ):
            parts.close(parts.product(quantization_scales=scales, options=wide), factor * parts.d)
        parts.close(parts.product(quantization_scales={"a": 8, "d": 0.25}), 2 * parts.d, E4M3)
        largest = float(ml_dtypes.finfo(E4M3).max)
        parts.close(parts.product(quantization_scales={"d": 1000.0}), np.clip(1000 * parts.d, -largest, largest), E4M3)


def test_scales_that_there_cannot_be(ctx):
    with runtime(ctx):
        parts, wide = Parts(ctx), {"result_type": F32}
        for scales, match in (({"d": 1}, "d has a scale"), ({"c": 1}, "c has a scale"), ({"a": np.ones(2)}, "one element")):
            with pytest.raises(ValueError, match=match):
                parts.product(quantization_scales=scales, options=wide)
        for wrong in ([1, 1], {"e": 1}, {"a": "1"}, {"a": True}):
            with pytest.raises(TypeError):
                parts.product(quantization_scales=wrong, options=wide)
        if ctx.size > 1:
            for scales in ({"a": 1.0 + ctx.rank}, {"ab"[ctx.rank % 2]: 1.0}):
                with pytest.raises(ValueError, match="inconsistent"):
                    parts.product(quantization_scales=scales, options=wide)
        with pytest.raises(pt.UnsupportedError, match="block_scaling"):
            parts.product(quantization_scales={"a": np.zeros(4, np.uint8)}, options={"block_scaling": True})


def test_result_amax(ctx):
    with runtime(ctx):
        parts = Parts(ctx)
        for scales, result, dtype in ((None, F32, np.float32), ({"a": 0.5, "d": 0.25}, OF_E4M3, E4M3)):
            found, more = parts.product(quantization_scales=scales, options={"result_amax": True, "result_type": result})
            factor = 1 if scales is None else 0.5
            assert list(more) == ["result_amax"] and more["result_amax"].shape == (1,)
            assert more["result_amax"].item() == factor * np.abs(parts.d).max()
            parts.close(found, factor * parts.d * (1 if scales is None else 0.25), dtype)


def test_an_addend(ctx):
    with runtime(ctx):
        parts = Parts(ctx)
        c = np.arange(M * N, dtype=np.float16).reshape(M, N)
        mine = np.asfortranarray(parts.of(c))
        found = parts.product(mine, beta=2, quantization_scales={"a": 0.5}, options={"inplace": True})
        assert found is mine
        parts.close(found, 0.5 * parts.d + 2 * c, np.float16)
        parts.close(parts.product(parts.of(c), alpha=3, beta=1, options={"inplace": False, "result_type": F16}), 3 * parts.d + c, np.float16)
        with pytest.raises(pt.UnsupportedError, match="the dtype of C .float16"):
            parts.product(parts.of(c), beta=1, options={"inplace": False, "result_type": OF_E4M3})
        with pytest.raises(pt.UnsupportedError, match="C: an 8-bit C"):
            parts.product(parts.of(c).astype(E4M3), beta=1)


def test_what_products_are_summed_in(ctx):
    with runtime(ctx):
        parts = Parts(ctx)
        for compute in (MatmulComputeType.COMPUTE_32F, MatmulComputeType.COMPUTE_32F_PEDANTIC):
            parts.close(parts.product(options={"compute_type": compute, "result_type": F32}), parts.d)
        # BLAS may multiply by alpha before it sums, which rounds once more.
        scaled = parts.product(alpha=0.1, options={"scale_type": F32, "result_type": F32})
        assert scaled.dtype == np.float32
        np.testing.assert_allclose(scaled, parts.of(np.float64(np.float32(0.1)) * parts.d), rtol=2**-23)
        for wrong in ({"compute_type": MatmulComputeType.COMPUTE_16F}, {"scale_type": CudaDataType.CUDA_R_64F}):
            with pytest.raises(ValueError, match="compute_type"):
                parts.product(options=wrong)


def test_epilogs(ctx):
    E, bias = MatmulEpilog, np.arange(M) - 3.0
    with runtime(ctx):
        parts = Parts(ctx)
        rows = parts.of(bias[:, None])[:, 0]
        for dtype in (np.float16, ml_dtypes.bfloat16, np.float32):
            given = {"bias": rows.astype(dtype)}
            parts.close(parts.product(epilog=E.BIAS, epilog_inputs=given), parts.d + bias[:, None], E4M3)
            parts.close(parts.product(epilog=E.RELU_BIAS, epilog_inputs=given), np.maximum(parts.d + bias[:, None], 0), E4M3)
        wide = parts.product(epilog=E.RELU_BIAS, epilog_inputs={"bias": rows.astype(np.float16)}, options={"result_type": F16})
        parts.close(wide, np.maximum(parts.d + bias[:, None], 0), np.float16)
        parts.close(parts.product(epilog=E.RELU), np.maximum(parts.d, 0), E4M3)
        with pytest.raises(ValueError, match="bias must have dtype float16 or bfloat16 or float32"):
            parts.product(epilog=E.BIAS, epilog_inputs={"bias": rows.astype(E4M3)})
        for kind in (E.RELU_AUX, E.GELU_AUX, E.GELU_AUX_BIAS, E.BGRADA, E.BGRADB, E.DRELU, E.DGELU, E.DRELU_BGRAD):
            with pytest.raises(pt.UnsupportedError, match=f"epilog: {kind.name} .*float8_e4m3fn"):
                parts.product(epilog=kind)
        found, more = parts.product(epilog=E.RELU_AUX, options={"result_type": F16, "result_amax": True})
        assert sorted(more) == ["relu_aux", "result_amax"] and more["relu_aux"].dtype == np.uint8
        parts.close(found, np.maximum(parts.d, 0), np.float16)


def test_other_scales(ctx):
    with runtime(ctx):
        parts, tensor = Parts(ctx), np.ones(1, np.float32)
        options = {"result_type": F32}
        with Matmul(parts.a, parts.b, distributions=RULES, quantization_scales={"a": 2, "b": tensor}, options=options) as product:
            product.plan()
            parts.close(product.execute(), 2 * parts.d)
            tensor[:] = 0.5  # looked at with each execution
            parts.close(product.execute(), parts.d)
            product.reset_operands(quantization_scales={"a": 8})
            parts.close(product.execute(), 4 * parts.d)
            product.reset_operands_unchecked(quantization_scales=MatmulQuantizationScales(b=1))
            parts.close(product.execute(), 8 * parts.d)
            with pytest.raises(ValueError, match="d had no scale"):
                product.reset_operands(quantization_scales={"d": 1})
            if ctx.size > 1:
                tensor[:] = ctx.rank
                product.reset_operands(quantization_scales={"b": tensor})
                with pytest.raises(ValueError, match="inconsistent"):
                    product.execute()


def test_tensors_of_torch(ctx):
    torch = pytest.importorskip("torch")
    with runtime(ctx):
        parts, bias = Parts(ctx), np.arange(M) - 3.0
        a, b = (torch.as_tensor(one.astype(np.float32)).to(torch.float8_e4m3fn) for one in (parts.a, parts.b))
        given = {"bias": torch.as_tensor(parts.of(bias[:, None])[:, 0]).to(torch.bfloat16)}
        scales, options = {"a": torch.tensor([0.5])}, {"result_type": CudaDataType.CUDA_R_16BF, "result_amax": True}
        for dtype, wide in (("bfloat16", options), ("float8_e4m3fn", {"result_amax": True})):
            found, more = matmul(
                a, b, distributions=RULES, quantization_scales=scales, epilog=MatmulEpilog.BIAS, epilog_inputs=given, options=wide
            )
            wanted = 0.5 * parts.d + bias[:, None]
            assert found.dtype == getattr(torch, dtype) and more["result_amax"].item() == np.abs(wanted).max()
            assert (found.double().numpy() == parts.of(wanted).astype(pt.empty(ctx, (1,), pt.Slab(0), dtype).dtype)).all()
