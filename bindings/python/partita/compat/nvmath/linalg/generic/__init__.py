"""The direct solver: A X = B by LU with partial pivoting."""

from ._configuration import DirectSolverOptions
from .solvermod import DirectSolver, InvalidDirectSolverState, direct_solver

__all__ = ["DirectSolver", "DirectSolverOptions", "InvalidDirectSolverState", "direct_solver"]
