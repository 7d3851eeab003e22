"""Linear layers with weights distributed over ranks, and the sequence distributed between layers.

As in Megatron-LM (Shoeybi et al. 2019, arXiv:1909.08053; sequence parallelism: Korthikanti et al. 2022, arXiv:2205.05198). Gathers and
scatters of activations are part of the products, forward and backward, and overlap with them.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, Optional, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from .. import _core
from .._context import Context
from .._errors import ArgumentError
from .._parts import check_activation, check_part
from ._arrays import matmul_in_layout
from ._collectives import all_reduce, broadcast
from ._operators import collective


class _Shared(torch.autograd.Function):
    """A value that all ranks share: forward passes it unchanged, backward adds up the gradients of all ranks."""

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


def _activated(x: Tensor, activation: Optional[str]) -> Tensor:
    """The activation of a product's epilogue."""
    if activation == "relu":
        return functional.relu(x)
    return functional.gelu(x, approximate="tanh") if activation == "gelu" else x


class _ParallelLinear(nn.Module):
    """y = f(x W^T + b). `axis`: the dimension of W that is distributed, in parts of Slab."""

    def __init__(
        self, context: Context, axis: int, in_features: int, out_features: int, bias: bool, activation: Optional[str],
        sequence_parallel: bool, reduce_dtype: Optional[torch.dtype], device: Any, dtype: Any,
    ) -> None:  # fmt: skip
        super().__init__()
        check_activation(type(self).__name__, activation)
        self.context, self.activation, self.sequence_parallel = context, activation, sequence_parallel
        self.reduce_dtype = reduce_dtype
        self.in_features, self.out_features = in_features, out_features
        self.layout = _core.Layout(_core.Slab(axis), (out_features, in_features), context.size)
        rows, columns = self.layout.local_shape(context.rank)
        self.weight = nn.Parameter(torch.empty(rows, columns, device=device, dtype=dtype))
        self.bias = nn.Parameter(torch.empty(rows, device=device, dtype=dtype)) if bias else None
        self.reset_parameters()

    @collective
    def reset_parameters(self) -> None:
        """Initialise as nn.Linear does, each rank its part, and shared parameters equally on all ranks. Collective.

        On the device `meta` there are no values: call `to_empty` first.
        """
        seed = broadcast(self.context, torch.randint(1 << 62, (1,), device="cpu"))
        bound = 1 / math.sqrt(self.in_features) if self.in_features else 0
        with torch.no_grad():
            for number, one in enumerate(self.parameters()):
                if one.is_meta:
                    continue
                own = one is self.weight or one.shape[0] != self.out_features
                generator = torch.Generator(one.device)
                generator.manual_seed(int(seed) + 2 * (self.context.rank if own else 0) + number)
                one.uniform_(-bound, bound, generator=generator)

    @torch.no_grad()
    def take(self, whole: nn.Linear) -> None:
        """Copy this rank's parts from a layer that is complete on every rank. Local."""
        own = [torch.as_tensor(self.layout.indices(axis, self.context.rank)) for axis in (0, 1)]
        self.weight.copy_(whole.weight[own[0]][:, own[1]])
        if self.bias is not None and whole.bias is not None:
            self.bias.copy_(whole.bias[own[0]])

    def extra_repr(self) -> str:
        cut = "in" if self.layout.distribution == _core.Slab(1) else "out"
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, {cut} over {self.context.size} ranks, "
            f"bias={self.bias is not None}, activation={self.activation}, sequence_parallel={self.sequence_parallel}"
        )

    @property
    def _reduced(self) -> torch.dtype:
        """The dtype of sums exchanged between ranks."""
        return self.weight.dtype if self.reduce_dtype is None else self.reduce_dtype

    def _check_tokens(self, x: Tensor) -> None:
        if x.ndim < 2:
            raise ArgumentError(f"{type(self).__name__}: expected x of [tokens, ..., features], got shape {tuple(x.shape)}")

    def _rows(self, x: Tensor, layout: _core.Layout) -> Tensor:
        """The input as a matrix, checked to be this rank's part."""
        rows = x.reshape(math.prod(x.shape[:-1]), x.shape[-1])
        check_part(type(self).__name__, rows.shape, layout, self.context.rank, self.context.size)
        if rows.dtype != self.weight.dtype:
            raise ArgumentError(f"{type(self).__name__}: the tokens are {rows.dtype}, but the weights {self.weight.dtype}")
        return rows

    def _tokens_of(self, rank: int, tokens: int) -> int:
        """A rank's number of tokens, as Slab(0) distributes them."""
        return int(_core.Layout(_core.Slab(0), (tokens,), self.context.size).local_shape(rank)[0])

    def _of_tokens(self, tokens: int, others: int, features: int) -> _core.Layout:
        """The layout of a matrix with `others` rows per token, with tokens distributed as by Slab(0)."""
        size, shape = self.context.size, (tokens * others, features)
        if others == 1 or tokens % size == 0:
            return _core.Layout(_core.Slab(0), shape, size)
        ends = list(itertools.accumulate(self._tokens_of(rank, tokens) * others for rank in range(size)))
        return _core.Layout(_core.Box([((begin, 0), (end, features)) for begin, end in zip([0, *ends], ends)]), shape, size)


