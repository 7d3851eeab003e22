"""The store in which the ranks of a torchrun job find each other: PyTorch's."""

from __future__ import annotations

import importlib
import os
import secrets
import time
from datetime import timedelta
from typing import Any, List, Optional

from ._errors import TimeoutError, UnsupportedError

_number: Optional[int] = None  # of this program among those of its rank


def job_store(rank: int, size: int, end: float) -> Any:
    """Torchrun's, or of ranks that were started by hand the one that torch.distributed would make; the part of it for this program."""
    global _number
    try:
        distributed = importlib.import_module("torch.distributed")
    except ImportError as missing:
        raise UnsupportedError("initialize: ranks of torchrun on several hosts find each other through PyTorch's store, but PyTorch is not installed") from missing
    left = timedelta(seconds=max(1.0, end - time.monotonic()))
    try:
        found, _, _ = next(distributed.rendezvous("env://", rank, size, timeout=left))
        start = f"partita {os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}"
        if _number is None:  # a rank may run several, one after the other, and the store outlives them
            _number = int(found.add(f"{start} programs of {rank}", 1))
    except (RuntimeError, ValueError) as error:
        raise TimeoutError(f"initialize: not all ranks of this torchrun job have reached its store: {error}") from error
    return distributed.PrefixStore(f"{start} {_number}", found)


def write_secret(store: Any, rank: int) -> None:
    """Rank 0 chooses it."""
    if rank == 0:
        store.set("secret", secrets.token_bytes(32))


def read_of(store: Any, key: str, of: int) -> bytes:
    """What the rank writes there, when it has."""
    try:
        return bytes(store.get(key))
    except RuntimeError as error:
        raise did_not_come([of]) from error


def did_not_come(ranks: List[int]) -> TimeoutError:
    """What `initialize` raises when its deadline has passed."""
    return TimeoutError(
        f"initialize: rank {', '.join(map(str, ranks))} of this torchrun job did not arrive before the deadline; all ranks must call "
        "initialize, on one host, or on hosts that reach each other by TCP"
    )
