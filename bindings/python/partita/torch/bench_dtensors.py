"""Calls on DTensors, compared with PyTorch's own: between shards of different dimensions, along a sharded one, and Muon's of a gathered matrix."""

from __future__ import annotations

from typing import Any, Callable, Iterator, NamedTuple

import torch
from torch import Tensor
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard

from .. import torch as ours
from .._context import Context

__all__ = ["Call", "calls"]


class Call(NamedTuple):
    """Ours and PyTorch's, which give the same part, and how often they are called in a turn."""

    name: str
    bytes: int
    ours: Callable[[], Tensor]
    theirs: Callable[[], Tensor]
    calls: int


def _orthogonalized(x: Tensor) -> Tensor:
    """As torch.optim.Muon does it, of a whole wide matrix."""
    x = x / x.norm().clamp(min=1e-7)
    for _ in range(5):
        gram = x @ x.mT
        x = torch.addmm(x, torch.addmm(gram, gram, gram, beta=-4.7750, alpha=2.0315), x, beta=3.4445)
    return x


def calls(context: Context, device: str) -> Iterator[Call]:
    mesh, large = init_device_mesh(device, (context.size,)), device == "cuda"
    rows, columns = [Shard(0)], [Shard(1)]

    def random(*shape: int, **given: Any) -> DTensor:
        return DTensor.from_local(torch.randn(shape[0] // context.size, *shape[1:], device=device, **given), mesh, rows)

    def moved(x: DTensor, placements: Any) -> Tensor:
        return x.redistribute(placements=placements).to_local()

    def case(name: str, x: DTensor, mine: Callable[[], DTensor], theirs: Callable[[], Tensor]) -> Call:
        return Call(f"dtensor-{name}", x.numel() * x.element_size(), lambda: mine().to_local(), theirs, 5)

    n = 16384 if large else 4096
    x = random(n - n % context.size, n)
    yield case(f"redistribute-{n}", x, lambda: ours.redistribute(x, columns), lambda: moved(x, columns))
    n = 512 if large else 128
    z = random(n - n % context.size, n, n, dtype=torch.complex64)
    yield case(f"fftn-{n}", z, lambda: ours.fftn(z), lambda: moved(torch.fft.fftn(z), rows))
    m, n, dtype = (8192, 28672, torch.bfloat16) if large else (512, 1792, torch.float32)
    g = random(m - m % context.size, n, dtype=dtype)

    def gathered() -> Tensor:
        whole = _orthogonalized(moved(g, [Replicate()]))
        return moved(DTensor.from_local(whole, mesh, [Replicate()]), rows)

    yield case(f"orthogonalize-{m}x{n}", g, lambda: ours.orthogonalize(g, dtype=dtype), gathered)
