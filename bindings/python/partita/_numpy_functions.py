"""NumPy's functions of distributed arrays (`__array_function__`): those of the same name here."""

from __future__ import annotations

import functools
from typing import Any, Callable, Dict, Tuple

import numpy as np

from ._calls import refuse_unknown
from ._errors import TypeError

#: Names that mean something else in NumPy.
_others = {"copy", "empty", "full", "zeros", "ones", "arange", "eye", "linspace", "load", "save", "test", "from_dlpack"}
#: NumPy's other names.
_same = {"amax": "max", "amin": "min", "around": "round", "concat": "concatenate", "row_stack": "vstack"}
#: Functions of np that np.linalg has, too.
_also_in_linalg = ("cross", "matmul", "matrix_transpose", "tensordot", "vecdot")
#: What to use in the place of functions that are refused.
instead = {
    "argpartition": "argsort or topk",
    "array_equiv": "array_equal",
    "array_repr": "repr(a) or a.to_string()",
    "array_str": "a.to_string()",
    "atleast_1d": "a[None] to add a dimension",
    "atleast_2d": "a[None] to add a dimension",
    "atleast_3d": "a[None] to add a dimension",
    "block": "concatenate",
    "broadcast_arrays": "broadcast_to",
    "can_cast": "a.dtype",
    "choose": "where",
    "compress": "a[mask] or take",
    "copy": "a.copy()",
    "copyto": "a[...] = b",
    "delete": "a[mask]",
    "ediff1d": "diff",
    "extract": "a[mask]",
    "fix": "trunc",
    "insert": "concatenate",
    "iscomplexobj": "a.dtype",
    "isrealobj": "a.dtype",
    "partition": "sort or topk",
    "place": "a[mask] = values",
    "putmask": "a[mask] = values",
    "resize": "tile and reshape",
    "result_type": "a.dtype",
    "save": "partita.io.write_npy(path, a)",
    "select": "where",
}


@functools.lru_cache(maxsize=1)
def _functions() -> Dict[Any, Callable[..., Any]]:
    import partita

    from . import _diagonals, _products

    found: Dict[Any, Callable[..., Any]] = {}
    for theirs, ours in ((np, partita), (np.linalg, partita.linalg), (np.fft, partita.fft)):
        for name in ours.__all__:
            function = getattr(theirs, name, None)
            if name not in _others and callable(function) and hasattr(function, "_implementation"):
                found[function] = getattr(ours, name)
    for name, here in _same.items():
        if hasattr(np, name):
            found[getattr(np, name)] = getattr(partita, here)
    found[np.trace] = _diagonals.trace  # partita.trace is the module that records
    linalg: Dict[str, Any] = {name: getattr(partita, name) for name in _also_in_linalg}
    linalg["outer"] = _products.outer_of_vectors
    linalg["diagonal"] = lambda x, /, *, offset=0: _diagonals.diagonal(x, offset, -2, -1)
    linalg["trace"] = lambda x, /, *, offset=0, dtype=None: _diagonals.trace(x, offset, -2, -1, dtype)
    found.update({getattr(np.linalg, name): function for name, function in linalg.items() if hasattr(np.linalg, name)})
    return found


#: What NumPy makes calls of methods and attributes of.
_of_attributes = {"ndim", "shape", "size", "transpose"}


def called(function: Callable[..., Any], given: Tuple[Any, ...], options: Dict[str, Any]) -> Any:
    """The call of a function of NumPy with distributed arrays among its arguments."""
    ours = _functions().get(function)
    if ours is not None:
        refuse_unknown(ours, options)
        return ours(*given, **options)
    if function.__name__ in _of_attributes:
        return function._implementation(*given, **options)  # type: ignore[attr-defined]
    module, name = getattr(function, "__module__", "numpy").replace("numpy", "np"), function.__name__
    other = f"{instead[name]}, " if name in instead and module == "np" else ""
    raise TypeError(
        f"{module}.{name} does not support distributed arrays: use {other}.gather(), which communicates, or .local, this rank's part"
    )
