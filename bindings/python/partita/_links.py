"""Connections between the ranks of a torchrun job on one host.

Each listens at a name that they all know, in Linux's abstract namespace, and connects to those before it.
"""

from __future__ import annotations

import hashlib
import os
import socket
import struct
import time
from typing import List, Optional, Tuple

from ._errors import Error, TimeoutError


def _name(rank: int) -> bytes:
    """Of a rank of this job, of this start of it."""
    job = [os.environ.get(one, "") for one in ("MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT")]
    text = "\n".join([str(os.getuid()), *job, str(rank)])
    return b"\0partita-" + hashlib.sha256(text.encode()).hexdigest().encode()


def links_of_host(rank: int, size: int, end: float) -> List[Optional[socket.socket]]:
    """A connection to each other rank, by rank."""
    links: List[Optional[socket.socket]] = [None] * size
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door:
        try:
            door.bind(_name(rank))
        except OSError as error:
            raise Error(f"rank {rank} of this torchrun job is there already: {error}") from error
        door.listen(size)
        for lower in range(rank):
            links[lower] = _connect(rank, lower, end)
        while None in links[rank + 1 :]:
            missing = [one for one in range(rank + 1, size) if links[one] is None]
            higher, link = _accept(door, missing, end)
            links[higher] = link
    return links


def _connect(rank: int, lower: int, end: float) -> socket.socket:
    while True:
        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            link.connect(_name(lower))
            break
        except ConnectionRefusedError:
            link.close()
            if time.monotonic() > end:
                raise _did_not_come([lower]) from None
            time.sleep(0.01)
    _require_same_user(link)
    link.sendall(struct.pack("=i", rank))
    return link


def _accept(door: socket.socket, missing: List[int], end: float) -> Tuple[int, socket.socket]:
    door.settimeout(max(0.001, end - time.monotonic()))
    try:
        link, _ = door.accept()
        _require_same_user(link)
        link.settimeout(max(0.001, end - time.monotonic()))
        said = link.recv(4, socket.MSG_WAITALL)
    except socket.timeout:
        raise _did_not_come(missing) from None
    link.setblocking(True)
    if len(said) != 4:
        raise _did_not_come(missing)
    higher: int = struct.unpack("=i", said)[0]
    if higher not in missing:
        raise Error(f"rank {higher} of this torchrun job has come where ranks {missing} were awaited")
    return higher, link


def _require_same_user(link: socket.socket) -> None:
    """Anybody on this host may know the name."""
    _, user, _ = struct.unpack("3i", link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    if user != os.getuid():
        raise Error(f"user {user} answers in the place of a rank of this torchrun job")


def _did_not_come(ranks: List[int]) -> TimeoutError:
    return TimeoutError(
        f"initialize: rank {', '.join(map(str, ranks))} of this torchrun job did not come before the deadline; "
        "all ranks must be on one host and call initialize"
    )
