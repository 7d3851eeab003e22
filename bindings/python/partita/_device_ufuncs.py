"""NumPy's elementwise functions on arrays in device memory, by the library's kernels. Nothing here communicates.

The dtypes of results are NumPy's: those of the same function on empty arrays. Operands are converted to the dtype that is computed in.
"""

from __future__ import annotations

import builtins
from typing import Any, Callable, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._array import Array
from ._dtypes import dtype_name, numpy_dtype
from ._errors import ArgumentError, UnsupportedError
from ._registry import Registry
from ._streams import stream_of_arrays

#: An array, or a number of Python's.
Operand = Union[_core.Array, bool, int, float, complex]

#: NumPy's names of functions of one operand, and of two, and the library's.
_unary = {
    "negative": "negative", "absolute": "abs", "fabs": "abs", "sqrt": "sqrt", "exp": "exp", "log": "log", "sin": "sin", "cos": "cos", "tanh": "tanh",
    "floor": "floor", "ceil": "ceil", "rint": "round", "tan": "tan", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "sinh": "sinh",
    "cosh": "cosh", "log2": "log2", "log10": "log10", "log1p": "log1p", "expm1": "expm1",
}  # fmt: skip
_binary = {
    "add": "add", "subtract": "subtract", "multiply": "multiply", "divide": "divide", "true_divide": "divide", "maximum": "maximum", "minimum": "minimum",
    "power": "pow", "float_power": "pow", "hypot": "hypot", "arctan2": "atan2", "remainder": "remainder", "floor_divide": "floor_divide",
}  # fmt: skip
_comparisons = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
_of_booleans = {"add": "add", "multiply": "multiply", "maximum": "add", "minimum": "multiply"}
_logical = {"logical_and": "multiply", "logical_or": "add", "logical_xor": "not_equal", "logical_not": "not"}
_bitwise = {"bitwise_and": "multiply", "bitwise_or": "add", "bitwise_xor": "not_equal", "invert": "not"}
_tests = ("isnan", "isinf", "isfinite")
_rounded = ("floor", "ceil", "rint", "trunc")
_of_complex = ("negative", "absolute", "add", "subtract", "multiply", "divide", "true_divide")
_kept_dtypes: Registry[Tuple[Any, ...], List[str]] = Registry()  # of results, by function and kinds of operands
_numbers_have_weak_dtypes = int(np.__version__.split(".")[0]) >= 2  # before, dtypes of results depended on values


class Result(NamedTuple):
    """What comes out: its dtype, and the last kernel, which writes it."""

    dtype: str
    write: Callable[[_core.Array], None]


class Work:
    """Elementwise work into arrays of one layout, in one stream."""

    def __init__(self, layout: _core.Layout, arrays: Sequence[Array]) -> None:
        self.layout, self.model, self.stream = layout, arrays[0]._core, stream_of_arrays(None, *arrays)

    def made(self, result: Result, layout: Optional[_core.Layout] = None) -> _core.Array:
        out = _core.empty_beside(self.model, layout or self.layout, result.dtype, self.stream)
        result.write(out)
        return out

    def copied(self, a: _core.Array, dtype: str) -> Result:
        return Result(dtype, lambda out: _core.convert(a, out, self.stream))

    def as_dtype(self, one: Operand, dtype: str) -> Operand:
        if not isinstance(one, _core.Array):
            return bool(one) if dtype == "bool" else int(one) if isinstance(one, bool) else one
        return one if one.dtype == dtype else self.made(self.copied(one, dtype), one.layout)

    def join(self, name: str, a: Operand, b: Operand, dtype: str) -> Result:
        """`dtype`: that of the operands."""
        left, right = self.as_dtype(a, dtype), self.as_dtype(b, dtype)
        return Result("bool" if name in _comparisons else dtype, lambda out: _core.join(name, left, right, out, self.stream))

    def apply(self, name: str, a: _core.Array, dtype: str) -> Result:
        of: Any = a if a.dtype.startswith("complex") else self.as_dtype(a, dtype)
        return Result(dtype, lambda out: _core.apply(name, of, out, self.stream))

    def compared(self, name: str, a: Operand, b: Operand) -> Result:
        dtype = dtype_name(np.result_type(*(np.empty(0, numpy_dtype(one.dtype)) if isinstance(one, _core.Array) else one for one in (a, b))))
        return self.join(name, a, b, "uint8" if dtype == "bool" and name not in ("equal", "not_equal") else dtype)

    def truth(self, a: Operand) -> Operand:
        """Whether it is not 0."""
        if not isinstance(a, _core.Array):
            return bool(a)
        return a if a.dtype == "bool" else self.made(self.join("not_equal", a, 0, a.dtype), a.layout)

    def selected(self, condition: Operand, a: Operand, b: Operand, dtype: str) -> Result:
        mask, chosen, others = self.truth(condition), self.as_dtype(a, dtype), self.as_dtype(b, dtype)
        assert isinstance(mask, _core.Array)
        return Result(dtype, lambda out: _core.select(mask, chosen, others, out, self.stream))


