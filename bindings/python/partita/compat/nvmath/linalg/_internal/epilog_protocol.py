"""Shapes of the auxiliary arrays of epilogs."""

from __future__ import annotations

from typing import Tuple


def _up(extent: int, step: int) -> int:
    return -(-extent // step) * step


def relu_aux_mm_shape(m: int, n: int) -> Tuple[int, int]:
    """Of the bits of m rows, by bytes, a multiple of 16 of them."""
    return _up(-(-m // 8), 16), n


def gelu_aux_mm_shape(m: int, n: int) -> Tuple[int, int]:
    """Of the values of m rows, a multiple of 8 of them."""
    return _up(m, 8), n
