"""Redistribution, Fourier transforms and products of whole arrays with a NamedSharding."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

import jax  # type: ignore[import-not-found,unused-ignore]
import jax.numpy as jnp  # type: ignore[import-not-found,unused-ignore]
import numpy as np

from .._adjoints import opposite_norm
from .._errors import ArgumentError
from ._group import Group, chosen, collective
from ._precision import compute_of
from ._program import ad, no_tangent
from ._sharded import NamedSharding, Operation, Spec, explicit_sharding, linear_of_whole, operation_of, zero_of


def names_of_dimensions(prefix: str, dimensions: int) -> List[str]:
    return [f"{prefix}{i}" for i in range(dimensions)]


def known_sharding(x: Any) -> Optional[Any]:
    """The NamedSharding of an array, if it is known here: outside of programs, and on meshes with explicit axes."""
    found = explicit_sharding(getattr(jax, "typeof")(x)) or (None if isinstance(x, jax.core.Tracer) else getattr(x, "sharding", None))
    return found if isinstance(found, NamedSharding) else None


def on_mesh(what: str, out: Any, *operands: Any) -> Any:
    """The wanted sharding; a PartitionSpec is one on the mesh of the first operand whose sharding is known."""
    if out is None or isinstance(out, NamedSharding):
        return out
    if not isinstance(out, Spec):
        raise ArgumentError(f"{what}: expected a NamedSharding or PartitionSpec, got {type(out).__name__}")
    own = next((found for found in map(known_sharding, operands) if found is not None), None)
    if own is None:
        raise ArgumentError(f"{what}: {out} has no mesh, as the operand has no NamedSharding here: pass NamedSharding(mesh, {out})")
    return NamedSharding(own.mesh, out)


# --- redistribution

_redistribute: Any = operation_of(
    Operation(
        "redistribute", "redistribute", ("source",), ("destination",),
        describe=lambda x, **_: [(x.shape, x.dtype)],
        typed=lambda x, **_: [explicit_sharding(x)],
        dimensions=lambda x, **_: f"{' '.join(names_of_dimensions('i', x.ndim))} -> {' '.join(names_of_dimensions('j', x.ndim))}",
    )
)  # fmt: skip


def _redistribute_back(cotangent: Any, x: Any, group: Group, out: Any) -> Any:
    """The values do not change. The compiler chooses the sharding of the cotangent if the operand's type has none."""
    back = explicit_sharding(x)
    return cotangent if back is None else _redistribute.bind(cotangent, group=group, out=back)


linear_of_whole(_redistribute, _redistribute_back)


def redistribute(x: Any, out: Any, group: Optional[Group]) -> jax.Array:
    x = jnp.asarray(x)
    return moved(x, on_mesh("redistribute", out, x), chosen(group))


def moved(x: Any, out: Any, group: Group) -> jax.Array:
    found: jax.Array = _redistribute.bind(x, group=group, out=out)
    return found


# --- Fourier transforms


def _of_transform(x: Any, kind: str, axes: Tuple[int, ...], length: int, **_: Any) -> List[Any]:
    shape, dtype = list(x.shape), x.dtype
    if kind == "r2c":
        shape[axes[-1]] = shape[axes[-1]] // 2 + 1
        dtype = jnp.result_type(dtype, jnp.complex64)
    if kind == "c2r":
        shape[axes[-1]] = length
        dtype = np.zeros(0, dtype).real.dtype
    return [(tuple(shape), dtype)]


def _dimensions_of_transform(x: Any, kind: str, axes: Tuple[int, ...], out: Any, **_: Any) -> str:
    before = names_of_dimensions("i", x.ndim)
    after = list(before) if out is None else names_of_dimensions("j", x.ndim)
    if kind != "c2c":  # another extent
        after[axes[-1]] = "half"
    return f"{' '.join(before)} -> {' '.join(after)}"


