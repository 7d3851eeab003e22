"""The two-dimensional Fourier transform of a matrix distributed by rows.

    mpirun -n 4 python rows_to_columns.py

rows_to_columns_mpi4py.py is the same program with mpi4py and NumPy.
"""

# [shown in README.md]
import numpy as np
import partita as pt

shape = (1000, 700)

with pt.initialize() as ctx:
    rows = pt.from_function(ctx, shape, pt.Slab(0), lambda i, j: np.sin(0.1 * i) * np.cos(0.2 * j))
    spectrum = pt.fft.fft2(rows + 0j, distribution=pt.Slab(1))
    power = (abs(spectrum) ** 2).sum()
# [end]
    i, j = np.ogrid[0 : shape[0], 0 : shape[1]]
    expected = np.sum((np.sin(0.1 * i) * np.cos(0.2 * j)) ** 2) * shape[0] * shape[1]
    assert abs(power / expected - 1) < 1e-12, (power, expected)
    if ctx.rank == 0:
        print(f"power of the spectrum on {ctx.size} ranks: {power:.6e}")
