"""What is planned once and executed many times."""

from __future__ import annotations

from typing import Any, Union

from ._calls import collective
from ._core import FFT as CoreFFT
from ._core import Matmul as CoreMatmul
from ._core import Plan


class Uncopied:
    """What belongs to a context, with its plan or its memory: neither copied nor pickled."""

    def __reduce__(self) -> Any:
        name = type(self).__name__
        raise TypeError(f"{name}: it belongs to its context, and is neither copied nor pickled: all ranks make another one")


class PlannedOperation(Uncopied):
    """What `Matmul` and `FFT` have in common."""

    _core: Union[CoreMatmul, CoreFFT]

    @collective
    def autotune(self, runs: int = 3) -> str:
        """Time every method that fits, and grids, and keep the fastest: its name. `out` is overwritten. Collective, blocking."""
        return self._core.autotune(runs)

    @property
    def workspace_size(self) -> int:
        """Bytes of scratch on this rank."""
        return self._core.workspace_size

    @collective
    def release(self) -> None:
        """Free scratch now. Collective, blocking; the next execution plans anew."""
        self._core.release()

    @property
    def plan(self) -> Plan:
        """This rank's; of a transform the forward one."""
        return self._core.plan

    def explain(self, steps: bool = False, json: bool = False) -> str:
        """The plan in words. Local."""
        return self._core.explain(steps, json)
