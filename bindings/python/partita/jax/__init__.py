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

__all__ = [
    "Group", "all_gather", "all_reduce", "all_to_all", "barrier", "broadcast", "fft", "fft_result", "gather", "halo", "irfft",
    "matmul", "matmul_result", "receive", "redistribute", "reduce", "reduce_scatter", "rfft", "scan", "scatter", "send",
    "send_receive",
]  # fmt: skip

_documents.complete(sys.modules[__name__], __all__, {"x": ("array or pytree", "This rank's array.")})
