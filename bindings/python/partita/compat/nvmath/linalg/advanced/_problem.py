"""A product as all ranks see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from ..... import _core
from ....._errors import UnsupportedError
from ..._agreement import require_alike
from ..._context import current
from ..._internal.tensor_wrapper import wrap_operand
from ...distribution import BlockNonCyclic, Box, Distribution, Slab
from ...distribution._base import Shape, layout_of, require_one_rule
from ._configuration import MatmulOptions, matrix_qualifiers_dtype
from ._enums import MatmulAlgoType
from ._scales import check_scales, given_scales
from ._types import Types, types_of

_ops = {(0, 0): "none", (1, 0): "transpose", (1, 1): "conjugate-transpose", (0, 1): "conjugate"}


@dataclass
class MMTraits:
    """The extents of op(A), [M, K], and op(B), [K, N]."""

    M: int
    N: int
    K: int


@dataclass
class Spec:
    """What a rank tells the others."""

    shapes: List[Shape]
    dtypes: List[str]
    packages: List[str]
    devices: List[Any]
    distributions: List[Distribution]
    ops: Tuple[str, str]
    factors: str
    rest: Tuple[Any, ...]


def _op(name: str, qualifier: Any, tensor: Any) -> str:
    conjugate = bool(qualifier["is_conjugate"]) != tensor.is_conjugate
    if conjugate and not tensor.dtype.startswith("complex"):
        raise ValueError(f"qualifiers: {name} is real, but is_conjugate requires complex operands")
    return _ops[int(bool(qualifier["is_transpose"])), int(conjugate)]


def _qualified(qualifiers: Any, operands: Sequence[Any]) -> Tuple[str, str]:
    if qualifiers is None:
        qualifiers = np.zeros(3, matrix_qualifiers_dtype)
    if getattr(qualifiers, "dtype", None) != matrix_qualifiers_dtype or len(qualifiers) != 3:
        raise ValueError("qualifiers: expected an array of 3 elements of matrix_qualifiers_dtype, for A, B and C")
    if any(one["structure"] for one in qualifiers):
        raise UnsupportedError("qualifiers: structure is not supported; all operands are general matrices")
    if qualifiers[2]["is_transpose"] or qualifiers[2]["is_conjugate"]:
        raise ValueError("qualifiers: C cannot be transposed or conjugated")
    return _op("A", qualifiers[0], operands[0]), _op("B", qualifiers[1], operands[1])


def _types_of(options: MatmulOptions, dtypes: Sequence[str], scales: Any) -> Types:
    """What is not offered is refused."""
    if options.sm_count_communication is not None:
        raise UnsupportedError("sm_count_communication: the number of multiprocessors for communication cannot be set in Partita")
    types = types_of(options, dtypes)
    check_scales(options, dtypes, types.result or dtypes[0], scales)
    return types


def factors_of(types: Types, alpha: Any, beta: Any) -> Tuple[complex, complex]:
    """alpha, by default 1, and beta, by default 0."""
    return types.factor("alpha", 1 if alpha is None else alpha), types.factor("beta", 0 if beta is None else beta)


def spec_of(
    operands: Sequence[Any], distributions: Any, alpha: Any, beta: Any, qualifiers: Any, scales: Any, options: MatmulOptions
) -> Spec:
    """Of this rank. ValueError, TypeError or UnsupportedError: what is wrong with it alone."""
    tensors = [wrap_operand(one) for one in operands]
    types = _types_of(options, [one.dtype for one in tensors], scales)
    if not isinstance(distributions, Sequence) or len(distributions) != 3 or not all(isinstance(one, Distribution) for one in distributions):
        raise ValueError("distributions: expected three, of A, of B, and of C and D")
    if any(len(one.shape) != 2 for one in tensors):
        raise ValueError(f"expected matrices, got operands of shapes {[one.shape for one in tensors]}")
    if len(tensors) == 3 and beta is None:
        raise ValueError("beta: required with C")
    if len(tensors) == 2 and beta is not None:
        raise ValueError("beta: requires C")
    return Spec(
        [one.shape for one in tensors],
        [one.dtype for one in tensors],
        [one.name for one in tensors],
        ["cpu" if one.device == "cpu" else "cuda" for one in tensors],
        [one.copy() for one in distributions],
        _qualified(qualifiers, tensors),
        str(factors_of(types, alpha, beta)),
        (
            len(tensors), options.inplace, options.compute_type, options.scale_type, options.result_type,
            options.algo_type, options.result_amax, sorted(given_scales(scales)),
        ),  # fmt: skip
    )


def settle(specs: List[Spec]) -> Tuple[_core.Layout, _core.Layout, MMTraits]:
    """The layouts of A and B. Local: all ranks know what all have given.

    Raises
    ------
    ValueError, BindDistributionError
        Specifications that do not go together.
    """
    require_alike("the number of operands or options are", [one.rest for one in specs])
    require_alike("alpha and beta are", [one.factors for one in specs])
    require_alike("the dtypes of the operands are", [one.dtypes for one in specs])
    require_alike("the packages of the operands are", [one.packages for one in specs])
    require_alike("the memory spaces of the operands are", [one.devices for one in specs])
    require_alike("the qualifiers are", [one.ops for one in specs])
    if len(set(specs[0].packages)) != 1 or len(set(specs[0].devices)) != 1:
        raise ValueError(f"expected operands of one package in one memory space, got {specs[0].packages} on {specs[0].devices}")
    a, b = (layout_of("AB"[i], [one.distributions[i] for one in specs], [one.shapes[i] for one in specs]) for i in (0, 1))
    m, k = a.shape if "transpose" not in specs[0].ops[0] else a.shape[::-1]
    k_of_b, n = b.shape if "transpose" not in specs[0].ops[1] else b.shape[::-1]
    if k != k_of_b:
        raise ValueError(f"K is {k} in A and {k_of_b} in B")
    require_one_rule("D", [one.distributions[2] for one in specs])
    return a, b, MMTraits(m, n, k)


def layout_of_d(specs: List[Spec], traits: MMTraits, all_reduce: bool) -> _core.Layout:
    """Of the result: as the third distribution says, or whole on every rank."""
    everyone = [one.distributions[2] for one in specs]
    for one in everyone:
        one._suits("D", 2, one.box_shape if isinstance(one, Box) else ())
    rule = _core.Replicated() if all_reduce else everyone[0]._rule(everyone)
    return _core.Layout(rule, (traits.M, traits.N), len(specs))


def layout_of_c(specs: List[Spec], traits: MMTraits, all_reduce: bool) -> Optional[_core.Layout]:
    """As the parts are; ValueError where they are not C's. None without a C."""
    if len(specs[0].shapes) < 3:
        return None
    wanted = (traits.M, traits.N)
    shapes = [one.shapes[2] for one in specs]
    if all_reduce:
        if any(shape != wanted for shape in shapes):
            raise ValueError(f"C: with ALLREDUCE every rank needs one of shape {wanted}, got {shapes}")
        return _core.Layout(_core.Replicated(), wanted, len(specs))
    layout = layout_of("C", [one.distributions[2] for one in specs], shapes)
    if tuple(layout.shape) != wanted:
        raise ValueError(f"C: has shape {tuple(layout.shape)}, but the product has {wanted}")
    return layout


