"""Order statistics of a sequence that is not sorted: found between two elements of a sample.

A sample of all ranks gives bounds between which an element of a given rank is with high probability [1]. One pass counts
the elements below the lower bound and extracts those between the bounds; these, some percent of all, are sorted on their ranks, and the element
is found by `values_at`, digit by digit. Where the counts show that the element is not between the bounds, all elements are sorted.

[1] R. W. Floyd, R. L. Rivest: Expected time bounds for selection. Communications of the ACM 18 (1975).
"""

from __future__ import annotations

import math
from typing import Any, List, Sequence, Tuple

import numpy as np

from . import _core
from ._exchange import few_elements, gathered, of_all, total
from ._order import values_at

_sample = 1 << 13
_few = 1 << 16
_most_targets = 16


def order_statistics(context: _core.Context, values: Any, targets: Sequence[int]) -> Any:
    """The elements of these ranks (0: the smallest) among those of all ranks, on every rank. Collective, blocking. There are no NaNs."""
    wanted = np.array(targets, np.int64)
    sizes = of_all(context, np.array([len(values)], np.int64))[:, 0]
    size = int(sizes.sum())
    if size <= few_elements:
        return np.sort(gathered(context, values, sizes))[wanted]
    distinct = np.unique(wanted)
    if size <= _few or len(distinct) > _most_targets or values.dtype.kind not in "iuf":
        return values_at(context, np.sort(values), wanted)
    sample = _sampled(context, values, sizes)
    found = np.empty(len(distinct), values.dtype)
    for first, last in _groups(distinct, size, len(sample)):
        chosen = distinct[first:last]
        found[first:last] = _between(context, values, chosen, *_bounds(sample, chosen, size))
    return found[np.searchsorted(distinct, wanted)]


def _sampled(context: _core.Context, values: Any, sizes: Any) -> Any:
    """Random elements, as many of each rank as it has a share of all; sorted."""
    counts = [int(_sample * int(one) // int(sizes.sum())) for one in sizes]
    picked = np.random.default_rng(context.rank).integers(0, max(len(values), 1), counts[context.rank])
    sample = gathered(context, values[picked], counts)
    sample.sort()
    return sample


def _margin(target: int, size: int, sampled: int) -> float:
    """In elements of the sample: four standard deviations of the place of the target."""
    share = target / size
    return 4 * math.sqrt(sampled * share * (1 - share)) + 4


def _groups(targets: Any, size: int, sampled: int) -> List[Tuple[int, int]]:
    """Neighbouring targets whose bounds overlap are found together."""
    groups: List[Tuple[int, int]] = []
    end = -math.inf
    for number, target in enumerate(targets):
        place, margin = sampled * target / size, _margin(target, size, sampled)
        if place - margin <= end:
            groups[-1] = (groups[-1][0], number + 1)
        else:
            groups.append((number, number + 1))
        end = place + margin
    return groups


def _bounds(sample: Any, targets: Any, size: int) -> Tuple[Any, Any]:
    """Two elements, or None where there is no bound, between which the targets are presumably."""
    many = len(sample)
    lower = math.floor(many * targets[0] / size - _margin(targets[0], size, many))
    upper = math.ceil(many * targets[-1] / size + _margin(targets[-1], size, many))
    return (sample[lower] if lower >= 0 else None), (sample[upper] if upper < many else None)


def _between(context: _core.Context, values: Any, targets: Any, lower: Any, upper: Any) -> Any:
    inside, below = values, 0
    if lower is not None:
        is_below = values < lower
        below = int(np.count_nonzero(is_below))
        inside = values[~is_below] if upper is None else values[~is_below & (values <= upper)]
    elif upper is not None:
        inside = values[values <= upper]
    skipped, many = total(context, [below, len(inside)])
    if targets[0] < skipped or targets[-1] >= skipped + many:
        return values_at(context, np.sort(values), targets)
    if lower is not None and lower == upper:
        return np.full(len(targets), lower)
    return values_at(context, np.sort(inside), targets - skipped)
