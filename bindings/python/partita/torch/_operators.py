"""Calls as operators of PyTorch.

An operator takes tensors and plain values: contexts and layouts go by numbers, which mean the same in this process alone.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, Dict, List, Optional, Protocol, Tuple, TypeVar, Union

import torch
from torch import Tensor

from .. import _calls, _core
from .._context import Context
from .._errors import Error, UnsupportedError

Function = TypeVar("Function", bound=Callable[..., Any])


def _in_programs(function: Function, called: Callable[..., Any]) -> Function:
    """`called` in the place of `function`, but where torch.compile looks: it sees what the function does."""

    @functools.wraps(function)
    def chosen(*given: Any, **named: Any) -> Any:
        return function(*given, **named) if torch.compiler.is_compiling() else called(*given, **named)

    chosen.is_collective = getattr(called, "is_collective", False)  # type: ignore[attr-defined]
    return chosen  # type: ignore[return-value]


def _naming_no_tensors(function: Function) -> Function:
    """`function`, where what is no tensor is a TypeError, whatever that does to it on its way."""
    signature = inspect.signature(function)
    tensors = [name for name, one in signature.parameters.items() if one.annotation == "Tensor"]

    @functools.wraps(function)
    def called(*given: Any, **named: Any) -> Any:
        try:
            return function(*given, **named)
        except Error:
            raise
        except Exception as error:
            try:
                arguments = signature.bind(*given, **named).arguments
            except TypeError:
                raise error from None
            for name in tensors:
                if not isinstance(arguments[name], Tensor):
                    raise TypeError(f"{name}: a tensor is wanted, and not a {type(arguments[name]).__name__}") from error
            raise

    return called  # type: ignore[return-value]


def collective(function: Function) -> Function:
    """`function`, whose errors are the same on every rank."""
    return _in_programs(function, _calls.collective(_naming_no_tensors(function)))


def pairwise(function: Function) -> Function:
    """`function`, of messages between two ranks, whose errors are this rank's own."""
    return _in_programs(function, _calls.pairwise(_naming_no_tensors(function)))


_numbers_of_layouts: Dict[_core.Layout, int] = {}
_layouts: List[_core.Layout] = []


def number_of(context: Context) -> int:
    """The number of a context, which does not keep it alive."""
    if not isinstance(context, Context):
        raise TypeError(f"a context of partita is wanted, and not a {type(context).__name__}")
    return context._number


def number_of_layout(layout: _core.Layout) -> int:
    """Equal layouts have one number; they stay."""
    number = _numbers_of_layouts.get(layout)
    if number is None:
        _layouts.append(layout)
        number = _numbers_of_layouts[layout] = len(_layouts) - 1
    return number


def layout_at(number: int) -> _core.Layout:
    return _layouts[number]


def plain(x: Tensor) -> Tensor:
    """The numbers themselves, row by row: no graph, no conjugation or sign that is still to be done."""
    return x.detach().resolve_conj().resolve_neg().contiguous()


def tensor(found: Any) -> Tensor:
    """What a call of the library gives for tensors."""
    assert isinstance(found, Tensor)
    return found


Backward = Callable[..., Tensor]


Results = Union[Tensor, Tuple[Tensor, Tensor]]
Found = TypeVar("Found", covariant=True)


class Operator(Protocol[Found]):
    """What torch.library makes of a call."""

    def __call__(self, *arguments: Any) -> Found: ...

    def register_autograd(self, backward: Callable[..., Any], *, setup_context: Callable[..., None]) -> None: ...


def operator(
    name: str, call: Callable[..., Found], like: Callable[..., Results], backward: Optional[Backward] = None
) -> Operator[Found]:
    """The operator `partita::<name>`, which is differentiated by its first argument.

    `like(x, *arguments)`: new tensors of the results' shapes. `backward(gradient, shape of x, *arguments)` is made of operators.
    """
    definition: Any = torch.library.custom_op(f"partita::{name}", call, mutates_args=())
    definition.register_fake(like)
    if backward is not None:
        definition.register_autograd(_gradient_by(backward), setup_context=_keep_arguments)
    made: Operator[Found] = definition
    return made


def _keep_arguments(ctx: Any, inputs: Tuple[Any, ...], output: Tensor) -> None:
    ctx.shape, ctx.arguments = inputs[0].shape, inputs[1:]


def _gradient_by(backward: Backward) -> Callable[..., Tuple[Any, ...]]:
    def gradients(ctx: Any, gradient: Tensor) -> Tuple[Any, ...]:
        found = backward(gradient, ctx.shape, *ctx.arguments)
        return (found, *[None] * len(ctx.arguments))

    return gradients


def only_sums(what: str, reduction: str) -> None:
    if reduction != "sum":
        raise UnsupportedError(f"{what}: there is no derivative of the reduction {reduction!r}, but of 'sum'")
