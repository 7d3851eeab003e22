"""Partita inside JAX's compiled programs: collectives, messages, redistribution, products, transforms, linear algebra, ghost cells.

    import jax, jax.numpy as jnp, partita as pt, partita.jax as pj

    with pt.initialize() as ctx, pj.Group(ctx) as group:
        @jax.jit
        def step(x):
            return x / pj.all_reduce(jnp.sum(x))       # one custom call, without a callback into Python
        y = step(jnp.arange(4.0) + ctx.rank)

Each rank compiles its own program and passes its own parts. Calls are executed in the order of the program, also inside `scan`,
`while_loop` and `cond`: XLA neither reorders nor merges nor removes them. All ranks of a group make the same collective calls in the
same order. Each call has forward and reverse derivatives, as the linear map on the parts of all ranks together (docs/jax.md), and is
batched by `vmap`. An error is a JaxRuntimeError with the text of Partita's exception, on every rank of a collective call.
"""

import sys

from .. import _documents
from . import _flags as _flags
from . import linalg as linalg
from ._arrays import fft, fft_result, irfft, matmul, matmul_result, redistribute, rfft
from ._collectives import (
    all_gather,
    all_reduce,
    all_to_all,
    barrier,
    broadcast,
    gather,
    reduce,
    reduce_scatter,
    scan,
    scatter,
)
from ._group import Group
from ._halo import halo
from ._messages import receive, send, send_receive
from ._whole_arrays import fftn, ifft, ifftn, irfftn, rfftn
from ._whole_einsum import einsum

__all__ = [
    "Group", "all_gather", "all_reduce", "all_to_all", "barrier", "broadcast", "einsum", "fft", "fft_result", "fftn", "gather", "halo",
    "ifft", "ifftn", "irfft", "irfftn", "matmul", "matmul_result", "receive", "redistribute", "reduce", "reduce_scatter", "rfft", "rfftn",
    "scan", "scatter", "send", "send_receive",
]  # fmt: skip

_whole = {
    "x": ("array", "A whole array with a NamedSharding."),
    "n": ("int", "The length of lines: the array is cut, or extended by zeros, along the axis; for real results, their samples; unset: its own."),
    "s": ("sequence of int", "As `n`, of each axis."),
    "axis": ("int", "Of a whole array, the axis."),
    "axes": ("sequence of int", "The axes; unset: all, or the last ones that `s` has lengths for."),
    "out_sharding": ("NamedSharding or PartitionSpec", "The sharding of the result of whole arrays; unset: that of the operand, or `a`."),
}
_documents.complete(sys.modules[__name__], ["fftn", "ifft", "ifftn", "irfftn", "rfftn"], _whole)
_of_whole = {name: _whole[name] for name in ("n", "axis", "out_sharding")}
_documents.complete(sys.modules[__name__], __all__, {"x": ("array or pytree", "This rank's array."), **_of_whole})