_transform: Any = operation_of(
    Operation(
        "fft", "fft", ("source",), ("destination",), describe=_of_transform, typed=lambda x, **_: [explicit_sharding(x)],
        dimensions=_dimensions_of_transform,
    )
)  # fmt: skip


def _weights(length: int, inside: float, x: Any, axis: int) -> Any:
    """1 for elements of a half spectrum of `length` that represent only themselves, `inside` for others."""
    places = np.arange(length // 2 + 1)
    shape = [1] * x.ndim
    shape[axis] = len(places)
    return jnp.asarray(np.where((places == 0) | (2 * places == length), 1.0, inside).reshape(shape), np.zeros(0, x.dtype).real.dtype)


def _transform_back(
    cotangent: Any, x: Any, group: Group, kind: str, inverse: int, axes: Tuple[int, ...], norm: str, length: int, out: Any
) -> Any:
    back = {"group": group, "axes": axes, "out": explicit_sharding(x)}
    if kind == "c2c":  # the transform's matrix is symmetric
        return _transform.bind(cotangent, kind=kind, inverse=inverse, norm=norm, length=0, **back)
    opposite, along = opposite_norm(norm), axes[-1]
    if kind == "r2c":
        n = x.shape[along]
        half = jnp.conj(cotangent) * _weights(n, 0.5, cotangent, along)
        return _transform.bind(half, kind="c2r", inverse=0, norm=opposite, length=n, **back)
    found = _transform.bind(cotangent, kind="r2c", inverse=0, norm=opposite, length=0, **back)
    return jnp.conj(found * _weights(length, 2.0, found, along))


linear_of_whole(_transform, _transform_back)


#: Of the transformed axes: the array is cut, or extended by zeros, before the transform. None: its own extents.
Lengths = Optional[Sequence[int]]


def transformed(
    what: str, x: Any, axes: Optional[Sequence[int]], norm: Optional[str], out: Any, group: Optional[Group], kind: str,
    inverse: bool = False, lengths: Lengths = None,
) -> jax.Array:  # fmt: skip
    among, x = chosen(group), jnp.asarray(x)
    if kind == "r2c" and jnp.iscomplexobj(x):
        raise ArgumentError(f"{what}: expected real numbers, got {x.dtype}; fft transforms complex ones")
    if kind != "r2c" and not jnp.iscomplexobj(x):
        x = x.astype(jnp.result_type(x.dtype, jnp.complex64))
    if kind == "r2c" and not jnp.issubdtype(x.dtype, jnp.floating):
        x = x.astype(jnp.result_type(float))
    along = _axes(what, axes, lengths, x.ndim)
    x, samples = _resized(what, x, lengths, along, kind)
    found: jax.Array = _transform.bind(
        x, group=among, kind=kind, inverse=int(inverse), axes=along, norm=norm or "backward", length=samples, out=on_mesh(what, out, x)
    )
    return found


def _axes(what: str, axes: Optional[Sequence[int]], lengths: Lengths, dimensions: int) -> Tuple[int, ...]:
    if axes is None:
        axes = range(0 if lengths is None else dimensions - len(lengths), dimensions)
    along = tuple(int(axis) + dimensions if axis < 0 else int(axis) for axis in axes)
    if not along or not all(0 <= axis < dimensions for axis in along) or len(set(along)) < len(along):
        raise ArgumentError(f"{what}: axes {tuple(axes)} of an array of {dimensions} dimensions: expected different axes, at least one")
    if lengths is not None and len(lengths) != len(along):
        raise ArgumentError(f"{what}: {len(lengths)} lengths for {len(along)} axes")
    return along


def _resized(what: str, x: Any, lengths: Lengths, along: Tuple[int, ...], kind: str) -> Tuple[Any, int]:
    """The array, cut or extended by zeros to the lengths, and the samples of a result of real numbers."""
    wanted = list(lengths) if lengths is not None else [x.shape[axis] for axis in along]
    samples = 0
    if kind == "c2r":
        samples = wanted[-1] if lengths is not None else 2 * (x.shape[along[-1]] - 1)
        wanted[-1] = samples // 2 + 1
    if min([*wanted, samples if kind == "c2r" else 1]) < 1:
        raise ArgumentError(f"{what}: a length is {min([*wanted, samples])}, but a line has at least one element")
    for axis, length in zip(along, wanted):
        have = x.shape[axis]
        if length < have:
            x = jax.lax.slice_in_dim(x, 0, length, axis=axis)
        elif length > have:
            x = jnp.pad(x, [(0, length - have if one == axis else 0) for one in range(x.ndim)])
    return x, samples


def line(n: Optional[int]) -> Lengths:
    return None if n is None else (n,)


@collective
def ifft(
    x: Any, n: Optional[int] = None, axis: int = -1, norm: Optional[str] = None, *, out_sharding: Any = None, group: Optional[Group] = None
) -> jax.Array:
    """The inverse of `fft` of a whole array, along one axis. Collective."""
    return transformed("ifft", x, (axis,), norm, out_sharding, group, "c2c", True, line(n))


@collective
def fftn(
    x: Any, s: Lengths = None, axes: Optional[Sequence[int]] = None, norm: Optional[str] = None, *, out_sharding: Any = None,
    group: Optional[Group] = None,
) -> jax.Array:  # fmt: skip
    """The Fourier transform of a whole array, as `jax.numpy.fft.fftn`, of any sharding. Collective."""
    return transformed("fftn", x, axes, norm, out_sharding, group, "c2c", False, s)


@collective
def ifftn(
    x: Any, s: Lengths = None, axes: Optional[Sequence[int]] = None, norm: Optional[str] = None, *, out_sharding: Any = None,
    group: Optional[Group] = None,
) -> jax.Array:  # fmt: skip
    """The inverse of `fftn`. Collective."""
    return transformed("ifftn", x, axes, norm, out_sharding, group, "c2c", True, s)


@collective
def rfftn(
    x: Any, s: Lengths = None, axes: Optional[Sequence[int]] = None, norm: Optional[str] = None, *, out_sharding: Any = None,
    group: Optional[Group] = None,
) -> jax.Array:  # fmt: skip
    """The transform of a whole array of real numbers: half the spectrum along the last of the axes. Collective."""
    return transformed("rfftn", x, axes, norm, out_sharding, group, "r2c", False, s)


@collective
def irfftn(
    x: Any, s: Lengths = None, axes: Optional[Sequence[int]] = None, norm: Optional[str] = None, *, out_sharding: Any = None,
    group: Optional[Group] = None,
) -> jax.Array:  # fmt: skip
    """The inverse of `rfftn`; without `s`, an even number of samples along the last of the axes. Collective."""
    return transformed("irfftn", x, axes, norm, out_sharding, group, "c2r", True, s)


# --- products


def _sides(op_a: str, op_b: str) -> Tuple[int, int]:
    """The dimensions of the operands that the product has."""
    return (0 if op_a == "none" else 1), (1 if op_b == "none" else 0)


def _of_product(a: Any, b: Any, op_a: str, op_b: str, **_: Any) -> List[Any]:
    rows, columns = _sides(op_a, op_b)
    return [((a.shape[rows], b.shape[columns]), a.dtype)]


def _typed_product(a: Any, b: Any, op_a: str, op_b: str, **_: Any) -> List[Any]:
    """Rows as those of A, columns as those of B if the same mesh axes do not cut the rows."""
    given = [explicit_sharding(one) for one in (a, b)]
    mesh = next(one.mesh for one in given if one is not None)
    rows, columns = (
        None if one is None or side >= len(one.spec) else one.spec[side] for one, side in zip(given, _sides(op_a, op_b))
    )
    taken = set(rows if isinstance(rows, tuple) else (rows,))
    if columns is not None and taken & set(columns if isinstance(columns, tuple) else (columns,)):
        columns = None
    return [NamedSharding(mesh, Spec(rows, columns))]


def _dimensions_of_product(a: Any, b: Any, op_a: str, op_b: str, out: Any, **_: Any) -> str:
    of_a, of_b = ["i", "k"], ["l", "j"]
    after = "i j" if out is None else "m n"
    return f"{' '.join(of_a if op_a == 'none' else of_a[::-1])}, {' '.join(of_b if op_b == 'none' else of_b[::-1])} -> {after}"


_multiply: Any = operation_of(
    Operation(
        "matmul", "matmul", ("layout_a", "layout_b"), ("d",), describe=_of_product, typed=_typed_product, dimensions=_dimensions_of_product
    )
)
_flipped = {"none": "transpose", "transpose": "none"}


def _multiply_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    (a, b), (da, db) = primals, tangents
    found = _multiply.bind(a, b, **params)
    terms = [] if isinstance(da, ad.Zero) else [_multiply.bind(da, b, **params)]
    terms += [] if isinstance(db, ad.Zero) else [_multiply.bind(a, db, **params)]
    return found, sum(terms[1:], terms[0]) if terms else no_tangent(found)


def _multiply_back(cotangent: Any, a: Any, b: Any, *, op_a: str, op_b: str, out: Any, **params: Any) -> Any:
    if isinstance(cotangent, ad.Zero):
        return zero_of(a), zero_of(b)
    given = cotangent

    def product(left: Any, right: Any, ops: Tuple[str, str], like: Any) -> Any:
        return _multiply.bind(left, right, op_a=ops[0], op_b=ops[1], out=explicit_sharding(like.aval), **params)

    if ad.is_undefined_primal(a):
        if op_a == "none":  # A' = D' op(B)^T
            return product(given, b, ("none", _flipped[op_b]), a), None
        return product(b, given, (op_b, "transpose"), a), None  # A' = op(B) D'^T
    if op_b == "none":  # B' = op(A)^T D'
        return None, product(a, given, (_flipped[op_a], "none"), b)
    return None, product(given, a, ("transpose", op_a), b)  # B' = D'^T op(A)


ad.primitive_jvps[_multiply] = _multiply_jvp
ad.primitive_transposes[_multiply] = _multiply_back


def multiplied(
    a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, bias: Any = None, activation: Optional[str] = None,
    precision: Any = None, out: Any = None, group: Optional[Group] = None,
) -> jax.Array:  # fmt: skip
    among, a, b = chosen(group), jnp.asarray(a), jnp.asarray(b)
    if a.dtype != b.dtype:
        raise ArgumentError(f"matmul: the dtypes {a.dtype} and {b.dtype} differ or are not supported")
    if a.ndim != 2 or b.ndim != 2:
        raise ArgumentError(f"matmul: expected matrices, got arrays of shapes {a.shape} and {b.shape}; use jax.vmap for batches")
    op_a, op_b = ("transpose" if one else "none" for one in (transpose_a, transpose_b))
    rows, columns = _sides(op_a, op_b)
    if a.shape[1 - rows] != b.shape[1 - columns]:
        given = ", transposed as given," if transpose_a or transpose_b else ""
        raise ArgumentError(f"matmul: shapes {a.shape} and {b.shape}{given} cannot be multiplied")
    found: jax.Array = _multiply.bind(
        a, b, group=among, op_a=op_a, op_b=op_b, epilogue="none", bias="", compute=compute_of("matmul", precision, a.dtype),
        out=on_mesh("matmul", out, a, b),
    )  # fmt: skip
    if bias is not None:
        found = found + jnp.asarray(bias)[:, None]
    if activation is None:
        return found
    return jax.nn.relu(found) if activation == "relu" else jax.nn.gelu(found, approximate=True)
