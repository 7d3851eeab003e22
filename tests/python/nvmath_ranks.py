"""What the tests of partita.compat.nvmath use."""

import contextlib
import logging

import numpy as np

import partita as pt
import partita.compat.nvmath as nvmath
from partita.compat.nvmath.distribution import BlockCyclic, BlockNonCyclic, Box, ProcessGrid, Slab


@contextlib.contextmanager
def runtime(ctx, **options):
    """The runtime of nvmath on these ranks."""
    nvmath.initialize(0, ctx, **options)
    yield nvmath.get_context()
    nvmath.finalize()


def two_dimensional(size):
    """Distributions of matrices of all kinds."""
    rows = 2 if size % 2 == 0 else 1
    grid = ProcessGrid(shape=(rows, size // rows), layout=ProcessGrid.Layout.COL_MAJOR)
    return [
        Slab.X,
        Slab.Y,
        BlockNonCyclic(ProcessGrid(shape=(size, 1))),
        BlockCyclic(grid, (2, 3)),
        BlockCyclic(ProcessGrid(shape=(1, size)), (4, 1), first_process=(0, size - 1)),
        BlockNonCyclic(grid),
    ]


def layout(rule, shape, size):
    """As Partita has it."""
    return pt.Layout(rule._rule([rule]), shape, size)


def part(array, rule, rank, size):
    """What a rank has of it, by NumPy."""
    return array[np.ix_(*(layout(rule, array.shape, size).indices(axis, rank) for axis in range(array.ndim)))]


def box(shape, axis, rank, size):
    """A rank's box of a slab."""
    indices = pt.Layout(pt.Slab(axis), shape, size).indices(axis, rank)
    lower, upper = [0] * len(shape), list(shape)
    lower[axis], upper[axis] = int(indices[0]), int(indices[-1]) + 1
    return Box(lower, upper)


class Heard(logging.Handler):
    """A logger of a rank's own, and what it is told."""

    def __init__(self):
        super().__init__()
        self.records = []
        self.logger = logging.Logger("heard", logging.INFO)
        self.logger.addHandler(self)

    def emit(self, record):
        self.records.append(record)

    def levels(self):
        return {record.levelno for record in self.records}


class Stream:
    """What a program may give as a stream; how often it was asked for its handle. `handle`: 0 is CUDA's default stream."""

    def __init__(self, handle=0):
        self.handle, self.waits = handle, 0

    def __cuda_stream__(self):
        self.waits += 1
        return 0, self.handle
