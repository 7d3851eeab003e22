"""In the place of mpi4jax."""

from __future__ import annotations

import importlib
import sys

from . import _operations
from ._groups import begin_usual, note_duplicates

#: Beneath mpi4jax: its names, and our modules.
_modules = {"notoken": "notoken", "experimental": "experimental", "experimental.notoken": "notoken"}
_versions = {"0.7": True, "0.8": False, "0.9": False}


def install(version: str = "0.9") -> None:
    """Let ``import mpi4jax`` mean this package, in this process, from now on.

    Collective over the ranks that the launcher has started: the groups of `comm=None` and of COMM_WORLD begin here, so that
    messages between two ranks need no others. mpi4py is imported, where it is installed, as mpi4jax does.

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
        raise ValueError(f"install: unknown version {version!r}; known: {', '.join(_versions)}")
    ours = sys.modules[__package__]
    there = sys.modules.get("mpi4jax")
    if there not in (None, ours):
        raise RuntimeError("install: mpi4jax has already been imported; call install before that")
    _operations.return_tokens = _versions[version]
    sys.modules["mpi4jax"] = ours
    for name, called in _modules.items():
        sys.modules[f"mpi4jax.{name}"] = sys.modules[f"{__package__}.{called}"]
    begin_usual()
    _import_mpi4py()  # behind the library, which ends MPI only where no rank has failed
    begin_usual()
    note_duplicates()


def _import_mpi4py() -> None:
    """As mpi4jax does. Without it programs name no communicator and no operation."""
    try:
        importlib.import_module("mpi4py.MPI")
    except Exception:  # it is not installed, or finds no MPI
        pass
