"""Partita: distributed arrays on CPUs and GPUs. Partition once, compose everywhere.

    import numpy as np, partita as pt
    with pt.initialize() as ctx:                      # the ranks of mpirun or `partita run --threads`, or this process alone
        a = pt.from_local(ctx, np.ones((100, 300)), pt.Slab(0))
        b = a.T @ a                                   # communicates
        c = np.sqrt(b) + 1                            # ufuncs of arrays and numbers do not
        total = c.sum()

Terms in the docstrings: *collective*: all ranks of the context make the call, in the same order, with the same arguments; an error
on one rank is the same exception on all. *Blocking*: the call returns when this rank's part is done. *Local*: any rank may make the
call independently. Only one thread at a time may use a context and its arrays.
"""

import sys as _sys
import typing as _typing

from . import _documents, _values, fft, io, linalg, plans, spectral, trace  # noqa: F401: values are made to travel
from ._array import Array
from ._collectives import (
    all_gather,
    all_reduce,
    all_to_all,
    broadcast,
    gather,
    receive,
    reduce,
    reduce_scatter,
    scan,
    scatter_from,
    send,
    send_receive,
)
from ._context import Context, initialize, run
from ._core import (
    BlockCyclic,
    BlockNonCyclic,
    Box,
    Layout,
    Mesh,
    P,
    Partitioned,
    ProcessGrid,
    Replicated,
    Slab,
    Topology,
    mpi_description,
    parse,
)
from ._core import version as __version__
from ._calculus import corrcoef, cov, gradient, interp, trapezoid
from ._count import argwhere, bincount, count_nonzero, flatnonzero, histogram, nonzero
from ._create import arange, empty, eye, from_function, from_local, full, linspace, normal, ones, random, scatter, zeros
from ._default import default
from ._errors import (
    ArgumentError,
    DisagreementError,
    Error,
    FailedContextError,
    FileError,
    IndexError,
    LostPeerError,
    MemoryError,
    RanksError,
    SingularError,
    TimeoutError,
    TypeError,
    UnsupportedError,
)
from ._diagonals import diag, diagonal, tril, triu
from ._einsum import einsum
from ._einsum_path import einsum_path
from ._elementwise import allclose, angle, array_equal, clip, imag, isclose, nan_to_num, real, round, where
from ._extrema import argmax, argmin
from ._halo import Halo
from ._joining import append, array_split, column_stack, concatenate, dstack, hsplit, hstack, split, stack, unstack, vsplit, vstack
from ._like import empty_like, full_like, ones_like, zeros_like
from ._linear import Matmul, matmul, norm
from ._memory import SymmetricArray
from ._mesh import current_mesh
from ._nan import nanargmax, nanargmin, nancumprod, nancumsum, nanmax, nanmean, nanmin, nanprod, nanstd, nansum, nanvar
from ._places import broadcast_to, flip, fliplr, flipud, pad, repeat, roll, rot90, tile
from ._put import put, put_along_axis
from ._quantile import median, nanmedian, nanpercentile, nanquantile, percentile, quantile
from ._products import cross, dot, inner, kron, outer, tensordot, vdot, vecdot
from ._reducing_methods import Reductions as _Reductions
from ._redistribute import Redistribute, redistribute
from ._reductions import all, any, average, max, mean, min, prod, ptp, std, sum, var
from ._scan import cumprod, cumsum, cumulative_prod, cumulative_sum, diff
from ._search import digitize, isin, searchsorted
from ._sets import (
    UniqueAllResult,
    UniqueCountsResult,
    UniqueInverseResult,
    intersect1d,
    setdiff1d,
    setxor1d,
    union1d,
    unique_all,
    unique_counts,
    unique_inverse,
    unique_values,
)
from ._shapes import matrix_transpose, moveaxis, permute_dims, ravel, reshape, swapaxes
from ._sort import argsort, sort
from ._spmd import spmd
from ._take import take, take_along_axis
from ._topk import TopK, topk
from ._traffic import traffic
from ._uneven import balance, from_parts
from ._unique import unique
from ._views import expand_dims, squeeze

