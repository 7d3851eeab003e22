"""Ranks for notebooks, whose arrays live from one cell to the next: `Ranks`."""

from ._magic import load_ipython_extension
from ._ranks import Handle, Ranks

__all__ = ["Handle", "Ranks", "load_ipython_extension"]
