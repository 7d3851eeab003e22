"""What calls and layers of PyTorch take: beside torch.distributed and DTensor (gloo, on GPUs NCCL), in the same run.

    mpirun -n 2 python -m partita.torch.bench         # or: partita bench torch
"""

from __future__ import annotations

import contextlib
import socket
from typing import Any, Callable, Dict, Iterator, Optional

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed._functional_collectives import wait_tensor
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

from .. import torch as ours
from .._collectives import all_reduce, broadcast
from .._context import Context, initialize
from .._errors import Error
from ..bench import Case, Seconds, called, main

_waited: Any = wait_tensor  # DTensor's results are otherwise waited for where somebody looks at them
_collectives = (("1KiB", 1 << 8, 200), ("16MiB", 4 << 20, 5), ("256MiB", 64 << 20, 1))
_tokens, _features, _hidden = 1024, 512, 2048


@contextlib.contextmanager
def _peer(context: Context) -> Iterator[None]:
    """torch.distributed on the same ranks."""
    port = np.zeros(1, np.int64)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port[0] = free.getsockname()[1]
    broadcast(context, port)
    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    dist.init_process_group(backend, f"tcp://127.0.0.1:{port[0]}", rank=context.rank, world_size=context.size)
    yield
    dist.destroy_process_group()


def _seconds(call: Callable[[], Any], device: str) -> Seconds:
    def finished() -> None:
        call()
        torch.cuda.synchronize()

    return called(call if device == "cpu" else finished)


def _case(
    context: Context, name: str, size: int, mine: Callable[[], Tensor], theirs: Callable[[], Tensor], calls: int, device: str
) -> Case:
    """Of two calls that give the same, which is looked at first."""
    measured, checked = _seconds(mine, device), False

    def seconds(calls: int) -> float:
        nonlocal checked
        if not checked:
            wrong = np.array([not torch.allclose(mine(), theirs(), rtol=1e-3, atol=1e-3)])
            if all_reduce(context, wrong, reduction="logical_or")[0]:
                raise Error(f"{name}: the results differ")
            checked = True
        return measured(calls)

    peer = "gloo" if device == "cpu" else "nccl"
    return Case(("" if device == "cpu" else "cuda/") + name, size, seconds, peer, _seconds(theirs, device), calls)


def _reduced(x: Tensor) -> Tensor:
    y = x.clone()
    dist.all_reduce(y)
    return y


def _gathered(x: Tensor) -> Tensor:
    y = x.new_empty((dist.get_world_size() * x.shape[0], *x.shape[1:]))
    dist.all_gather_into_tensor(y, x)
    return y


def _exchanged(x: Tensor) -> Tensor:
    y = torch.empty_like(x)
    dist.all_to_all_single(y, x)
    return y


def _of_collectives(context: Context, device: str) -> Iterator[Case]:
    for size, length, calls in _collectives:
        x = torch.rand(length - length % context.size, device=device)
        part = x[: length // context.size]
        for name, mine, theirs in (
            ("all_reduce", lambda: ours.all_reduce(context, x), lambda: _reduced(x)),
            ("all_gather", lambda: ours.all_gather(context, part), lambda: _gathered(part)),
            ("all_to_all", lambda: ours.all_to_all(context, x), lambda: _exchanged(x)),
        ):
            yield _case(context, f"{name}/{size}", 4 * length, mine, theirs, calls, device)


class _Block(nn.Module):
    """Two linear layers, as a transformer has them."""

    def __init__(self, up: nn.Module, down: nn.Module, activation: Optional[nn.Module] = None) -> None:
        super().__init__()
        self.up, self.down, self.activation = up, down, activation

    def forward(self, x: Tensor) -> Any:
        y = self.up(x)
        return _waited(self.down(y if self.activation is None else self.activation(y)))


def _blocks(context: Context, mesh: DeviceMesh, device: str, sequence: bool) -> Any:
    """Ours and DTensor's, of the same numbers."""
    torch.manual_seed(1)
    up, down = nn.Linear(_features, _hidden, device=device), nn.Linear(_hidden, _features, device=device)
    given: Dict[str, Any] = {"sequence_parallel": sequence, "device": device}
    column = ours.ColumnParallelLinear(context, _features, _hidden, activation="gelu", **given)
    row = ours.RowParallelLinear(context, _hidden, _features, **given)
    column.take(up)
    row.take(down)
    outside = Shard(0) if sequence else Replicate()
    plan = {"up": ColwiseParallel(input_layouts=outside), "down": RowwiseParallel(output_layouts=outside)}
    return _Block(column, row), parallelize_module(_Block(up, down, nn.GELU("tanh")), mesh, plan)


def _stepped(block: nn.Module, x: Tensor) -> Callable[[], Tensor]:
    def step() -> Tensor:
        block.zero_grad(set_to_none=True)
        given = x.detach().requires_grad_()
        with torch.enable_grad():
            block(given).square().sum().backward()
        found: Tensor = _waited(given.grad)
        return found

    return step


def _of_layers(context: Context, device: str) -> Iterator[Case]:
    mesh = init_device_mesh(device, (context.size,))
    for name, sequence in (("layers-sequence", True), ("layers", False)):
        mine, theirs = _blocks(context, mesh, device, sequence)
        torch.manual_seed(2)
        x = torch.rand(_tokens, _features, device=device)
        x = x[context.rank * _tokens // context.size :][: _tokens // context.size] if sequence else x
        size = 4 * _tokens * _features
        with torch.no_grad():
            yield _case(context, f"{name}/forward", size, lambda: mine(x), lambda: theirs(x), 3, device)
        yield _case(context, f"{name}/forward+backward", size, _stepped(mine, x), _stepped(theirs, x), 3, device)


def _of_device(context: Context, device: str) -> Iterator[Case]:
    yield from _of_collectives(context, device)
    if _tokens % context.size == 0 and context.size > 1:
        yield from _of_layers(context, device)


def _cases(context: Context) -> Iterator[Case]:
    torch.set_num_threads(context.threads)
    with _peer(context):
        yield from _of_device(context, "cpu")
        if torch.cuda.device_count() >= context.size:
            torch.cuda.set_device(context.rank)
            with initialize(device=f"cuda:{context.rank}") as there:
                yield from _of_device(there, "cuda")
        elif context.rank == 0:
            print(f"cuda/*: skipped: {torch.cuda.device_count()} GPUs for {context.size} ranks")


if __name__ == "__main__":
    main(cases=_cases, operation="torch", about=(__doc__ or "").partition("\n")[0])
