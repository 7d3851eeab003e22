"""D = F(alpha op(A) op(B) + beta C) of distributed matrices."""

from . import helpers, matmulmod
from ._configuration import (
    MatmulEpilogPreferences,
    MatmulOptions,
    MatmulPlanPreferences,
    MatmulQuantizationScales,
    matrix_qualifiers_dtype,
)
from ._enums import ComputeType as MatmulComputeType
from ._enums import MatmulAlgoType
from ._enums import MatmulEpilogue as MatmulEpilog
from ._enums import numroc
from ._functions import matmul
from ._product import InvalidMatmulState, Matmul

__all__ = [
    "InvalidMatmulState", "Matmul", "MatmulAlgoType", "MatmulComputeType", "MatmulEpilog", "MatmulEpilogPreferences", "MatmulOptions",
    "MatmulPlanPreferences", "MatmulQuantizationScales", "helpers", "matmul", "matmulmod", "matrix_qualifiers_dtype", "numroc",
]  # fmt: skip
