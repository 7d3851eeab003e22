"""Memory of large results, used again when no array refers to it any more.

The C library returns large blocks to the system and gets them back page by page, which takes as long as adding two arrays.
Nothing is locked: a thread that looks at a block has taken it out of the list.
"""

import math
import sys
from typing import Any, List, Tuple

import numpy as np

smallest = 1 << 25  # bytes: from here on the C library (glibc) returns each block to the system
_most = 1 << 28  # bytes kept by the process
_most_blocks = 16
_blocks: List[Any] = []  # of bytes


def _next(blocks: List[Any]) -> Tuple[Any, int]:
    """Takes out the first one, and counts the references to it."""
    block = blocks.pop(0)
    return block, sys.getrefcount(block)


_of_a_free_block = _next([np.empty(1, np.uint8)])[1]


def empty(shape: Tuple[int, ...], dtype: Any) -> Any:
    """As np.empty."""
    size = math.prod(shape) * dtype.itemsize
    if not smallest <= size <= _most // 2:
        return np.empty(shape, dtype)
    block = _free_block(size)
    result = (np.empty(size, np.uint8) if block is None else block).view(dtype).reshape(shape)
    _blocks.append(result.base)
    return result


def _free_block(size: int) -> Any:
    """One of this size, which is no longer in the list, or None. Forgets those that are too many."""
    kept = size
    for place in range(len(_blocks)):
        try:
            block, references = _next(_blocks)
        except IndexError:  # other threads have the others
            return None
        if block.nbytes == size and references == _of_a_free_block:
            return block
        kept += block.nbytes
        if kept <= _most and place < _most_blocks:
            _blocks.append(block)
    return None