def results_of(name: str, work: Work, dtypes: Sequence[str], *operands: Operand) -> Optional[List[Result]]:
    """What the ufunc of that name gives, in these dtypes; None: no kernel computes it."""
    found = _composed(name, work, dtypes[0], *operands)
    if found is not None:
        return [found]
    if name == "divmod":
        return [work.join(one, operands[0], operands[1], dtypes[0]) for one in ("floor_divide", "remainder")]
    return None


def _composed(name: str, work: Work, dtype: str, a: Operand, b: Operand = 0) -> Optional[Result]:
    of = next(one for one in (a, b) if isinstance(one, _core.Array))
    if name in _comparisons:
        is_complex = "complex" in of.dtype or isinstance(a, complex) or isinstance(b, complex)
        return None if is_complex and name not in ("equal", "not_equal") else work.compared(name, a, b)
    if name in _logical or (name in _bitwise and dtype == "bool"):
        return _of_truths(_logical.get(name) or _bitwise[name], work, a, b)
    if name in _tests:
        return _tested(name, work, of)
    if name in ("positive", "conjugate") and not of.dtype.startswith("complex"):
        return work.copied(of, dtype)
    if name == "conjugate":
        return Result(dtype, lambda out: _conjugate(work, of, out))
    if name == "square" or (name == "power" and not isinstance(b, _core.Array) and b == 2):
        return work.join("multiply", a, a, dtype)
    if name == "reciprocal" and "float" in dtype:
        return work.join("divide", 1, a, dtype)
    if dtype.startswith("complex") or (of.dtype.startswith("complex") and name != "absolute"):
        if name not in _of_complex:
            return None
        return work.join(_binary[name], a, b, dtype) if name in _binary else work.apply(_unary[name], of, dtype)
    if "int" in dtype or dtype == "bool":
        if name in _rounded or (dtype == "bool" and name == "absolute"):
            return work.copied(of, dtype)
        if dtype == "bool":
            return work.join(_of_booleans[name], a, b, dtype) if name in _of_booleans else None
        if name == "power":
            return None
    if name == "trunc":
        below = work.made(work.compared("less", of, 0))
        return work.selected(below, work.made(work.apply("ceil", of, dtype)), work.made(work.apply("floor", of, dtype)), dtype)
    if name in _unary:
        return work.apply(_unary[name], of, dtype)
    return work.join(_binary[name], a, b, dtype) if name in _binary else None


def _of_truths(name: str, work: Work, a: Operand, b: Operand) -> Result:
    if name == "not":
        return work.join("equal", work.truth(a), False, "bool")
    return work.join(name, work.truth(a), work.truth(b), "bool")


def _tested(name: str, work: Work, a: _core.Array) -> Result:
    """Whether numbers are NaN, infinite or finite. What is subtracted from itself is 0 if it is finite, else NaN."""
    nan = work.join("not_equal", a, a, a.dtype)
    if name == "isnan" or not ("float" in a.dtype or "complex" in a.dtype):
        return nan if name != "isfinite" else work.join("equal", a, a, a.dtype)
    if name == "isfinite":
        return work.join("equal", work.made(work.join("subtract", a, a, a.dtype)), 0, a.dtype)
    parts = [_core.real(a), _core.imag(a)] if a.dtype.startswith("complex") else [a]
    each = [work.made(work.join("equal", work.made(work.apply("abs", one, one.dtype)), float("inf"), one.dtype)) for one in parts]
    return work.join("add", each[0], each[-1], "bool")


def _conjugate(work: Work, a: _core.Array, out: _core.Array) -> None:
    _core.convert(a, out, work.stream)
    part = _core.imag(out)
    _core.apply("negative", part, part, work.stream)


def dtypes_of(function: Callable[..., Any], inputs: Sequence[Any]) -> List[str]:
    """Those of NumPy's results."""
    kinds = (function, *(one.dtype if isinstance(one, Array) else type(one) for one in inputs))
    found = _kept_dtypes.get(kinds)
    if found is None:
        with np.errstate(all="ignore"):
            results = function(*(np.empty(0, one.dtype) if isinstance(one, Array) else one for one in inputs))
        found = [dtype_name(one.dtype) for one in (results if isinstance(results, tuple) else (results,))]
        if _numbers_have_weak_dtypes or all(isinstance(one, Array) for one in inputs):
            _kept_dtypes.put(kinds, found)
    return found


def operand_of(one: Any) -> Operand:
    """As the library takes it."""
    return one._core if isinstance(one, Array) else one.item() if isinstance(one, (np.generic, np.ndarray)) else one


