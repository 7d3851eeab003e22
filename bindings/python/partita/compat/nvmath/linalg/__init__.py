"""Linear algebra: products, and linear systems."""

from . import advanced, generic
from .advanced._enums import ComputeType
from .generic import DirectSolver, DirectSolverOptions, InvalidDirectSolverState, direct_solver

__all__ = [
    "ComputeType", "DirectSolver", "DirectSolverOptions", "InvalidDirectSolverState", "advanced", "direct_solver", "generic",
]  # fmt: skip
