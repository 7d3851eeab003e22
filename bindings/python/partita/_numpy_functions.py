"""NumPy's functions of distributed arrays (`__array_function__`): those of the same name here."""

from __future__ import annotations

import functools
from typing import Any, Callable, Dict, Tuple

import numpy as np

from ._errors import TypeError

#: Names that mean something else in NumPy.
_others = {"copy", "empty", "full", "zeros", "ones", "arange", "eye", "linspace", "load", "save", "test", "from_dlpack"}
#: NumPy's other names.
_same = {"amax": "max", "amin": "min", "around": "round", "concat": "concatenate", "row_stack": "vstack"}


@functools.lru_cache(maxsize=1)
def _functions() -> Dict[Any, Callable[..., Any]]:
    import partita

    from . import _diagonals

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
    return found


#: What NumPy makes calls of methods and attributes of.
_of_attributes = {"ndim", "shape", "size", "transpose"}


def called(function: Callable[..., Any], given: Tuple[Any, ...], options: Dict[str, Any]) -> Any:
    """The call of a function of NumPy with distributed arrays among its arguments."""
    ours = _functions().get(function)
    if ours is not None:
        return ours(*given, **options)
    if function.__name__ in _of_attributes:
        return function._implementation(*given, **options)  # type: ignore[attr-defined]
    raise TypeError(
        f"{getattr(function, '__module__', 'numpy').replace('numpy', 'np')}.{function.__name__} does not support distributed arrays: use .gather(), "
        "which communicates, or .local, this rank's part"
    )
