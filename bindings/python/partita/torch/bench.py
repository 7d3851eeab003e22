"""The time of calls and layers of PyTorch, compared with torch.distributed and DTensor (gloo, on GPUs NCCL), in the same run.

    mpirun -n 2 python -m partita.torch.bench                # or: partita bench torch
    python -m partita.torch.bench --device cuda --case '*/layers-large/*'
"""

from __future__ import annotations

import contextlib
import socket
from typing import Any, Callable, Dict, Iterator, NamedTuple, Optional

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
from .._errors import Error, UnsupportedError
from ..bench import Case, Seconds, called, main, queued
from .bench_dtensors import calls as calls_on_dtensors
from .bench_products import products

_waited: Any = wait_tensor  # DTensor's results are otherwise waited for when they are read
_collectives = (("1KiB", 1 << 8, 200), ("16MiB", 4 << 20, 5), ("256MiB", 64 << 20, 1))


class _Layers(NamedTuple):
    """Two linear layers, and how many tokens they are given."""

    name: str
    tokens: int
    features: int
    hidden: int
    dtype: torch.dtype
    sequence: bool


_small = (_Layers("layers-sequence", 1024, 512, 2048, torch.float32, True), _Layers("layers", 1024, 512, 2048, torch.float32, False))
_large = (_Layers("layers-large", 8192, 8192, 28672, torch.bfloat16, True),)  # of GPUs


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


def _streamed(call: Callable[[], Any], _device: str) -> Seconds:
    """Of calls behind one another in the device's stream, where the host looks once."""
    return queued(call, lambda _: torch.cuda.synchronize())


def _close(x: Tensor, y: Tensor) -> bool:
    """To what sums of many rounded numbers have in common."""
    precision = 1e-3 if x.element_size() >= 4 else 3e-2
    return torch.allclose(x, y, rtol=precision, atol=precision * max(1.0, float(y.abs().max())))


def _case(
    context: Context,
    name: str,
    size: int,
    mine: Callable[[], Tensor],
    theirs: Callable[[], Tensor],
    calls: int,
    device: str,
    timed: Callable[[Callable[[], Any], str], Seconds] = _seconds,
) -> Case:
    """Of two calls that give the same, which is looked at first."""
    measured, checked = timed(mine, device), False

    def seconds(calls: int) -> float:
        nonlocal checked
        if not checked:
            wrong = np.array([not _close(mine(), theirs())])
            if all_reduce(context, wrong, reduction="logical_or")[0]:
                raise Error(f"{name}: the results differ")
            checked = True
        return measured(calls)

    peer = "gloo" if device == "cpu" else "nccl"
    return Case(("" if device == "cpu" else "cuda/") + name, size, seconds, peer, timed(theirs, device), calls)


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


def _blocks(context: Context, mesh: DeviceMesh, device: str, layers: _Layers) -> Any:
    """Ours and DTensor's, of the same numbers."""
    torch.manual_seed(1)
    place: Dict[str, Any] = {"device": device, "dtype": layers.dtype}
    up, down = nn.Linear(layers.features, layers.hidden, **place), nn.Linear(layers.hidden, layers.features, **place)
    given = {"sequence_parallel": layers.sequence, **place}
    column = ours.ColumnParallelLinear(context, layers.features, layers.hidden, activation="gelu", **given)
    row = ours.RowParallelLinear(context, layers.hidden, layers.features, **given)
    column.take(up)
    row.take(down)
    outside = Shard(0) if layers.sequence else Replicate()
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


def _of_layers(context: Context, device: str, layers: _Layers) -> Iterator[Case]:
    mesh = init_device_mesh(device, (context.size,))
    mine, theirs = _blocks(context, mesh, device, layers)
    torch.manual_seed(2)
    x = torch.rand(layers.tokens, layers.features, device=device, dtype=layers.dtype)
    if layers.sequence:
        x = x[context.rank * layers.tokens // context.size :][: layers.tokens // context.size]
    size = x.element_size() * layers.tokens * layers.features
    with torch.no_grad():
        yield _case(context, f"{layers.name}/forward", size, lambda: mine(x), lambda: theirs(x), 3, device)
    yield _case(context, f"{layers.name}/forward+backward", size, _stepped(mine, x), _stepped(theirs, x), 3, device)


def _of_products(context: Context) -> Iterator[Case]:
    for one in products(context):
        case = _case(context, f"{one.name}/bf16", one.bytes, one.ours, one.theirs, one.calls, "cuda", _streamed)
        yield case._replace(peer=one.peer)


def _of_device(context: Context, device: str) -> Iterator[Case]:
    if context.size > 1:
        yield from _of_collectives(context, device)
        for one in calls_on_dtensors(context, device):
            yield _case(context, one.name, one.bytes, one.ours, one.theirs, one.calls, device)
        if device == "cuda":
            yield from _of_products(context)
    # Products alone, on one rank: what is compared there is how they are called.
    for layers in (*_small, *(_large if device == "cuda" else ())):
        if layers.tokens % context.size == 0 and (context.size > 1 or device == "cuda"):
            yield from _of_layers(context, device, layers)


def cases(context: Context, device: Optional[str]) -> Iterator[Case]:
    torch.set_num_threads(context.threads)
    gpus = torch.cuda.device_count()
    if device == "cuda" and gpus < context.size:
        raise UnsupportedError(f"{gpus} GPUs for {context.size} ranks: NCCL, and therefore the peer, needs one per rank")
    with _peer(context):
        if device != "cuda":
            yield from _of_device(context, "cpu")
        if device != "cpu" and gpus >= context.size:
            index = context.rank % gpus
            torch.cuda.set_device(index)
            with initialize(device=f"cuda:{index}") as there:
                yield from _of_device(there, "cuda")
        elif device is None and context.rank == 0:
            print(f"cuda/*: skipped: {gpus} GPUs for {context.size} ranks")


if __name__ == "__main__":
    main(cases=cases, operation="torch", about=__doc__ or "")
