"""NumPy's elementwise functions that are not ufuncs, on the local parts.

They communicate where ufuncs do: to compare NumPy arrays between ranks, and inside of a default distribution for operands in different layouts.
"""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from ._agreement import alike
from ._array import Array
from ._count import nonzero
from ._errors import ArgumentError
from ._moves import settled
from ._replicas import with_replicas
from ._ufuncs import alike_parts, local_call


#: NumPy's ufunc behind `numpy.clip`.
_clip: np.ufunc = getattr(np, "_core" if hasattr(np, "_core") else "core").umath.clip


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Elements of x where the condition is true, of y elsewhere. Local, like ufuncs: collective if an operand is a NumPy array.

    Parameters
    ----------
    condition, x, y : Array, number or numpy.ndarray
        Broadcast against each other, in layouts as ufuncs require them. Without x and y: see `nonzero`.

    Returns
    -------
    Array, or tuple of Arrays
        The elements; the indices where the condition is true if only that is given.
    """
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise TypeError("where: expected both x and y, or neither")
    return _array(local_call("where", np.where, [condition, x, y]))


def clip(a: Array, a_min: Any = None, a_max: Any = None, out: Optional[Array] = None, *, min: Any = None, max: Any = None) -> Array:
    """Elements limited to the interval from a_min to a_max. Local, like ufuncs: collective if an operand is a NumPy array.

    Parameters
    ----------
    a_min, a_max : Array, number or numpy.ndarray, optional
        The limits; unset: none.
    min, max : Array, number or numpy.ndarray, optional
        Other names for a_min and a_max.
    """
    lower, upper = (min if a_min is None else a_min), (max if a_max is None else a_max)
    if lower is not None and upper is not None and out is None:
        at_once = alike_parts(_clip, (a, lower, upper))
        if at_once is not None:
            return _array(at_once)
    settled("clip", a)
    found = a if lower is None else np.maximum(a, lower)
    found = found if upper is None else np.minimum(found, upper)
    return _into(a.copy() if found is a else found, out)


def round(a: Array, decimals: int = 0, out: Optional[Array] = None) -> Array:
    """Elements rounded to a number of decimals, halves to even. Local, like ufuncs.

    Parameters
    ----------
    decimals : int
        How many digits after the decimal point; may be negative.
    """
    return _into(_array(local_call("round", np.round, [a], decimals=decimals)), out)


def nan_to_num(x: Array, copy: bool = True, nan: float = 0.0, posinf: Optional[float] = None, neginf: Optional[float] = None) -> Array:
    """A copy with numbers in the place of NaN and infinities. Local, like ufuncs.

    Parameters
    ----------
    x : Array
        The array.
    copy : bool
        Must be True.
    nan, posinf, neginf : number, optional
        The replacements; unset for infinities: the largest and the smallest number of the dtype.
    """
    if not copy:
        raise ArgumentError("nan_to_num: copy=False is not supported")
    return _array(local_call("nan_to_num", np.nan_to_num, [x], nan=nan, posinf=posinf, neginf=neginf))


def angle(z: Array, deg: bool = False) -> Array:
    """The angle of complex numbers. Local, like ufuncs.

    Parameters
    ----------
    z : Array
        The array.
    deg : bool
        In degrees instead of radians.
    """
    return _array(local_call("angle", np.angle, [z], **({"deg": True} if deg else {})))


def real(val: Array) -> Array:
    """The real part; shares memory. Local.

    Parameters
    ----------
    val : Array
        The array.
    """
    return settled("real", val).real


def imag(val: Array) -> Array:
    """The imaginary part; of complex numbers it shares memory. Local.

    Parameters
    ----------
    val : Array
        The array.
    """
    return settled("imag", val).imag


def isclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Array:
    """Where elements are equal within a tolerance of atol + rtol |b|. Local, like ufuncs: collective if an operand is a NumPy array.

    Parameters
    ----------
    rtol, atol : float
        The relative and the absolute tolerance.
    equal_nan : bool
        Whether NaN equals NaN.
    """
    return _array(local_call("isclose", np.isclose, [a, b], rtol=rtol, atol=atol, equal_nan=equal_nan))


@alike
@with_replicas("a", "b")
def allclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether all elements are equal within a tolerance; see `isclose`. Collective, blocking; the same on every rank.

    Parameters
    ----------
    rtol, atol : float
        The relative and the absolute tolerance.
    equal_nan : bool
        Whether NaN equals NaN.
    """
    return bool(isclose(a, b, rtol, atol, equal_nan).all())


@alike
@with_replicas("a1", "a2")
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """Whether shapes and elements are equal. Collective, blocking; the same on every rank.

    Parameters
    ----------
    a1, a2 : Array or numpy.ndarray
        The arrays.
    equal_nan : bool
        Whether NaN equals NaN.
    """
    if a1.shape != a2.shape:
        return False
    equal = np.equal(a1, a2)
    if equal_nan:
        equal = np.logical_or(equal, np.logical_and(np.not_equal(a1, a1), np.not_equal(a2, a2)))
    return bool(equal.all())


def _array(found: Any) -> Array:
    assert isinstance(found, Array)
    return found


def _into(found: Array, out: Optional[Array]) -> Array:
    if out is None:
        return found
    out[...] = found
    return out


__all__ = ["allclose", "angle", "array_equal", "clip", "imag", "isclose", "nan_to_num", "real", "round", "where"]
