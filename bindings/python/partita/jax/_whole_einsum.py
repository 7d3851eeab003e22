"""Einstein's summation of whole arrays: a path of products of two arrays, each by one product of matrices."""

from __future__ import annotations

from typing import Any, FrozenSet, Hashable, Optional, Sequence

import jax  # type: ignore[import-not-found,unused-ignore]
import jax.numpy as jnp  # type: ignore[import-not-found,unused-ignore]

from .._contraction import Steps, summed
from .._einsum_terms import as_matrices, labels_of
from .._errors import ArgumentError
from ._group import Group, chosen, collective
from ._precision import compute_of
from ._whole_arrays import known_sharding, moved, multiplied, on_mesh


def _cut_labels(subscripts: str, arrays: Sequence[Any]) -> FrozenSet[Hashable]:
    """Those of dimensions that are known to be cut here: within a program the compiler may choose."""
    cut = set()
    for one, term in zip(arrays, labels_of(subscripts, arrays)):
        sharding = known_sharding(one)
        cut |= {label for label, axes in zip(term, sharding.spec if sharding is not None else ()) if axes}
    return frozenset(cut)


def _steps(precision: Any, cut: FrozenSet[Hashable], group: Group) -> Steps:
    def product(a: Any, b: Any) -> Any:
        if a.shape[-1] == 1:  # nothing is summed
            return a * b
        if a.ndim > 2:  # of dimensions that both operands keep: what is cut along them is multiplied where it is
            return jnp.matmul(a, b, precision=precision)
        return multiplied(a, b, precision=precision, group=group)

    return Steps(
        lambda a, axes: a.sum(tuple(axes), dtype=a.dtype), jnp.diagonal, jnp.expand_dims, jnp.squeeze, jnp.reshape, product, cut
    )  # fmt: skip


@collective
def einsum(
    subscripts: str, *operands: Any, optimize: Any = True, precision: Any = None, out_sharding: Any = None, group: Optional[Group] = None
) -> jax.Array:
    """Sums of products of whole arrays, in Einstein's notation. Collective.

    Two arrays at a time are multiplied, in the order of opt_einsum, which JAX uses too: by `matmul`, or by JAX's own product if both operands and the
    result have a dimension in common. Dimensions that are kept or summed together are merged, distributed ones first as far as shardings
    are known (of operands outside `jit`, and of meshes with explicit axes); if a dimension behind another one is distributed, the compiler
    moves it.

    Parameters
    ----------
    subscripts : str
        Labels of the dimensions: 'ij,jk->ik', '...i,i', 'ii->i'.
    operands : array
        Whole arrays with a NamedSharding.
    optimize : bool or str
        The search for the order, as in jax.numpy.einsum; False: from left to right.
    precision : str, jax.lax.Precision, optional
        As for `matmul`.
    out_sharding : NamedSharding or PartitionSpec, optional
        The sharding of the result; unset: that of the last product.

    Returns
    -------
    array
        In JAX's common dtype.
    """
    if not isinstance(subscripts, str):
        raise ArgumentError("einsum: subscripts: expected str, such as 'ij,jk->ik'")
    among, given = chosen(group), [jnp.asarray(one) for one in operands]
    dtype = jnp.result_type(*given)
    compute_of("einsum", precision, dtype)
    given = [one.astype(dtype) for one in given]
    out = on_mesh("einsum", out_sharding, *given)
    flips = as_matrices(subscripts) if [one.ndim for one in given] == [2, 2] else None
    if flips is not None and given[0].shape[0 if flips[0] else 1] == given[1].shape[1 if flips[1] else 0]:
        a, b, (flip_a, flip_b, is_flipped) = given[0], given[1], flips
        if is_flipped:  # (A B)^T = B^T A^T
            a, b, flip_a, flip_b = b, a, not flip_b, not flip_a
        return multiplied(a, b, flip_a, flip_b, precision=precision, out=out, group=among)
    cut = _cut_labels(subscripts, given)

    def program(*arrays: Any) -> Any:
        found = summed(subscripts, list(arrays), optimize, _steps(precision, cut, among))
        return found if out is None else moved(found, out, among)

    if any(isinstance(one, jax.core.Tracer) for one in given):
        return program(*given)  # type: ignore[no-any-return]
    key = ("einsum", subscripts, optimize, precision, out, cut, tuple((one.shape, str(one.dtype)) for one in given))
    found: jax.Array = among._programs.find_or_make(key, lambda: jax.jit(program))(*given)
    return found
