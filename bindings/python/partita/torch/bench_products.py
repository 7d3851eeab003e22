"""Products of tensors distributed over GPUs, compared with PyTorch's own that hide their transfers ("async-TP"), interleaved.

Sums travel in 16 bits, as PyTorch's do.
"""

from __future__ import annotations

from typing import Any, Callable, Iterator, NamedTuple, Tuple

import torch
import torch.distributed as dist
from torch import Tensor

from .._context import Context
from .._create import from_local
from .._linear import Matmul

__all__ = ["Product", "products"]

_sizes = ((8192, 8192, 8192, 20), (16384, 28672, 8192, 5), (4096, 4096, 4096, 50))
# Those of two layers of 8192 -> 28672 -> 8192 features and 8192 tokens, forward and backward.
_of_layers = {
    "all-gather": (8192, 28672, 8192, 10),
    "reduce-scatter": (8192, 8192, 28672, 10),
    "gradient-of-weights": (28672, 8192, 8192, 10),
}


class Product(NamedTuple):
    """[m, k] by [k, n] in bf16: what is called for it, ours and PyTorch's, and how often in a turn."""

    name: str
    bytes: int
    ours: Callable[[], Tensor]
    theirs: Callable[[], Tensor]
    calls: int
    peer: str


def _random(context: Context, rows: int, columns: int, seed: int) -> Tensor:
    torch.manual_seed(seed + context.rank)
    return torch.rand(rows, columns, device="cuda", dtype=torch.bfloat16) - 0.5


def _planned(context: Context, a: Tensor, b: Tensor, cuts: str, result: str, **options: Any) -> Callable[[], Tensor]:
    """Ours: `cuts` says along which axes a and b are cut, slab by slab."""
    first, second = (from_local(context, x, f"slab:{axis}") for x, axis in zip((a, b), cuts))
    plan = Matmul(first, second, distribution=result, **options)
    stream = torch.cuda.current_stream()

    def call() -> Tensor:
        found: Tensor = plan.execute(stream=stream).local
        return found

    return call


def _gathered(context: Context, m: int, n: int, k: int, name: str) -> Tuple[Callable[[], Tensor], Callable[[], Tensor]]:
    """Rows of A meet columns of B: everybody needs all of A."""
    a, b = _random(context, m // context.size, k, 1), _random(context, k, n // context.size, 2)
    op: Any = torch.ops.symm_mem.fused_all_gather_matmul
    return _planned(context, a, b, "01", "slab:1"), lambda: op(a, [b], 0, name)[1][0]


def _scattered(context: Context, m: int, n: int, k: int, name: str) -> Tuple[Callable[[], Tensor], Callable[[], Tensor]]:
    """Both are cut along k: each rank has a share of every element, whose rows are the ranks' in the end."""
    a, b = _random(context, m, k // context.size, 1), _random(context, k // context.size, n, 2)
    op: Any = torch.ops.symm_mem.fused_matmul_reduce_scatter
    return _planned(context, a, b, "10", "slab:0", reduce_dtype=a.dtype), lambda: op(a, b, "sum", 0, name)


def _of_weights(context: Context, m: int, n: int, k: int, name: str) -> Tuple[Callable[[], Tensor], Callable[[], Tensor]]:
    """A^T by B, whose rows are the tokens: those of A are there, of B a part. PyTorch's gathers them first, by NCCL."""
    a, b = _random(context, k, m // context.size, 1), _random(context, k // context.size, n, 2)

    def theirs() -> Tensor:
        whole = b.new_empty(k, n)
        dist.all_gather_into_tensor(whole, b)
        return a.T @ whole

    return _planned(context, a, b, "10", "slab:0", op_a="transpose"), theirs


def products(context: Context) -> Iterator[Product]:
    """Those whose sizes the ranks divide. torch.distributed must have been started with NCCL."""
    import torch.distributed._symmetric_memory as symmetric  # registers the operators

    group = dist.group.WORLD
    assert group is not None
    name = group.group_name
    symmetric.enable_symm_mem_for_group(name)
    for made, make in (("all-gather", _gathered), ("reduce-scatter", _scattered), ("gradient-of-weights", _of_weights)):
        for m, n, k, calls in (*(_sizes if make is not _of_weights else ()), _of_layers[made]):
            if m % context.size or n % context.size or k % context.size:
                continue
            ours, theirs = make(context, m, n, k, name)
            peer = "nccl" if make is _of_weights else "async_tp"
            yield Product(f"{made}-{m}x{n}x{k}", 2 * (m * k + k * n + m * n), ours, theirs, calls, peer)
