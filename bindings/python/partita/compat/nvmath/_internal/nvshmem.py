"""What is asked of the symmetric heap."""

from .._context import get_context
from .._memory import resource_registry as _resource_registry

__all__ = ["_resource_registry", "is_initialized"]


def is_initialized() -> bool:
    """Whether the runtime has been initialized with NVSHMEM among its backends."""
    context = get_context()
    return context is not None and context.nvshmem_available
