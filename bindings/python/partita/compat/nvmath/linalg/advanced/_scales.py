"""Factors of operands of 8 bits, and the largest absolute value of their product."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple

from ..... import _core
from ....._array import Array
from ....._context import Context
from ....._errors import UnsupportedError
from ..._agreement import gather_objects, require_alike
from ..._internal.tensor_wrapper import wrap_operand
from ..._memory import new_array
from ..._stateful import options_of
from ._configuration import MatmulOptions, MatmulQuantizationScales
from ._types import is_narrow


def given_scales(scales: Any) -> Dict[str, Any]:
    """By the name of the matrix."""
    given = options_of(MatmulQuantizationScales, scales, "quantization_scales")
    return {name: value for name, value in vars(given).items() if value is not None}


def check_scales(options: MatmulOptions, dtypes: Sequence[str], result: str, scales: Any) -> None:
    """Of A, B and, where there is one, C. ValueError, UnsupportedError, TypeError: what does not go with their dtypes."""
    if not any(is_narrow(dtype) for dtype in dtypes):
        said = (("quantization_scales", scales is not None), ("result_amax", options.result_amax), ("block_scaling", options.block_scaling))
        for name, is_said in said:
            if is_said:
                raise ValueError(f"{name}: requires 8-bit operands, got {', '.join(dtypes)}")
        return
    if options.block_scaling:
        raise UnsupportedError("block_scaling: block scales (MXFP8) are not supported; use one scale per matrix")
    if len(dtypes) == 3 and is_narrow(dtypes[2]):
        raise UnsupportedError(f"C: an 8-bit C ({dtypes[2]}) is not supported")
    if len(dtypes) == 3 and dtypes[2] != result:
        raise UnsupportedError(f"result_type: the result ({result}) must have the dtype of C ({dtypes[2]})")
    dtype_of = {"a": dtypes[0], "b": dtypes[1], "c": dtypes[2] if len(dtypes) == 3 else "no C", "d": result}
    for name, value in given_scales(scales).items():
        if not is_narrow(dtype_of[name]):
            raise ValueError(f"quantization_scales: {name} has a scale, but its dtype is {dtype_of[name]}: only 8-bit matrices have scales")
        number_of(name, value)


def number_of(name: str, scale: Any) -> float:
    """Of a number, or of a tensor of one element."""
    if isinstance(scale, (int, float)) and not isinstance(scale, bool):
        return float(scale)
    tensor = wrap_operand(scale)
    if tensor.shape not in ((), (1,)):
        raise ValueError(f"quantization_scales: {name} must be a number or a tensor with one element, got shape {tensor.shape}")
    return float(scale.item())


class Scales:
    """The additional arguments of a product of 8-bit operands. Made by all ranks in the same way; all of it is collective.

    A tensor is looked at with each execution: a program may write another scale into it.
    """

    def __init__(self, context: Context, given: Any, with_amax: bool, like: Any) -> None:
        self._context, self._like = context, like
        self._given = given_scales(given)
        self._arrays = {f"scale_{name}": self._scalar() for name in self._given}
        if with_amax:
            self._arrays["amax_d"] = self._scalar()
        self._numbers: Tuple[Tuple[str, float], ...] = ()

    def _scalar(self) -> Array:
        return new_array(self._context, _core.Layout(_core.Replicated(), (), self._context.size), "float32", "C", self._like)

    def take(self, given: Any) -> None:
        """Others in the place of those that are named."""
        self._given.update(given_scales(given))

    def check(self, given: Any) -> None:
        """ValueError: a scale that there was none of."""
        for name in given_scales(given):
            if name not in self._given:
                raise ValueError(f"quantization_scales: {name} had no scale when the product was specified")

    def read(self) -> None:
        """Before an execution. ValueError where the ranks' numbers differ."""
        everyone = gather_objects(self._context, tuple((name, number_of(name, one)) for name, one in self._given.items()))
        require_alike("quantization_scales are", everyone)
        if everyone[0] != self._numbers:
            for name, number in everyone[0]:
                self._arrays[f"scale_{name}"].fill(number)
            self._numbers = everyone[0]

    def arrays(self) -> Dict[str, Optional[Array]]:
        """As `partita.matmul` names them."""
        return dict(self._arrays)

    def outputs(self) -> Dict[str, Any]:
        """By name; new memory."""
        if "amax_d" not in self._arrays:
            return {}
        found = type(self._like).empty((1,), self._like.device_id, dtype="float32")
        found.copy_(wrap_operand(self._arrays["amax_d"].local).reshape((1,)))
        return {"result_amax": found.tensor}
