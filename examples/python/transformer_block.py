"""A block of a language model in PyTorch with distributed heads, features and tokens: the block of apps/transformer.

    mpirun -n 2 python transformer_block.py           # compared with the same block, whole on every rank
    python transformer_block.py --time                # of 8192 features and tokens on a GPU, compared with PyTorch's own

Tokens are distributed between products ("sequence parallel"), heads inside attention, and features inside the perceptron. Every gather and
every scatter of sums is part of a product.
"""

import argparse
import statistics
import time
from typing import Any, Callable, Dict, Optional

import torch
from torch import Tensor, nn
from torch.nn import functional

import partita as pt
import partita.torch as ptt


def attend(qkv: Tensor, size: int) -> Tensor:
    """Causal attention. `qkv`: [tokens, batch, heads here * 3 * size], head by head its query, key and value."""
    tokens, batch = qkv.shape[:2]
    query, key, value = qkv.view(tokens, batch, -1, 3, size).permute(3, 1, 2, 0, 4)
    found = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
    return found.permute(2, 0, 1, 3).reshape(tokens, batch, -1)


def gradient_of(x: Optional[Tensor]) -> Tensor:
    """That of a backward pass, which there has been."""
    assert x is not None and x.grad is not None
    return x.grad


class Block(nn.Module):
    """Norms before attention and perceptron, as in GPT-2. x: [this rank's tokens, batch, hidden]."""

    def __init__(self, context: pt.Context, hidden: int, heads: int, **given: Any) -> None:
        super().__init__()
        self.context, self.size = context, hidden // heads
        self.norm1, self.norm2 = nn.LayerNorm(hidden, **given), nn.LayerNorm(hidden, **given)
        self.qkv = ptt.ColumnParallelLinear(context, hidden, 3 * hidden, **given)
        self.output = ptt.RowParallelLinear(context, hidden, hidden, **given)
        self.up = ptt.ColumnParallelLinear(context, hidden, 4 * hidden, activation="gelu", **given)
        self.down = ptt.RowParallelLinear(context, 4 * hidden, hidden, **given)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.output(attend(self.qkv(self.norm1(x)), self.size))
        result: Tensor = x + self.down(self.up(self.norm2(x)))
        return result

    def sum_shares(self) -> None:
        """Gain and bias of a norm are the same on all ranks, and their gradients here are of this rank's tokens alone."""
        with torch.no_grad():
            for one in (*self.norm1.parameters(), *self.norm2.parameters()):
                one.grad = ptt.all_reduce(self.context, gradient_of(one))

    def take(self, whole: "WholeBlock") -> None:
        """The parts of a block that is there whole on every rank."""
        for norm, other in ((self.norm1, whole.norm1), (self.norm2, whole.norm2)):
            norm.load_state_dict(other.state_dict())
        for name in ("qkv", "output", "up", "down"):
            getattr(self, name).take(getattr(whole, name))


class WholeBlock(nn.Module):
    """The same in one process, of PyTorch alone."""

    def __init__(self, hidden: int, heads: int, **given: Any) -> None:
        super().__init__()
        self.size = hidden // heads
        self.norm1, self.norm2 = nn.LayerNorm(hidden, **given), nn.LayerNorm(hidden, **given)
        self.qkv, self.output = nn.Linear(hidden, 3 * hidden, **given), nn.Linear(hidden, hidden, **given)
        self.up, self.down = nn.Linear(hidden, 4 * hidden, **given), nn.Linear(4 * hidden, hidden, **given)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.output(attend(self.qkv(self.norm1(x)), self.size))
        result: Tensor = x + self.down(functional.gelu(self.up(self.norm2(x)), approximate="tanh"))
        return result


def check(context: pt.Context, where: str) -> None:
    """Values and gradients are those of the whole block, in f64."""
    torch.manual_seed(1)  # the same on all ranks
    hidden, heads, tokens, batch = 4 * 2 * context.size, 2 * context.size, 5 * context.size, 3
    given: Dict[str, Any] = {"dtype": torch.float64, "device": where}
    whole, block = WholeBlock(hidden, heads, **given), Block(context, hidden, heads, **given)
    block.take(whole)
    x, weight = (torch.randn(tokens, batch, hidden, **given) for _ in range(2))
    x.requires_grad_()
    y = whole(x)
    (y * weight).sum().backward()

    here = slice(5 * context.rank, 5 * context.rank + 5)
    mine = x.detach()[here].clone().requires_grad_()
    found = block(mine)
    (found * weight[here]).sum().backward()
    block.sum_shares()
    rows = torch.as_tensor(block.up.layout.indices(0, context.rank))
    pairs = [
        (found, y[here]),
        (gradient_of(mine), gradient_of(x)[here]),
        (gradient_of(block.norm1.weight), gradient_of(whole.norm1.weight)),
        (gradient_of(block.norm2.bias), gradient_of(whole.norm2.bias)),
        (gradient_of(block.up.weight), gradient_of(whole.up.weight)[rows]),
        (gradient_of(block.down.weight), gradient_of(whole.down.weight)[:, rows]),
        (gradient_of(block.output.bias), gradient_of(whole.output.bias)),
    ]
    for number, (one, other) in enumerate(pairs):
        assert torch.allclose(one, other, rtol=1e-10, atol=1e-10), f"rank {context.rank}: the {number}-th of the pairs differs"
    if context.rank == 0:
        print(f"{len(pairs)} values and gradients of the block on {context.size} ranks ({where}) are those of the whole one")


def seconds(step: Callable[[], None], runs: int = 7) -> float:
    """The median, after two that warm up."""
    found = []
    for number in range(runs + 2):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        step()
        torch.cuda.synchronize()
        found.append(time.perf_counter() - begin)
    return statistics.median(found[2:])


def measure(context: pt.Context, hidden: int, tokens: int) -> None:
    """Forwards and backwards in bf16. On one rank PyTorch's own block is timed beside."""
    given: Dict[str, Any] = {"dtype": torch.bfloat16, "device": "cuda"}
    x = torch.randn(tokens // context.size, 1, hidden, requires_grad=True, **given)
    blocks: Dict[str, nn.Module] = {"partita.torch": Block(context, hidden, hidden // 128, **given)}
    if context.size == 1:
        blocks["PyTorch"] = WholeBlock(hidden, hidden // 128, **given)
    for name, block in blocks.items():

        def step(block: nn.Module = block) -> None:
            block(x).sum().backward()

        taken = seconds(step)
        if context.rank == 0:
            print(f"{name}: {1e3 * taken:.1f} ms for {hidden} features and {tokens} tokens on {context.size} ranks")


if __name__ == "__main__":
    words = argparse.ArgumentParser()
    words.add_argument("--time", action="store_true", help="rather than check: on GPUs")
    words.add_argument("--size", type=int, default=8192, help="features, and as many tokens")
    options = words.parse_args()
    with pt.initialize() as context:
        if options.time:
            measure(context, options.size, options.size)
        else:
            check(context, "cuda" if context.device.startswith("cuda") else "cpu")
