"""Which dtypes, sums and factors go together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Optional, Sequence, Tuple

import numpy as np

from ._configuration import MatmulOptions
from ._enums import DATA_TYPE_TO_NAME, ComputeType, CudaDataType

_single = ("float32", "complex64")
_half = ("float16", "bfloat16")
_narrow = ("float8_e4m3fn", "float8_e5m2")
#: Of a compute type: Partita's name for it, and the dtypes of A and B that have it.
_sums: Dict[ComputeType, Tuple[str, Tuple[str, ...]]] = {
    ComputeType.COMPUTE_16F: ("f16", ("float16",)),
    ComputeType.COMPUTE_16F_PEDANTIC: ("f16", ("float16",)),
    ComputeType.COMPUTE_32F: ("f32", (*_single, *_half, *_narrow)),
    ComputeType.COMPUTE_32F_PEDANTIC: ("f32", (*_single, *_half, *_narrow)),
    # Leave to go faster with less: nothing of f16 and bf16 is taken of it.
    ComputeType.COMPUTE_32F_FAST_16F: ("f32", _single),
    ComputeType.COMPUTE_32F_FAST_16BF: ("f32", _single),
    ComputeType.COMPUTE_32F_FAST_TF32: ("tf32", _single),
    ComputeType.COMPUTE_32F_EMULATED_16BFX9: ("bf16x9", _single),
    ComputeType.COMPUTE_64F: ("f64", ("float64", "complex128")),
    ComputeType.COMPUTE_64F_PEDANTIC: ("f64", ("float64", "complex128")),
    ComputeType.COMPUTE_64F_EMULATED_FIXEDPOINT: ("f64", ("float64", "complex128")),
    ComputeType.COMPUTE_32I: ("i32", ("int8",)),
    ComputeType.COMPUTE_32I_PEDANTIC: ("i32", ("int8",)),
}
_of_scale: Dict[CudaDataType, ComputeType] = {
    CudaDataType.CUDA_R_16F: ComputeType.COMPUTE_16F,
    CudaDataType.CUDA_R_16BF: ComputeType.COMPUTE_32F,
    CudaDataType.CUDA_R_32F: ComputeType.COMPUTE_32F,
    CudaDataType.CUDA_C_32F: ComputeType.COMPUTE_32F,
    CudaDataType.CUDA_R_64F: ComputeType.COMPUTE_64F,
    CudaDataType.CUDA_C_64F: ComputeType.COMPUTE_64F,
    CudaDataType.CUDA_R_32I: ComputeType.COMPUTE_32I,
}


@dataclass
class Types:
    """As Partita's options have them."""

    compute: str
    scale: Optional[str]
    result: Optional[str]
    operands: str

    def factor(self, name: str, value: Any) -> complex:
        """alpha or beta, rounded; ValueError if it is not representable in their dtype."""
        usual = "float32" if self.operands in (*_half, *_narrow) else "int32" if self.operands == "int8" else self.operands
        rounded = np.zeros(1, self.scale or usual)
        try:
            rounded[0] = value
        except (TypeError, ValueError) as wrong:
            raise ValueError(f"{name}: {value!r} is not representable in {rounded.dtype}") from wrong
        return complex(rounded[0])


def is_narrow(dtype: str) -> bool:
    """Of 8 bits, with scales."""
    return dtype in _narrow


def _scale_of(sums: str, is_complex: bool) -> CudaDataType:
    if sums == "f16":
        return CudaDataType.CUDA_R_16F
    if sums == "i32":
        return CudaDataType.CUDA_R_32I
    double = sums == "f64"
    if is_complex:
        return CudaDataType.CUDA_C_64F if double else CudaDataType.CUDA_C_32F
    return CudaDataType.CUDA_R_64F if double else CudaDataType.CUDA_R_32F


def types_of(options: MatmulOptions, dtypes: Sequence[str]) -> Types:
    """Of A, B and, where there is one, C.

    Raises
    ------
    ValueError
        What does not go together.
    """
    a, b = dtypes[:2]
    if a != b and not (is_narrow(a) and is_narrow(b)):
        raise ValueError(f"products of A in {a} and B in {b} are not supported")
    scale, compute = options.scale_type, options.compute_type
    if scale is not None and scale not in _of_scale:
        raise ValueError(f"scale_type: {CudaDataType(scale).name} is not supported for alpha and beta")
    if compute is None and scale is not None:
        compute = _of_scale[CudaDataType(scale)]
    if compute is not None:
        sums, factors = _sums[ComputeType(compute)]
        usual = _scale_of(sums, a.startswith("complex"))
        if a not in factors or scale not in (None, usual):
            said = "" if scale is None else f" with {CudaDataType(scale).name}"
            raise ValueError(f"compute_type, scale_type: {ComputeType(compute).name}{said} is not supported for products of {a} and {b}")
    result = None if options.result_type is None else DATA_TYPE_TO_NAME.get(CudaDataType(options.result_type))
    if options.result_type is not None and result is None:
        raise ValueError(f"result_type: {CudaDataType(options.result_type).name} is not supported")
    if len(dtypes) == 3:
        if options.inplace and result not in (None, dtypes[2]):
            raise ValueError(f"result_type: {result} differs from the dtype of C, {dtypes[2]}, into which inplace writes the result")
        result = result or dtypes[2]
    sums = "automatic" if compute is None else _sums[ComputeType(compute)][0]
    return Types(sums, None if scale is None else DATA_TYPE_TO_NAME[CudaDataType(scale)], result, a)
