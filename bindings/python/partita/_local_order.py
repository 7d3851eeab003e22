"""Sorting on one rank: NumPy's, with its vectorized functions where it has them, also for stable orders."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from . import _core
from ._freed_memory import blocks

#: More runs are sorted by NumPy: merging them takes more passes, and as long.
_most_runs = 16


def merged(runs: Any, counts: Sequence[int]) -> Any:
    """Sorted runs of these sizes, one after the other, as one, for which their own memory may be used."""
    if runs.dtype.kind not in "biuf" or len(counts) > _most_runs:
        runs.sort()
        return runs
    found = blocks.empty(runs.shape, runs.dtype)
    _core.merge_runs(runs, [int(one) for one in counts], found)
    return found


def argsorted(values: Any) -> Any:
    """The stable order of a sequence: the indices that sort it, equal elements by increasing index.

    NumPy's vectorized `argsort` is not stable. So keys of 32 bits are sorted together with their indices, as integers of 64 bits; for
    longer ones the runs of equal elements are put in order afterwards.
    """
    kind, size = values.dtype.kind, values.dtype.itemsize
    many = len(values)
    if many < 1000 or many >= 1 << 32 or kind not in "iuf" or size < 4:
        return np.argsort(values, kind="stable")  # for 16 bits and fewer a radix sort
    if size == 4:
        packed = _keys_of(values).astype(np.uint64)
        packed <<= np.uint64(32)
        packed |= np.arange(many, dtype=np.uint64)
        packed.sort()
        packed &= np.uint64(0xFFFFFFFF)
        return packed.view(np.int64)
    order = np.argsort(values)
    ordered = values[order]
    starts = ordered[1:] != ordered[:-1]
    if kind == "f":
        starts &= ~np.isnan(ordered[:-1])  # NaNs are the last run
    if starts.all():
        return order
    runs = np.zeros(many, np.uint64)
    np.cumsum(starts, out=runs[1:])
    runs <<= np.uint64(32)
    runs |= order.astype(np.uint64)
    runs.sort()
    return (runs & np.uint64(0xFFFFFFFF)).astype(np.int64)


def _keys_of(values: Any) -> Any:
    """Unsigned integers of 32 bits in the order of the values; equal ones for 0 and -0, and for all NaNs."""
    bits = values.view(np.uint32)
    if values.dtype.kind == "u":
        return bits
    if values.dtype.kind == "i":
        return bits ^ np.uint32(1 << 31)
    bits = (values + np.float32(0)).view(np.uint32)  # -0 becomes 0
    keys = bits ^ np.where(bits >> np.uint32(31), np.uint32(0xFFFFFFFF), np.uint32(1 << 31))
    keys[np.isnan(values)] = 0xFFFFFFFF
    return keys
