"""Names of dtypes with CUDA's numbers, and their widths in bits."""

from typing import Dict

import numpy as np

from ..linalg.advanced._enums import DATA_TYPE_TO_NAME, NAME_TO_DATA_TYPE
from ..linalg.advanced._enums import CudaDataType as cudaDataType

NAME_TO_DATA_WIDTH: Dict[str, int] = {
    name: 8 if name.startswith("float8") else 16 if name == "bfloat16" else 8 * np.dtype(name).itemsize for name in NAME_TO_DATA_TYPE
}
NAME_TO_ITEM_SIZE: Dict[str, int] = {name: bits // 8 for name, bits in NAME_TO_DATA_WIDTH.items()}

__all__ = ["DATA_TYPE_TO_NAME", "NAME_TO_DATA_TYPE", "NAME_TO_DATA_WIDTH", "NAME_TO_ITEM_SIZE", "cudaDataType"]
