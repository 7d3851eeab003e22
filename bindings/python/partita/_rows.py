"""Rows of numbers as strings of bytes whose order is the lexicographic order of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._axes import Sequenced
from ._exchange import gathered, of_all, total

#: Samples of each rank per cut.
_samples = 8


def keys_of_rows(one: Sequenced) -> Sequenced:
    """A string of bytes for each row, equal ones for equal rows; NaNs are the largest numbers, and each row with one differs from all others.

    Collective, blocking. `one`: the rows of this rank, in two dimensions.
    """
    rows = np.ascontiguousarray(one.values)
    columns = [_bytes_of_numbers(rows)]
    if rows.dtype.kind in "fc":
        bad = np.isnan(rows).any(1)
        if total(one.context, [int(bad.any())], "max")[0]:
            columns.append(np.where(bad, one.positions + 1, 0).astype(">u8").view(np.uint8).reshape(len(rows), 8))
    found = np.concatenate(columns, 1)
    if not found.shape[1]:
        found = np.zeros((len(rows), 1), np.uint8)
    return one.with_values(as_keys(found))


def as_keys(rows: Any) -> Any:
    """Rows of bytes as strings."""
    return np.ascontiguousarray(rows).reshape(-1).view(f"S{rows.shape[1]}")


def as_rows(keys: Any) -> Any:
    """Strings as rows of bytes."""
    return keys.view(np.uint8).reshape(len(keys), keys.dtype.itemsize)


def _bytes_of_numbers(rows: Any) -> Any:
    """In the order of the numbers, the highest first; of complex numbers first what is NaN in them, then their parts."""
    many, kind, size = len(rows), rows.dtype.kind, rows.dtype.itemsize
    if kind == "c":
        real, imaginary = rows.real, rows.imag
        parts = [(2 * np.isnan(real) + np.isnan(imaginary)).astype(np.uint8)[..., None]]
        parts += [_bytes_of_numbers(np.ascontiguousarray(part)).reshape(*rows.shape, size // 2) for part in (real, imaginary)]
        return np.concatenate(parts, 2).reshape(many, rows.shape[1] * (size + 1))
    bits = (rows + rows.dtype.type(0) if kind == "f" else rows).view(f"u{size}")  # -0 becomes 0
    sign = bits.dtype.type(1 << (8 * size - 1))
    if kind == "i":
        bits = bits ^ sign
    if kind == "f":
        bits = np.where(np.isnan(rows), ~bits.dtype.type(0), np.where(bits & sign, ~bits, bits | sign))
    return bits.astype(f">u{size}").view(np.uint8).reshape(many, rows.shape[1] * size)


def splits_of_keys(context: _core.Context, keys: Any) -> Any:
    """By rank and cut: where each rank's sorted, distinct keys are cut into parts of about equal size. Collective, blocking.

    Regular samples of all ranks are sorted on each [1].

    [1] H. Shi, J. Schaeffer: Parallel sorting by regular sampling. Journal of Parallel and Distributed Computing 14 (1992).
    """
    ranks, many = context.size, len(keys)
    places = np.unique(np.arange(_samples * ranks) * many // (_samples * ranks)) if many else np.zeros(0, np.int64)
    sizes = of_all(context, [len(places)])[:, 0]
    samples = np.sort(as_keys(gathered(context, as_rows(keys[places]), sizes)))
    cuts = np.zeros(ranks + 1, np.int64)
    if len(samples):
        cuts[1:-1] = np.searchsorted(keys, samples[np.arange(1, ranks) * len(samples) // ranks])
    cuts[-1] = many
    return of_all(context, cuts)


__all__ = ["as_keys", "as_rows", "keys_of_rows", "splits_of_keys"]
