"""Calls as operators of PyTorch.

An operator takes tensors and plain values: contexts and layouts go by numbers, which mean the same in this process alone.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from typing import TYPE_CHECKING, Any, Callable, Dict, Generic, List, Optional, Protocol, Sequence, Tuple, TypeVar, Union, overload

import torch
from torch import Tensor
from torch.autograd import forward_ad

from .. import _calls, _core
from .._context import Context
from .._errors import ArgumentError, Error, UnsupportedError
from .._packages import fresh
from .._registry import Numbers

if TYPE_CHECKING:
    from torch.distributed.tensor import DTensor
    from typing_extensions import ParamSpec

    Given = ParamSpec("Given")
    Made = TypeVar("Made", covariant=True)

    class OfBoth(Protocol[Given, Made]):
        """A function of parts, and of DTensors."""

        @overload
        def __call__(self, *given: Given.args, **named: Given.kwargs) -> Made: ...

        @overload
        def __call__(self, x: DTensor, *given: Any, **named: Any) -> Any: ...


Function = TypeVar("Function", bound=Callable[..., Any])
Found = TypeVar("Found")
_forward_ad: Any = forward_ad  # of which not all has types
_compiler: Any = torch.compiler


def _in_programs(function: Function, called: Callable[..., Any]) -> Function:
    """`called` in the place of `function`, but where torch.compile looks: it sees what the function does."""

    @functools.wraps(function)
    def chosen(*given: Any, **named: Any) -> Any:
        return function(*given, **named) if torch.compiler.is_compiling() else called(*given, **named)

    chosen.is_collective = getattr(called, "is_collective", False)  # type: ignore[attr-defined]
    return chosen  # type: ignore[return-value]


def _naming_no_tensors(function: Function) -> _calls.Meaning:
    """A TypeError if an argument is not a tensor, whatever error it causes inside the function."""
    signature = inspect.signature(function)
    tensors = [name for name, one in signature.parameters.items() if one.annotation == "Tensor"]

    def meant(error: Exception, given: Tuple[Any, ...], named: Dict[str, Any]) -> Exception:
        if isinstance(error, Error):
            return error
        try:
            arguments = signature.bind(*given, **named).arguments
        except TypeError:
            return error
        for name in tensors:
            if not isinstance(arguments[name], Tensor):
                wrong = TypeError(f"{name}: expected a tensor, got {type(arguments[name]).__name__}")
                wrong.__cause__ = error
                return wrong
        return error

    return meant


def collective(function: Function) -> Function:
    """`function`, whose errors are the same on every rank."""
    return _in_programs(function, _calls.collective(function, _naming_no_tensors(function)))


def pairwise(function: Function) -> Function:
    """`function`, of messages between two ranks, whose errors are this rank's own."""
    return _in_programs(function, _calls.pairwise(function, _naming_no_tensors(function)))


def or_dtensors(module: str) -> Callable[[Callable[Given, Found]], OfBoth[Given, Found]]:
    """A function of parts, and with a DTensor as its first argument the one of the same name in `module`."""

    def decorated(function: Callable[Given, Found]) -> OfBoth[Given, Found]:
        name = function.__name__  # compilers give the wrapper's

        @functools.wraps(function)
        def chosen(*given: Any, **named: Any) -> Any:
            if given and type(given[0]).__name__ == "DTensor":
                return of_dtensors(module, name, given, named)
            return function(*given, **named)

        return chosen

    return decorated


def of_dtensors(module: str, name: str, given: Tuple[Any, ...], named: Dict[str, Any]) -> Any:
    """A function of a module of this package. torch.distributed takes as long to import as all the rest, and not every PyTorch has it."""
    if torch.compiler.is_compiling():
        return _in_graph(module, name, [_in_words(one) for one in given], {key: _in_words(one) for key, one in named.items()})
    return getattr(importlib.import_module(module, __package__), name)(*given, **named)


def _in_words(value: Any) -> Any:
    """Placements as words, which graphs take as constants."""
    if not isinstance(value, (list, tuple)) or len(value) == 0 or not hasattr(value[0], "is_partial"):
        return value
    kinds = [type(one).__name__ for one in value]
    if not set(kinds) <= {"Partial", "Replicate", "Shard"}:
        raise UnsupportedError(f"torch.compile: expected placements of kind Shard, Replicate or Partial, got {', '.join(kinds)}")
    return [f"{kind} {one.dim if kind == 'Shard' else one.reduce_op if kind == 'Partial' else ''}" for kind, one in zip(kinds, value)]


def _from_words(value: Any) -> Any:
    if not isinstance(value, (list, tuple)) or not value or not isinstance(value[0], str):
        return value
    placements = importlib.import_module("torch.distributed.tensor")

    def made(text: str) -> Any:
        kind, word = text.split(" ")
        return getattr(placements, kind)(*([int(word)] if kind == "Shard" else [word] if word else []))

    return [made(one) for one in value]


