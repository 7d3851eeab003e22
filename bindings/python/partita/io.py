"""Files, read and written by all ranks concurrently, in any distribution. A file is written completely or not at all.

Reading and writing arrays is collective and blocking. A FileError, the same on every rank, names the file and the cause.
"""

from __future__ import annotations

import builtins
import dataclasses
import math
import operator
import os
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._calls import collective
from ._array import Array, core_given
from ._context import Context
from ._errors import ArgumentError
from ._mesh import DistributionLike, rule_of
from ._streams import settle

Path = Union[str, bytes, "os.PathLike[str]"]
Unread = _core.Hdf5Unread
Attribute = Union[str, int, float, Sequence[int], Sequence[float], Unread]
Chunks = Union[Sequence[int], int, bool, None]

__all__ = [
    "Dataset", "Header", "inspect_hdf5", "inspect_npy", "ListedHeader", "list_hdf5", "read_hdf5", "read_hdf5_attributes", "read_npy", "Unread",
    "write_hdf5", "write_hdf5_attributes", "write_npy",
]  # fmt: skip


class Header(NamedTuple):
    """The description of an array in a file."""

    shape: Tuple[int, ...]
    dtype: str
    order: str


class ListedHeader(Header):
    """A header with what `list_hdf5` adds."""

    chunks: Tuple[int, ...]


def inspect_npy(path: Path) -> Header:
    """Read only the header of a .npy file. Local."""
    return Header(*_core.inspect_npy(os.fspath(path)))


def inspect_hdf5(path: Path, dataset: str) -> Header:
    """Read only the description of a dataset. Local."""
    return Header(*_core.inspect_hdf5(os.fspath(path), dataset))


@collective
def read_npy(
    context: Context, path: Path, distribution: DistributionLike, *, order: str = "C", space: Optional[str] = None
) -> Array:
    """Read a .npy file. Collective, blocking."""
    return Array(_core.read_npy(context._core, os.fspath(path), rule_of(distribution), order, space))


@collective
def write_npy(path: Path, array: Array, *, order: str = "C") -> None:
    """Write an array to a .npy file; every rank writes its part. Collective, blocking."""
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
    """Read a dataset of an HDF5 file. Collective, blocking."""
    return Array(_core.read_hdf5(context._core, os.fspath(path), dataset, rule_of(distribution), order, space))


@dataclasses.dataclass(frozen=True)
class Dataset:
    """An array with storage options, for `write_hdf5` of several datasets. Options that are None have the value of the call.

    Parameters
    ----------
    array : Array
        The array.
    chunks, compression, shuffle, attributes : optional
        As for `write_hdf5`.
    """

    array: Array
    chunks: Chunks = None
    compression: Union[int, str, None] = None
    shuffle: Optional[bool] = None
    attributes: Optional[Mapping[str, Attribute]] = None

    @property
    def _core(self) -> _core.Array:
        return core_given(self.array)


@collective
def write_hdf5(
    path: Path,
    dataset: Union[str, Mapping[str, Union[Array, Dataset]], Array, Dataset],
    array: Union[Array, Dataset, None] = None,
    *,
    truncate: bool = False,
    chunks: Chunks = None,
    compression: Union[int, str, None] = None,
    shuffle: Optional[bool] = None,
    attributes: Optional[Mapping[str, Attribute]] = None,
) -> None:
    """Add or replace one or several datasets; the file keeps its other contents unless `truncate`. Collective, blocking.

    Several datasets are written all or none::

        pt.io.write_hdf5("state.h5", {"flow/u": u, "flow/v": v}, compression=4, attributes={"step": 7})
        pt.io.write_hdf5("state.h5", {"flow/u": u, "mask": pt.io.Dataset(mask, chunks=(64, 64), shuffle=True)})

    Parameters
    ----------
    path : path
        A file that all ranks can access. It is created if it does not exist.
    dataset : str or mapping
        The name, including its groups, which are created; or a mapping of names to arrays or `Dataset`. A single array
        (``write_hdf5(path, array)``) is named "data", as by `partita convert`.
    array : Array
        The array, if one name is given.
    truncate : bool
        Remove the other contents of the file.
    chunks : sequence of int, int or bool, optional
        Extents of a chunk; True: chosen by Partita. Unset: contiguous, which all ranks write concurrently, unless the dataset is
        compressed or shuffled.
    compression : int or 'gzip', optional
        Deflate level of chunks: 1 (fast) to 9 (small); 0, the default: none; 'gzip' is 4.
    shuffle : bool, optional
        Group the bytes of chunks by significance.
    attributes : mapping, optional
        Attributes of the dataset, or of each of several: strings, numbers, and sequences of numbers. Integers are stored with 64 bits.

    Raises
    ------
    FileError
        Not an HDF5 file, a group with this name, a full disk, ...: the old file is unchanged.
    ArgumentError
        Invalid chunks, a repeated name, arrays of several contexts, a partial array, an integer beyond 64 bits.
    """
    if array is None and isinstance(dataset, (Array, Dataset)):
        dataset, array = "data", dataset  # type: ignore[assignment]
    if isinstance(dataset, str):
        named: Dict[str, Any] = {dataset: array}
    elif array is None:
        named = dict(dataset)  # type: ignore[arg-type]
    else:
        raise builtins.TypeError("write_hdf5: an array needs one name; pass several as a mapping of names to arrays")
    by_default = Dataset(None, chunks, compression, shuffle, attributes)  # type: ignore[arg-type]
    datasets = [_as_stored(name, one, by_default, truncate) for name, one in named.items()]
    for one in named.values():
        written = one.array if isinstance(one, Dataset) else one
        settle(core_given(written), written._package)
    _core.write_hdf5(os.fspath(path), datasets)