class ColumnParallelLinear(_ParallelLinear):
    """A linear layer with its outputs distributed over the ranks. Collective.

    ``forward(x, tokens=None)`` returns [tokens of all ranks, ..., outputs of this rank]. `tokens` is the length of dimension 0 over all
    ranks, distributed as by Slab(0); unset: that of this rank times the number of ranks.

    Parameters
    ----------
    in_features, out_features : int
        Of the whole layer. Each rank has the outputs of its part of Slab(0), even or uneven, and their bias.
    bias : bool, default True
        Add a bias.
    activation : {'relu', 'gelu'}, optional
        Applied within the product, as is the bias; gelu is the form with tanh.
    sequence_parallel : bool
        x is this rank's tokens, [its tokens, ..., in], and those of the other ranks are gathered during the products; backward
        scatters gradients in the same way. False: x is equal on all ranks, [tokens, ..., in], and counts once.
    reduce_dtype : torch.dtype, optional
        For sequence_parallel on GPUs: dtype of sums exchanged between ranks (here of gradients). Unset: that of the weights, as in
        torch.distributed. For 16-bit weights torch.float32 rounds once less and doubles the bytes.
    device, dtype : optional
        As for torch.nn.Linear.
    """

    @collective
    def __init__(
        self, context: Context, in_features: int, out_features: int, bias: bool = True, *, activation: Optional[str] = None,
        sequence_parallel: bool = True, reduce_dtype: Optional[torch.dtype] = None, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(context, 0, in_features, out_features, bias, activation, sequence_parallel, reduce_dtype, device, dtype)

    @collective
    def forward(self, x: Tensor, tokens: Optional[int] = None) -> Tensor:
        """The outputs of this rank for all tokens; `x` and `tokens` are described above. Collective."""
        self._check_tokens(x)
        if not self.sequence_parallel:
            return _activated(functional.linear(_shared(x, self.context), self.weight, self.bias), self.activation)
        leading = tuple(x.shape[:-1])
        whole = leading[0] * self.context.size if tokens is None else tokens
        of_x = self._of_tokens(whole, math.prod(leading[1:]), self.in_features)
        to = _core.Layout(_core.Slab(1), (of_x.shape[0], self.out_features), self.context.size)
        of_bias = _core.Layout(_core.Slab(0), (self.out_features,), self.context.size)
        y = matmul_in_layout(
            self.context, self._rows(x, of_x), self.weight, of_x, self.layout, to, (False, True), self._reduced, self.bias, of_bias,
            self.activation,
        )  # fmt: skip
        return y.reshape(whole, *leading[1:], y.shape[-1])


class RowParallelLinear(_ParallelLinear):
    """A linear layer with its inputs distributed over the ranks, as the outputs of `ColumnParallelLinear`. Collective.

    ``forward(x)`` takes [tokens of all ranks, ..., inputs of this rank].

    Parameters
    ----------
    in_features, out_features : int
        Of the whole layer. Each rank has the inputs of its part of Slab(1), even or uneven. The bias is equal on all ranks, and so
        is its gradient.
    bias : bool, default True
        Add a bias.
    activation : {'relu', 'gelu'}, optional
        As for `ColumnParallelLinear`.
    sequence_parallel : bool
        y is this rank's tokens, [its tokens, ..., out]: sums are scattered during the products; backward gathers gradients in the same
        way. False: y is equal on all ranks, and counts once.
    reduce_dtype : torch.dtype, optional
        As for `ColumnParallelLinear`; here for the sums of y.
    device, dtype : optional
        As for torch.nn.Linear.
    """

    @collective
    def __init__(
        self, context: Context, in_features: int, out_features: int, bias: bool = True, *, activation: Optional[str] = None,
        sequence_parallel: bool = True, reduce_dtype: Optional[torch.dtype] = None, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(context, 1, in_features, out_features, bias, activation, sequence_parallel, reduce_dtype, device, dtype)

    @collective
    def forward(self, x: Tensor) -> Tensor:
        """The outputs of `x`, all of them. Collective."""
        self._check_tokens(x)
        if not self.sequence_parallel:
            y = all_reduce(self.context, functional.linear(x, self.weight), shared=True)
            return _activated(y if self.bias is None else y + self.bias, self.activation)
        leading = tuple(x.shape[:-1])
        of_x = _core.Layout(_core.Slab(1), (math.prod(leading), self.in_features), self.context.size)
        to = self._of_tokens(leading[0], math.prod(leading[1:]), self.out_features)
        bias = None if self.bias is None else _shared(self.bias, self.context)
        y = matmul_in_layout(
            self.context, self._rows(x, of_x), self.weight, of_x, self.layout, to, (False, True), self._reduced, bias, None,
            self.activation,
        )  # fmt: skip
        return y.reshape(self._tokens_of(self.context.rank, leading[0]), *leading[1:], self.out_features)
