"""Another distribution of the same array."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any, List, Optional, Tuple, Union

from .... import _core
from ...._array import Array
from ...._redistribute import Redistribute as Moving
from .._agreement import collective, gather_objects, raised_on_all, require_alike
from .._internal.tensor_wrapper import wrap_operand
from .._memory import distributed, new_array
from .._stateful import OfOneOperand, check_blocking, facts_of, options_of
from ._base import BindDistributionError, ConvertDistributionError, Distribution, Shape, layout_of, require_one_rule
from ._box import Box

_OptionsLike = Union["RedistributeOptions", dict[str, Any], None]


@dataclass
class RedistributeOptions:
    """`logger` gets what is done; the root logger by default. `blocking`: True or 'auto'."""

    logger: Optional[logging.Logger] = None
    blocking: Any = "auto"

    def __post_init__(self) -> None:
        check_blocking(self.blocking)


@raised_on_all
class InvalidRedistributeState(Exception):
    """A freed object was used."""


@dataclass
class _Spec:
    """What a rank tells the others."""

    shape: Shape
    dtype: str
    package: str
    device: str
    row_major: bool
    column_major: bool
    source: Distribution
    destination: Distribution
    blocking: Any


def _order(specs: List[_Spec]) -> str:
    """Of the result: that of the operands."""
    row_major, column_major = all(one.row_major for one in specs), all(one.column_major for one in specs)
    some = any(one.row_major or one.column_major for one in specs)
    if some and not row_major and not column_major:
        raise ValueError("the memory layout is inconsistent across processes: C on some of them only")
    return "F" if column_major and not row_major else "C"


class Redistribute(OfOneOperand):
    """A redistribution for any number of operands of the same kind.

    Creation, `plan` and `execute` are collective and blocking.

    Parameters
    ----------
    operand : array
        This rank's part: NumPy, CuPy or PyTorch, any memory, dtype, strides and number of dimensions.
    input_distribution, output_distribution : Distribution
        Any; of boxes each rank gives its own.
    options : RedistributeOptions or dict, optional
    stream : optional
        What it has been given is waited for before the operand is read.

    Raises
    ------
    ValueError, TypeError, BindDistributionError
        The same on every rank.
    """

    _invalid = InvalidRedistributeState

    @collective
    def __init__(
        self,
        operand: Any,
        /,
        input_distribution: Distribution,
        output_distribution: Distribution,
        *,
        options: _OptionsLike = None,
        stream: Any = None,
    ) -> None:
        self.options = options_of(RedistributeOptions, options, "options")
        self._begin(self.options.logger)
        specs = gather_objects(self._context, self._spec(operand, input_distribution, output_distribution))
        self._layouts, self._result_order = self._settle(specs)
        self._operand = wrap_operand(operand)
        self._wait_for(stream, self._operand)
        self._facts = facts_of(self._operand)
        self._source: Optional[Array] = distributed(self._context, self._operand, self._layouts[0])
        self._moves: dict[str, Moving] = {}
        self.input_box, self.output_box = self._boxes(input_distribution), self._boxes(output_distribution, 1)

    def _boxes(self, given: Distribution, place: int = 0) -> Optional[Box]:
        """Of this rank, where it is one."""
        if isinstance(given, Box):
            return given
        whole = tuple(self._layouts[place].shape)
        try:
            box: Box = (given if given._bound else given.copy()._bind(whole)).to(Box)
            return box
        except (ConvertDistributionError, BindDistributionError, NotImplementedError):
            return None

    def _spec(self, operand: Any, source: Distribution, destination: Distribution) -> _Spec:
        tensor = wrap_operand(operand)
        for one in (source, destination):
            if not isinstance(one, Distribution):
                raise TypeError(f"expected a distribution, got {one!r}")
        return _Spec(
            tensor.shape,
            tensor.dtype,
            tensor.name,
            tensor.device,
            tensor.is_row_major,
            tensor.is_column_major,
            source.copy(),
            destination.copy(),
            self.options.blocking,
        )

    def _settle(self, specs: List[_Spec]) -> Tuple[Tuple[_core.Layout, _core.Layout], str]:
        require_alike("the number of dimensions of the operand is", [len(one.shape) for one in specs])
        require_alike("the dtype of the operand is", [one.dtype for one in specs])
        require_alike("the package of the operand is", [one.package for one in specs])
        require_alike("the memory space of the operand is", [one.device for one in specs])
        require_alike("options are", [one.blocking for one in specs])
        order = _order(specs)
        source = layout_of("input_distribution", [one.source for one in specs], [one.shape for one in specs])
        wanted = [one.destination for one in specs]
        require_one_rule("output_distribution", wanted)
        if all(isinstance(one, Box) for one in wanted):
            boxes = [one.box_shape for one in wanted if isinstance(one, Box)]
            destination = layout_of("output_distribution", wanted, boxes)
            if destination.shape != source.shape:
                raise ValueError(f"the global shapes of input and output differ: {source.shape} and {destination.shape}")
        else:
            for one in wanted:
                one._suits("output_distribution", len(source.shape), specs[0].shape)
            destination = _core.Layout(wanted[0]._rule(wanted), source.shape, len(specs))
        return (source, destination), order

    def _move(self, result: Array) -> Moving:
        """The plan for the operand that there is."""
        assert self._source is not None
        key = f"{self._source.operand} {result.operand}"
        if key not in self._moves:
            made = Moving(self._source, result)
            del made._arrays  # each execution names its own
            self._moves[key] = made
            self.logger.info("Redistribute: %s", made.plan.reason)
        return self._moves[key]

    @collective
    def plan(self, stream: Any = None) -> None:
        """Work out what moves. Collective, blocking."""
        self._make_ready(stream, self._operand)

    @collective
    def execute(self, stream: Any = None, release_workspace: bool = False, sync_symmetric_memory: bool = True) -> Any:
        """Move. Collective, blocking.

        Parameters
        ----------
        release_workspace : bool
            The plan and its scratch go; the next execution makes them anew.
        sync_symmetric_memory : bool
            No rank's part is read before that rank has come here, with either value.

        Returns
        -------
        array
            This rank's part in the output distribution: new memory, of the operand's package, place and order (C where the
            operand has none). Of symmetric memory it is symmetric, too: see `free_symmetric_memory`.
        """
        self._check_ready()
        self._wait_for(stream, self._operand)
        result = new_array(self._context, self._layouts[1], self._facts[1], self._result_order, self._operand, [self._operand])
        move = self._move(result)
        assert self._source is not None
        move.execute(self._source, result)
        self._wait_for(None, self._operand)
        if release_workspace:
            self._moves.clear()
        self.logger.info("Redistribute: done, of %s into %s", *self._layouts)
        return result.local

    @collective
    def reset_operand(self, operand: Any = None, *, stream: Any = None) -> None:
        """Take another operand of the same package, dtype, device and shape; None lets go of it. Collective, blocking."""
        self._replace(operand, lambda tensor: self._take(tensor, stream))

    @collective
    def reset_operand_unchecked(self, operand: Any, *, stream: Any = None) -> None:
        """The same by the word of the caller. Collective, blocking."""
        self._check_valid()
        self._take(wrap_operand(operand), stream)

    def _take(self, tensor: Any, stream: Any) -> None:
        self._wait_for(stream, tensor)
        self._operand, self._source = tensor, distributed(self._context, tensor, self._layouts[0])
        self._released = ""

    def _drop(self) -> None:
        self._operand = self._source = None
        self._moves = {}


@collective
def redistribute(
    operand: Any,
    /,
    input_distribution: Distribution,
    output_distribution: Distribution,
    *,
    sync_symmetric_memory: bool = True,
    options: _OptionsLike = None,
    stream: Any = None,
) -> Any:
    """This rank's part of the array in another distribution. Collective, blocking; see `Redistribute`."""
    with Redistribute(operand, input_distribution, output_distribution, options=options, stream=stream) as moving:
        moving.plan(stream)
        return moving.execute(stream, sync_symmetric_memory=sync_symmetric_memory)
