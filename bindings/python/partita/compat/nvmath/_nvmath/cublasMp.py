"""Words of nvmath.bindings.cublasMp, and what needs no GPU of it."""

from ..distribution import ProcessGrid
from ..linalg.advanced._enums import ComputeType, MatmulAlgoType, MatmulEpilogue, numroc

GridLayout = ProcessGrid.Layout

__all__ = ["ComputeType", "GridLayout", "MatmulAlgoType", "MatmulEpilogue", "get_version", "numroc"]


def get_version() -> int:
    """0: there is no cuBLASMp here."""
    return 0
