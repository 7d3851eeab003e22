"""Files, read and written by all ranks at once, in any distribution. A file lands whole or not at all.

Reading and writing arrays is collective and blocking; FileError, the same on every rank, names file and cause.
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
    """What a file says of an array."""

    shape: Tuple[int, ...]
    dtype: str
    order: str


class ListedHeader(Header):
    """With what `list_hdf5` tells besides."""

    chunks: Tuple[int, ...]


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


@dataclasses.dataclass(frozen=True)
class Dataset:
    """An array with how it is stored, for `write_hdf5` of several. What is None is as the call says."""

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
    """Add or replace one dataset or several; what else is in the file stays, unless `truncate`. Collective, blocking.

    Several land together or not at all::

        pt.io.write_hdf5("state.h5", {"flow/u": u, "flow/v": v}, compression=4, attributes={"step": 7})
        pt.io.write_hdf5("state.h5", {"flow/u": u, "mask": pt.io.Dataset(mask, chunks=(64, 64), shuffle=True)})

    Parameters
    ----------
    path : path
        Of a file that all ranks see. It is made where there is none.
    dataset : str or mapping
        Its name, with the groups that it is in, which are made; or several arrays or `Dataset` by name. An array alone
        (``write_hdf5(path, array)``) is called "data", as `partita convert` calls it.
    array : Array
        What is written under the one name.
    truncate : bool
        The file has these alone afterwards.
    chunks : sequence of int, int or bool, optional
        Extents of a chunk; True: Partita chooses. By default contiguous, which all ranks write at once, but for what is
        compressed or shuffled.
    compression : int or 'gzip', optional
        Of chunks, by deflate: 1 (fast) to 9 (small); 0, the default: none; 'gzip' is 4.
    shuffle : bool, optional
        Of chunks: bytes of like significance stand together.
    attributes : mapping, optional
        Of the dataset, of each of several: texts, numbers, and sequences of numbers. Integers stay integers, of 64 bits.

    Raises
    ------
    FileError
        No HDF5 file, a group of this name, a disk that is full, ...: the old file stays as it was.
    ArgumentError
        Chunks that do not fit, a name twice, arrays of several contexts, a partial array, an integer beyond 64 bits.
    """
    if array is None and isinstance(dataset, (Array, Dataset)):
        dataset, array = "data", dataset  # type: ignore[assignment]
    if isinstance(dataset, str):
        named: Dict[str, Any] = {dataset: array}
    elif array is None:
        named = dict(dataset)  # type: ignore[arg-type]
    else:
        raise builtins.TypeError("write_hdf5: an array goes with one name; several are given as a mapping of names to arrays")
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
#: Bytes of a chunk that nobody has said the extents of, at most.
_chunk_bytes = 1 << 20


def _extents_of_chunk(given: Chunks, array: Array, filtered: bool) -> Tuple[int, ...]:
    """Empty: contiguous."""
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


def _attributes(given: Mapping[str, Attribute]) -> Dict[str, Any]:
    """As the library takes them: what NumPy has as numbers and arrays, too."""
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
    """Integers that no type of 64 bits has are not rounded, and what is none of the kinds is named."""
    if any(not isinstance(one, (int, float, Unread)) for one in numbers):
        kinds = "a text, a number or a sequence of numbers"
        raise builtins.TypeError(f"the attribute {name!r}: expected {kinds}, got {value!r}")
    integers = [one for one in numbers if isinstance(one, int)]
    if not integers:
        return
    mixed = len(integers) < len(numbers)
    least, most = (-(2**53), 2**53) if mixed else (-(2**63), 2**63 - 1 if min(integers) < 0 else 2**64 - 1)
    for one in integers:
        if not least <= one <= most:
            room = "float64, as the others are" if mixed else "64 bits"
            raise ArgumentError(f"the attribute {name!r}: {one} is not exact in {room}")


def list_hdf5(path: Path) -> Dict[str, Optional[ListedHeader]]:
    """Groups and datasets by name; None for what is no array. Local.

    The headers have `chunks`, too: the extents of a chunk, () of what is contiguous.
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
    """Those of a dataset or group ('/': of the file). Local.

    Those that are no text, number or vector of numbers (matrices, texts in a vector, compounds, ...) are of the class `Unread`,
    whose `what` says what they are.
    """
    return dict(_core.read_hdf5_attributes(os.fspath(path), name))
