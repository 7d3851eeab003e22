"""What products of labelled arrays and moves between their layouts cost: closed formulas with the rates of the context's machine.

They are those by which the library chooses the algorithm of one product (src/matmul/choose/cost.cpp), for arrays that are cut along one label.
"""

from __future__ import annotations

import math
from typing import Iterator, NamedTuple, Tuple, Union

from . import _core

#: How an array is distributed: cut along this label, as Slab cuts it, or one of the two words.
Cut = Union[str, int]
#: Every rank has all elements.
WHOLE = "replicated"
#: In any other layout, or in whichever the product of matrices finds cheapest.
ANY = "any layout"

_single = ("float32", "complex64", "int32")
_half = ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "int8")
#: Seconds of a call of its own, with what ranks tell each other at its beginning and end.
_call = 5e-6
#: Of a copy: a product reads a neighbour's memory in place.
_in_place = 0.125
#: Of a copy: sums of another rank are added to one's own: two read, one written.
_joining = 1.5


class Rates(NamedTuple):
    """Of one rank of a context, for products of one dtype. Bytes and operations per second, seconds."""

    ranks: int
    sharers: int
    """Ranks of a node."""
    on_device: bool
    operations: float
    """Of a multiplication and an addition of such numbers: 1 / seconds."""
    bandwidth: float
    network: float
    copy_latency: float
    signal_latency: float
    network_latency: float
    itemsize: int
    sum_itemsize: int
    """Of the numbers in which products are summed."""


def rates_of(context: _core.Context, dtype: str, itemsize: int, on_device: bool) -> Rates:
    """The rates of a context's machine."""
    machine, topology = context.machine, context.topology
    ranks = context.size
    sharers = max(1, ranks // topology.node_count)
    bandwidth = min(machine.copy_bandwidth, machine.peer_bandwidth)
    flops = machine.product_flops(dtype)
    if not on_device:
        bandwidth = min(bandwidth, machine.node_copy_bandwidth / sharers)
        flops = machine.flops * (2 if dtype in _single else 1)
    per_product = 8 if dtype.startswith("complex") else 2
    sum_itemsize = 4 if dtype in _half else itemsize
    return Rates(
        ranks, sharers, on_device, flops / per_product, bandwidth, machine.network_bandwidth / sharers, machine.copy_latency,
        machine.signal_latency, machine.network_latency, itemsize, sum_itemsize,
    )  # fmt: skip


def share(extent: int, ranks: int) -> float:
    """Of the elements, those of the rank that has most, if a dimension of this extent is cut."""
    return -(-extent // ranks) / extent if extent else 1.0


def seconds_to_receive(rates: Rates, received: float, weight: float = 1) -> float:
    """Of so many bytes, as many from each of the other ranks; `weight`: of a copy within the node."""
    others = rates.ranks - 1
    if not others or received <= 0:
        return 0.0
    near = (rates.sharers - 1) / others
    latency = (rates.sharers - 1) * rates.signal_latency + (rates.ranks - rates.sharers) * rates.network_latency
    seconds = near * received * weight / rates.bandwidth + rates.copy_latency + latency
    if near < 1:
        seconds += (1 - near) * received * (1 / rates.network + 2 / rates.bandwidth)
    return seconds


def seconds_to_move(rates: Rates, received: float) -> float:
    """The same by a redistribution before a product, or after it."""
    return seconds_to_receive(rates, received) + _call


def seconds_to_read(rates: Rates, received: float) -> float:
    """The same for what a product reads of other ranks."""
    return seconds_to_receive(rates, received, 1 if rates.on_device else _in_place)


def seconds_to_join(rates: Rates, received: float) -> float:
    """The same for what is added to this rank's sums."""
    return seconds_to_receive(rates, received, _joining)


def seconds_to_copy(rates: Rates, bytes_: float) -> float:
    """Within a rank's memory."""
    return bytes_ / rates.bandwidth + rates.copy_latency if bytes_ else 0.0


def seconds_to_multiply(rates: Rates, products: float, of_a: float, of_b: float, of_d: float) -> float:
    """Of one rank: so many multiplications, of parts of so many elements. A host's BLAS copies its operands, a device at least reads them."""
    if rates.on_device:
        return max(products / rates.operations, (of_a + of_b + of_d) * rates.itemsize / (2 * rates.bandwidth)) + rates.copy_latency
    return products / rates.operations + (of_a + of_b + 2 * of_d) * rates.itemsize / rates.bandwidth


def scratch_of(rates: Rates, sums: float, of_d: float) -> int:
    """Bytes of scratch that a product needs whose factors are where they are multiplied (src/matmul/choose/scratch_account.cpp).

    `sums`: elements of what is added to the sums of other ranks; 0: nothing. `of_d`: of this rank's part of the result.
    """
    bytes_ = sums * rates.sum_itemsize
    if sums and rates.sharers < rates.ranks:
        bytes_ += min(bytes_, 1 << 20) + 1024
    if sums == 1:  # which one rank adds and all get
        bytes_ += rates.sum_itemsize + (1024 if rates.sharers < rates.ranks else 0)
    if rates.sum_itemsize != rates.itemsize:
        bytes_ += of_d * rates.sum_itemsize
    return math.ceil(bytes_)


def grids(ranks: int) -> Iterator[Tuple[int, int, int]]:
    """All grids of so many ranks over rows, columns and what is summed."""
    for rows in range(1, ranks + 1):
        if ranks % rows == 0:
            for columns in range(1, ranks // rows + 1):
                if ranks // rows % columns == 0:
                    yield rows, columns, ranks // rows // columns


__all__ = [
    "ANY", "Cut", "Rates", "WHOLE", "grids", "rates_of", "scratch_of", "seconds_to_copy", "seconds_to_join", "seconds_to_move",
    "seconds_to_multiply", "seconds_to_read", "seconds_to_receive", "share",
]  # fmt: skip
