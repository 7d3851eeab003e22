"""What plans that compute are verified on: operands of small numbers, and what NumPy makes of them."""

from __future__ import annotations

import math
from typing import Any, Dict, List, NamedTuple, Sequence

import numpy as np

from . import _core
from ._errors import ArgumentError, UnsupportedError


class Numbers(NamedTuple):
    """Of the operands in the order of the plan's buffers."""

    given: List[Any]
    wanted: Any
    alpha: complex


most_numbers = 10**6


def _require_few(*operands: _core.Operand) -> None:
    for one in operands:
        if math.prod(one.layout.shape) > most_numbers:
            raise ArgumentError(f"verify: {one.layout} is too large: plans that compute are verified with at most {most_numbers} numbers")


def _drawn(operand: _core.Operand, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    numbers = rng.integers(-3, 4, operand.layout.shape).astype(np.float64)
    if operand.dtype.startswith("complex"):
        return numbers + 1j * rng.integers(-3, 4, operand.layout.shape)
    return numbers


def _transposed(op: str, x: Any) -> Any:
    """As the plan sees the operand; what is conjugated is so when it is multiplied."""
    return x.swapaxes(-1, -2) if "transpose" in op and x.ndim > 1 else x


def _conjugated(op: str, x: Any) -> Any:
    return x.conj() if op.startswith("conjugate") else x


def _gelu(x: Any) -> Any:
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


_activations = {"none": lambda x: x, "all-reduce": lambda x: x, "relu": lambda x: np.maximum(x, 0), "gelu": _gelu}


def numbers_of_matmul(a: _core.Operand, b: _core.Operand, d: _core.Operand, options: Dict[str, Any]) -> Numbers:
    """Of a multiply into d with these options of `matmul`."""
    _require_few(a, b, d)
    epilogue = options.get("epilogue", "none")
    if epilogue not in _activations:
        raise UnsupportedError(f"verify: the epilogue {epilogue} has further arrays; verify it through the C++ API")
    op_a, op_b, alpha = options.get("op_a", "none"), options.get("op_b", "none"), options.get("alpha", 1)
    x, y = _transposed(op_a, _drawn(a, 1)), _transposed(op_b, _drawn(b, 2))
    product = alpha * (_conjugated(op_a, x) @ _conjugated(op_b, y))
    return Numbers([x, y], _activations[epilogue](product), alpha)


def numbers_of_fft(a: _core.Operand, result: _core.Operand, options: Dict[str, Any]) -> Numbers:
    """Of a transform with these options of `plan_fft`. The norm is not part of a plan: its factor is given with each execution."""
    _require_few(a, result)
    shape = result.layout.shape
    kind = options.get("kind", "c2c")
    axes = list(options.get("axes") or range(len(a.layout.shape)))
    x: Any = _drawn(a, 1)
    wanted: Any
    if kind == "c2c":
        wanted = np.fft.ifftn(x, axes=axes, norm="forward") if options.get("inverse") else np.fft.fftn(x, axes=axes)
    elif kind == "r2c":
        wanted = np.fft.rfftn(x, axes=axes)
    elif kind == "c2r":
        wanted = np.fft.irfftn(x, [shape[axis] for axis in axes], axes, "forward")
    else:
        raise UnsupportedError(f"verify: verify transforms of the kind {kind} through the C++ API")
    return Numbers([x], wanted, 1)
