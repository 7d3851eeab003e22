"""Connections between the ranks of a torchrun job on one host.

Each listens at a name in Linux's abstract namespace and connects to those before it. The name is made of what identifies the job
and, where PyTorch is installed, of a secret in the job's store: two jobs with the same port never meet. Processes of other users,
who can read such names, are rejected, and so is a process that does not know the secret.
"""

from __future__ import annotations

import hashlib
import hmac
import importlib.util
import os
import secrets
import socket
import struct
import time
from typing import Callable, List, Optional, Tuple

from ._errors import Error
from ._job_store import did_not_come, job_store, read_of, write_secret

_patience = 5.0  # seconds for a stranger to say nothing
_of_job = (
    "MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "SLURM_JOB_ID", "SLURM_STEP_ID", "PBS_JOBID",
    "LSB_JOBID", "FLUX_JOB_ID", "PALS_APID",
)  # fmt: skip


def links_of_host(rank: int, size: int, end: float) -> List[Optional[socket.socket]]:
    """A connection to each other rank, by rank."""
    secret = _secret(rank, size, end)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door:
        try:
            door.bind(_name(rank, secret))
        except OSError as error:
            raise Error(f"initialize: rank {rank} of this torchrun job has already started: {error}") from error
        door.listen(size)
        lower = [introduced(_connect(one, secret, end), rank, one, secret, end) for one in range(rank)]
        return [*lower, None, *accepted(door, rank, size, secret, end, _is_of_same_user)]


def _secret(rank: int, size: int, end: float) -> bytes:
    """Of this start of the job; empty without PyTorch, whose store would have it."""
    if importlib.util.find_spec("torch") is None:
        return b""
    store = job_store(rank, size, end)
    write_secret(store, rank)
    return read_of(store, "secret", 0)


def _name(rank: int, secret: bytes) -> bytes:
    job = [os.environ.get(one, "") for one in _of_job]
    text = "\n".join([str(os.getuid()), *job, secret.hex(), str(rank)])
    return b"\0partita-" + hashlib.sha256(text.encode()).hexdigest().encode()


def _connect(lower: int, secret: bytes, end: float) -> socket.socket:
    while True:
        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            link.connect(_name(lower, secret))
        except (ConnectionRefusedError, BlockingIOError):
            link.close()
            if time.monotonic() > end:
                raise did_not_come([lower]) from None
            time.sleep(0.01)
            continue
        if _is_of_same_user(link):
            return link
        link.close()
        raise Error(f"initialize: a process of another user occupies the socket of rank {lower} of this torchrun job")


def _is_of_same_user(link: socket.socket) -> bool:
    _, user, _ = struct.unpack("3i", link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    return bool(user == os.getuid())


# --- who comes says who it is, and that it knows the secret


def _proof(secret: bytes, nonce: bytes, rank: bytes) -> bytes:
    return hmac.digest(secret, nonce + rank, "sha256")


def introduced(link: socket.socket, rank: int, lower: int, secret: bytes, end: float) -> socket.socket:
    """A connection to a lower rank, which knows the number of this one."""
    try:
        link.settimeout(max(0.001, end - time.monotonic()))
        nonce = link.recv(16, socket.MSG_WAITALL)  # arrives when that rank has those before it
        mine = struct.pack("=i", rank)
        link.sendall(mine + _proof(secret, nonce, mine))
    except OSError as error:
        raise did_not_come([lower]) from error
    link.setblocking(True)
    return link


def accepted(
    door: socket.socket, rank: int, size: int, secret: bytes, end: float, is_welcome: Callable[[socket.socket], bool] = lambda _: True
) -> List[socket.socket]:
    """Connections from the higher ranks. Strangers are sent away."""
    found: List[Optional[socket.socket]] = [None] * size
    while None in found[rank + 1 :]:
        missing = [one for one in range(rank + 1, size) if found[one] is None]
        link = _next(door, missing, end)
        higher = _asked(link, secret) if is_welcome(link) else None
        if higher is None:
            link.close()
            continue
        if higher not in missing:
            raise Error(f"initialize: rank {higher} of this torchrun job has connected, but ranks {missing} were expected")
        found[higher] = link
    return [link for link in found if link is not None]


def _next(door: socket.socket, missing: List[int], end: float) -> socket.socket:
    door.settimeout(max(0.001, end - time.monotonic()))
    try:
        link, _ = door.accept()
    except socket.timeout:
        raise did_not_come(missing) from None
    return link


def _asked(link: socket.socket, secret: bytes) -> Optional[int]:
    """The rank of who has come; None: a stranger."""
    nonce = secrets.token_bytes(16)
    link.settimeout(_patience)
    try:
        link.sendall(nonce)
        said = link.recv(36, socket.MSG_WAITALL)
    except OSError:
        return None
    if len(said) != 36 or not hmac.compare_digest(said[4:], _proof(secret, nonce, said[:4])):
        return None
    link.setblocking(True)
    return int(struct.unpack("=i", said[:4])[0])
