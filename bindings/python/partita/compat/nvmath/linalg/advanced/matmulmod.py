"""The module of products, by the name that it has in nvmath."""

from ._configuration import matrix_qualifiers_dtype
from ._enums import ComputeType as MatmulComputeType
from ._functions import matmul
from ._problem import MMTraits
from ._product import InvalidMatmulState, Matmul

__all__ = ["InvalidMatmulState", "MMTraits", "Matmul", "MatmulComputeType", "matmul", "matrix_qualifiers_dtype"]
