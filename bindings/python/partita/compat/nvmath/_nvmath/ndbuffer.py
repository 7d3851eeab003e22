"""Memory of no package, by the name of nvmath.internal.tensor_ifc_ndbuffer: there is none of it here."""

from .._internal.tensor_ifc import Tensor


class NDBufferTensor(Tensor):
    """No tensor is one."""
