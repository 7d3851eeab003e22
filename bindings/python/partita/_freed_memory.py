"""Memory of large results, used again when no array refers to it any more.

The C library returns large blocks to the system and gets them back page by page, which takes as long as adding two arrays.
"""

import math
import os
import sys
import threading
from typing import Any, List, Tuple

import numpy as np


class Blocks(threading.local):
    """Blocks of bytes, of each thread its own: ranks that are threads keep as much each as processes do."""

    def __init__(self, smallest: int, most: int, most_blocks: int) -> None:
        self.smallest = smallest  # bytes; smaller ones are NumPy's
        self.most = most  # bytes of all that are kept
        self.most_blocks = most_blocks
        self.kept: List[Any] = []

    def empty(self, shape: Tuple[int, ...], dtype: Any) -> Any:
        """As np.empty."""
        size = math.prod(shape) * dtype.itemsize
        if not self.smallest <= size <= self.most // 2:
            return np.empty(shape, dtype)
        block = self._free_block(size)
        result = (np.empty(size, np.uint8) if block is None else block).view(dtype).reshape(shape)
        self.kept.append(result.base)
        return result

    def _free_block(self, size: int) -> Any:
        """One of this size, taken out of the list, or None. Forgets those that are too many."""
        total = size
        for place in range(1, len(self.kept) + 1):
            block, references = _next(self.kept)
            if block.nbytes == size and references == _of_a_free_block:
                return block
            total += block.nbytes
            if total <= self.most and place < self.most_blocks:
                self.kept.append(block)
        return None


def _next(blocks: List[Any]) -> Tuple[Any, int]:
    """Takes out the first one, and counts the references to it."""
    block = blocks.pop(0)
    return block, sys.getrefcount(block)


_of_a_free_block = _next([np.empty(1, np.uint8)])[1]


def _most_bytes() -> int:
    """An eighth of the memory, if there is a rank for each core; within bounds."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min(max(memory // (8 * (os.cpu_count() or 1)), 1 << 28), 1 << 30)


# From 32 MiB on glibc returns each block to the system.
blocks = Blocks(smallest=1 << 25, most=_most_bytes(), most_blocks=16)
