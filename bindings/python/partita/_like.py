"""New arrays in the layout of another. Collective and blocking."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from . import _core
from ._agreement import alike
from ._array import Array, core_given
from ._create import ShapeLike, shape_of
from ._dtypes import dtype_name
from ._layouts import laid_out


def _like(like: Array, dtype: Any, shape: Optional[ShapeLike], order: str = "C") -> Array:
    core = core_given(like)
    layout = like.layout if shape is None else laid_out(like.layout, shape_of(shape))
    name = core.dtype if dtype is None else dtype_name(dtype)
    space = "host" if core.on_host else "device"
    return Array(_core.empty_like_layout(core.context, layout, name, order, True, space), like._package)


@alike
def empty_like(prototype: Array, dtype: Any = None, *, shape: Optional[ShapeLike] = None) -> Array:
    """An array in the layout of another, with undefined contents. Collective, blocking.

    Parameters
    ----------
    prototype : Array
        The other array.
    dtype : dtype, optional
        Unset: that of the array.
    shape : int or sequence of int, optional
        Another shape, by the distribution of the array.
    """
    return _like(prototype, dtype, shape)


@alike
def full_like(a: Array, fill_value: Any, dtype: Any = None, *, shape: Optional[ShapeLike] = None) -> Array:
    """An array in the layout of another, with every element equal to a number. Collective, blocking.

    Parameters
    ----------
    fill_value : number
        The value of the elements.
    dtype : dtype, optional
        Unset: that of the array.
    shape : int or sequence of int, optional
        Another shape, by the distribution of the array.
    """
    found = _like(a, dtype, shape)
    found.fill(np.asarray(fill_value).astype(found.dtype)[()].item() if found.dtype.kind in "biufc" else fill_value)
    return found


@alike
def zeros_like(a: Array, dtype: Any = None, *, shape: Optional[ShapeLike] = None) -> Array:
    """An array of zeros in the layout of another. Collective, blocking.

    Parameters
    ----------
    dtype : dtype, optional
        Unset: that of the array.
    shape : int or sequence of int, optional
        Another shape, by the distribution of the array.
    """
    return full_like(a, 0, dtype, shape=shape)


@alike
def ones_like(a: Array, dtype: Any = None, *, shape: Optional[ShapeLike] = None) -> Array:
    """An array of ones in the layout of another. Collective, blocking.

    Parameters
    ----------
    dtype : dtype, optional
        Unset: that of the array.
    shape : int or sequence of int, optional
        Another shape, by the distribution of the array.
    """
    return full_like(a, 1, dtype, shape=shape)


__all__ = ["empty_like", "full_like", "ones_like", "zeros_like"]