if _typing.TYPE_CHECKING:
    from . import ranks  # noqa: F401
    from .ranks import Ranks, load_ipython_extension  # noqa: F401
else:

    def __getattr__(name):
        """The ranks of notebooks, which other programs need not import. IPython looks here for `load_ipython_extension`."""
        if name not in ("ranks", "Ranks", "load_ipython_extension"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        module = import_module(".ranks", __name__)
        globals().update(ranks=module, Ranks=module.Ranks, load_ipython_extension=module.load_ipython_extension)
        _documents.complete(module, ["Ranks"], _documents.of_context)
        return globals()[name]

    def __dir__():
        return sorted({*globals(), "Ranks", "ranks"})


__all__ = [
    "ArgumentError", "Array", "BlockCyclic", "BlockNonCyclic", "Box", "Context", "DisagreementError", "Error", "FailedContextError",
    "FileError", "Halo", "IndexError", "Layout", "LostPeerError", "Matmul", "MemoryError", "Mesh", "P", "Partitioned", "ProcessGrid", "Ranks", "RanksError", "Redistribute",
    "Replicated", "SingularError", "Slab", "SymmetricArray", "TimeoutError", "TopK", "Topology", "TypeError", "UniqueAllResult",
    "UniqueCountsResult", "UniqueInverseResult", "UnsupportedError", "__version__", "all", "all_gather", "all_reduce", "all_to_all",
    "allclose", "angle", "any", "append", "arange", "argmax", "argmin", "argsort", "argwhere", "array_equal", "array_split", "average", "balance",
    "bincount", "broadcast", "broadcast_to", "clip", "column_stack", "concatenate", "corrcoef", "count_nonzero", "cov", "cross", "cumprod", "cumsum", "cumulative_prod",
    "cumulative_sum", "current_mesh", "default", "diag", "diagonal", "diff", "digitize", "dot", "dstack", "einsum", "einsum_path", "empty",
    "empty_like", "expand_dims", "eye", "fft", "flatnonzero", "flip", "fliplr", "flipud", "from_function", "from_local", "from_parts", "full",
    "full_like", "gather", "gradient", "histogram", "hsplit", "hstack", "imag", "initialize", "inner", "interp", "intersect1d", "io", "isclose", "isin", "kron",
    "linalg", "linspace", "matmul", "matrix_transpose", "max", "mean", "median", "min", "moveaxis", "mpi_description", "nan_to_num",
    "nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmedian", "nanmin", "nanpercentile", "nanprod", "nanquantile", "nanstd", "nansum",
    "nanvar", "nonzero", "norm", "normal", "ones", "ones_like", "outer", "pad", "parse", "percentile", "permute_dims", "plans", "prod",
    "ptp", "put", "put_along_axis", "quantile", "random", "ravel", "real", "receive", "redistribute", "reduce", "reduce_scatter", "repeat", "reshape", "roll",
    "rot90", "round", "run", "scan", "scatter", "scatter_from", "searchsorted", "send", "send_receive", "setdiff1d", "setxor1d", "sort",
    "spectral", "split", "spmd", "squeeze", "stack", "std", "sum", "swapaxes", "take", "take_along_axis", "tensordot", "tile", "topk",
    "trace", "traffic", "trapezoid", "tril", "triu", "union1d", "unique", "unique_all", "unique_counts", "unique_inverse", "unique_values", "unstack",
    "var", "vdot", "vecdot", "vsplit", "vstack", "where", "zeros", "zeros_like",
]  # fmt: skip

_documents.complete(_sys.modules[__name__], ["Array"], _documents.of_array)
_documents.complete(_Reductions, [_name for _name in vars(_Reductions) if not _name.startswith("_")], _documents.of_array)
_documents.complete(_sys.modules[__name__], __all__, _documents.of_context)
for _name, _parameters in _documents.of_module.items():
    _documents.complete(globals()[_name], globals()[_name].__all__, _parameters)
