"""Ghost cells."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Tuple

from . import _core
from ._calls import collective
from ._array import Array, core_given
from ._linear import writable
from ._packages import zeros_beside
from ._planned import Uncopied
from ._streams import stream_of_array, stream_of_memory


class Halo(Uncopied):
    """The parts of an array, each extended by what its neighbours own. Planned once, executed many times.

    For all distributions whose parts are boxes. Corners are filled, too; cells outside of the array are left alone: 0 in arrays
    that `execute` makes.
    Creation is collective and blocking.

    Parameters
    ----------
    array : Array
        One like those that are exchanged.
    lower, upper : sequence of int
        Ghost cells before and behind the part, along each dimension; `upper` as `lower` by default.
    periodic : sequence of bool
        Whether indices go round, along each dimension; nowhere by default.
    """

    @collective
    def __init__(
        self, array: Array, lower: Sequence[int], upper: Sequence[int] = (), periodic: Sequence[bool] = ()
    ) -> None:
        core_given(array)
        self._context = array._core.context
        self._stream: Optional[int] = None
        self._lower = tuple(lower)
        self._core = _core.Halo(array._core.context, array.operand, tuple(lower), tuple(upper), list(periodic))

    @property
    def extended_shape(self) -> Tuple[int, ...]:
        """Of this rank's part with its ghost cells."""
        return self._core.extended_shape

    def interior(self, extended: Any, array: Array) -> Any:
        """This rank's part inside the extended part: a view."""
        places = zip(self._lower, array.local_shape)
        return extended[tuple(slice(lower, lower + extent) for lower, extent in places)] if 0 not in array.local_shape else extended

    @collective
    def execute(self, array: Array, extended: Optional[Any] = None, *, stream: Any = None) -> Any:
        """The part and its ghost cells into `extended`. Collective, blocking. Returns it.

        By default a new array, whose cells outside of the distributed array are 0; in an `extended` that is given they stay as
        they are.
        """
        core = core_given(array)
        target = zeros_beside(array.local, self.extended_shape) if extended is None else extended
        self._core.execute(core, target, stream_of_array(stream, core, array._package))
        return target

    @collective
    def refresh(self, extended: Any, *, stream: Any = None) -> Any:
        """The ghost cells alone: the part is in its place already. Collective, blocking. Returns `extended`."""
        self._core.refresh(extended, stream_of_memory(stream, extended, self._context))
        return extended

    @collective
    def accumulate(self, extended: Any, array: Optional[Array] = None, *, stream: Any = None) -> Any:
        """The adjoint of `execute`: what ghost cells hold is added to the elements that they stand for, and the sums are the part.

        Into `array`, or in place: into the part inside `extended`. Ghost cells stay as they are. Collective, blocking; the same bits
        each time. Returns `array`, or `extended`.
        """
        if array is None:
            self._core.accumulate(extended, None, stream_of_memory(stream, extended, self._context))
            return extended
        self._core.accumulate(extended, writable("array", array), stream_of_array(stream, array._core, array._package))
        return array

    @collective
    def start(self, array: Array, extended: Any, *, stream: Any = None) -> None:
        """The first half of `execute`: until `finish` the part inside may be read, and nothing written. Collective."""
        self._stream = stream_of_array(stream, core_given(array), array._package)
        self._core.start(array._core, extended, self._stream)

    @collective
    def finish(self) -> None:
        """Wait until `extended` is complete, in the stream of `start`. Collective, blocking."""
        self._core.finish(self._stream)

    @property
    def plan(self) -> _core.Plan:
        """This rank's, of `execute`."""
        return self._core.plan
