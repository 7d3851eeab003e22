"""Where a sorted sequence is cut: the exact positions of given ranks in the order of all elements.

A key is an unsigned integer whose order is that of the values, with NaN last. The keys at the cuts are found digit by digit, from the highest one:
all candidates for a digit are counted at once in the sorted parts of the ranks, and one reduction adds the counts. This is a
histogram sort [1] with probes that do not depend on the data, so its number of rounds is bounded and the parts have exactly the
requested sizes. Equal elements are divided in the order of the ranks [2].

[1] E. Solomonik, L. V. Kale: Highly scalable parallel sorting. IPDPS 2010.
[2] P. J. Varman, S. D. Scheufler, B. R. Iyer, G. R. Ricard: Merging multiple lists on hierarchical-memory multiprocessors. Journal of
Parallel and Distributed Computing 12 (1991).
"""

from __future__ import annotations

from typing import Any, Sequence, Tuple

import numpy as np

from . import _core
from ._exchange import of_all, total

#: At most so many candidates are counted at once, if there are not more cuts.
_most_probes = 1 << 14


class Keys:
    """The keys of a dtype, as columns of 64 bits at most, and the values that belong to them."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = np.dtype(dtype)
        bits = 1 if self.dtype == np.bool_ else 8 * self.dtype.itemsize
        #: Bits of each column. Complex numbers have one for what is NaN in them, and their two parts.
        self.bits = (2, bits // 2, bits // 2) if self.dtype.kind == "c" else (bits,)

    def values(self, columns: Sequence[Any]) -> Any:
        """The smallest value whose key is not below each of these."""
        if self.dtype.kind == "c":
            return self._complex(*columns)
        if self.dtype == np.bool_:
            return columns[0].astype(np.bool_)
        if self.dtype.kind == "u":
            return columns[0].astype(self.dtype)
        if self.dtype.kind == "i":
            return _moved_sign(columns[0], self.bits[0]).view(self.dtype)
        return _floating(columns[0], self.dtype)

    def _complex(self, kind: Any, real: Any, imaginary: Any) -> Any:
        """Of kind 0: numbers; 1: numbers whose imaginary part is NaN; 2: only the real part is NaN; 3: both are. What NumPy's order is."""
        part = np.zeros(0, self.dtype).real.dtype
        re, im = _floating(real, part), _floating(imaginary, part)
        kind = kind.copy()
        # Keys of NaN in a place where there is none: the next value.
        follows = (kind == 0) & np.isnan(im) & ~np.isnan(re)
        kind[follows & (re == np.inf)] = 1
        re[follows] = np.where(re[follows] == np.inf, -np.inf, np.nextafter(re[follows], part.type(np.inf)))
        im[follows] = -np.inf
        for below in (0, 1):
            follows = (kind == below) & np.isnan(re)
            kind[follows], re[follows], im[follows] = below + 1, -np.inf, -np.inf
        kind[(kind == 2) & np.isnan(im)] = 3
        found = np.empty(kind.shape, self.dtype)
        found.real, found.imag = np.where(kind >= 2, np.nan, re), np.where(kind % 2 == 1, np.nan, im)
        return found


def _moved_sign(keys: Any, bits: int) -> Any:
    """The bits of signed integers with these keys."""
    return (keys ^ np.uint64(1 << (bits - 1))).astype(f"uint{bits}")


def _floating(keys: Any, dtype: Any) -> Any:
    """Floating-point numbers with these keys; -inf for keys below its own."""
    bits = 8 * dtype.itemsize
    half = np.uint64(1 << (bits - 1))
    negative = keys < half
    found = np.where(negative, ~keys, keys ^ half).astype(f"uint{bits}").view(dtype)
    found[negative & np.isnan(found)] = -np.inf
    return found


def cut_positions(
    context: _core.Context, values: Any, targets: Sequence[int], sizes: Any, order: Sequence[int]
) -> Tuple[Any, Any]:
    """Where the sorted sequence of all elements is cut into elements 0 to targets[0], to targets[1], ... Collective, blocking.

    Parameters
    ----------
    values : array
        This rank's elements, sorted.
    targets : sequence of int
        Positions in the sequence of all, at most the number of elements.
    sizes : sequence of int
        The number of elements of each rank.
    order : sequence of int
        The ranks in the order in which equal elements follow one another.

    Returns
    -------
    array, array
        By rank and target: the position in the rank's values, and how many of them are below the element at the target.
    """
    wanted = np.array(targets, np.int64)
    cuts = np.zeros((len(sizes), len(wanted)), np.int64)
    cuts[:, wanted >= sum(sizes)] = np.array(sizes)[:, None]
    left = cuts.copy()
    inside = (wanted > 0) & (wanted < sum(sizes))
    if inside.any():
        below = values_at(context, values, wanted[inside])
        sides = np.stack([np.searchsorted(values, below, "left"), np.searchsorted(values, below, "right")])
        everyone = of_all(context, sides)  # by rank, side and target
        left[:, inside] = everyone[:, 0]
        cuts[:, inside] = _divided(everyone[:, 0], everyone[:, 1] - everyone[:, 0], wanted[inside], order)
    return cuts, left


def _divided(left: Any, equal: Any, wanted: Any, order: Sequence[int]) -> Any:
    """The cuts among equal elements, of which the first ranks in the order give what is missing."""
    cuts, missing = left.copy(), wanted - left.sum(0)
    for rank in order:
        taken = np.clip(missing, 0, equal[rank])
        cuts[rank] += taken
        missing = missing - taken
    return cuts


def values_at(context: _core.Context, values: Any, wanted: Any) -> Any:
    """The values at these positions of the sequence of all elements, on every rank. `values`: those of this rank, sorted. Collective, blocking."""
    keys = Keys(values.dtype)
    columns = [np.zeros(len(wanted), np.uint64) for _ in keys.bits]
    most = max(1, min(8, (_most_probes // max(len(wanted), 1)).bit_length() - 1))
    for column, bits in enumerate(keys.bits):
        remaining = bits
        while remaining > 0:
            width = min(most, remaining)
            remaining -= width
            digits = np.arange(1, 1 << width, dtype=np.uint64) << np.uint64(remaining)
            probes = [np.repeat(one[:, None], len(digits), 1) for one in columns]
            probes[column] |= digits
            candidates = keys.values([one.reshape(-1) for one in probes])
            counts = total(context, np.searchsorted(values, candidates).astype(np.int64)).reshape(len(wanted), len(digits))
            chosen = (counts <= wanted[:, None]).sum(1)  # counts increase with the digit
            columns[column] |= chosen.astype(np.uint64) << np.uint64(remaining)
    return keys.values(columns)
