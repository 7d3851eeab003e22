"""Files, read and written by all ranks at once, in any distribution. A file lands whole or not at all.

Reading and writing arrays is collective and blocking; FileError, the same on every rank, names file and cause.
"""

from __future__ import annotations

import os
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._calls import collective
from ._array import Array, core_given
from ._context import Context
from ._mesh import DistributionLike, rule_of
from ._streams import settle

Path = Union[str, "os.PathLike[str]"]
Attribute = Union[str, int, float, Sequence[int], Sequence[float]]

__all__ = [
    "Header", "inspect_hdf5", "inspect_npy", "list_hdf5", "read_hdf5", "read_hdf5_attributes", "read_npy", "write_hdf5",
    "write_hdf5_attributes", "write_npy",
]  # fmt: skip


class Header(NamedTuple):
    """What a file says of an array."""

    shape: Tuple[int, ...]
    dtype: str
    order: str


def inspect_npy(path: Path) -> Header:
    """Read the header only. Local."""
    return Header(*_core.inspect_npy(os.fspath(path)))


def inspect_hdf5(path: Path, dataset: str) -> Header:
    """Read what describes the dataset only. Local."""
    return Header(*_core.inspect_hdf5(os.fspath(path), dataset))


@collective
def read_npy(
    context: Context, path: Path, distribution: DistributionLike, *, order: str = "C", space: Optional[str] = None
) -> Array:
    """The array of a file that all ranks see. Collective, blocking."""
    return Array(_core.read_npy(context._core, os.fspath(path), rule_of(distribution), order, space))


@collective
def write_npy(path: Path, array: Array, *, order: str = "C") -> None:
    """Every rank writes its own part. Collective, blocking."""
    settle(core_given(array), array._package)
    _core.write_npy(os.fspath(path), array._core, order)


@collective
def read_hdf5(
    context: Context,
    path: Path,
    dataset: str,
    distribution: DistributionLike,
    *,
    order: str = "C",
    space: Optional[str] = None,
) -> Array:
    """A dataset of a file that all ranks see. Collective, blocking."""
    return Array(_core.read_hdf5(context._core, os.fspath(path), dataset, rule_of(distribution), order, space))


@collective
def write_hdf5(
    path: Path,
    dataset: str,
    array: Array,
    *,
    truncate: bool = False,
    chunks: Sequence[int] = (),
    compression: int = 0,
    shuffle: bool = False,
    attributes: Optional[Dict[str, Attribute]] = None,
) -> None:
    """Add or replace a dataset; what else is in the file stays, unless `truncate`. Collective, blocking.

    Parameters
    ----------
    chunks : sequence of int
        Extents of a chunk; empty: contiguous.
    compression : int
        Of chunks, by deflate: 1 (fast) to 9 (small); 0: none.
    shuffle : bool
        Of chunks: bytes of like significance stand together.
    attributes : dict
        Of the dataset: texts, numbers, and sequences of numbers.
    """
    given = _attributes(attributes or {})
    settle(core_given(array), array._package)
    _core.write_hdf5(os.fspath(path), dataset, array._core, truncate, tuple(chunks), compression, shuffle, given)


@collective
def write_hdf5_attributes(context: Context, path: Path, name: str, attributes: Dict[str, Attribute]) -> None:
    """Give a dataset, a group or the file ('/') attributes; those of the same names are replaced, all else stays. Collective, blocking.

    Parameters
    ----------
    context : Context
        Whose ranks call it, with the same attributes.
    path : path
        Of a file that all ranks see.
    name : str
        Of the dataset or group.
    attributes : dict
        Texts, numbers, and sequences of numbers.

    Raises
    ------
    FileError
        No such object: the text names what there is. ArgumentError, DisagreementError: the same on every rank.
    """
    _core.write_hdf5_attributes(context._core, os.fspath(path), name, _attributes(attributes))


def _attributes(given: Dict[str, Attribute]) -> Dict[str, Any]:
    """As the library takes them: what NumPy has as numbers and arrays, too."""
    return {name: _attribute(value) for name, value in given.items()}


def _attribute(value: Any) -> Any:
    if isinstance(value, str):
        return str(value)
    plain = value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
    return [one.item() if isinstance(one, np.generic) else one for one in plain] if isinstance(plain, (tuple, list)) else plain


def list_hdf5(path: Path) -> Dict[str, Optional[Header]]:
    """Groups and datasets by name; None for what is no array. Local."""
    entries: List[Tuple[str, Optional[Tuple[Tuple[int, ...], str, str]]]] = _core.list_hdf5(os.fspath(path))
    return {name: None if header is None else Header(*header) for name, header in entries}


def read_hdf5_attributes(path: Path, name: str) -> Dict[str, Attribute]:
    """Those of a dataset or group ('/': of the file). Local."""
    return dict(_core.read_hdf5_attributes(os.fspath(path), name))
