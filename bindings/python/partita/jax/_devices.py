"""The contexts of a program's devices: one rank per device, in the order of `jax.devices()`."""

from __future__ import annotations

import threading
import time
from typing import Any, Callable, List, Sequence, TypeVar

import jax  # type: ignore[import-not-found,unused-ignore]

from .. import _core
from .._context import Context, _begun, initialize, options_of
from .._errors import ArgumentError, UnsupportedError
from .._torchrun import connect_by_store
from . import _internals

Result = TypeVar("Result")


def name_of(device: Any) -> str:
    """The device's name in `initialize`."""
    return f"cuda:{device.local_hardware_id}" if device.platform == "gpu" else "cpu"


def contexts_of_program(options: dict[str, Any]) -> List[Context]:
    """One context per device of this process. Collective over the processes of the program; blocking."""
    devices, processes = jax.devices(), jax.process_count()
    if processes == 1:
        return [_begun(core) for core in _core.initialize_group(options_of(options), [name_of(one) for one in devices])]
    if len(devices) != processes:
        raise UnsupportedError(
            f"Group: {processes} processes have {len(devices)} devices: start one process per device, or one process for all devices"
        )
    _connect_processes(options_of(options).deadline)
    context = initialize(device=name_of(jax.local_devices()[0]), **options)
    if context.size != processes:
        raise ArgumentError(
            f"Group: jax.distributed has {processes} processes, but the launcher of this process has started {context.size} ranks: "
            "create the context, and pass it: partita.jax.Group(context)"
        )
    ordered = context.split(0, jax.process_index())
    assert ordered is not None
    context.close()
    return [ordered]


def _connect_processes(deadline: float) -> None:
    """Processes that no launcher of ranks has started find each other through the service of `jax.distributed`."""
    state = _internals.distributed_state()
    connect_by_store(
        jax.process_index(), jax.process_count(), time.monotonic() + deadline, lambda: _Store(state.client, deadline),
        str(state.coordinator_address),
    )  # fmt: skip


class _Store:
    """Keys and values of the service, as a store of torch.distributed has them."""

    def __init__(self, client: Any, deadline: float) -> None:
        self._client, self._milliseconds = client, int(deadline * 1000)

    def set(self, key: str, value: Any) -> None:
        self._client.key_value_set_bytes(f"partita {key}", value if isinstance(value, bytes) else str(value).encode())

    def get(self, key: str) -> bytes:
        return bytes(self._client.blocking_key_value_get_bytes(f"partita {key}", self._milliseconds))


def on_each(contexts: Sequence[Context], function: Callable[[Context], Result]) -> None:
    """Calls a collective function for each rank of this process concurrently; raises the first error."""
    if len(contexts) == 1:
        function(contexts[0])
        return
    raised: List[BaseException] = []

    def call(context: Context) -> None:
        try:
            function(context)
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=call, args=(one,)) for one in contexts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]
