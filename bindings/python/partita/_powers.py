"""Products of several matrices, and of a matrix with itself."""

from __future__ import annotations

import operator
import string
from typing import Any, Sequence

from . import _core
from ._array import Array, core_given
from ._axes import moved
from ._calls import collective
from ._create import eye
from ._einsum import einsum
from ._errors import ArgumentError
from ._linear import matmul
from ._matrices import prepared, settled
from ._places import broadcast_to


@collective
def matrix_power(a: Array, n: int) -> Array:
    """The n-th power of a matrix, or of each matrix of a batch, in the layout of `a`, by at most 2 log2(n) products. Collective, blocking.

    Parameters
    ----------
    a : Array
        A square matrix [m, m], or a batch [.., m, m].
    n : int
        The exponent; with a negative one the inverse is multiplied.

    Raises
    ------
    SingularError
        The exponent is negative, and A is singular. Also a numpy.linalg.LinAlgError.
    """
    power = operator.index(n)
    core_given(a)
    matrix = prepared(a)[0] if power < 0 else a
    if matrix.ndim < 2 or matrix.shape[-2] != matrix.shape[-1]:
        raise ArgumentError(f"matrix_power: A must be square, but its shape is {matrix.shape}")
    if power == 0:
        unit = eye(matrix.context, matrix.shape[-1], distribution=_core.Replicated(), dtype=matrix.dtype, space=matrix.space)
        return broadcast_to(unit, matrix.shape).redistribute(matrix.layout)
    base = Array(_core.inverse(settled(matrix)._core), a._package) if power < 0 else matrix
    result = base
    for digit in f"{abs(power):b}"[1:]:
        result = _multiplied(result, result)
        if digit == "1":
            result = _multiplied(result, base)
    return result.copy() if result is a else result


@collective
def multi_dot(arrays: Sequence[Array]) -> Any:
    """The product of several matrices, in the order that takes the fewest multiplications. Collective, blocking.

    Parameters
    ----------
    arrays : sequence of Array
        Matrices; the first and the last may be vectors.
    """
    given = list(arrays)
    if len(given) < 2:
        raise ArgumentError(f"multi_dot: {len(given)} arrays; expected at least two")
    for place, one in enumerate(given):
        if core_given(one) and one.ndim != 2 and (one.ndim != 1 or 0 < place < len(given) - 1):
            raise ArgumentError(f"multi_dot: array {place} has {one.ndim} dimensions; expected a matrix")
    terms = [string.ascii_lowercase[i : i + 2] for i in range(len(given))]
    terms = [term[-one.ndim :] if place == 0 else term[: one.ndim] for place, (term, one) in enumerate(zip(terms, given))]
    kept = (terms[0][:-1], terms[-1][1:])
    return einsum(f"{','.join(terms)}->{''.join(kept)}", *given)


def _multiplied(a: Array, b: Array) -> Array:
    """In the layout and dtype of A."""
    if a.dtype.kind in "bui":
        return moved(matmul(a, b).astype(a.dtype), a.layout)
    made = _core.empty_like_layout(a._core.context, a.layout, a._core.dtype, space=a.space)
    return matmul(a, b, out=Array(made, a._package))


__all__ = ["matrix_power", "multi_dot"]