def _as_stored(name: str, given: Any, by_default: Dataset, truncate: bool) -> _core.Hdf5Dataset:
    own = given if isinstance(given, Dataset) else Dataset(given)
    chunks, compression, shuffle, attributes = (
        getattr(by_default if getattr(own, one) is None else own, one) for one in ("chunks", "compression", "shuffle", "attributes")
    )
    level = _gzip if compression == "gzip" else compression or 0
    core = core_given(own.array)
    extents = _extents_of_chunk(chunks, own.array, filtered=bool(level or shuffle))
    return _core.Hdf5Dataset(name, core, truncate, extents, level, bool(shuffle), _attributes(attributes or {}))


def _whole_numbers(what: str, given: Any) -> Tuple[int, ...]:
    try:
        return tuple(operator.index(one) for one in ([given] if isinstance(given, (int, np.integer)) else given))
    except builtins.TypeError:
        raise builtins.TypeError(f"{what}: expected an integer or a sequence of integers, got {given!r}") from None


#: The level of deflate that h5py has for this word.
_gzip = 4
# Bytes of a chunk whose extents are not given, at most.
_chunk_bytes = 1 << 20


def _extents_of_chunk(given: Chunks, array: Array, filtered: bool) -> Tuple[int, ...]:
    """The extents; empty: contiguous."""
    if given is None:
        given = filtered
    if given is False:
        return ()
    if given is not True:
        return _whole_numbers("chunks", given)
    extents = [max(extent, 1) for extent in array.shape]
    axis = 0
    while math.prod(extents) * array.dtype.itemsize > _chunk_bytes:  # one dimension after the other: no reader is favoured
        extents[axis] = -(-extents[axis] // 2)
        axis = (axis + 1) % len(extents)
    return tuple(extents)


@collective
def write_hdf5_attributes(context: Context, path: Path, name: str, attributes: Mapping[str, Attribute]) -> None:
    """Set attributes of a dataset, a group or the file ('/'); other attributes are kept. Collective, blocking.

    Parameters
    ----------
    name : str
        Name of the dataset or group.
    attributes : dict
        Strings, numbers, and sequences of numbers; equal on all ranks.

    Raises
    ------
    FileError
        The object does not exist: the text lists the existing ones.
    ArgumentError, DisagreementError
        The same on every rank.
    """
    _core.write_hdf5_attributes(context._core, os.fspath(path), name, _attributes(attributes))


def _attributes(given: Mapping[str, Attribute]) -> Dict[str, Any]:
    """The attributes as the library takes them, with NumPy numbers and arrays converted."""
    return {name: _attribute(name, value) for name, value in given.items()}


def _attribute(name: str, value: Any) -> Any:
    if isinstance(value, str):
        return str(value)
    plain = value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
    if not isinstance(plain, (tuple, list)):
        _require_known(name, [plain], value)
        return plain
    numbers = [one.item() if isinstance(one, np.generic) else one for one in plain]
    _require_known(name, numbers, value)
    return numbers


def _require_known(name: str, numbers: Sequence[Any], value: Any) -> None:
    """ArgumentError for integers beyond 64 bits and for values of other kinds."""
    if any(not isinstance(one, (int, float, Unread)) for one in numbers):
        kinds = "a string, a number or a sequence of numbers"
        raise builtins.TypeError(f"the attribute {name!r}: expected {kinds}, got {value!r}")
    integers = [one for one in numbers if isinstance(one, int)]
    if not integers:
        return
    mixed = len(integers) < len(numbers)
    least, most = (-(2**53), 2**53) if mixed else (-(2**63), 2**63 - 1 if min(integers) < 0 else 2**64 - 1)
    for one in integers:
        if not least <= one <= most:
            room = "float64, the dtype of the other elements" if mixed else "64 bits"
            raise ArgumentError(f"the attribute {name!r}: {one} is not representable in {room}")


def list_hdf5(path: Path) -> Dict[str, Optional[ListedHeader]]:
    """Groups and datasets of a file by name, with None for objects that are not arrays. Local.

    The headers also have `chunks`: the extents of a chunk, () if contiguous.
    """
    entries: List[Tuple[str, Optional[Tuple[Tuple[int, ...], str, str]], Tuple[int, ...]]] = _core.list_hdf5(os.fspath(path))
    found: Dict[str, Optional[ListedHeader]] = {}
    for name, header, chunks in entries:
        found[name] = None
        if header is not None:
            found[name] = listed = ListedHeader(*header)
            listed.chunks = chunks
    return found


def read_hdf5_attributes(path: Path, name: str) -> Dict[str, Attribute]:
    """The attributes of a dataset, a group or the file ('/'). Local.

    Attributes other than strings, numbers or vectors of numbers (matrices, vectors of strings, compounds, ...) are of the class `Unread`,
    whose `what` describes them.

    Parameters
    ----------
    name : str
        Name of the dataset or group.
    """
    return dict(_core.read_hdf5_attributes(os.fspath(path), name))
