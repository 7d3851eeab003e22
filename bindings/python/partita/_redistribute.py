"""Redistribution of any distribution into any other."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Union

from . import _core
from ._calls import collective, with_options
from ._array import Array, core_given, default_redistribution, require_one_context, writable
from ._mesh import DistributionLike
from ._planned import Uncopied
from ._streams import stream_of_arrays


@collective
def redistribute(
    source: Array, destination: Union[DistributionLike, _core.Layout, Array], *, stream: Any = None, **options: Any
) -> Array:
    """A copy of the array in another distribution, or into another array. Collective, blocking; plans are kept.

    Parameters
    ----------
    source : Array
        The array.
    destination : distribution, Layout or Array
        A distribution or layout: the result is a new array, with options as for `Array.redistribute`. An array of the same dtype and
        (permuted) shape: it is written and returned, and must not overlap the source in memory.
    **options
        With an array as destination: axes, method and staging_bytes.
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
        The arrays of the first execution; later ones may use other arrays with the same dtype and layout.
    axes : sequence of int
        Dimension i of the destination is dimension axes[i] of the source; empty: unchanged.
    method : str
        As for `Array.redistribute`.
    staging_bytes : int, default 0
        Buffers for messages and staged copies per rank; 0: chosen by Partita.
    """

    @collective
    def __init__(
        self, source: Array, destination: Array, *, axes: Sequence[int] = (), method: str = "automatic", staging_bytes: int = 0
    ) -> None:
        options = default_redistribution
        if axes or method != "automatic" or staging_bytes:
            options = _core.RedistributeOptions(axes=list(axes), method=method, staging_bytes=staging_bytes)
        core_given(source), core_given(destination)
        require_one_context("Redistribute", source, destination)
        self._arrays = (source, destination)
        self._context = source._core.context
        self._core = _core.Redistribute(source._core.context, source.operand, destination.operand, options)

    @collective
    def execute(
        self, source: Optional[Array] = None, destination: Optional[Array] = None, *, stream: Any = None
    ) -> Array:
        """Copy; afterwards the source may be overwritten. Collective, blocking. Returns the destination.

        Parameters
        ----------
        source, destination : Array, optional
            Unset: those of the creation.
        """
        origin = self._arrays[0] if source is None else source
        target = self._arrays[1] if destination is None else destination
        core = writable("destination", target)
        assert core is not None
        self._core.execute(core_given(origin), core, stream_of_arrays(stream, origin, target))
        return target

    @property
    def plan(self) -> _core.Plan:
        """This rank's plan."""
        return self._core.plan

    def explain(self, steps: bool = False, json: bool = False) -> str:
        """The plan as text. Local."""
        return self._core.explain(steps, json)
