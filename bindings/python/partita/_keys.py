"""Keys of arrays that have arrays of integers or booleans in them, by NumPy's rules."""

from __future__ import annotations

from typing import Any, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from . import _core
from ._array import Array
from ._axes import Cuts, all_values_of, blocks_along, layout_of_blocks, moved, on_host, slab_cuts, values_of
from ._count import nonzero
from ._errors import IndexError
from ._exchange import smallest_and_largest
from ._places import broadcast_to
from ._views import Key, expanded

Shape = Tuple[int, ...]


class Chosen(NamedTuple):
    """What a key with arrays chooses: of a window, the elements of these indices along some axes."""

    #: Slices and None: one slice for each dimension of the array.
    window: List[Key]
    #: The dimensions that are indexed.
    axes: List[int]
    #: For each of them: integers, as a distributed array, a NumPy array, or a number.
    indices: List[Any]
    #: That of the indices, broadcast against each other.
    shape: Shape
    #: Where these dimensions are in the result.
    place: int

    @property
    def is_distributed(self) -> bool:
        """Whether some indices are distributed arrays."""
        return any(isinstance(one, Array) for one in self.indices)


def _is_array(one: Any) -> bool:
    return isinstance(one, (Array, np.ndarray, list, tuple))


def _is_boolean(one: Any) -> bool:
    return isinstance(one, (bool, np.bool_)) or (isinstance(one, (Array, np.ndarray)) and one.dtype == np.bool_)


def _ndim(one: Any) -> int:
    return int(one.ndim) if isinstance(one, Array) else np.ndim(one)  # which asks the array, at some length


def is_advanced(key: Any) -> bool:
    """Whether a key of an array has arrays among its indices."""
    return any((_is_array(one) and _ndim(one) > 0) or _is_boolean(one) for one in (key if isinstance(key, tuple) else (key,)))


def chosen_by(a: Array, key: Any) -> Chosen:
    """What a key with arrays chooses. Collective if it has a distributed one."""
    keys = expanded([_index_of(one) for one in (key if isinstance(key, tuple) else (key,))], a.ndim, _covered)
    window: List[Key] = []
    axes: List[int] = []
    indices: List[Any] = []
    shapes: List[Shape] = []
    axis = 0
    for one in keys:
        covered = _covered(one)
        if one is None or isinstance(one, slice):
            window.append(one)
        else:
            found = _of_mask(one, a.shape[axis : axis + covered]) if _is_boolean(one) else [one]
            indices += found
            axes += range(axis, axis + covered)
            window += [slice(None)] * covered
            shapes += [index.shape if isinstance(index, Array) else np.shape(index) for index in found] if covered else [(int(one),)]
        axis += covered
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        raise IndexError(f"indices of the shapes {', '.join(map(str, shapes))} cannot be broadcast") from None
    return Chosen(window, axes, indices, shape, _place(keys))


def _index_of(one: Any) -> Any:
    """One part of a key: None, Ellipsis, a slice, a number, or an array of integers or booleans."""
    if one is None or one is Ellipsis or isinstance(one, (slice, bool, int)):
        return one
    if isinstance(one, Array) and not one.ndim:
        one = one.at(())
    found = one if isinstance(one, Array) else np.asarray(one)
    if not isinstance(one, (Array, np.ndarray)) and not found.size and found.ndim:
        found = found.astype(np.int64)  # an empty list
    if found.dtype != np.bool_ and found.dtype.kind not in "iu":
        raise IndexError(f"index {one!r}: expected integers, slices, None, or arrays of integers or booleans")
    return found if found.ndim else found[()].item()


def _covered(one: Any) -> int:
    """How many dimensions of the array a part of a key is for."""
    if one is None or isinstance(one, bool):
        return 0
    return one.ndim if _is_boolean(one) else 1


