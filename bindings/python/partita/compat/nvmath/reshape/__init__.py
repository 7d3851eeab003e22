"""The names that redistribution has in 0.8 and 0.9: from box to box, or between any distributions."""

from __future__ import annotations

from typing import Any, Union

from .._agreement import collective
from ..distribution import Box, Distribution, Redistribute
from ..distribution import InvalidRedistributeState as InvalidReshapeState
from ..distribution import RedistributeOptions as ReshapeOptions
from ..distribution._redistribute import redistribute

__all__ = ["InvalidReshapeState", "Reshape", "ReshapeOptions", "reshape"]

BoxLike = Union[Distribution, Any]


def _box(given: BoxLike) -> Distribution:
    """A pair of coordinates is a Box, too."""
    return given if isinstance(given, Distribution) else Box(*given)


class Reshape(Redistribute):
    """`Redistribute`, by its older name."""

    @collective
    def __init__(
        self, operand: Any, /, input_box: BoxLike, output_box: BoxLike, *, options: Any = None, stream: Any = None
    ) -> None:
        super().__init__(operand, _box(input_box), _box(output_box), options=options, stream=stream)


@collective
def reshape(
    operand: Any,
    /,
    input_box: BoxLike,
    output_box: BoxLike,
    *,
    sync_symmetric_memory: bool = True,
    options: Any = None,
    stream: Any = None,
) -> Any:
    """`redistribute`, by its older name. Collective, blocking."""
    return redistribute(
        operand,
        _box(input_box),
        _box(output_box),
        sync_symmetric_memory=sync_symmetric_memory,
        options=options,
        stream=stream,
    )
