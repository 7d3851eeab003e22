"""Words of CUDA's libraries, with their numbers, and what they are for Partita."""

from __future__ import annotations

from enum import IntEnum
from typing import Dict


class CudaDataType(IntEnum):
    """cudaDataType_t, as far as products have them."""

    CUDA_R_32F = 0
    CUDA_R_64F = 1
    CUDA_R_16F = 2
    CUDA_R_8I = 3
    CUDA_C_32F = 4
    CUDA_C_64F = 5
    CUDA_C_16F = 6
    CUDA_R_8U = 8
    CUDA_R_32I = 10
    CUDA_R_16BF = 14
    CUDA_R_8F_E4M3 = 28
    CUDA_R_8F_E5M2 = 29
    CUDA_R_4F_E2M1 = 33


NAME_TO_DATA_TYPE: Dict[str, CudaDataType] = {
    "float32": CudaDataType.CUDA_R_32F, "float64": CudaDataType.CUDA_R_64F, "float16": CudaDataType.CUDA_R_16F,
    "bfloat16": CudaDataType.CUDA_R_16BF, "complex64": CudaDataType.CUDA_C_32F, "complex128": CudaDataType.CUDA_C_64F,
    "int8": CudaDataType.CUDA_R_8I, "uint8": CudaDataType.CUDA_R_8U, "int32": CudaDataType.CUDA_R_32I,
    "float8_e4m3fn": CudaDataType.CUDA_R_8F_E4M3, "float8_e5m2": CudaDataType.CUDA_R_8F_E5M2,
}  # fmt: skip
DATA_TYPE_TO_NAME: Dict[CudaDataType, str] = {number: name for name, number in NAME_TO_DATA_TYPE.items()}


class ComputeType(IntEnum):
    """cublasComputeType_t: in what products are summed."""

    COMPUTE_16F = 64
    COMPUTE_16F_PEDANTIC = 65
    COMPUTE_32F = 68
    COMPUTE_32F_PEDANTIC = 69
    COMPUTE_64F = 70
    COMPUTE_64F_PEDANTIC = 71
    COMPUTE_32I = 72
    COMPUTE_32I_PEDANTIC = 73
    COMPUTE_32F_FAST_16F = 74
    COMPUTE_32F_FAST_16BF = 75
    COMPUTE_32F_FAST_TF32 = 77
    COMPUTE_32F_EMULATED_16BFX9 = 78
    COMPUTE_64F_EMULATED_FIXEDPOINT = 79


class MatmulEpilogue(IntEnum):
    """cublasMpMatmulEpilogue_t: F."""

    DEFAULT = 0
    ALLREDUCE = 1
    RELU = 2
    RELU_AUX = 2 | 128
    BIAS = 4
    RELU_BIAS = 2 | 4
    RELU_AUX_BIAS = 2 | 4 | 128
    DRELU = 8 | 128
    DRELU_BGRAD = 8 | 16 | 128
    GELU = 32
    GELU_AUX = 32 | 128
    GELU_BIAS = 32 | 4
    GELU_AUX_BIAS = 32 | 4 | 128
    DGELU = 64 | 128
    DGELU_BGRAD = 64 | 16 | 128
    BGRADA = 256
    BGRADB = 512


#: Partita's names.
EPILOGUES: Dict[MatmulEpilogue, str] = {
    MatmulEpilogue.DEFAULT: "none", MatmulEpilogue.ALLREDUCE: "all-reduce", MatmulEpilogue.RELU: "relu",
    MatmulEpilogue.RELU_AUX: "relu-aux", MatmulEpilogue.BIAS: "bias", MatmulEpilogue.RELU_BIAS: "relu-bias",
    MatmulEpilogue.RELU_AUX_BIAS: "relu-bias-aux", MatmulEpilogue.DRELU: "drelu", MatmulEpilogue.DRELU_BGRAD: "drelu-bias-gradient",
    MatmulEpilogue.GELU: "gelu", MatmulEpilogue.GELU_AUX: "gelu-aux", MatmulEpilogue.GELU_BIAS: "gelu-bias",
    MatmulEpilogue.GELU_AUX_BIAS: "gelu-bias-aux", MatmulEpilogue.DGELU: "dgelu", MatmulEpilogue.DGELU_BGRAD: "dgelu-bias-gradient",
    MatmulEpilogue.BGRADA: "bias-gradient-a", MatmulEpilogue.BGRADB: "bias-gradient-b",
}  # fmt: skip


class MatmulAlgoType(IntEnum):
    """cublasMpMatmulAlgoType_t: how transfers overlap with products."""

    DEFAULT = 0
    SPLIT_P2P = 1
    SPLIT_MULTICAST = 2
    ATOMIC_P2P = 3
    ATOMIC_MULTICAST = 4
    NO_OVERLAP = 5


def numroc(n: int, nb: int, iproc: int, isrcproc: int, nprocs: int) -> int:
    """How many of n indices, in blocks of nb distributed cyclically from process `isrcproc` on, are those of process `iproc`."""
    place = (iproc - isrcproc) % nprocs
    rounds, rest = divmod(n, nb * nprocs)
    return rounds * nb + min(max(rest - place * nb, 0), nb)
