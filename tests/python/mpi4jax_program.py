"""A program written for mpi4jax 0.7, whose results come with a token: sums of all processes, and a Fourier transform of a cube
over a grid of processes, by exchanges between rows and columns of it. mpirun -n 1 to 4."""

import sys

import jax
import jax.numpy as jnp
import mpi4jax
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
size, rank = comm.Get_size(), comm.Get_rank()
rows = 2 if size % 2 == 0 else 1
grid = comm.Create_cart((rows, size // rows))
x, y = grid.Get_coords(rank)
along_x, along_y = grid.Sub((True, False)), grid.Sub((False, True))


@jax.jit
def total(values):
    found, token = mpi4jax.allreduce(values + rank, op=MPI.SUM, comm=comm)
    return found


def turned(values, comm, token):
    """The last axis whole, the first one cut instead: (a, b, c) of this process become (c / ranks, b, a * ranks)."""
    ranks = comm.Get_size()
    a, b, c = values.shape
    pieces = values.reshape(a, b, ranks, c // ranks).transpose(2, 0, 1, 3)
    pieces, token = mpi4jax.alltoall(pieces, comm=comm, token=token)
    return pieces.transpose(3, 2, 0, 1).reshape(c // ranks, b, ranks * a), token


@jax.jit
def transform(cube):
    """[x, y, z] cut along x and y; comes out as [z, x, y], cut along z and x."""
    cube = jnp.fft.fft(cube)
    cube, token = turned(cube, along_x, None)  # [z, y, x]
    cube = jnp.fft.fft(cube).transpose(2, 0, 1)  # [x, z, y]
    cube = cube.transpose(2, 1, 0)  # [y, z, x]
    cube, token = turned(cube, along_y, token)  # [x, z, y]
    return jnp.fft.fft(cube).transpose(1, 0, 2)


assert (total(jnp.zeros((3, 3))) == sum(range(size))).all()
n = 12
whole = np.random.default_rng(1).random((n, n, n)) + 0j
wx, wy = n // rows, n // (size // rows)
found = transform(jnp.asarray(whole[x * wx : (x + 1) * wx, y * wy : (y + 1) * wy], jnp.complex64))
wanted = np.fft.fftn(whole).transpose(2, 0, 1)[x * wx : (x + 1) * wx, y * wy : (y + 1) * wy]
np.testing.assert_allclose(found, wanted, atol=1e-2)

token = mpi4jax.barrier(comm=comm)
if rank == 0:
    for other in range(1, size):
        token = mpi4jax.send(jnp.full(3, other), dest=other, comm=comm, token=token)
else:
    got, token = mpi4jax.recv(jnp.zeros(3, int), source=0, comm=comm, token=token)
    assert (got == rank).all()
print(f"rank {rank} of {size}: all as it should be", file=sys.stdout, flush=True)
