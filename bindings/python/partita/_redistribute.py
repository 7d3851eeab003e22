"""Redistribution of any distribution into any other."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Union

import numpy as np

from . import _core
from ._calls import collective, with_options
from ._array import Array, core_given, default_redistribution
from ._errors import ArgumentError
from ._linear import writable
from ._mesh import DistributionLike
from ._planned import Uncopied
from ._streams import stream_of_arrays


def _refuse_overlap(source: Array, destination: Array) -> None:
    """What is read and written in any order must not be the same memory: windows and transposed views of one array."""
    if source._core.on_host and destination._core.on_host and source is not destination:
        mine, theirs = source.local, destination.local
        if isinstance(mine, np.ndarray) and isinstance(theirs, np.ndarray) and _share(mine, theirs):
            raise ArgumentError("redistribute: source and destination overlap in memory; redistribute into a new array first")


def _share(a: Any, b: Any) -> bool:
    try:
        return np.may_share_memory(a, b) and np.shares_memory(a, b, max_work=_most_work)
    except _TooHard:  # to say; such strides hardly overlap by mistake
        return False


_most_work: Any = 1000  # candidates that NumPy tries; its stubs know -1 and 0 only
_TooHard: Any = getattr(np, "exceptions", np).TooHardError


@collective
def redistribute(
    source: Array, destination: Union[DistributionLike, _core.Layout, Array], *, stream: Any = None, **options: Any
) -> Array:
    """The array in another distribution, or into an array. Collective, blocking; plans are kept.

    Parameters
    ----------
    source : Array
    destination
        A rule or a layout: a new array, with options as of `Array.redistribute`. Or an array of the same dtype and
        (permuted) shape, which is returned and must not overlap the source in memory; options are axes, method and staging_bytes.
    stream
        Of device memory: see the docs on streams.
    """
    origin = core_given(source)
    if not isinstance(destination, Array):
        return source.redistribute(destination, stream=stream, **options)
    core = writable("destination", destination)
    assert core is not None
    how = with_options(_core.RedistributeOptions, "redistribute", options) if options else default_redistribution
    _refuse_overlap(source, destination)
    _core.redistribute_into(origin, core, how, stream_of_arrays(stream, source, destination))
    return destination


class Redistribute(Uncopied):
    """A redistribution that is planned once and executed many times.

    Creation and execution are collective and blocking; `execute` allocates nothing.

    Parameters
    ----------
    source, destination : Array
        Those of the first execution; later ones may have others of the same operands.
    axes : sequence of int
        Dimension i of the destination is dimension axes[i] of the source; empty: unchanged.
    method : str
        As of `Array.redistribute`.
    """

    @collective
    def __init__(
        self, source: Array, destination: Array, *, axes: Sequence[int] = (), method: str = "automatic", staging_bytes: int = 0
    ) -> None:
        options = default_redistribution
        if axes or method != "automatic" or staging_bytes:
            options = _core.RedistributeOptions(axes=list(axes), method=method, staging_bytes=staging_bytes)
        core_given(source), core_given(destination)
        self._arrays = (source, destination)
        self._context = source._core.context
        self._core = _core.Redistribute(source._core.context, source.operand, destination.operand, options)

    @collective
    def execute(
        self, source: Optional[Array] = None, destination: Optional[Array] = None, *, stream: Any = None
    ) -> Array:
        """Move; then the source may be overwritten. Collective, blocking. Returns the destination."""
        origin = self._arrays[0] if source is None else source
        target = self._arrays[1] if destination is None else destination
        core = writable("destination", target)
        assert core is not None
        _refuse_overlap(origin, target)
        self._core.execute(core_given(origin), core, stream_of_arrays(stream, origin, target))
        return target

    @property
    def plan(self) -> _core.Plan:
        """This rank's."""
        return self._core.plan

    def explain(self, steps: bool = False, json: bool = False) -> str:
        """The plan in words. Local."""
        return self._core.explain(steps, json)