def _loop_of(ufunc: np.ufunc, inputs: Sequence[Any], wanted: Any) -> Optional[List[str]]:
    """The dtypes in which operands are computed for a result in this dtype, and that. None: there are several ways, or none."""
    ufunc(*(np.empty(0, one.dtype) if isinstance(one, Array) else one for one in inputs), dtype=wanted)  # NumPy's errors
    loops = [one.replace("->", "") for one in ufunc.types if ufunc.nout == 1 and np.dtype(one[-1]) == np.dtype(wanted)]
    return [dtype_name(np.dtype(one)) for one in loops[0]] if len(loops) == 1 else None


def call(
    ufunc: np.ufunc, inputs: Sequence[Any], like: _core.Layout, outputs: Sequence[Any], where: Any, wanted: Any = None
) -> Optional[List[_core.Array]]:
    """The results, in `outputs` where these are given, computed in the dtype `wanted`. None: no kernel computes it."""
    work = Work(like, [one for one in (*inputs, *outputs) if isinstance(one, Array)])
    operands, dtypes = [operand_of(one) for one in inputs], dtypes_of(ufunc, inputs) if wanted is None else _loop_of(ufunc, inputs, wanted)
    if dtypes is None:
        return None
    if wanted is not None:
        operands = [work.as_dtype(*one) for one in zip(operands, dtypes)]
    results = results_of(ufunc.__name__, work, dtypes[-1:] if wanted is not None else dtypes, *operands)
    if results is None:
        return None
    if not outputs:
        return [work.made(one) for one in results]
    for one, result in zip(outputs, results):
        if one is not None:
            _put(ufunc.__name__, work, result, one, where)
    return [one._core for one in outputs]


def _put(name: str, work: Work, result: Result, out: Array, where: Any) -> None:
    if not np.can_cast(numpy_dtype(result.dtype), out.dtype, "same_kind"):
        raise ArgumentError(f"{name}: out is {out.dtype}, but the result is {result.dtype}: convert it with astype")
    if where is True and result.dtype == out._core.dtype:
        try:
            return result.write(out._core)
        except ArgumentError:  # an operand is another view of this memory
            pass
    made = work.as_dtype(work.made(result), out._core.dtype)
    if where is True:
        assert isinstance(made, _core.Array)
        _core.copy(made, out._core, work.stream)
    else:
        work.selected(operand_of(where), made, out._core, out._core.dtype).write(out._core)


def refused(name: str) -> UnsupportedError:
    """What a function that the library lacks is."""
    return UnsupportedError(f"{name}: not available for these dtypes in device memory: compute it on a copy in host memory, a.copy(space='host')")


# --- functions that are not ufuncs


def product(a: Array, b: Array, layout: _core.Layout) -> Array:
    """Of two arrays of one dtype that are broadcast, in a layout."""
    work = Work(layout, [a, b])
    return Array(work.made(work.join("multiply", a._core, b._core, a._core.dtype)), a._package)


def where(like: _core.Layout, *given: Any) -> _core.Array:
    """numpy.where of three operands"""
    condition, x, y = map(operand_of, given)
    work = Work(like, [one for one in given if isinstance(one, Array)])
    return work.made(work.selected(condition, x, y, dtypes_of(np.where, given)[0]))


def isclose(a: Any, b: Any, rtol: float, atol: float, equal_nan: bool) -> Any:
    """numpy.isclose"""
    near = np.logical_and(abs(a - b * 1.0) <= atol + rtol * abs(b * 1.0), np.isfinite(b * 1.0))
    found = np.logical_or(near, np.equal(a, b))
    return np.logical_or(found, np.logical_and(np.not_equal(a, a), np.not_equal(b, b))) if equal_nan else found


def nan_to_num(x: Array, nan: float, posinf: Optional[float], neginf: Optional[float]) -> Any:
    """numpy.nan_to_num"""
    if x.dtype.kind == "c":
        raise refused("nan_to_num")
    if x.dtype.kind in "iub":
        return np.positive(x) if x.dtype.kind != "b" else np.logical_or(x, False)
    limits = np.finfo(x.dtype)
    found: Any = np.where(np.isnan(x), nan, x)
    found = np.where(x == np.inf, float(limits.max) if posinf is None else posinf, found)
    return np.where(x == -np.inf, float(limits.min) if neginf is None else neginf, found)


def round(a: Array, decimals: int) -> Any:
    """numpy.round"""
    if a.dtype.kind == "c" or (a.dtype.kind in "iub" and decimals < 0):
        raise refused("round")
    if a.dtype.kind in "iub":
        return np.positive(a) if a.dtype.kind != "b" else a.astype("float16")
    scale = 10.0 ** builtins.abs(decimals)
    return np.rint(a) if not decimals else np.rint(a * scale) / scale if decimals > 0 else np.rint(a / scale) * scale


def angle(z: Array, deg: bool = False) -> Any:
    """numpy.angle"""
    found = np.arctan2(z.imag, z.real) if z.dtype.kind == "c" else np.arctan2(0.0, z)
    return found * (180 / np.pi) if deg else found
