"""A linear system as all ranks see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, List, Sequence, Tuple

from ..... import _core
from ....._matrices import DTYPES
from ..._agreement import require_alike
from ..._internal.tensor_wrapper import wrap_operand
from ...distribution import BlockCyclic, Distribution
from ...distribution._base import Shape, layout_of
from ._configuration import DirectSolverOptions


@dataclass
class Spec:
    """What a rank tells the others, of A and B."""

    shapes: List[Shape]
    dtypes: List[str]
    packages: List[str]
    devices: List[str]
    distributions: List[Distribution]
    rest: Tuple[Any, ...]


def _for_matrix(name: str, one: Distribution, shape: Shape) -> Distribution:
    """With the dimensions of the operand: blocks along rows alone become blocks of a matrix."""
    if isinstance(one, BlockCyclic) and one.ndim == 1 and len(shape) == 2:
        longer: Distribution = one.to(BlockCyclic, ndim=2, copy=True)
        return longer
    if isinstance(one, BlockCyclic) and one.ndim == 2 and len(shape) == 1:
        raise ValueError(f"{name}: the distribution has 2 dimensions, but {name} has one: use a distribution of one dimension, or pass [n, 1]")
    return one.copy()  # type: ignore[no-any-return]


def spec_of(operands: Sequence[Any], distributions: Any, options: DirectSolverOptions) -> Spec:
    """Of this rank. ValueError or TypeError: what is wrong with it alone."""
    tensors = [wrap_operand(one) for one in operands]
    a, b = tensors
    if len(a.shape) != 2 or len(b.shape) not in (1, 2):
        raise ValueError(f"expected a matrix A and a vector or matrix B, got operands of shapes {a.shape} and {b.shape}")
    for name, one in zip("AB", tensors):
        if one.dtype not in DTYPES:
            raise ValueError(f"{name}: the dtype {one.dtype} is not supported; supported are {', '.join(DTYPES)}")
        if one.is_conjugate:
            raise ValueError(f"{name}: the tensor has a pending conjugation: resolve it first")
    if a.dtype != b.dtype:
        raise TypeError(f"expected operands of one dtype, got A in {a.dtype} and B in {b.dtype}")
    if (a.name, a.device) != (b.name, b.device):
        raise ValueError(f"expected operands of one package in one memory space, got {a.name} on {a.device} and {b.name} on {b.device}")
    if not isinstance(distributions, Sequence) or len(distributions) != 2 or not all(isinstance(one, Distribution) for one in distributions):
        raise ValueError("distributions: expected two, of A and of B")
    return Spec(
        [one.shape for one in tensors],
        [one.dtype for one in tensors],
        [one.name for one in tensors],
        [one.device for one in tensors],
        [_for_matrix(name, one, tensor.shape) for name, one, tensor in zip("AB", distributions, tensors)],
        (options.inplace_a, options.inplace_b, options.blocking),
    )


def settle(specs: List[Spec]) -> Tuple[_core.Layout, _core.Layout]:
    """The layouts of A and B. Local: all ranks know what all have given.

    Raises
    ------
    ValueError, BindDistributionError
        Specifications that do not go together.
    """
    require_alike("the options are", [one.rest for one in specs])
    require_alike("the dtypes of the operands are", [one.dtypes for one in specs])
    require_alike("the packages of the operands are", [one.packages for one in specs])
    require_alike("the memory spaces of the operands are", [one.devices for one in specs])
    a, b = (layout_of("AB"[i], [one.distributions[i] for one in specs], [one.shapes[i] for one in specs]) for i in (0, 1))
    if a.shape[0] != a.shape[1]:
        raise ValueError(f"A: expected a square matrix, got the global shape {tuple(a.shape)}")
    if b.shape[0] != a.shape[0]:
        raise ValueError(f"B: expected {a.shape[0]} rows, as A has, got the global shape {tuple(b.shape)}")
    return a, b
