"""Arrays whose parts have whatever size the ranks give them."""

from __future__ import annotations

from typing import Any

from ._agreement import alike, alike_but
from ._array import Array
from ._axes import Destination, cuts_of, layout_of_blocks, moved, one_axis
from ._context import Context
from ._core import Slab
from ._create import from_local, part_of, shapes_of_all
from ._errors import ArgumentError


@alike_but("local")
def from_parts(context: Context, local: Any, axis: int = 0) -> Array:
    """An array of what the ranks hold, in the order of the ranks along an axis, without a copy. Collective, blocking.

    Parameters
    ----------
    local : array
        This rank's part, as for `from_local`. The parts may have any extents along `axis`, also 0, and equal ones along other axes.
    axis : int, default 0
        The axis along which the parts follow one another.

    Returns
    -------
    Array
        In the distribution `Slab(axis)` if the parts have the sizes of that, or else in one `Box` per rank. See `balance`.

    Raises
    ------
    ArgumentError
        The parts have different numbers of dimensions, dtypes, or extents along other axes: on every rank.
    """
    part, extents = part_of("from_parts", context, local)
    shapes = shapes_of_all("from_parts", context, extents)
    if not extents:
        raise ArgumentError("from_parts: the parts have no dimensions: use x.reshape(1)")
    along = one_axis(axis, len(extents))
    for rank, shape in enumerate(shapes):
        if any(mine != first for one, (mine, first) in enumerate(zip(shape, shapes[0])) if one != along):
            raise ArgumentError(
                f"from_parts: the parts have shapes {tuple(shapes[0])} on rank 0 and {tuple(shape)} on rank {rank}; only the extents along "
                f"axis {along} may differ"
            )
    cuts = cuts_of([shape[along] for shape in shapes])
    whole = tuple(cuts[-1] if one == along else extent for one, extent in enumerate(extents))
    return from_local(context, part, layout_of_blocks(whole, along, cuts).distribution, whole)


@alike
def balance(a: Array, axis: int = 0) -> Array:
    """The array in equal parts along an axis: in the distribution `Slab(axis)`. Collective, blocking.

    Parameters
    ----------
    axis : int, default 0
        The axis.

    Returns
    -------
    Array
        The array itself if it has that distribution already.
    """
    wanted: Destination = Slab(one_axis(axis, a.ndim))
    return moved(a, wanted)


__all__ = ["balance", "from_parts"]
