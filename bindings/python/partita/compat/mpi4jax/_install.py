"""In the place of mpi4jax."""

from __future__ import annotations

import sys

from . import _operations
from ._groups import group_of

_versions = {"0.7": True, "0.8": False, "0.9": False}


def install(version: str = "0.9") -> None:
    """Let ``import mpi4jax`` mean this package, in this process, from now on.

    Collective over the ranks that the launcher has started, as importing mpi4jax is: the group of `comm=None` and of
    COMM_WORLD begins here, so that messages between two ranks need no others.

    Parameters
    ----------
    version : str
        '0.7': every call returns a token, too; '0.8', '0.9': those do that get one.

    Raises
    ------
    ValueError
        Another version.
    RuntimeError
        The program has imported the real mpi4jax.
    """
    if version not in _versions:
        raise ValueError(f"install: version {version!r}; known: {', '.join(_versions)}")
    ours = sys.modules[__package__]
    there = sys.modules.get("mpi4jax")
    if there not in (None, ours):
        raise RuntimeError("install: mpi4jax has been imported already; install before that")
    _operations.return_tokens = _versions[version]
    sys.modules["mpi4jax"] = ours
    group_of(None)
