"""A product of matrices that do not fit into memory: tiles are read from HDF5 files, and three of them are in memory at a time.

    mpirun -n 4 python out_of_core.py [folder]
"""

import sys
from pathlib import Path

import numpy as np

import partita as pt

PANELS, ROWS, INNER = 3, 40, 70  # of A: so many panels of rows; of B: as many of columns


def write_factors(context: pt.Context, file: Path) -> None:
    for panel in range(PANELS):
        a = pt.random(context, (ROWS, INNER), pt.Slab(0), seed=panel)
        b = pt.random(context, (INNER, ROWS), pt.Slab(1), seed=100 + panel)
        pt.io.write_hdf5(file, f"a/{panel}", a, truncate=panel == 0)
        pt.io.write_hdf5(file, f"b/{panel}", b)


def multiply(context: pt.Context, file: Path, result: Path) -> None:
    """C[i, j] = A[i] B[j], tile by tile."""
    for i in range(PANELS):
        a = pt.io.read_hdf5(context, file, f"a/{i}", pt.Slab(0))
        for j in range(PANELS):
            b = pt.io.read_hdf5(context, file, f"b/{j}", pt.Slab(1))
            c = pt.matmul(a, b, distribution=pt.Slab(0))
            pt.io.write_hdf5(result, f"c/{i}-{j}", c, truncate=i + j == 0)
            context.collect()  # what is not held any more is free for the next tile


def main(folder: Path) -> None:
    file, result = folder / "factors.h5", folder / "product.h5"
    with pt.initialize() as context:
        write_factors(context, file)
        multiply(context, file, result)
        a, b = (pt.io.read_hdf5(context, file, f"{one}/1", pt.Replicated()).gather() for one in "ab")
        tile = pt.io.read_hdf5(context, result, "c/1-1", pt.Slab(0)).gather()
        assert np.allclose(tile, a @ b)
        if context.rank == 0:
            print(f"{PANELS * PANELS} tiles of {ROWS} x {ROWS} in {result}, by {context.size} ranks")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
