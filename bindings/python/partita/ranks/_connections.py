"""Connections between a notebook and its ranks on one machine.

They are made at names in Linux's abstract namespace. Processes of other users are rejected, and both sides prove by HMAC that they know
the secret before anything is unpickled.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import stat
import struct
import time
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge
from typing import Any, Dict, List, Optional, Tuple

from .._errors import ArgumentError, Error, TimeoutError
from .._links import _is_of_same_user

#: The secret in the environment of ranks that a notebook starts.
SECRET_VARIABLE = "PARTITA_RANKS_SECRET"
_patience = 5.0  # seconds for a stranger to say nothing


def new_name() -> str:
    return f"partita-ranks-{os.getuid()}-{secrets.token_hex(12)}"


def opened_door(name: str, waiting: int) -> socket.socket:
    """A socket that listens at this name."""
    door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    door.bind(b"\0" + name.encode())
    door.listen(waiting)
    return door


def accepted(door: socket.socket, secret: bytes, patience: Optional[float]) -> Optional[Connection]:
    """The next connection from a process that knows the secret; None if none has arrived within `patience`, or one without the secret."""
    door.settimeout(patience)
    try:
        link, _ = door.accept()
    except socket.timeout:
        return None
    if not _is_of_same_user(link):
        link.close()
        return None
    connection = _connection(link)
    try:
        deliver_challenge(connection, secret)
        answer_challenge(connection, secret)
    except (AuthenticationError, OSError, EOFError):
        connection.close()
        return None
    _wait_without_limit(connection)
    return connection


def connected(name: str, secret: bytes) -> Connection:
    """A connection to one who listens at this name, and knows the secret."""
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        link.connect(b"\0" + name.encode())
    except OSError:
        link.close()
        raise
    if not _is_of_same_user(link):
        link.close()
        raise Error(f"the socket {name} belongs to a process of another user")
    connection = _connection(link)
    try:
        answer_challenge(connection, secret)
        deliver_challenge(connection, secret)
    except AuthenticationError:
        connection.close()
        raise Error(f"the process at the socket {name} does not know the secret") from None
    _wait_without_limit(connection)
    return connection


def _connection(link: socket.socket) -> Connection:
    _limit(link, _patience)
    return Connection(link.detach())


def _limit(link: socket.socket, seconds: float) -> None:
    link.settimeout(None)
    for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        link.setsockopt(socket.SOL_SOCKET, option, struct.pack("ll", int(seconds), 0))


def _wait_without_limit(connection: Connection) -> None:
    with socket.socket(fileno=os.dup(connection.fileno())) as link:
        _limit(link, 0)


# --- descriptors


def send_descriptors(connection: Connection, descriptors: List[int]) -> None:
    with socket.socket(fileno=os.dup(connection.fileno())) as link:
        socket.send_fds(link, [b"d"], descriptors)


def receive_descriptors(connection: Connection, count: int) -> List[int]:
    with socket.socket(fileno=os.dup(connection.fileno())) as link:
        _, descriptors, _, _ = socket.recv_fds(link, 1, count)
    for one in descriptors:
        os.set_inheritable(one, False)
    return list(descriptors)


# --- the file that says where ranks listen


def write_address(path: str, name: str, secret: bytes, ranks: int) -> None:
    """Readable for this user alone, and whole as soon as it is there."""
    temporary = f"{path}.{secrets.token_hex(4)}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump({"name": name, "secret": secret.hex(), "ranks": ranks}, file)
    os.replace(temporary, path)


def read_address(path: str, patience: float) -> Tuple[str, bytes, int]:
    """Name, secret and number of ranks; waits for the file."""
    end = time.monotonic() + patience
    while not os.path.exists(path):
        if time.monotonic() > end:
            raise TimeoutError(
                f"Ranks: there is no file {path} after {patience:g} s; start the ranks: mpirun -n 4 python -m partita.ranks --listen {path}"
            )
        time.sleep(0.02)
    with open(path) as file:
        found = os.fstat(file.fileno())
        if found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
            raise ArgumentError(f"Ranks: other users can access {path}, and may know its secret; it must belong to you, with mode 0600")
        try:
            address: Dict[str, Any] = json.load(file)
            return str(address["name"]), bytes.fromhex(address["secret"]), int(address["ranks"])
        except (ValueError, KeyError, TypeError):
            raise ArgumentError(f"Ranks: {path} is not a file of `python -m partita.ranks --listen`") from None


__all__ = [
    "SECRET_VARIABLE", "accepted", "connected", "new_name", "opened_door", "read_address", "receive_descriptors", "send_descriptors",
    "write_address",
]  # fmt: skip
