"""Seconds of one block of a language model in PyTorch, forwards and backwards in bf16, a line for each line of stdin.

    torch_layer.py FEATURES RANKS        heads of 128, as many tokens as features, one GPU a rank

On several GPUs tensor- and sequence-parallel by DTensor, over NCCL. Attention is the fused one of cuDNN, else PyTorch's own.
"""
import socket
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.distributed.tensor.parallel import ColwiseParallel, PrepareModuleInput, RowwiseParallel, SequenceParallel, parallelize_module
from torch.nn.attention import SDPBackend, sdpa_kernel

FUSED = [SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION]


class Attention(nn.Module):
    """Queries, keys and values by one product, or, as DTensor cuts them, by three."""

    def __init__(self, features, products):
        super().__init__()
        self.wide = nn.ModuleList(nn.Linear(features, 3 // products * features) for _ in range(products))
        self.out = nn.Linear(features, features)

    def forward(self, x):
        parts = self.wide[0](x).chunk(3, -1) if len(self.wide) == 1 else [linear(x) for linear in self.wide]
        q, k, v = (part.unflatten(-1, (-1, 128)).transpose(1, 2) for part in parts)
        with sdpa_kernel(FUSED, set_priority=True):
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, features, products):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(features), nn.LayerNorm(features)
        self.attention = Attention(features, products)
        self.up, self.down = nn.Linear(features, 4 * features), nn.Linear(4 * features, features)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


def parallel(block, ranks):
    """Tokens are cut between the ranks outside of attention and the wide layers, heads and wide features inside."""
    tokens = Shard(1)
    gathered = PrepareModuleInput(input_layouts=(tokens,), desired_input_layouts=(Replicate(),))
    columns, rows = ColwiseParallel(), RowwiseParallel(output_layouts=tokens, use_local_output=False)
    plan = {
        "norm1": SequenceParallel(),
        "norm2": SequenceParallel(),
        "attention": gathered,
        **{f"attention.wide.{product}": columns for product in range(3)},
        "attention.out": rows,
        "up": ColwiseParallel(input_layouts=tokens),
        "down": rows,
    }
    return parallelize_module(block, init_device_mesh("cuda", (ranks,)), plan)


def work(rank, features, ranks, port, ends):
    """`ends`: of pipes on which rank 0 says to each of the others whether it goes on; of those, the one end that it reads."""
    torch.cuda.set_device(rank)
    torch.set_default_device("cuda")
    torch.set_default_dtype(torch.bfloat16)
    block = Block(features, 3 if ranks > 1 else 1)
    x = torch.randn(1, features // ranks, features)
    gradient = torch.randn_like(x)
    if ranks > 1:
        dist.init_process_group("nccl", f"tcp://127.0.0.1:{port}", rank=rank, world_size=ranks, device_id=torch.device("cuda", rank))
        mesh = init_device_mesh("cuda", (ranks,))
        block = parallel(block, ranks)
        x, gradient = (DTensor.from_local(part, mesh, [Shard(1)]) for part in (x, gradient))
    x.requires_grad_()

    def step():
        block.zero_grad(set_to_none=True)
        x.grad = None
        block(x).backward(gradient)

    def go(on):
        for end in ends:
            end.send(on)

    for _ in range(3):
        step()
    torch.cuda.synchronize()
    if rank > 0:
        while ends[0].recv():  # no kernel waits on the device meanwhile, concurrently with what others time there
            step()
    else:
        for _ in sys.stdin:
            go(True)
            begin = time.perf_counter()
            step()
            torch.cuda.synchronize()
            print(time.perf_counter() - begin, flush=True)
        go(False)
    if ranks > 1:
        dist.destroy_process_group()  # each waits for all


def main():
    features, ranks = int(sys.argv[1]), int(sys.argv[2])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    spawned = mp.get_context("spawn")
    pipes = [spawned.Pipe(duplex=False) for _ in range(1, ranks)]
    others = [spawned.Process(target=work, args=(rank, features, ranks, port, [pipe[0]]), daemon=True) for rank, pipe in enumerate(pipes, 1)]
    for other in others:
        other.start()
    work(0, features, ranks, port, [pipe[1] for pipe in pipes])
    for other in others:
        other.join()


if __name__ == "__main__":
    main()
