"""Redistribution of any distribution into any other."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Union

from . import _core
from ._calls import collective, with_options
from ._array import Array, core_given, default_redistribution
from ._linear import writable
from ._mesh import DistributionLike
from ._planned import Uncopied
from ._streams import stream_of_arrays


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
        self._core.execute(core_given(origin), core, stream_of_arrays(stream, origin, target))
        return target

    @property
    def plan(self) -> _core.Plan:
        """This rank's."""
        return self._core.plan

    def explain(self, steps: bool = False, json: bool = False) -> str:
        """The plan in words. Local."""
        return self._core.explain(steps, json)
