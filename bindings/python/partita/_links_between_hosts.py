"""Connections between the ranks of a torchrun job on several hosts.

Each listens where it reaches the job's store from, writes the address there, and connects to those before it. Who knows the secret in
the store is a rank of the job.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import time
from typing import Any, List, Optional, Tuple

from ._errors import Error
from ._job_store import did_not_come, job_store, read_of, write_secret
from ._links import accepted, introduced


def links_between_hosts(rank: int, size: int, end: float) -> List[Optional[socket.socket]]:
    """A connection to each other rank, by rank."""
    return links_by_store(job_store(rank, size, end), rank, size, end, f"{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}")


def links_by_store(store: Any, rank: int, size: int, end: float, toward: str) -> List[Optional[socket.socket]]:
    """The same for ranks that have this store, and reach the host `toward` (HOST:PORT)."""
    family, address = _own_address(toward)
    with socket.socket(family, socket.SOCK_STREAM) as door:
        door.bind((address, 0))
        door.listen(size)
        write_secret(store, rank)
        store.set(f"rank {rank}", f"{door.getsockname()[1]} {address}")
        # All is read before anything connects: the store may be rank 0's, and ends when all ranks have connected to that.
        secret = read_of(store, "secret", 0)
        places = [read_of(store, f"rank {lower}", lower).decode().partition(" ") for lower in range(rank)]
        lower = [
            introduced(_connected(one, (host, int(port)), end), rank, one, secret, end) for one, (port, _, host) in enumerate(places)
        ]
        higher = accepted(door, rank, size, secret, end)
        for link in higher:
            _prepare(link)
        return [*lower, None, *higher]


def _own_address(toward: str) -> Tuple[int, str]:
    """By which other hosts reach this one: that of the route to the store's.

    A host's own name is often an address of the loopback device to itself (127.0.1.1), by which no other one reaches it: then that of
    the default route.
    """
    name, _, port = toward.rpartition(":")
    try:
        family, _, _, _, target = socket.getaddrinfo(name.strip("[]"), int(port), type=socket.SOCK_DGRAM)[0]
        found = _source_of(family, str(target[0]))
        if not _is_loopback(found) or _is_loopback(name):
            return family, found
        found = _source_of(family, _elsewhere[family])
    except OSError as error:
        raise Error(f"initialize: there is no route to {name}, the host of the job's store: {error}; set MASTER_ADDR, or the coordinator's address, to an address of that host") from error
    return family, found


# Addresses that are not assigned (RFC 5737, RFC 3849), which the default route leads to.
_elsewhere = {socket.AF_INET: "192.0.2.1", socket.AF_INET6: "2001:db8::1"}


def _source_of(family: int, target: str) -> str:
    """The address of this host that packets to the target leave by."""
    with socket.socket(family, socket.SOCK_DGRAM) as route:
        route.connect((target, 9))  # sends nothing
        return str(route.getsockname()[0])


def _is_loopback(name: str) -> bool:
    try:
        return ipaddress.ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return name == "localhost"


def _connected(lower: int, where: Tuple[str, int], end: float) -> socket.socket:
    try:
        link = socket.create_connection(where, max(0.001, end - time.monotonic()))
    except OSError as error:
        raise did_not_come([lower]) from error
    _prepare(link)
    return link


def _prepare(link: socket.socket) -> None:
    """Short messages are sent at once, and a host that stops responding ends the connection."""
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, seconds in ((socket.TCP_KEEPIDLE, 10), (socket.TCP_KEEPINTVL, 5), (socket.TCP_KEEPCNT, 3)):
        link.setsockopt(socket.IPPROTO_TCP, option, seconds)
