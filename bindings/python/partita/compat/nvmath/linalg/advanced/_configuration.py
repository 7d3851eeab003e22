"""Options of a product."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any, Optional

import numpy as np

from ..._stateful import check_blocking, options_of
from ..._version import chosen
from ._enums import ComputeType, CudaDataType, MatmulAlgoType
from ._enums import MatmulEpilogue as MatmulEpilog

__all__ = [
    "MatmulAlgoType", "MatmulEpilog", "MatmulEpilogPreferences", "MatmulOptions", "MatmulPlanPreferences", "MatmulQuantizationScales",
    "matrix_qualifiers_dtype",
]  # fmt: skip

#: One element for each of A, B and C: whether it is transposed, and conjugated.
matrix_qualifiers_dtype: "np.dtype[Any]" = np.dtype([("structure", object), ("is_transpose", "<i1"), ("is_conjugate", "<i1")])


@dataclass
class MatmulOptions:
    """What of a product is not in its operands.

    Attributes
    ----------
    inplace : bool
        With a C: whether the result is written into it. By default so since 1.0, and not before (see `install`).
    compute_type : ComputeType, optional
        In what products are summed, or more precisely.
    scale_type : CudaDataType, optional
        To what alpha and beta are rounded.
    result_type : CudaDataType, optional
        Of the result; by default that of C, else of A.
    algo_type : MatmulAlgoType, optional
        A hint. P2P requests the method that works piece by piece, if the distributions have one; others behave as DEFAULT, and a warning
        is logged.
    result_amax : bool
        Of operands of 8 bits: the largest absolute value of D, over all ranks and before its scale, is returned as 'result_amax'.
    block_scaling : bool
        Only of operands of 8 bits, and UnsupportedError of them.
    sm_count_communication : int, optional
        UnsupportedError if it is given: it has no counterpart in Partita.
    logger : logging.Logger, optional
    blocking : True or 'auto'
    """

    inplace: bool = field(default_factory=lambda: chosen() >= (1, 0))
    compute_type: Optional[int] = None
    scale_type: Optional[int] = None
    result_type: Optional[int] = None
    algo_type: Optional[int] = None
    result_amax: bool = False
    block_scaling: bool = False
    sm_count_communication: Optional[int] = None
    logger: Optional[logging.Logger] = None
    blocking: Any = "auto"

    def __post_init__(self) -> None:
        if self.compute_type is not None:
            self.compute_type = ComputeType(self.compute_type)
        if self.scale_type is not None:
            self.scale_type = CudaDataType(self.scale_type)
        if self.result_type is not None:
            self.result_type = CudaDataType(self.result_type)
        if self.algo_type is not None:
            self.algo_type = MatmulAlgoType(self.algo_type)
        count = self.sm_count_communication
        if count is not None and not (isinstance(count, int) and count > 0):
            raise ValueError(f"sm_count_communication: expected a positive integer, got {count!r}")
        check_blocking(self.blocking)


@dataclass
class MatmulEpilogPreferences:
    """`aux_type`: the dtype of the auxiliary output, which is the result's; `aux_amax`: only of numbers of 8 bits."""

    aux_type: Optional[int] = None
    aux_amax: bool = False


@dataclass
class MatmulPlanPreferences:
    """`epilog`: MatmulEpilogPreferences, or a dict of them."""

    epilog: Any = None

    def __post_init__(self) -> None:
        self.epilog = options_of(MatmulEpilogPreferences, self.epilog, "epilog preferences")


@dataclass
class MatmulQuantizationScales:
    """What matrices of 8 bits are multiplied by: numbers, or tensors of one element; by default 1. `c`: of none here."""

    a: Any = None
    b: Any = None
    c: Any = None
    d: Any = None
