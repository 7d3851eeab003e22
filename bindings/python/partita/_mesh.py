"""The mesh of specs that are given without one."""

from __future__ import annotations

import threading
from typing import List, Optional, Union

from . import _core
from ._errors import ArgumentError

Rule = Union[
    _core.Slab, _core.Box, _core.BlockCyclic, _core.BlockNonCyclic, _core.Replicated, _core.Partitioned
]
rules = frozenset(
    (_core.Slab, _core.Box, _core.BlockCyclic, _core.BlockNonCyclic, _core.Replicated, _core.Partitioned)
)
#: What is taken as a distribution: a rule, its text, or a spec on the mesh of ``with mesh:``.
DistributionLike = Union[Rule, str, _core.P]


class _Meshes(threading.local):
    def __init__(self) -> None:
        self.entered: List[_core.Mesh] = []


_meshes = _Meshes()


def push(mesh: _core.Mesh) -> None:
    _meshes.entered.append(mesh)


def pop() -> None:
    _meshes.entered.pop()


def current_mesh() -> Optional[_core.Mesh]:
    """The mesh of the innermost ``with mesh:`` of this thread; None outside of any. Local."""
    return _meshes.entered[-1] if _meshes.entered else None


def rule_of(distribution: DistributionLike) -> Rule:
    """The distribution of a distribution, text or spec."""
    if isinstance(distribution, str):
        return _core.parse(distribution)
    if isinstance(distribution, _core.P):
        mesh = current_mesh()
        if mesh is None:
            raise ArgumentError(f"{distribution!r} has no mesh: use Partitioned(mesh, spec), or `with mesh:`")
        return _core.Partitioned(mesh, distribution)
    if type(distribution) not in rules:
        raise TypeError(
            f"expected a distribution such as Slab(0), its text ('slab:0') or a spec (P('x', None)), got "
            f"{type(distribution).__name__}"
        )
    return distribution
