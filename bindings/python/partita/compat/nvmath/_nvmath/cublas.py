"""Words of nvmath.bindings.cublas."""

from ..linalg.advanced._enums import ComputeType

__all__ = ["ComputeType"]
