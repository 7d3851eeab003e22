"""Whose behaviour counts where versions differ."""

from typing import Tuple

VERSIONS = ("0.8", "0.9", "1.0")
_chosen = VERSIONS[-1]


def choose(version: str) -> None:
    """ValueError: none of the three."""
    global _chosen
    short = ".".join(version.split(".")[:2])
    if short not in VERSIONS:
        raise ValueError(f"version: expected one of {', '.join(VERSIONS)}, got {version!r}")
    _chosen = short


def chosen() -> Tuple[int, ...]:
    """As numbers, to be compared."""
    return tuple(int(part) for part in _chosen.split("."))
