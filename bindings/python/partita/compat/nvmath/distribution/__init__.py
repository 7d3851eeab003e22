"""How an array is spread over the processes, and how it is spread otherwise."""

from ._base import BindDistributionError, ConvertDistributionError, Distribution
from ._block import BlockCyclic, BlockNonCyclic
from ._box import Box
from ._grid import ProcessGrid
from ._redistribute import InvalidRedistributeState, Redistribute, RedistributeOptions, redistribute
from ._slab import Slab

__all__ = [
    "BindDistributionError", "BlockCyclic", "BlockNonCyclic", "Box", "ConvertDistributionError", "Distribution",
    "InvalidRedistributeState", "ProcessGrid", "Redistribute", "RedistributeOptions", "Slab", "redistribute",
]  # fmt: skip
