"""Values travel: pickled, and so copied and sent by mpi4py or multiprocessing."""

from __future__ import annotations

import copyreg
from typing import Any, Tuple

from . import _core
from ._mesh import Rule


def _rule_of(text: str) -> Rule:
    """As `parse`, which cannot be pickled."""
    return _core.parse(text)


def _spec_of(text: str) -> _core.P:
    """That of a distribution over a mesh, by its text."""
    rule = _core.parse(text)
    assert isinstance(rule, _core.Partitioned)
    return rule.spec


def _grid_of(text: str) -> _core.ProcessGrid:
    """That of blocks, by their text."""
    rule = _core.parse(text)
    assert isinstance(rule, _core.BlockNonCyclic)
    return rule.grid


def _reduced_rule(rule: Any) -> Tuple[Any, ...]:
    return _rule_of, (str(rule),)


def _reduced_mesh(mesh: _core.Mesh) -> Tuple[Any, ...]:
    return _core.Mesh, (dict(mesh.axes), list(mesh.ranks))


def _reduced_spec(spec: _core.P) -> Tuple[Any, ...]:
    axes = {name: 1 for names in (*spec.dimensions, spec.partial) for name in names}
    return _spec_of, (str(_core.Partitioned(_core.Mesh(axes or {"x": 1}), spec)),)


def _reduced_grid(grid: _core.ProcessGrid) -> Tuple[Any, ...]:
    return _grid_of, (str(_core.BlockNonCyclic(grid)),)


def _reduced_layout(layout: _core.Layout) -> Tuple[Any, ...]:
    made = _core.Layout, (layout.distribution, layout.shape, layout.ranks)
    if made[0](*made[1]) != layout:
        raise TypeError(f"{layout!r} is the layout of a window and cannot be pickled: pickle the layout of the whole array")
    return made


def _reduced_topology(topology: _core.Topology) -> Tuple[Any, ...]:
    for ranks_per_node in range(topology.ranks + 1):
        if _core.Topology(topology.ranks, ranks_per_node) == topology:
            return _core.Topology, (topology.ranks, ranks_per_node)
    raise TypeError(f"{topology!r} has nodes of different sizes and cannot be pickled")


for _rule in (_core.Slab, _core.Box, _core.BlockCyclic, _core.BlockNonCyclic, _core.Replicated, _core.Partitioned):
    copyreg.pickle(_rule, _reduced_rule)
copyreg.pickle(_core.Mesh, _reduced_mesh)
copyreg.pickle(_core.P, _reduced_spec)
copyreg.pickle(_core.ProcessGrid, _reduced_grid)
copyreg.pickle(_core.Layout, _reduced_layout)
copyreg.pickle(_core.Topology, _reduced_topology)