def algorithm(distributions: Sequence[Distribution], ops: Sequence[str], traits: MMTraits, all_reduce: bool) -> int:
    """cuBLASMp's number for the algorithm that multiplies matrices with these distributions: 5 on one process, 4 with ALLREDUCE, 3 gathering an operand,
    2 scattering partial sums, 0 any other of matrices that are cut along one dimension, and -1 otherwise."""
    cuts = [_cut(one) for one in distributions]
    ranks = cuts[0][1]
    if ranks == 1:
        return 5
    axes = [axis for axis, _ in cuts]
    turned = ["transpose" in op for op in ops]
    shapes = [(traits.K, traits.M) if turned[0] else (traits.M, traits.K), (traits.N, traits.K) if turned[1] else (traits.K, traits.N)]
    shapes.append((traits.M, traits.N))
    if None in axes or any(shape[axis or 0] % ranks for shape, axis in zip(shapes, axes)):
        return -1
    if all_reduce:
        return 4
    of_op = [axis if not flip else 1 - (axis or 0) for axis, flip in zip(axes, [*turned, False])]
    return {(0, 1, 0): 3, (1, 0, 1): 2}.get((of_op[0] or 0, of_op[1] or 0, of_op[2] or 0), 0)


def _cut(one: Distribution) -> Tuple[Optional[int], int]:
    """Along which axis alone it is cut, if it is, and the number of processes."""
    size = current().process_group.nranks
    if isinstance(one, Slab):
        return one.partition_dim, size
    if isinstance(one, BlockNonCyclic) and one._is_1d_distribution():
        return one.process_grid.shape.index(size), size
    return None, size


def method_of(hint: Optional[int], number: int) -> str:
    """Of an algo_type: Partita's method, where the distributions have the one that is meant."""
    if hint not in (MatmulAlgoType.SPLIT_P2P, MatmulAlgoType.ATOMIC_P2P):
        return "automatic"
    return {5: "local", 4: "all-reduce", 3: "all-gather", 2: "reduce-scatter"}.get(number, "automatic")
