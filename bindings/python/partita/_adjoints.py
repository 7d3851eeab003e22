"""What layouts say about derivatives: how the adjoint of a linear map of distributed arrays takes and gives its parts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._errors import UnsupportedError


def as_partial(layout: _core.Layout) -> _core.Layout:
    """The same elements on the same ranks, as contributions that are still to be added up."""
    rule = layout.distribution
    if isinstance(rule, _core.Replicated):
        spec = _core.P(*[None] * len(layout.shape), partial="ranks")
        return _core.Layout(_core.Partitioned(_core.Mesh({"ranks": layout.ranks}), spec), layout.shape, layout.ranks)
    if not isinstance(rule, _core.Partitioned):
        raise UnsupportedError(f"derivatives of replicas with the distribution {rule}")
    named = {axis for axes in rule.spec.dimensions for axis in axes}
    free = [axis for axis in rule.mesh.axes if axis not in named]
    spec = _core.P(*[list(axes) or None for axes in rule.spec.dimensions], partial=free, uneven=rule.spec.uneven)
    return _core.Layout(_core.Partitioned(rule.mesh, spec), layout.shape, layout.ranks)


def as_replicated(layout: _core.Layout) -> _core.Layout:
    """Of contributions to sums: as if each were the whole."""
    if layout.partial != "sum":
        raise UnsupportedError(f"redistribute: the derivative of contributions to a {layout.partial}")
    rule = layout.distribution
    assert isinstance(rule, _core.Partitioned)  # none else has contributions
    spec = _core.P(*rule.spec.dimensions, uneven=rule.spec.uneven)
    return _core.Layout(_core.Partitioned(rule.mesh, spec), layout.shape, layout.ranks)


def is_first_replica(layout: _core.Layout, rank: int) -> bool:
    """Whether the rank's part is the one that counts among replicas of it."""
    if not layout.is_replicated or 0 in layout.local_shape(rank):
        return True
    first = tuple(int(layout.indices(axis, rank)[0]) for axis in range(len(layout.shape)))
    return bool(layout.owner(first) == rank)


def of_half_spectrum(spectrum: _core.Layout, length: int, axis: int, inside: float, rank: int) -> NDArray[np.float64]:
    """1 where an element of a half spectrum of `length` represents only itself, `inside` where it also represents its mirror image."""
    places = spectrum.indices(axis, rank)
    shape = [1] * len(spectrum.shape)
    shape[axis] = len(places)
    return np.where((places == 0) | (2 * places == length), 1.0, inside).reshape(shape)


def opposite_norm(norm: str) -> str:
    """With which the transform the other way is the adjoint."""
    return {"backward": "forward", "forward": "backward"}.get(norm, norm)
