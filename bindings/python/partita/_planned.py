"""Operations that are planned once and executed many times."""

from __future__ import annotations

from typing import Any, Union

from ._calls import collective
from ._core import FFT as CoreFFT
from ._core import Matmul as CoreMatmul
from ._core import Plan


class Uncopied:
    """An object that belongs to a context, with its plan or memory: it can be neither copied nor pickled."""

    def __reduce__(self) -> Any:
        name = type(self).__name__
        raise TypeError(f"{name}: it belongs to its context and cannot be copied or pickled: make another one on all ranks")


class PlannedOperation(Uncopied):
    """Base of `Matmul` and `FFT`."""

    _core: Union[CoreMatmul, CoreFFT]

    @collective
    def autotune(self, runs: int = 3) -> str:
        """Time all applicable methods and grids, keep the fastest, and return its name; overwrites `out`. Collective, blocking.

        Parameters
        ----------
        runs : int, default 3
            Executions of each method.
        """
        return self._core.autotune(runs)

    @property
    def workspace_size(self) -> int:
        """Bytes of scratch on this rank."""
        return self._core.workspace_size

    @collective
    def release(self) -> None:
        """Free scratch now; the next execution plans again. Collective, blocking."""
        self._core.release()

    @property
    def plan(self) -> Plan:
        """This rank's plan; for a transform, the forward one."""
        return self._core.plan

    def explain(self, steps: bool = False, json: bool = False) -> str:
        """The plan as text. Local."""
        return self._core.explain(steps, json)
