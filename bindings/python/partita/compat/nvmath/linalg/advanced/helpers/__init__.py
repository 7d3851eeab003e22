"""Helpers of products: `matmul`."""

from . import matmul

__all__ = ["matmul"]
