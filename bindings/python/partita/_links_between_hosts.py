"""Connections between the ranks of a torchrun job on several hosts.

Each listens where it reaches the job's store from, says so there, and connects to those before it. Who knows the secret in the store
is a rank of the job.
"""

from __future__ import annotations

import hmac
import importlib
import os
import secrets
import socket
import struct
import time
from datetime import timedelta
from typing import Any, List, Optional, Tuple

from ._errors import Error, TimeoutError, UnsupportedError

_patience = 5.0  # seconds for a stranger to say nothing


def links_between_hosts(rank: int, size: int, end: float) -> List[Optional[socket.socket]]:
    """A connection to each other rank, by rank."""
    store = _store(rank, size, end)
    links: List[Optional[socket.socket]] = [None] * size
    family, address = _own_address()
    with socket.socket(family, socket.SOCK_STREAM) as door:
        door.bind((address, 0))
        door.listen(size)
        if rank == 0:
            store.set("secret", secrets.token_bytes(32))
        store.set(f"rank {rank}", f"{door.getsockname()[1]} {address}")
        secret = _read(store, "secret", 0)
        for lower in range(rank):
            port, _, host = _read(store, f"rank {lower}", lower).decode().partition(" ")
            links[lower] = _connected(rank, lower, (host, int(port)), secret, end)
        while None in links[rank + 1 :]:
            missing = [one for one in range(rank + 1, size) if links[one] is None]
            found = _accepted(door, missing, secret, end)
            if found is not None:
                links[found[0]] = found[1]
    return links


def _store(rank: int, size: int, end: float) -> Any:
    """Torchrun's, or of ranks that were started by hand the one that torch.distributed would make."""
    try:
        distributed = importlib.import_module("torch.distributed")
    except ImportError as missing:
        raise UnsupportedError("initialize: ranks of torchrun on several hosts find each other by PyTorch's store, and there is no PyTorch") from missing
    left = timedelta(seconds=max(1.0, end - time.monotonic()))
    try:
        found, _, _ = next(distributed.rendezvous("env://", rank, size, timeout=left))
    except (RuntimeError, ValueError) as error:
        raise TimeoutError(f"initialize: not all ranks of this torchrun job have come to its store: {error}") from error
    return distributed.PrefixStore(f"partita {os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}", found)


def _read(store: Any, key: str, of: int) -> bytes:
    """What the rank writes there, when it has."""
    try:
        return bytes(store.get(key))
    except RuntimeError as error:
        raise _did_not_come([of]) from error


def _own_address() -> Tuple[int, str]:
    """By which other hosts reach this one: that of the way to the store's."""
    where = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
    try:
        family, _, _, _, target = socket.getaddrinfo(*where, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, socket.SOCK_DGRAM) as way:
            way.connect(target)  # sends nothing
            return family, str(way.getsockname()[0])
    except OSError as error:
        raise Error(f"initialize: there is no way to MASTER_ADDR, {where[0]}: {error}") from error


def _proof(secret: bytes, nonce: bytes, rank: bytes) -> bytes:
    return hmac.digest(secret, nonce + rank, "sha256")


def _connected(rank: int, lower: int, where: Tuple[str, int], secret: bytes, end: float) -> socket.socket:
    try:
        link = socket.create_connection(where, max(0.001, end - time.monotonic()))
        _prepare(link)
        nonce = link.recv(16, socket.MSG_WAITALL)  # comes when that rank has those before it
    except OSError as error:
        raise _did_not_come([lower]) from error
    mine = struct.pack("=i", rank)
    link.sendall(mine + _proof(secret, nonce, mine))
    link.setblocking(True)
    return link


def _accepted(door: socket.socket, missing: List[int], secret: bytes, end: float) -> Optional[Tuple[int, socket.socket]]:
    """None: a stranger, who is let go."""
    door.settimeout(max(0.001, end - time.monotonic()))
    try:
        link, _ = door.accept()
    except socket.timeout:
        raise _did_not_come(missing) from None
    nonce = secrets.token_bytes(16)
    link.settimeout(_patience)
    try:
        link.sendall(nonce)
        said = link.recv(36, socket.MSG_WAITALL)
    except OSError:
        said = b""
    if len(said) != 36 or not hmac.compare_digest(said[4:], _proof(secret, nonce, said[:4])):
        link.close()
        return None
    higher: int = struct.unpack("=i", said[:4])[0]
    if higher not in missing:
        raise Error(f"rank {higher} of this torchrun job has come where ranks {missing} were awaited")
    _prepare(link)
    link.setblocking(True)
    return higher, link


def _prepare(link: socket.socket) -> None:
    """Short messages leave at once, and a host that is gone ends the connection."""
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, seconds in ((socket.TCP_KEEPIDLE, 10), (socket.TCP_KEEPINTVL, 5), (socket.TCP_KEEPCNT, 3)):
        link.setsockopt(socket.IPPROTO_TCP, option, seconds)


def _did_not_come(ranks: List[int]) -> TimeoutError:
    return TimeoutError(
        f"initialize: rank {', '.join(map(str, ranks))} of this torchrun job did not come before the deadline; "
        "all ranks must call initialize, and hosts must reach each other by TCP"
    )
