"""JAX's precision of products, as the library has it."""

from __future__ import annotations

from typing import Any

import jax  # type: ignore[import-not-found,unused-ignore]
import numpy as np

from .._errors import ArgumentError

_config: Any = jax.config

#: Names of JAX for products whose factors GPUs may round, as they do by default.
_rounded = frozenset(
    ("default", "fastest", "high", "tensorfloat32", "bfloat16", "bfloat16_3x", "tf32_tf32_f32", "bf16_bf16_f32", "f16_f16_f32", "any_f8_any_f8_f32")
)
_exact = frozenset(
    ("highest", "float32", "f32_f32_f32", "f64_f64_f64", "tf32_tf32_f32_x3", "bf16_bf16_f32_x3", "bf16_bf16_f32_x6", "bf16_bf16_f32_x9")
)


def compute_of(what: str, precision: Any, dtype: Any) -> str:
    """The compute type of a product of this dtype: GPUs round factors in float32 to TF32, unless more is asked for. None: as the program has
    set `jax_default_matmul_precision`."""
    if precision is None:
        precision = _config.jax_default_matmul_precision
    both = precision if isinstance(precision, tuple) else (precision, precision)
    names = [_name(what, one) for one in both]
    if np.dtype(dtype) not in (np.float32, np.complex64) or not all(name in _rounded for name in names):
        return "automatic"
    return "tf32"


def _name(what: str, precision: Any) -> str:
    name = "default" if precision is None else str(getattr(precision, "name", precision)).lower()
    if name not in _rounded and name not in _exact:
        raise ArgumentError(
            f"{what}: precision is {precision!r}: expected None, 'default', 'high', 'highest', 'tensorfloat32', 'float32', a jax.lax.Precision, or "
            "a jax.lax.DotAlgorithmPreset"
        )
    return name