def _of_mask(mask: Any, shape: Shape) -> List[Any]:
    """The indices where it is true, for each of its dimensions."""
    if isinstance(mask, bool):
        return []
    if mask.shape != shape:
        raise IndexError(f"a mask of shape {mask.shape} for dimensions of shape {shape}")
    return list(nonzero(mask) if isinstance(mask, Array) else np.nonzero(mask))


def of_sequence(index: Any) -> Chosen:
    """The elements at these positions of a sequence."""
    return Chosen([slice(None)], [0], [index], index.shape, 0)


def _place(keys: Sequence[Any]) -> int:
    """Where the dimensions of the indices are: in the place of the arrays and numbers if these are adjacent, else first."""
    basic = [one is None or isinstance(one, slice) for one in keys]
    first = basic.index(False)
    last = len(basic) - basic[::-1].index(False)
    return 0 if any(basic[first:last]) else first


# --- the indices as columns of numbers


def in_int64(indices: Any) -> Any:
    """Indices as int64, in which none too large becomes a negative one."""
    if indices.dtype == np.uint64:
        indices = np.minimum(indices, np.uint64(np.iinfo(np.int64).max))
    return indices.astype(np.int64, copy=False)


def checked(context: _core.Context, indices: Any, extent: int, mode: str = "raise", everywhere: bool = False) -> Any:
    """Indices from 0 to below the extent. Errors are those of all ranks, which may have other indices unless they have all of them `everywhere`."""
    found = in_int64(indices)
    if mode == "clip":
        return np.clip(found, 0, max(extent - 1, 0))
    if mode == "wrap":
        return found % max(extent, 1)
    if everywhere:
        least, most = (int(found.min()), int(found.max())) if found.size else (0, -1)
    else:
        least, most = smallest_and_largest(context, found)
    if least <= most and (most >= extent or least < -extent):
        raise IndexError(f"index {most if most >= extent else least} is out of range for {extent} elements")
    return np.where(found < 0, found + extent, found)


def everywhere(index: Any) -> Any:
    """All indices, on every rank."""
    if not isinstance(index, Array):
        return np.asarray(index)
    return all_values_of(on_host(index))


def all_columns(context: _core.Context, chosen: Chosen, extents: Sequence[int], mode: str = "raise") -> List[Any]:
    """The indices for each axis on every rank, in their shape, from 0. `extents`: those of the axes."""
    found = [checked(context, everywhere(one), extent, mode, True) for one, extent in zip(chosen.indices, extents)]
    return [np.broadcast_to(one, chosen.shape) for one in found]


def cuts_of_indices(context: _core.Context, chosen: Chosen) -> Cuts:
    """How the ranks divide the first axis of the indices: as the first distributed array of their shape that is in blocks, or equally."""
    for one in chosen.indices:
        if isinstance(one, Array) and one.shape == chosen.shape:
            return blocks_along(one.layout, 0) or slab_cuts(one.shape[0], context.size)
    return slab_cuts(chosen.shape[0], context.size)


def own_columns(context: _core.Context, chosen: Chosen, extents: Sequence[int], cuts: Cuts, mode: str = "raise") -> List[Any]:
    """This rank's indices for each axis, in one sequence, from 0. `extents`: those of the axes."""
    shape = chosen.shape
    layout: Optional[_core.Layout] = None
    found = []
    for one, extent in zip(chosen.indices, extents):
        if isinstance(one, Array):
            there = on_host(one)
            there = there if there.shape == shape else broadcast_to(there, shape)
            layout = layout or layout_of_blocks(shape, 0, cuts)
            mine = checked(context, values_of(moved(there, layout)), extent, mode)
        else:
            known = checked(context, np.asarray(one), extent, mode, True)
            mine = np.broadcast_to(known, shape)[cuts[context.rank] : cuts[context.rank + 1]]
        found.append(mine.reshape(-1))
    return found


__all__ = ["Chosen", "all_columns", "checked", "chosen_by", "cuts_of_indices", "everywhere", "in_int64", "is_advanced", "of_sequence", "own_columns"]
