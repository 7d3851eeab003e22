"""The array API standard, version 2025.12 (https://data-apis.org/array-api/2025.12), on distributed arrays.

Functions that make arrays use the context and distribution of ``with partita.default(context, distribution):``. Arrays are `partita.Array`;
``array.__array_namespace__()`` is this module. Inside of the default distribution operands in different layouts are redistributed. All calls are
collective, unless their operands have equal layouts; all ranks make the same calls.
"""

import numpy as _np

from .. import _documents
from .._joining import unstack
from .._sets import unique_all, unique_counts, unique_inverse, unique_values
from . import fft, linalg
from ._creation import (
    arange,
    empty,
    empty_like,
    eye,
    from_dlpack,
    full,
    full_like,
    linspace,
    meshgrid,
    ones,
    ones_like,
    tril,
    triu,
    zeros,
    zeros_like,
)
from ._functions import (
    all,
    any,
    argmax,
    argmin,
    argsort,
    broadcast_arrays,
    broadcast_shapes,
    broadcast_to,
    clip,
    concat,
    conj,
    count_nonzero,
    cumulative_prod,
    cumulative_sum,
    diff,
    expand_dims,
    flip,
    imag,
    isin,
    matmul,
    matrix_transpose,
    max,
    mean,
    min,
    moveaxis,
    nonzero,
    permute_dims,
    prod,
    real,
    repeat,
    reshape,
    roll,
    round,
    searchsorted,
    sign,
    signbit,
    sort,
    squeeze,
    stack,
    std,
    sum,
    take,
    take_along_axis,
    tensordot,
    tile,
    var,
    vecdot,
    where,
)
from ._scalars import asarray, elementwise as _elementwise
from ._types import astype, can_cast, finfo, iinfo, isdtype, names as _names, result_type
from ._types import information as __array_namespace_info__

__array_api_version__ = "2025.12"
e, inf, nan, newaxis, pi = _np.e, _np.inf, _np.nan, None, _np.pi

#: The ufuncs of NumPy that have other names.
_others = {
    "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan", "atan2": "arctan2", "atanh": "arctanh",
    "bitwise_invert": "invert", "bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift", "pow": "power",
}  # fmt: skip
_ufuncs = [
    *_others, "abs", "add", "bitwise_and", "bitwise_or", "bitwise_xor", "ceil", "copysign", "cos", "cosh", "divide", "equal", "exp", "expm1",
    "floor", "floor_divide", "greater", "greater_equal", "hypot", "isfinite", "isinf", "isnan", "less", "less_equal", "log", "log10", "log1p",
    "log2", "logaddexp", "logical_and", "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "multiply", "negative",
    "nextafter", "not_equal", "positive", "reciprocal", "remainder", "sin", "sinh", "sqrt", "square", "subtract", "tan", "tanh", "trunc",
]  # fmt: skip
for _name in _ufuncs:
    globals()[_name] = _elementwise(getattr(_np, _others.get(_name, _name)), _name, f"{_name}, element by element.")
for _name in _names:
    globals()[_name] = _np.dtype(_name)

__all__ = [
    "__array_api_version__", "__array_namespace_info__", "all", "any", "arange", "argmax", "argmin", "argsort", "asarray", "astype",
    "broadcast_arrays", "broadcast_shapes", "broadcast_to", "can_cast", "clip", "concat", "conj", "count_nonzero", "cumulative_prod", "cumulative_sum", "diff",
    "e", "empty", "empty_like", "expand_dims", "eye", "fft", "finfo", "flip", "from_dlpack", "full", "full_like", "iinfo", "imag", "inf",
    "isdtype", "isin", "linalg", "linspace", "matmul", "matrix_transpose", "max", "mean", "meshgrid", "min", "moveaxis", "nan", "newaxis", "nonzero",
    "ones", "ones_like", "permute_dims", "pi", "prod", "real", "repeat", "reshape", "result_type", "roll", "round", "searchsorted", "sign",
    "signbit", "sort", "squeeze", "stack", "std", "sum", "take", "take_along_axis", "tensordot", "tile", "tril", "triu", "unique_all",
    "unique_counts", "unique_inverse", "unique_values", "unstack", "var", "vecdot", "where", "zeros", "zeros_like", *_ufuncs, *_names,
]  # fmt: skip

#: Of functions that communicate only where ufuncs do, or never.
_like_ufuncs = {name: "Local if the layouts are equal." for name in ("conj", "imag", "real", "sign", "signbit")}
_local = {name: "Local." for name in ("matrix_transpose", "moveaxis", "permute_dims")}
for _module, _exported in ((globals(), __all__), (vars(linalg), linalg.__all__), (vars(fft), fft.__all__)):
    _documents.state_callers(_module, _exported, {**_like_ufuncs, **_local})
