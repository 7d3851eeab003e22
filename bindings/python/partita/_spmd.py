"""Functions of local parts as functions of arrays."""

from __future__ import annotations

import functools
from typing import Any, Callable, Optional, Sequence, Tuple, Union

from . import _core
from ._calls import collective
from ._array import Array
from ._create import from_local
from ._errors import ArgumentError
from ._mesh import current_mesh

Specs = Union[_core.P, None, Sequence[Optional[_core.P]]]


def _listed(specs: Specs) -> Tuple[Optional[_core.P], ...]:
    return (specs,) if specs is None or isinstance(specs, _core.P) else tuple(specs)


def spmd(
    function: Callable[..., Any], mesh: Optional[_core.Mesh] = None, *, in_specs: Specs, out_specs: Specs
) -> Callable[..., Any]:
    """Turn a function of local parts into a function of arrays, as JAX's shard_map, for NumPy, CuPy or PyTorch. Local; the result is collective.

    Parameters
    ----------
    function : callable
        Gets the local part of each array, and other arguments unchanged. It may call collectives, also along axes of the mesh
        (`Context.along`).
    mesh : Mesh, optional
        Unset: that of ``with mesh:`` around the call.
    in_specs : P or None, or one per argument
        Arrays with other distributions are redistributed. None: the argument is passed unchanged.
    out_specs : P or None, or one per result
        Results become arrays with these specs, whose parts they must be. None: returned unchanged.

    Returns
    -------
    callable
        Collective and blocking.
    """
    arguments, results = _listed(in_specs), _listed(out_specs)

    def called(*given: Any) -> Any:
        over = current_mesh() if mesh is None else mesh
        if over is None:
            raise ArgumentError("spmd: no mesh is given: pass mesh, or make the call inside `with mesh:`")
        if len(given) != len(arguments):
            raise ArgumentError(f"spmd: {len(given)} arguments, but in_specs has {len(arguments)}")
        laid = [_laid(one, spec, over) for one, spec in zip(given, arguments)]
        contexts = [one.context for one in laid if isinstance(one, Array)]
        if not contexts:
            raise ArgumentError("spmd: none of the arguments is a distributed array")
        parts = function(*(one.local if isinstance(one, Array) else one for one in laid))
        several = isinstance(parts, tuple)
        listed = parts if several else (parts,)
        if len(listed) != len(results):
            raise ArgumentError(f"spmd: {len(listed)} results, but out_specs has {len(results)}")
        _core.listen_to_all(contexts[0]._core, "spmd")  # what the function raises on one rank, all raise in this call
        made = tuple(
            one if spec is None else from_local(contexts[0], one, _core.Partitioned(over, spec))
            for one, spec in zip(listed, results)
        )
        return made if several else made[0]

    called.__qualname__ = "spmd"
    return functools.wraps(function)(collective(called))


def _laid(one: Any, spec: Optional[_core.P], mesh: _core.Mesh) -> Any:
    if spec is None or not isinstance(one, Array):
        return one
    rule = _core.Partitioned(mesh, spec)
    wanted = _core.Layout(rule, one.shape, one._core.context.size)
    return one if one.layout.equivalent(wanted) else one.redistribute(rule)
