"""Several GPUs in one process, without MPI: one thread per GPU. Without GPUs, the threads compute on the CPU.

    python several_gpus.py [ranks]
"""

import sys

import numpy as np

import partita as pt


def largest_eigenvalue(context: pt.Context) -> float:
    """Power iteration: of a matrix whose largest eigenvalue is 3."""
    n = 300
    a = pt.eye(context, n, distribution=pt.Slab(0))
    a[n - 1 :, n - 1 :] = 3.0
    v = pt.full(context, (n,), pt.Replicated(), 1.0)
    for _ in range(30):
        v = pt.matmul(a, v, distribution=pt.Replicated(), alpha=1 / 3)
    return float(pt.norm(pt.matmul(a, v, distribution=pt.Replicated())) / pt.norm(v))


def body(context: pt.Context) -> str:
    value = largest_eigenvalue(context)
    assert np.isclose(value, 3), value
    return f"rank {context.rank} of {context.size} on {context.device}: {value:.6f}"


if __name__ == "__main__":
    for line in pt.run(int(sys.argv[1]) if len(sys.argv) > 1 else 2, body):
        print(line)
