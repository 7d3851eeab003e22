"""A program of torch.distributed that has started its ranks: torchrun, or this one itself with the folder of a store. Each prints "equal"."""

import os
import sys

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor

import partita.torch as ptt


def transform(rank, size, how):
    dist.init_process_group("gloo", rank=rank, world_size=size, **how)
    whole = torch.arange(60.0).reshape(5, 12)
    x = distribute_tensor(whole, init_device_mesh("cpu", (size,)), [Shard(0)], src_data_rank=None)
    torch.testing.assert_close(ptt.fftn(x).full_tensor(), torch.fft.fftn(whole))
    print("equal", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    if "RANK" in os.environ:
        transform(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), {})
    else:
        torch.multiprocessing.spawn(transform, (2, {"init_method": f"file://{sys.argv[1]}/store"}), 2)