def _with_placements(module: str, name: str, given: List[Any], named: Dict[str, Any]) -> Any:
    function = getattr(importlib.import_module(module, __package__), name)
    return getattr(function, "of_whole", function)(*map(_from_words, given), **{key: _from_words(one) for key, one in named.items()})


#: One node for compilers, which look into it only below, where DTensors are parts.
_in_graph: Any = _compiler.allow_in_graph(_with_placements)


_layouts: Numbers[_core.Layout] = Numbers()


def number_of(context: Context) -> int:
    """The number of a context, which does not keep it alive."""
    if not isinstance(context, Context):
        raise TypeError(f"expected a context of partita, got {type(context).__name__}")
    return context._number


def number_of_layout(layout: _core.Layout) -> int:
    """Equal layouts have one number; they stay."""
    return _layouts.number_of(layout)


def layout_at(number: int) -> _core.Layout:
    return _layouts.at(int(number))  # a symbol's, too, of which compilers note the number


def plain(x: Tensor) -> Tensor:
    """The numbers themselves, row by row, without conjugation or sign that is still to be done."""
    if x.layout is not torch.strided or x.is_nested:
        raise ArgumentError(f"expected a dense tensor, got {'nested one' if x.is_nested else x.layout}")
    if type(x) not in _ordinary:  # the library takes others as DLPack does: without gradients
        x = x.trigger_wait() if hasattr(x, "trigger_wait") else x.detach()  # what a collective of PyTorch's may still be writing
    return x.resolve_conj().resolve_neg().contiguous()


def like(x: Tensor) -> Tensor:
    """A new tensor for as many numbers, row by row, as `plain` gives them."""
    return fresh(torch.empty_like(x))


Backward = Callable[..., Tensor]


Results = Union[Tensor, Tuple[Tensor, ...]]

#: What keeps of the arguments (and of the result) what the derivative needs.
Keep = Callable[[Any, Tuple[Any, ...], Any], None]
Gradients = Callable[..., Tuple[Any, ...]]


_custom_op: Any = torch.library.custom_op
#: Compilers compute on constants ahead, empty parts among them: on these ranks alone. Not what has this tag (older PyTorchs have no tags).
_of_no_constants = {"tags": (torch.Tag.nondeterministic_seeded,)} if "tags" in inspect.signature(_custom_op).parameters else {}


class Operator(Generic[Found]):
    """The operator `partita::<name>`, and the same called without PyTorch's dispatcher.

    The way through the dispatcher and what torch.library puts around an operator in Python takes longer than a small collective. It is
    for those who look at operators: compilers, transforms (torch.func), modes (fake tensors, checkpoints that select), classes of
    tensors, and tensors without memory. For others it is the call, with one node of autograd where gradients are recorded.
    """

    def __init__(self, name: str, call: Callable[..., Found], fake: Callable[..., Results], forward: bool = False) -> None:
        self._call = call
        self._forward = forward
        self._name = name
        self._seen: Any = _custom_op(f"partita::{name}", call, mutates_args=(), **_of_no_constants)
        self._seen.register_fake(fake)
        self._node: Any = None
        parameters = inspect.signature(call).parameters.values()
        self._tensors = sum("Tensor" in str(one.annotation) for one in parameters)

    def differentiate(self, gradients: Gradients, keep: Keep) -> None:
        """By `gradients(ctx, *of the results)`, which are made of operators."""
        self._seen.register_autograd(gradients, setup_context=keep)
        self._node = _node(self._name, self._call, gradients, keep)

    def __call__(self, *arguments: Any) -> Found:
        if torch.compiler.is_compiling():
            return self._seen(*arguments)  # type: ignore[no-any-return]
        tensors = [one for one in arguments[: self._tensors] if one is not None]
        if _forward_ad._current_level >= 0:
            _refuse_wrapped(self._name, tensors)
            if has_tangents(tensors):
                _refuse_without(self._forward, self._name)
                return _along(self._node, self._tensors, arguments)  # type: ignore[no-any-return]
        if is_looked_at(tensors):
            return self._seen(*arguments)  # type: ignore[no-any-return]
        if torch.is_grad_enabled() and any([one.requires_grad for one in tensors]):
            return self._node.apply(*arguments)  # type: ignore[no-any-return]
        return self._call(*arguments)


def has_tangents(tensors: Sequence[Optional[Tensor]]) -> bool:
    """Whether forward-mode derivatives are computed (torch.autograd.forward_ad) along tangents of any of them."""
    if _forward_ad._current_level < 0:
        return False
    return any([one is not None and _forward_ad.unpack_dual(one).tangent is not None for one in tensors])


