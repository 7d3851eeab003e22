"""The optimizer Muon, which orthogonalizes its updates, for weights that FSDP has sharded.

    torchrun --nproc-per-node 2 muon.py          # on GPUs if there are as many

Muon (Jordan et al. 2024) needs each update as a whole matrix. Usually it is gathered, and every rank orthogonalizes the whole matrix:

    whole = orthogonalize(update.full_tensor())                                  # all ranks compute the same
    update = distribute_tensor(whole, update.device_mesh, update.placements)

`ptt.orthogonalize` takes the sharded matrix: all ranks together orthogonalize it once.
"""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor

import partita.torch as ptt


class Muon(torch.optim.Optimizer):
    """Of matrices; other parameters are for another optimizer, as AdamW."""

    def __init__(self, parameters, lr=0.05, momentum=0.95):
        super().__init__(parameters, {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for weight in group["params"]:
                buffer = self.state[weight].setdefault("momentum", torch.zeros_like(weight))
                buffer.lerp_(weight.grad, 1 - group["momentum"])
                update = ptt.orthogonalize(weight.grad.lerp(buffer, group["momentum"]))
                weight.add_(update, alpha=-group["lr"] * max(1, weight.shape[0] / weight.shape[1]) ** 0.5)


if __name__ == "__main__":
    ranks, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("LOCAL_RANK", 0))
    device = "cuda" if torch.cuda.device_count() >= ranks else "cpu"
    if device == "cuda":
        torch.cuda.set_device(rank)
    if "RANK" not in os.environ:  # started alone
        os.environ.update(RANK="0", WORLD_SIZE="1", MASTER_ADDR="127.0.0.1", MASTER_PORT="29500")
    dist.init_process_group()
    mesh = init_device_mesh(device, (ranks,))

    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 256, bias=False), nn.GELU(), nn.Linear(256, 64, bias=False)).to(device)
    teacher = torch.randn(64, 64, device=device) / 8
    fully_shard(model, mesh=mesh)
    assert all(isinstance(weight, DTensor) for weight in model.parameters())
    optimizer = Muon(model.parameters())
    for step in range(51):
        x = torch.randn(256, 64, device=device)
        loss = (model(x) - x @ teacher).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0 and dist.get_rank() == 0:
            print(f"step {step:2}: loss {loss.item():.4f}")
    assert loss.item() < 0.2
    dist.destroy_process_group()
