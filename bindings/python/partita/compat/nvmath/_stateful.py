"""What `FFT`, `Matmul`, `DirectSolver` and `Redistribute` have in common: their states, and who may do what in which."""

from __future__ import annotations

import logging
from types import TracebackType
from typing import Any, Callable, ClassVar, Optional, Tuple, Type, TypeVar, Union

from ..._streams import stream_of_memory
from ._agreement import gather_objects, require_alike
from ._context import current
from ._internal.tensor_wrapper import wrap_operand

Self = TypeVar("Self", bound="Stateful")
Options = TypeVar("Options")


def options_of(cls: Type[Options], given: Union[Options, dict[str, Any], None], what: str) -> Options:
    """An object of the class, made of a dict of its fields where one is given."""
    if given is None:
        return cls()
    if isinstance(given, cls):
        return given
    if isinstance(given, dict):
        return cls(**given)
    raise TypeError(f"{what}: expected a {cls.__name__} or a dict, got {type(given).__name__}")


def check_blocking(blocking: Any) -> None:
    """Of options: calls return when their results are there, with either value."""
    if blocking is not True and blocking != "auto":
        raise ValueError(f"blocking: expected True or 'auto', got {blocking!r}")


def facts_of(tensor: Any) -> Tuple[Any, ...]:
    """What operands that take each other's place have in common."""
    return tensor.name, tensor.dtype, tensor.device_id, tensor.shape


def check_facts(of: str, tensor: Any, facts: Tuple[Any, ...]) -> None:
    """TypeError or ValueError where it has others; of fewer facts, the first ones are compared."""
    for fact, before, after in zip(("package", "data type", "device", "shape"), facts, facts_of(tensor)):
        if before != after:
            kind = TypeError if fact == "package" else ValueError
            raise kind(f"{of.format(fact)} does not match: {after}, previously {before}")


class Stateful:
    """An operation that is specified, planned, executed any number of times, and freed."""

    _invalid: ClassVar[Type[Exception]]
    _reset: ClassVar[str] = "reset_operand"

    def _begin(self, logger: Optional[logging.Logger]) -> None:
        context = current()
        self.process_group = context.process_group
        self._context = context.partita
        self.logger = logger or logging.getLogger()
        self.valid_state = True
        self._planned = False
        self._released = ""

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.free()

    def _wait_for(self, stream: Any, operand: Any) -> None:
        """Return when what the stream holds is done, and what the runtime's device has been given: then operands may be read,
        and results are there. No stream: the current one of the operand's package. Of host memory in a runtime without a
        device there is nothing to wait for.
        """
        self._context.synchronize(stream_of_memory(stream, operand.tensor, self._context._core))

    def _check_valid(self) -> None:
        if not self.valid_state:
            raise self._invalid(f"the {type(self).__name__} object has been freed and cannot be used any more")

    def _check_operands(self, what: str) -> None:
        """InvalidState of a freed object, RuntimeError where there are no operands."""
        self._check_valid()
        if self._released:
            raise RuntimeError(f"{what} cannot be performed {self._released}: set operands with {self._reset}")

    def _check_ready(self, what: str = "Execution") -> None:
        self._check_operands(what)
        if not self._planned:
            raise RuntimeError(f"{what} cannot be performed before plan() has been called")

    def _make_ready(self, stream: Any, operand: Any) -> None:
        self._check_operands("Planning")
        self._wait_for(stream, operand)
        self._context.barrier()
        self._planned = True

    def _agree_on_operand(self, tensor: Any) -> None:
        """ValueError where some ranks give an operand and others None."""
        require_alike("whether there is an operand is", gather_objects(self._context, tensor is not None))

    def free(self) -> None:
        """Release operands and plans. Local: shared memory is freed when all ranks have released it. A second call has no effect."""
        if self.valid_state:
            self.valid_state = False
            self._drop()
            self.logger.info("%s: freed", type(self).__name__)

    def _drop(self) -> None:
        raise NotImplementedError


class OfOneOperand(Stateful):
    """An operation on one operand, in whose place others come later."""

    _operand: Any
    _source: Any  # the array that the operand is this rank's part of
    _facts: Tuple[Any, ...]

    def _replace(self, operand: Any, take: Callable[[Any], None], check: Callable[[Any], None] = lambda tensor: None) -> None:
        """By an operand of the same kind, which also `check` is asked about; None lets go of the one that there is."""
        self._check_valid()
        tensor = None if operand is None else wrap_operand(operand)
        if tensor is not None:
            check_facts("the new operand's {}", tensor, self._facts)
            check(tensor)
        self._agree_on_operand(tensor)
        if tensor is None:
            self._let_go("if the input operand has been set to None")
        else:
            take(tensor)

    def release_operand(self) -> None:
        """Let go of the operand; `reset_operand` gives another one. Local."""
        self._check_valid()
        self._let_go("after the operand has been released")

    def _let_go(self, why: str) -> None:
        self._operand = self._source = None
        self._released = why
