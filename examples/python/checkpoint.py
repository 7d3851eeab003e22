"""Checkpoint and restart: an iteration is stopped halfway and continues in another distribution, with the same bits.

    mpirun -n 4 python checkpoint.py [folder]
"""

import sys
from pathlib import Path

import numpy as np

import partita as pt


def advance(x: pt.Array, steps: int) -> None:
    """In place; nothing is communicated."""
    for _ in range(steps):
        x += 0.1 * np.sin(x)


def main(folder: Path) -> None:
    with pt.initialize() as context:
        file = folder / "checkpoint.h5"
        x = pt.random(context, (60, 40), pt.Slab(0), seed=3)
        advance(x, 5)
        pt.io.write_hdf5(file, "state/x", x, truncate=True, attributes={"step": 5})
        advance(x, 5)

        again = pt.io.read_hdf5(context, file, "state/x", pt.Slab(1))
        step = pt.io.read_hdf5_attributes(file, "state/x")["step"]
        assert isinstance(step, int)
        advance(again, 10 - step)
        assert (x == again.redistribute(x.distribution)).all()
        if context.rank == 0:
            print(f"restarted from step {step} on {context.size} ranks")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
