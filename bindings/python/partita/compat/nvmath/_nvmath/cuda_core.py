"""The few names of cuda.core by which programs ask for their GPU. Without any there is one place to compute: the CPU, number 0."""

from __future__ import annotations

from .... import _core


class Device:
    """A GPU by its number."""

    def __init__(self, device_id: int = 0) -> None:
        self.device_id = device_id

    def set_current(self) -> None:
        """CuPy and PyTorch compute there from now on, as far as they are there."""
        from .utils import device_ctx

        device_ctx(self.device_id).__enter__()


class System:
    """What there is."""

    @property
    def num_devices(self) -> int:
        return max(_core.device_count(), 1)

    def get_num_devices(self) -> int:
        """The number of GPUs, or 1."""
        return self.num_devices


system = System()
