"""Who one is, by the names of nvmath.bindings.nvshmem."""

from .._context import current


def my_pe() -> int:
    """The rank."""
    return current().process_group.rank


def n_pes() -> int:
    """The number of ranks."""
    return current().process_group.nranks
