"""What epilogs read and write in addition to the operands: in the forms of cuBLAS outside, as arrays of D's shape inside."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Set, Tuple

import numpy as np

from ..... import _core
from ....._array import Array
from ....._collectives import all_gather
from ....._context import Context
from ....._errors import UnsupportedError
from ..._internal.tensor_wrapper import wrap_operand
from ..._memory import new_array
from .._internal.epilog_protocol import gelu_aux_mm_shape, relu_aux_mm_shape
from ._configuration import MatmulPlanPreferences
from ._enums import DATA_TYPE_TO_NAME, CudaDataType, MatmulEpilogue
from ._problem import MMTraits
from ._types import is_narrow


def inputs_of(epilog: MatmulEpilogue) -> Set[str]:
    """The names of what it reads."""
    found = {"bias"} if epilog.name.endswith("BIAS") else set()
    if epilog.name.startswith("DRELU"):
        found.add("relu_aux")
    if epilog.name.startswith("DGELU"):
        found.add("gelu_aux")
    return found


def output_of(epilog: MatmulEpilogue) -> Optional[str]:
    """The name of the array that it writes in addition to D."""
    if "_AUX" in epilog.name:
        return epilog.name[:4].lower() + "_aux"
    return epilog.name.lower() if "BGRAD" in epilog.name else None


def check_preferences(preferences: MatmulPlanPreferences, kind: MatmulEpilogue, dtype: str) -> None:
    """ValueError, UnsupportedError: an auxiliary output that is asked for otherwise than it is."""
    wanted = preferences.epilog
    if is_narrow(dtype) and (output_of(kind) or kind.name.startswith(("DRELU", "DGELU"))):
        raise UnsupportedError(f"epilog: {kind.name} reads or writes an array of the dtype of D, and does not support {dtype}")
    if wanted.aux_amax:
        raise ValueError("aux_amax: requires an 8-bit auxiliary output")
    if wanted.aux_type is None:
        return
    name = DATA_TYPE_TO_NAME.get(CudaDataType(wanted.aux_type))
    if output_of(kind) != "gelu_aux" or name != dtype:
        raise UnsupportedError(f"aux_type: the auxiliary output of {kind.name} has its own dtype, not {name}")


def packed(values: Any, shape: Tuple[int, int]) -> Any:
    """The bits of values > 0: row 8 i + j is bit j of row i. In column-major memory."""
    tensor = wrap_operand(values)
    rows, columns = tensor.shape
    wide = type(tensor).empty((8 * shape[0], columns), tensor.device_id, dtype="uint8", strides=(1, 8 * shape[0])).tensor
    bits = type(tensor).empty(shape, tensor.device_id, dtype="uint8", strides=(1, shape[0])).tensor
    wide[:], bits[:] = 0, 0
    wide[:rows] = values > 0
    for place in range(8):
        bits |= wide[place::8] << place
    return bits


def unpack(bits: Any, values: Any) -> None:
    """1 where the bit is set, 0 elsewhere."""
    for place in range(min(8, values.shape[0])):
        rows = values[place::8]
        rows[:] = (bits[: rows.shape[0]] >> place) & 1


class Epilog:
    """F, with its arrays. Made by all ranks alike; all of it is collective."""

    def __init__(self, context: Context, kind: MatmulEpilogue, layout: _core.Layout, traits: MMTraits, dtype: str, like: Any) -> None:
        self.kind = kind
        self._context, self._layout, self._dtype, self._like = context, layout, dtype, like
        self._rows = [layout.indices(0, rank) for rank in range(context.size)]
        self._bias_dtypes = ("float16", "bfloat16", "float32") if is_narrow(dtype) else (dtype,)
        self.bias = self._vector(traits.M, self._bias_dtypes[-1]) if "bias" in inputs_of(kind) else None
        aux = "AUX" in kind.name or kind.name.startswith(("DRELU", "DGELU"))
        self.auxiliary: Optional[Array] = new_array(context, layout, dtype, "F", like) if aux else None
        self.gradient: Optional[Array] = None
        if "BGRAD" in kind.name:
            self.gradient = self._vector(traits.N if kind == MatmulEpilogue.BGRADB else traits.M, dtype)

    def _vector(self, length: int, dtype: str) -> Array:
        return new_array(self._context, _core.Layout(_core.Replicated(), (length,), self._context.size), dtype, "C", self._like)

    def _local(self) -> Tuple[int, int]:
        rows, columns = self._layout.local_shape(self._context.rank)
        return rows, columns

    # --- what it reads

    def check(self, given: Dict[str, Any]) -> None:
        """ValueError, TypeError or UnsupportedError: what is wrong with this rank's inputs. Local."""
        wanted = inputs_of(self.kind)
        if not isinstance(given, dict):
            raise TypeError(f"epilog_inputs: expected a dict by name, got {type(given).__name__}")
        if "aux_quantization_scale" in given:
            raise UnsupportedError("aux_quantization_scale: requires an 8-bit auxiliary output, which is not supported")
        if set(given) != wanted:
            raise ValueError(f"epilog_inputs: {self.kind.name} expects {sorted(wanted)}, got {sorted(given)}")
        rows = self._local()[0]
        shapes: Dict[str, List[Tuple[int, ...]]] = {
            "bias": [(rows,), (rows, 1)],
            "relu_aux": [relu_aux_mm_shape(*self._local())],
            "gelu_aux": [gelu_aux_mm_shape(*self._local())],
        }
        for name, one in given.items():
            tensor = wrap_operand(one)
            if tensor.shape not in shapes[name]:
                raise ValueError(f"epilog_inputs: {name} must have shape {' or '.join(map(str, shapes[name]))}, got {tensor.shape}")
            dtypes = {"bias": self._bias_dtypes, "relu_aux": ("uint8",)}.get(name, (self._dtype,))
            if tensor.dtype not in dtypes:
                raise ValueError(f"epilog_inputs: {name} must have dtype {' or '.join(dtypes)}, got {tensor.dtype}")
            if tensor.name != self._like.name:
                raise TypeError(f"epilog_inputs: {name} belongs to {tensor.name}, but the operands belong to {self._like.name}")

    def take(self, given: Dict[str, Any]) -> None:
        """The inputs, which have been checked."""
        for name, one in given.items():
            tensor = wrap_operand(one)
            if name == "bias":
                assert self.bias is not None
                wrap_operand(self.bias.local).copy_(self._whole(tensor))
            else:
                assert self.auxiliary is not None
                values = self.auxiliary.local
                if name == "relu_aux":
                    unpack(tensor.tensor, values)
                else:
                    values[:] = tensor.tensor[: values.shape[0]]

    def _whole(self, bias: Any) -> Any:
        """A number for each row of D, from what each rank has for its own."""
        mine = np.ascontiguousarray(bias.to_numpy().reshape(-1))
        counts = [len(rows) for rows in self._rows]
        length = self._layout.shape[0]
        if all(count == length for count in counts):
            return wrap_operand(mine)
        everyone = all_gather(self._context, mine, counts=counts)
        whole, first = np.empty(length, mine.dtype), 0
        for rows, count in zip(self._rows, counts):
            whole[rows] = everyone[first : first + count]
            first += count
        return wrap_operand(whole)

    # --- what it has written

    def outputs(self) -> Dict[str, Any]:
        """By name; new memory."""
        name = output_of(self.kind)
        if name is None:
            return {}
        if self.gradient is not None:
            return {name: self._rows_of(self.gradient)}
        assert self.auxiliary is not None
        values = self.auxiliary.local
        if name == "relu_aux":
            return {name: packed(values, relu_aux_mm_shape(*self._local()))}
        shape = gelu_aux_mm_shape(*self._local())
        found = type(self._like).empty(shape, self._like.device_id, dtype=self._dtype, strides=(1, shape[0])).tensor
        found[:] = 0
        found[: values.shape[0]] = values
        return {name: found}

    def _rows_of(self, gradient: Array) -> Any:
        """Those of D's rows that this rank has; of B's gradient all."""
        whole = wrap_operand(gradient.local)
        mine = whole.to_numpy()
        if self.kind != MatmulEpilogue.BGRADB:
            mine = mine[self._rows[self._context.rank]]
        found = type(whole).empty(mine.shape, whole.device_id, dtype=whole.dtype)
        found.copy_(wrap_operand(mine))
        return found.tensor

    def arrays(self) -> List[Optional[Array]]:
        """Bias, auxiliary, gradient."""
        return [self.bias, self.auxiliary, self.gradient]
