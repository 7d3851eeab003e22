"""Linear layers whose weights are spread over ranks, with the sequence spread between them.

As in Megatron-LM (Shoeybi et al. 2019, arXiv:1909.08053; sequence parallelism: Korthikanti et al. 2022, arXiv:2205.05198). The
gathers and scatters of activations are parts of the products, forward and backward, which run while pieces move.
"""

from __future__ import annotations

import math
from typing import Any, Optional, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from .. import _core
from .._context import Context
from ._arrays import matmul
from ._collectives import all_reduce, broadcast


class _Shared(torch.autograd.Function):
    """One value that all ranks have: it passes, and backward the gradients of all ranks are added up."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, context: Context) -> Tensor:
        ctx.context = context
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tuple[Tensor, None]:
        return all_reduce(ctx.context, gradient, shared=True), None


def _shared(x: Tensor, context: Context) -> Tensor:
    found: Tensor = _Shared.apply(x, context)
    return found


class _ParallelLinear(nn.Module):
    """y = x W^T + b. `axis`: the dimension of W that is cut, in parts of Slab."""

    def __init__(
        self, context: Context, axis: int, in_features: int, out_features: int, bias: bool, sequence_parallel: bool,
        device: Any, dtype: Any,
    ) -> None:  # fmt: skip
        super().__init__()
        self.context, self.sequence_parallel = context, sequence_parallel
        self.in_features, self.out_features = in_features, out_features
        self.layout = _core.Layout(_core.Slab(axis), (out_features, in_features), context.size)
        rows, columns = self.layout.local_shape(context.rank)
        self.weight = nn.Parameter(torch.empty(rows, columns, device=device, dtype=dtype))
        self.bias = nn.Parameter(torch.empty(rows, device=device, dtype=dtype)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """As nn.Linear draws them, each rank its part, and what all ranks have the same on all. Collective."""
        seed = broadcast(self.context, torch.randint(1 << 62, (1,)))
        bound = 1 / math.sqrt(self.in_features) if self.in_features else 0
        with torch.no_grad():
            for number, one in enumerate(self.parameters()):
                own = one is self.weight or one.shape[0] != self.out_features
                generator = torch.Generator(one.device)
                generator.manual_seed(int(seed) + 2 * (self.context.rank if own else 0) + number)
                one.uniform_(-bound, bound, generator=generator)

    @torch.no_grad()
    def take(self, whole: nn.Linear) -> None:
        """The parts of a layer that is there whole on every rank. Local."""
        own = [torch.as_tensor(self.layout.indices(axis, self.context.rank)) for axis in (0, 1)]
        self.weight.copy_(whole.weight[own[0]][:, own[1]])
        if self.bias is not None and whole.bias is not None:
            self.bias.copy_(whole.bias[own[0]])

    def extra_repr(self) -> str:
        cut = "in" if self.layout.distribution == _core.Slab(1) else "out"
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, {cut} over {self.context.size} ranks, "
            f"bias={self.bias is not None}, sequence_parallel={self.sequence_parallel}"
        )

    def _whole_rows(self, x: Tensor, tokens: Optional[int], leading: Tuple[int, ...]) -> int:
        """The tokens of all ranks, those of all dimensions of a tensor but the last."""
        others = math.prod(leading[1:])
        return (leading[0] * self.context.size if tokens is None else tokens) * others


class ColumnParallelLinear(_ParallelLinear):
    """A linear layer with its outputs spread over the ranks. Collective.

    Parameters
    ----------
    context : Context
    in_features, out_features : int
        Of the whole layer. Each rank has the outputs of its part of Slab(0), even or not, and their bias.
    sequence_parallel : bool
        x is this rank's tokens, [its tokens, ..., in], and what is gathered of the others' moves while products are made; backward
        gradients are scattered in the same way. False: x is the same on all ranks, [tokens, ..., in], and counts once.

    `forward(x, tokens=None)` gives [tokens of all ranks, ..., outputs of this rank]. `tokens`: the length of dimension 0 over all
    ranks, cut as Slab(0) does; by default that of this rank times the ranks.
    """

    def __init__(
        self, context: Context, in_features: int, out_features: int, bias: bool = True, *, sequence_parallel: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(context, 0, in_features, out_features, bias, sequence_parallel, device, dtype)

    def forward(self, x: Tensor, tokens: Optional[int] = None) -> Tensor:
        if not self.sequence_parallel:
            return functional.linear(_shared(x, self.context), self.weight, self.bias)
        leading = tuple(x.shape[:-1])
        rows = self._whole_rows(x, tokens, leading)
        of_x = _core.Layout(_core.Slab(0), (rows, self.in_features), self.context.size)
        y = matmul(
            self.context, x.reshape(-1, self.in_features), self.weight, of_x, self.layout, _core.Slab(1), transpose_b=True
        )
        y = y.reshape(rows // max(math.prod(leading[1:]), 1), *leading[1:], y.shape[-1])
        return y if self.bias is None else y + self.bias


class RowParallelLinear(_ParallelLinear):
    """A linear layer with its inputs spread over the ranks, as `ColumnParallelLinear` leaves them. Collective.

    Parameters
    ----------
    context : Context
    in_features, out_features : int
        Of the whole layer. Each rank has the inputs of its part of Slab(1), even or not. The bias is the same on all ranks, and so
        is its gradient.
    sequence_parallel : bool
        y is this rank's tokens, [its tokens, ..., out]: sums are scattered while products are made; backward gradients are
        gathered in the same way. False: y is the same on all ranks, and counts once.

    `forward(x)` takes [tokens of all ranks, ..., inputs of this rank].
    """

    def __init__(
        self, context: Context, in_features: int, out_features: int, bias: bool = True, *, sequence_parallel: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(context, 1, in_features, out_features, bias, sequence_parallel, device, dtype)

    def forward(self, x: Tensor) -> Tensor:
        if not self.sequence_parallel:
            y = all_reduce(self.context, functional.linear(x, self.weight), shared=True)
            return y if self.bias is None else y + self.bias
        leading = tuple(x.shape[:-1])
        of_x = _core.Layout(_core.Slab(1), (math.prod(leading), self.in_features), self.context.size)
        to = _core.Layout(_core.Slab(0), (of_x.shape[0], self.out_features), self.context.size)
        y = matmul(self.context, x.reshape(-1, x.shape[-1]), self.weight, of_x, self.layout, to, transpose_b=True)
        y = y.reshape(-1, *leading[1:], self.out_features)
        return y if self.bias is None else y + _shared(self.bias, self.context)
