"""Ranks that torchrun has started, without MPI.

torchrun says who they are in the environment. They connect to each other, and the library gets the connections as from
``partita run --threads``.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from typing import TYPE_CHECKING, Any, Callable, List, Optional

from . import _core
from ._errors import ArgumentError

if TYPE_CHECKING:
    import socket

_sockets = "PARTITA_SOCKETS"  # as the library reads it
_wanted = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
_connecting = threading.Lock()
_connected = False
_libc = ctypes.CDLL(None)
_libc.getenv.restype = ctypes.c_char_p


def is_described() -> bool:
    """Whether torchrun, or who does as it does, says who the ranks are."""
    return all(os.environ.get(one) for one in _wanted)


def connect_ranks(deadline: float) -> None:
    """Hand this rank's connections to the library, once, where torchrun has started it and no other launcher has."""
    with _connecting:
        if _connected or _core.is_launched_rank() or _sockets in os.environ or not is_described():
            return
        rank, size = _number("RANK"), _number("WORLD_SIZE")
        if not 0 <= rank < size:
            raise ArgumentError(f"RANK is {rank} and WORLD_SIZE is {size}; torchrun sets both")
        if size == 1:
            return
        # With modules that take longer to import than all of the package's own.
        if os.environ.get("LOCAL_WORLD_SIZE", str(size)) != str(size):
            from ._links_between_hosts import links_between_hosts as connected
        else:
            from ._links import links_of_host as connected

        _hand_over(rank, connected(rank, size, time.monotonic() + deadline))


def connect_by_store(rank: int, size: int, end: float, store: Callable[[], Any], toward: str) -> None:
    """Hand this rank's connections to the library, once, if no launcher has started it: by a store of keys that all ranks have, and
    the address of a host (HOST:PORT) that all of them reach."""
    with _connecting:
        if _connected or _core.is_launched_rank() or _sockets in os.environ:
            return
        from ._links_between_hosts import links_by_store

        _hand_over(rank, links_by_store(store(), rank, size, end, toward))


def _hand_over(rank: int, links: List[Optional[socket.socket]]) -> None:
    global _connected
    words = ["-" if link is None else str(link.detach()) for link in links]
    os.environ[_sockets] = f"{rank}:{','.join(words)}"
    _connected = True


def forget_handed() -> None:
    """Programs that this one starts shall not look for connections that the library has taken. It takes the variable out of the
    process's environment, of which os.environ is a copy."""
    if _sockets in os.environ and (_connected or _libc.getenv(_sockets.encode()) is None):
        del os.environ[_sockets]


def _number(name: str) -> int:
    try:
        return int(os.environ[name])
    except ValueError:
        raise ArgumentError(f'{name} is "{os.environ[name]}"; torchrun sets a number') from None
