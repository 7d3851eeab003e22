"""Partita: distributed arrays on CPUs and GPUs. Partition once, compose everywhere.

    import numpy as np, partita as pt
    with pt.initialize() as ctx:                      # the ranks of mpirun or `partita run --threads`, or this process alone
        a = pt.from_local(ctx, np.ones((100, 300)), pt.Slab(0))
        b = a.T @ a                                   # communicates
        c = np.sqrt(b) + 1                            # ufuncs never communicate
        total = c.sum()

Terms in the docstrings: *collective*: all ranks of the context make the call, in the same order, with the same arguments; an error
on one rank is the same exception on all. *Blocking*: the call returns when this rank's part is done. *Local*: any rank may make the
call independently. Only one thread at a time may use a context and its arrays.
"""

import sys as _sys

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
from ._count import argwhere, bincount, count_nonzero, flatnonzero, histogram, nonzero
from ._create import arange, empty, eye, from_function, from_local, full, random, scatter, zeros
from ._errors import (
    ArgumentError,
    DisagreementError,
    Error,
    FailedContextError,
    FileError,
    LostPeerError,
    MemoryError,
    SingularError,
    TimeoutError,
    TypeError,
    UnsupportedError,
)
from ._halo import Halo
from ._linear import Matmul, dot, matmul, norm, vdot
from ._memory import SymmetricArray
from ._mesh import current_mesh
from ._quantile import TopK, median, nanmedian, nanpercentile, nanquantile, percentile, quantile, topk
from ._redistribute import Redistribute, redistribute
from ._scan import cumprod, cumsum, diff
from ._sets import isin, searchsorted, unique
from ._sort import argsort, sort
from ._spmd import spmd
from ._take import take
from ._traffic import traffic
from ._uneven import balance, from_parts

__all__ = [
    "ArgumentError", "Array", "BlockCyclic", "BlockNonCyclic", "Box", "Context", "DisagreementError", "Error",
    "FailedContextError", "FileError", "Halo", "Layout", "LostPeerError", "Matmul", "MemoryError", "Mesh", "P", "Partitioned",
    "ProcessGrid", "Redistribute", "Replicated", "SingularError", "Slab", "SymmetricArray", "TimeoutError", "TopK", "Topology",
    "TypeError", "UnsupportedError", "__version__", "all_gather", "all_reduce", "all_to_all", "arange", "argsort", "argwhere",
    "balance", "bincount", "broadcast", "count_nonzero", "cumprod", "cumsum", "current_mesh", "diff", "dot", "empty", "eye",
    "fft", "flatnonzero", "from_function", "from_local", "from_parts", "full", "gather", "histogram", "initialize", "io", "isin",
    "linalg", "matmul", "median", "mpi_description", "nanmedian", "nanpercentile", "nanquantile", "nonzero", "norm", "parse",
    "percentile", "plans", "quantile", "random", "receive", "redistribute", "reduce", "reduce_scatter", "run", "scan", "scatter",
    "scatter_from", "searchsorted", "send", "send_receive", "sort", "spectral", "spmd", "take", "topk", "trace", "traffic",
    "unique", "vdot", "zeros",
]  # fmt: skip

_documents.complete(_sys.modules[__name__], ["Array"], _documents.of_array)
_documents.complete(_sys.modules[__name__], __all__, _documents.of_context)
for _name, _parameters in _documents.of_module.items():
    _documents.complete(globals()[_name], globals()[_name].__all__, _parameters)
