"""The names of mpi4jax (0.7 to 0.9) on Partita, so that programs written for it run unchanged.

    import partita.compat.mpi4jax
    partita.compat.mpi4jax.install()         # before the program's own imports; version="0.7": results come with a token

    import mpi4jax
    y = mpi4jax.allreduce(x, op=MPI.SUM, comm=comm)

What differs: docs/jax.md.
"""

from . import experimental, notoken
from ._groups import note_duplicates
from ._install import install
from ._operations import (
    allgather,
    allreduce,
    alltoall,
    barrier,
    bcast,
    gather,
    has_cuda_support,
    has_sycl_support,
    recv,
    reduce,
    scan,
    scatter,
    send,
    sendrecv,
)

__version__ = "0.9.1"

__all__ = [
    "allgather", "allreduce", "alltoall", "barrier", "bcast", "experimental", "gather", "has_cuda_support", "has_sycl_support",
    "install", "notoken", "recv", "reduce", "scan", "scatter", "send", "sendrecv",
]  # fmt: skip

note_duplicates()
