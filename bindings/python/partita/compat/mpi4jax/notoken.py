"""The calls of mpi4jax that take no token and return none, whatever the version: `mpi4jax.notoken`, `mpi4jax.experimental.notoken`."""

from __future__ import annotations

import functools
from typing import Any, Callable

from . import _operations


def _without(call: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(call)
    def called(*given: Any, **named: Any) -> Any:
        if "token" in named:
            raise TypeError(f"{call.__name__}: calls of notoken do not take a token")
        return call(*given, **named, token=_operations.no_token)

    return called


allgather = _without(_operations.allgather)
allreduce = _without(_operations.allreduce)
alltoall = _without(_operations.alltoall)
barrier = _without(_operations.barrier)
bcast = _without(_operations.bcast)
gather = _without(_operations.gather)
recv = _without(_operations.recv)
reduce = _without(_operations.reduce)
scan = _without(_operations.scan)
scatter = _without(_operations.scatter)
send = _without(_operations.send)
sendrecv = _without(_operations.sendrecv)

__all__ = [
    "allgather", "allreduce", "alltoall", "barrier", "bcast", "gather", "recv", "reduce", "scan", "scatter", "send", "sendrecv",
]  # fmt: skip
