"""The two-dimensional Fourier transform of a matrix distributed by rows, with mpi4py and NumPy.

    mpirun -n 4 python rows_to_columns_mpi4py.py

rows_to_columns.py is the same program with Partita.
"""

# [shown in README.md]
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
shape = (1000, 700)


def part(length: int, r: int) -> tuple[int, int]:
    rest = length % size
    begin = length // size * r + min(r, rest)
    return begin, begin + length // size + (r < rest)


row_parts = [part(shape[0], r) for r in range(size)]
column_parts = [part(shape[1], r) for r in range(size)]
i, j = np.ogrid[slice(*row_parts[rank]), 0 : shape[1]]
rows = np.fft.fft(np.sin(0.1 * i) * np.cos(0.2 * j), axis=1)

blocks = [rows[:, begin:end] for begin, end in column_parts]
send = np.concatenate([block.ravel() for block in blocks])
send_counts = [block.size for block in blocks]
width = np.subtract(*column_parts[rank][::-1])
receive_counts = [(end - begin) * width for begin, end in row_parts]
received = np.empty(sum(receive_counts), complex)
comm.Alltoallv([send, send_counts], [received, receive_counts])

columns = np.empty((shape[0], width), complex)
offset = 0
for (begin, end), count in zip(row_parts, receive_counts):
    columns[begin:end] = received[offset : offset + count].reshape(end - begin, width)
    offset += count
spectrum = np.fft.fft(columns, axis=0)
power = comm.allreduce(np.sum(np.abs(spectrum) ** 2))
# [end]

i, j = np.ogrid[0 : shape[0], 0 : shape[1]]
expected = np.sum((np.sin(0.1 * i) * np.cos(0.2 * j)) ** 2) * shape[0] * shape[1]
assert abs(power / expected - 1) < 1e-12, (power, expected)
if rank == 0:
    print(f"power of the spectrum on {size} ranks: {power:.6e}")
