"""The order of all ranks' elements: where sorted parts are cut, and which elements have given positions."""

from __future__ import annotations

from typing import Any, Sequence, Tuple

import numpy as np

from . import _core


def cut_positions(
    context: _core.Context, values: Any, targets: Sequence[int], descending: bool = False
) -> Tuple[Any, Any]:
    """Where the sorted sequence of all elements is cut into elements 0 to targets[0], to targets[1], ... Collective, blocking.

    Parameters
    ----------
    values : array
        This rank's elements, sorted.
    targets : sequence of int
        Positions in the sequence of all, at most the number of elements.
    descending : bool, default False
        The largest element first.

    Returns
    -------
    array, array
        By rank and target: the position in the rank's values, and how many of them come before all elements that equal the one at the
        target. Equal elements are divided in the order of the ranks.
    """
    found = _core.cut_sorted(context, np.ascontiguousarray(values), [int(one) for one in targets], descending)
    cuts, before = (np.array(one, np.int64).reshape(context.size, len(targets)) for one in found)
    return cuts, before


def order_statistics(context: _core.Context, values: Any, targets: Sequence[int]) -> Any:
    """The elements of these ranks (0: the smallest) among those of all ranks, on every rank. Collective, blocking."""
    found = np.empty(len(targets), values.dtype)
    _core.order_statistics(context, np.ascontiguousarray(values), [int(one) for one in targets], found)
    return found