def _refuse_without(forward: bool, name: str) -> None:
    if not forward:
        raise UnsupportedError(
            f"{name}: forward-mode derivatives are not supported; functions of partita.torch.linalg, matmul and redistribute have them, by "
            "torch.autograd.forward_ad"
        )


def _refuse_wrapped(name: str, tensors: List[Tensor]) -> None:
    """PyTorch's own way through an operator that has no forward-mode derivative loses tangents without a word: of a tensor that transforms
    have wrapped it may be one further in that has a tangent."""
    _refuse_without(not any([torch._C._functorch.is_functorch_wrapped_tensor(one) for one in tensors]), name)


def _along(node: Any, tensors: int, arguments: Tuple[Any, ...]) -> Any:
    """The results with their tangents. The derivative is the adjoint of its adjoint: the map of weights of the results to gradients of the
    operands is linear, and its own gradient along the tangents is what is looked for."""
    records = torch.is_grad_enabled()
    given, moving, tangents = list(arguments), [], []
    with torch.enable_grad():
        for i, one in enumerate(arguments[:tensors]):
            if one is None:
                continue
            primal, tangent = _forward_ad.unpack_dual(one)
            given[i] = primal
            if tangent is not None:
                given[i] = primal if records and primal.requires_grad else primal.detach().requires_grad_()
                moving.append(given[i])
                tangents.append(tangent)
        made = node.apply(*given)
        results = [one for one in (made if isinstance(made, tuple) else (made,)) if one.requires_grad]
        weights = [torch.zeros_like(one, requires_grad=True) for one in results]
        gradients = torch.autograd.grad(results, moving, weights, create_graph=True, allow_unused=True)
        linear = [(one, along) for one, along in zip(gradients, tangents) if one is not None and one.requires_grad]
        slopes = iter(
            torch.autograd.grad([one for one, _ in linear], weights, [along for _, along in linear], create_graph=records, allow_unused=True)
        )

    def dual(one: Tensor) -> Tensor:
        if not one.requires_grad:
            return one
        slope = next(slopes)
        found: Tensor = _forward_ad.make_dual(one if records else one.detach(), torch.zeros_like(one) if slope is None else slope)
        return found

    return tuple(map(dual, made)) if isinstance(made, tuple) else dual(made)


_ordinary = (Tensor, torch.nn.Parameter)


#: By autograd's own batches of gradients (`is_grads_batched`), which are no transform.
_is_batched: Callable[[Tensor], bool] = torch._C._functorch.is_legacy_batchedtensor


def is_looked_at(tensors: List[Tensor]) -> bool:
    """Whether anything but autograd follows what is done to the tensors."""
    return (
        torch._C._len_torch_dispatch_stack() > 0
        or torch._C._are_functorch_transforms_active()
        or torch._C._get_tracing_state() is not None
        or any([type(one) not in _ordinary or one.is_meta or _is_batched(one) for one in tensors])
    )


def _node(name: str, call: Callable[..., Any], gradients: Gradients, keep: Keep) -> Any:
    """What autograd records of a call."""

    def forward(ctx: Any, *arguments: Any) -> Any:
        found = call(*arguments)
        keep(ctx, arguments, found)
        return found

    methods = {"forward": staticmethod(forward), "backward": staticmethod(gradients)}
    return type(f"partita_{name}", (torch.autograd.Function,), methods)


def operator(
    name: str, call: Callable[..., Found], fake: Callable[..., Results], backward: Optional[Backward] = None, *, forward: bool = False
) -> Operator[Found]:
    """The operator `partita::<name>`, which is differentiated by its first argument.

    `fake(x, *arguments)`: new tensors of the results' shapes. `backward(gradient, shape of x, *arguments)` is made of operators. `forward`:
    there are forward-mode derivatives, too; gradients are then the adjoint of the function on all ranks together.
    """
    made = Operator(name, call, fake, forward)
    if backward is not None:
        made.differentiate(_gradient_by(backward), _keep_arguments)
    return made


def _keep_arguments(ctx: Any, inputs: Tuple[Any, ...], output: Tensor) -> None:
    ctx.shape, ctx.arguments = inputs[0].shape, inputs[1:]


def _gradient_by(backward: Backward) -> Gradients:
    def gradients(ctx: Any, gradient: Tensor) -> Tuple[Any, ...]:
        found = backward(gradient, ctx.shape, *ctx.arguments)
        return (found, *[None] * len(ctx.arguments))

    return gradients


def only_sums(what: str, reduction: str) -> None:
    if reduction != "sum":
        raise UnsupportedError(f"{what}: the reduction {reduction!r} has no derivative; only 'sum' has one")
