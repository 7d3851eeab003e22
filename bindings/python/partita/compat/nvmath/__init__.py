"""The names of nvmath.distributed (0.8, 0.9, 1.0) on Partita, so that programs written for it run unchanged, also without a GPU.

    import partita.compat.nvmath
    partita.compat.nvmath.install()          # before the program's own imports

    import nvmath.distributed
    from nvmath.distributed.distribution import Slab

Operands are the local parts of NumPy, CuPy or PyTorch, in host or device memory; results are of the same package. What an option asks
for is done or refused by an exception, the same on every rank. What differs, name by name: docs/compat_nvmath.md.
"""

from . import distribution, fft, linalg, reshape
from ._context import DistributedContext, finalize, get_context, initialize
from ._install import install
from ._memory import allocate_symmetric_memory, free_symmetric_memory
from .process_group import MPIProcessGroup, PartitaProcessGroup, ProcessGroup, ReductionOp, TorchProcessGroup

__all__ = [
    "DistributedContext", "MPIProcessGroup", "PartitaProcessGroup", "ProcessGroup", "ReductionOp", "TorchProcessGroup",
    "allocate_symmetric_memory", "distribution", "fft", "finalize", "free_symmetric_memory", "get_context", "initialize", "install",
    "linalg", "reshape",
]  # fmt: skip
