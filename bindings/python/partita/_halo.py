"""Ghost cells."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Tuple

from . import _core
from ._calls import collective
from ._array import Array, core_given, writable
from ._packages import zeros_beside
from ._planned import Uncopied
from ._streams import stream_of_array, stream_of_memory


class Halo(Uncopied):
    """Ghost cells: the parts of an array, each extended by elements of its neighbours. Planned once, executed many times.

    For all distributions whose parts are boxes. Corners are filled too. Cells outside of the array are not written: they are 0 in arrays
    that `execute` allocates. Creation is collective and blocking.

    Parameters
    ----------
    array : Array
        An array with the dtype and layout of those that will be exchanged.
    lower, upper : sequence of int
        Number of ghost cells before and after the part, along each dimension; `upper` defaults to `lower`.
    periodic : sequence of bool
        Whether indices wrap around, along each dimension; default nowhere.
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
        """The shape of this rank's part with its ghost cells."""
        return self._core.extended_shape

    def interior(self, extended: Any, array: Array) -> Any:
        """A view of this rank's part inside the extended part. Local.

        Parameters
        ----------
        extended : array
            The part with its ghost cells.
        """
        places = zip(self._lower, array.local_shape)
        return extended[tuple(slice(lower, lower + extent) for lower, extent in places)] if 0 not in array.local_shape else extended

    @collective
    def execute(self, array: Array, extended: Optional[Any] = None, *, stream: Any = None) -> Any:
        """Copy the part and its ghost cells into `extended`. Collective, blocking. Returns it.

        Parameters
        ----------
        extended : array, optional
            Unset: a new array, with 0 outside of the distributed array. In a given array those cells are unchanged.
        """
        core = core_given(array)
        target = zeros_beside(array.local, self.extended_shape) if extended is None else extended
        self._core.execute(core, target, stream_of_array(stream, core, array._package))
        return target

    @collective
    def refresh(self, extended: Any, *, stream: Any = None) -> Any:
        """Update the ghost cells of an extended part that already contains the part. Collective, blocking. Returns `extended`.

        Parameters
        ----------
        extended : array
            The part with its ghost cells.
        """
        self._core.refresh(extended, stream_of_memory(stream, extended, self._context))
        return extended

    @collective
    def accumulate(self, extended: Any, array: Optional[Array] = None, *, stream: Any = None) -> Any:
        """The adjoint of `execute`: add the values of ghost cells to the elements that they are copies of. Collective, blocking.

        Ghost cells are unchanged, and the result has the same bits every time. Returns `array`, or else `extended`.

        Parameters
        ----------
        extended : array
            The part with its ghost cells.
        array : Array, optional
            The destination of the sums; unset: the part inside `extended`.
        """
        if array is None:
            self._core.accumulate(extended, None, stream_of_memory(stream, extended, self._context))
            return extended
        self._core.accumulate(extended, writable("array", array), stream_of_array(stream, array._core, array._package))
        return array

    @collective
    def start(self, array: Array, extended: Any, *, stream: Any = None) -> None:
        """The first half of `execute`: until `finish`, the interior may be read and nothing written. Collective.

        Parameters
        ----------
        extended : array
            The destination of the part and its ghost cells.
        """
        self._stream = stream_of_array(stream, core_given(array), array._package)
        self._core.start(array._core, extended, self._stream)

    @collective
    def finish(self) -> None:
        """Wait until `extended` is complete, in the stream of `start`. Collective, blocking."""
        self._core.finish(self._stream)

    @property
    def plan(self) -> _core.Plan:
        """This rank's plan of `execute`."""
        return self._core.plan
