"""Who has what, before and after a transform."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, List, Sequence, Tuple, Union

from .... import _core
from .._agreement import require_alike
from ..distribution import Box, Distribution, Slab
from ..distribution._base import Shape, layout_of

#: One distribution, or what of a box each rank has before and after.
Given = Union[Distribution, Tuple[Box, Box]]


def given_of(distribution: Any, dimensions: int) -> Given:
    """A copy; ValueError or TypeError where it is neither a distribution nor two boxes."""
    if isinstance(distribution, Box):
        raise ValueError("distribution: expected two boxes, of the operand and of the result")
    if isinstance(distribution, Slab):
        slab: Slab = distribution.copy() if distribution.ndim else distribution.to(Slab, ndim=dimensions, copy=True)
        return slab
    if isinstance(distribution, Distribution):
        other: Distribution = distribution.copy()
        return other
    if isinstance(distribution, Sequence) and len(distribution) == 2 and all(isinstance(one, Box) for one in distribution):
        return distribution[0].copy(), distribution[1].copy()
    raise ValueError(f"distribution: expected one distribution or two boxes on every rank, got {distribution!r}")


@dataclass
class Spec:
    """What a rank tells the others."""

    shape: Shape
    dtype: str
    package: str
    device: str
    distribution: Given
    fft_type: str
    options: Tuple[Any, ...]


def transformed_shape(shape: Shape, kind: str, parity: str) -> Shape:
    """Of the result."""
    last = shape[-1]
    if kind == "R2C":
        last = last // 2 + 1
    elif kind == "C2R":
        last = 2 * (last - 1) + (parity == "odd")
    return (*shape[:-1], last)


def _complement(given: Distribution) -> Distribution:
    slab = given if isinstance(given, Slab) else given.to(Slab)
    if slab.partition_dim > 1:
        raise ValueError(f"redistribute=False: {slab} does not distribute axis 0 or 1, between which the transform redistributes")
    return Slab(1 - slab.partition_dim, slab.ndim)


def settle(specs: List[Spec], redistribute: bool, parity: str) -> Tuple[_core.Layout, _core.Layout]:
    """The layouts of operand and result. Local: all ranks know what all have given.

    Raises
    ------
    ValueError, BindDistributionError, ConvertDistributionError
        Specifications that do not go together.
    """
    require_alike("The number of dimensions of the input operand is", [len(one.shape) for one in specs])
    first = specs[0]
    if len(first.shape) not in (2, 3):
        raise ValueError(f"a distributed FFT has 2 or 3 dimensions, got {len(first.shape)}")
    require_alike("The operand dtype is", [one.dtype for one in specs])
    require_alike("the package of the operand is", [one.package for one in specs])
    require_alike("the memory space of the operand is", [one.device for one in specs])
    require_alike("options are", [one.options for one in specs])
    boxes = [one.distribution for one in specs if isinstance(one.distribution, tuple)]
    if boxes and len(boxes) != len(specs):
        raise ValueError("distribution: boxes on some ranks, but one distribution for all ranks on others")
    if boxes:
        source = layout_of("the input boxes", [pair[0] for pair in boxes], [one.shape for one in specs])
        result = layout_of("the output boxes", [pair[1] for pair in boxes], [pair[1].box_shape for pair in boxes])
        wanted = transformed_shape(tuple(source.shape), first.fft_type, parity)
        if tuple(result.shape) != wanted:
            raise ValueError(f"the output boxes span {tuple(result.shape)}, but the result has shape {wanted}")
        return source, result
    everyone = [one.distribution for one in specs if isinstance(one.distribution, Distribution)]
    source = layout_of("distribution", everyone, [one.shape for one in specs])
    whole = tuple(source.shape)
    after = everyone[0] if redistribute else _complement(everyone[0].copy() if everyone[0]._bound else everyone[0].copy()._bind(whole))
    wanted = transformed_shape(whole, first.fft_type, parity)
    return source, _core.Layout(after._rule([after]), wanted, len(specs))
