"""Distributed arrays in programs: redistribution, products, Fourier transforms.

A program has the parts of this rank. Layouts (`partita.Layout`: a distribution, the global shape, the number of ranks) describe the
distributed arrays and are constants of the program. All functions are collective. For a replicated array each rank's cotangent is a
share; the sum over ranks is the derivative.
"""

from __future__ import annotations

from typing import Any, Dict, Optional, Sequence, Tuple

import jax  # type: ignore[import-not-found,unused-ignore]
import jax.numpy as jnp  # type: ignore[import-not-found,unused-ignore]
import numpy as np

from .. import _core
from .._adjoints import as_partial, as_replicated, is_first_replica, of_half_spectrum, opposite_norm
from .._array import axes_or_all
from .._errors import ArgumentError
from .._parts import Destination, check_activation, check_part, layout_of, of_product, of_transform
from . import _whole_arrays
from ._group import Group, chosen, collective
from ._precision import compute_of
from ._program import ad, batched_in_turn, call, linear, no_tangent


def _local(layout: _core.Layout, group: Group) -> Tuple[int, ...]:
    return layout.local_shape(group.rank)


def _part(what: str, x: Any, layout: _core.Layout, group: Group) -> Any:
    """The array, checked to be this rank's part of the layout."""
    x = jnp.asarray(x)
    check_part(what, x.shape, layout, group.rank, group.size)
    return x


def _check_kind(what: str, is_whole: bool, of_parts: Dict[str, Any], of_whole: Dict[str, Any]) -> None:
    """Refuse options of calls on parts in a call on a whole array, and the reverse."""
    given = [name for name, value in (of_parts if is_whole else of_whole).items() if value is not None]
    if given:
        kind = "whole arrays have a sharding, and no layout" if is_whole else "parts of arrays have layouts, and no sharding"
        raise ArgumentError(f"{what}: {', '.join(given)} {'is' if len(given) == 1 else 'are'} given, but {kind}")


# --- replicas: their cotangents are shares


def _whole(cotangent: Any, layout: _core.Layout, group: Group) -> Any:
    """The shares of replicas, added up on each."""
    if not layout.is_replicated:
        return cotangent
    return _redistribute.bind(cotangent, group=group, source=as_partial(layout), destination=layout)


def _share(cotangent: Any, layout: _core.Layout, group: Group) -> Any:
    """The first replica has the whole as its share, the others have zero: exact, without communication.

    All ranks have a graph for it: a rank without one would not make the calls of the others when it is differentiated again.
    """
    return cotangent if is_first_replica(layout, group.rank) else jnp.where(False, cotangent, 0)


# --- redistribution

_redistribute = call("redistribute", lambda x, group, source, destination: (_local(destination, group), x.dtype))


def _redistribute_back(cotangent: Any, x: Any, group: Group, source: _core.Layout, destination: _core.Layout) -> Any:
    if source.partial is not None:
        # Every contribution has the cotangent of the sum.
        given = _whole(cotangent, destination, group)
        return _redistribute.bind(given, group=group, source=destination, destination=as_replicated(source))
    back = as_partial(destination) if destination.is_replicated else destination
    return _share(_redistribute.bind(cotangent, group=group, source=back, destination=source), source, group)


linear(_redistribute, _redistribute_back)
batched_in_turn(_redistribute)


@collective
def redistribute(x: Any, source: Any, destination: Optional[Destination] = None, *, group: Optional[Group] = None) -> jax.Array:
    """This rank's part of the array in another distribution, or a whole array with another sharding. Collective.

    Parameters
    ----------
    x : array
        This rank's part; without `destination` a whole array with a NamedSharding.
    source : Layout, NamedSharding or PartitionSpec
        The layout of the array; without `destination` the sharding of the result.
    destination : Layout or distribution, optional
        The layout of the result.
    """
    if destination is None:
        return _whole_arrays.redistribute(x, source, group)
    among = chosen(group)
    to = layout_of(destination, source.shape, among.size)
    found: jax.Array = _redistribute.bind(_part("redistribute", x, source, among), group=among, source=source, destination=to)
    return found


# --- Fourier transforms


def _precision(x: Any, kind: str) -> Any:
    if kind == "c2c":
        return x.dtype
    if kind == "r2c":
        return jnp.result_type(x.dtype, jnp.complex64)
    return np.zeros(0, x.dtype).real.dtype


_transform = call("fft", lambda x, group, destination, kind, **_: (_local(destination, group), _precision(x, kind)))


def _transform_back(
    cotangent: Any,
    x: Any,
    group: Group,
    source: _core.Layout,
    destination: _core.Layout,
    kind: str,
    inverse: int,
    axes: Tuple[int, ...],
    norm: str,
) -> Any:
    given = _whole(cotangent, destination, group)
    back = {"group": group, "source": destination, "destination": source, "axes": axes}
    if kind == "c2c":  # the transform's matrix is symmetric
        return _share(_transform.bind(given, kind=kind, inverse=inverse, norm=norm, **back), source, group)
    opposite, along = opposite_norm(norm), axes[-1]
    if kind == "r2c":
        half = jnp.asarray(of_half_spectrum(destination, source.shape[along], along, 0.5, group.rank), x.dtype)
        found = _transform.bind(jnp.conj(given) * half, kind="c2r", inverse=0, norm=opposite, **back)
        return _share(found, source, group)
    found = _transform.bind(given, kind="r2c", inverse=0, norm=opposite, **back)
    twice = jnp.asarray(of_half_spectrum(source, destination.shape[along], along, 2.0, group.rank), found.real.dtype)
    return _share(jnp.conj(found * twice), source, group)


linear(_transform, _transform_back)
batched_in_turn(_transform)


def fft_result(source: _core.Layout, destination: Optional[Destination] = None, axes: Optional[Sequence[int]] = None, kind: str = "c2c", last_length: Optional[int] = None) -> _core.Layout:
    """The layout of a transform's result. Local.

    Parameters
    ----------
    source : Layout
        The layout of the input.
    destination : Layout or distribution, optional
        The distribution of the result; unset: that of the input.
    kind : str, default 'c2c'
        'c2c', 'r2c' or 'c2r'.
    last_length : int, optional
        For 'c2r', samples along the last axis; unset: the even number.
    """
    along = tuple(axes_or_all(axes, len(source.shape)))
    return of_transform(source, destination, along, kind, last_length)


def _transformed(
    x: Any, source: _core.Layout, destination: Optional[Destination], axes: Optional[Sequence[int]], norm: Optional[str],
    group: Optional[Group], kind: str, inverse: bool = False, last_length: Optional[int] = None,
) -> jax.Array:  # fmt: skip
    among = chosen(group)
    x = _part("fft", x, source, among)
    if kind == "r2c" and jnp.iscomplexobj(x):
        raise ArgumentError(f"rfft: expected real numbers, got {x.dtype}; fft transforms complex ones")
    if kind != "r2c" and not jnp.iscomplexobj(x):
        x = x.astype(jnp.result_type(x.dtype, jnp.complex64))
    along = tuple(axes_or_all(axes, len(source.shape)))
    to = of_transform(source, destination, along, kind, last_length)
    found: jax.Array = _transform.bind(
        x, group=among, source=source, destination=to, kind=kind, inverse=int(inverse), axes=along, norm=norm or "backward"
    )
    return found


@collective
def fft(
    x: Any, source: Optional[_core.Layout] = None, destination: Optional[Destination] = None, *, axes: Optional[Sequence[int]] = None,
    norm: Optional[str] = None, inverse: bool = False, n: Optional[int] = None, axis: int = -1, out_sharding: Any = None,
    group: Optional[Group] = None,
) -> jax.Array:  # fmt: skip
    """The Fourier transform of complex or real numbers: this rank's part of it, or of a whole array, along one axis. Collective.

    Parameters
    ----------
    x : array
        This rank's part; without `source` a whole array with a NamedSharding.
    source : Layout, optional
        The layout of the input.
    destination : Layout or distribution, optional
        The distribution of the result; unset: that of the input.
    inverse : bool, default False
        Compute the inverse.
    """
    _check_kind("fft", source is None, {"destination": destination}, {"n": n, "out_sharding": out_sharding})
    if source is None:
        return _whole_arrays.transformed("fft", x, axes or (axis,), norm, out_sharding, group, "c2c", inverse, _whole_arrays.line(n))
    return _transformed(x, source, destination, axes, norm, group, "c2c", inverse)


@collective
def rfft(
    x: Any, source: Optional[_core.Layout] = None, destination: Optional[Destination] = None, *, axes: Optional[Sequence[int]] = None,
    norm: Optional[str] = None, n: Optional[int] = None, axis: int = -1, out_sharding: Any = None, group: Optional[Group] = None,
) -> jax.Array:  # fmt: skip
    """The transform of real numbers: half the spectrum along the last of the axes. Collective.

    Parameters
    ----------
    x : array
        This rank's part; without `source` a whole array with a NamedSharding.
    source : Layout, optional
        The layout of the input.
    destination : Layout or distribution, optional
        The distribution of the result; unset: that of the input.
    """
    _check_kind("rfft", source is None, {"destination": destination}, {"n": n, "out_sharding": out_sharding})
    if source is None:
        return _whole_arrays.transformed("rfft", x, axes or (axis,), norm, out_sharding, group, "r2c", False, _whole_arrays.line(n))
    return _transformed(x, source, destination, axes, norm, group, "r2c")


@collective
def irfft(
    x: Any, source: Optional[_core.Layout] = None, destination: Optional[Destination] = None, *, axes: Optional[Sequence[int]] = None,
    norm: Optional[str] = None, last_length: Optional[int] = None, n: Optional[int] = None, axis: int = -1, out_sharding: Any = None,
    group: Optional[Group] = None,
) -> jax.Array:  # fmt: skip
    """The inverse of `rfft`. Collective.

    Parameters
    ----------
    x : array
        This rank's part; without `source` a whole array with a NamedSharding.
    source : Layout, optional
        The layout of the input.
    destination : Layout or distribution, optional
        The distribution of the result; unset: that of the input.
    last_length : int, optional
        Samples along the last of the axes; unset: the even number.
    """
    _check_kind("irfft", source is None, {"destination": destination}, {"n": n, "out_sharding": out_sharding})
    if source is None:
        samples = last_length if n is None else n
        return _whole_arrays.transformed("irfft", x, axes or (axis,), norm, out_sharding, group, "c2r", True, _whole_arrays.line(samples))
    return _transformed(x, source, destination, axes, norm, group, "c2r", True, last_length)


# --- products

_multiply = call("matmul", lambda a, b, *bias, group, d, **_: (_local(d, group), a.dtype))
_plain = {"epilogue": "none", "bias": ""}
_exact = {**_plain, "compute": "automatic"}
_flipped = {"none": "transpose", "transpose": "none"}


def _activated(d: Any, bias: Sequence[Any], layout: _core.Layout, epilogue: str, group: Group) -> Any:
    """The epilogue, in XLA's own operations, which have derivatives."""
    if bias:
        d = d + bias[0][layout.indices(0, group.rank)][:, None]
    if epilogue.startswith("relu"):
        return jax.nn.relu(d)
    return jax.nn.gelu(d, approximate=True) if epilogue.startswith("gelu") else d


def _multiply_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    """The derivative, as products of one operand at a time; an epilogue is split off first."""
    if params["epilogue"] != "none":
        group, layout, epilogue = params["group"], params["d"], params["epilogue"]
        plain = {**params, **_plain}

        def apart(a: Any, b: Any, *bias: Any) -> Any:
            return _activated(_multiply.bind(a, b, **plain), bias, layout, epilogue, group)

        return jax.jvp(apart, tuple(primals), tuple(map(ad.instantiate_zeros, tangents)))
    (a, b), (da, db) = primals, tangents
    found = _multiply.bind(a, b, **params)
    terms = [] if isinstance(da, ad.Zero) else [_multiply.bind(da, b, **params)]
    terms += [] if isinstance(db, ad.Zero) else [_multiply.bind(a, db, **params)]
    return found, sum(terms[1:], terms[0]) if terms else no_tangent(found)


def _multiply_back(
    cotangent: Any, a: Any, b: Any, *, group: Group, layout_a: _core.Layout, layout_b: _core.Layout, d: _core.Layout,
    op_a: str, op_b: str, compute: str, **_: Any,
) -> Any:  # fmt: skip
    given = _whole(ad.instantiate_zeros(cotangent), d, group)

    def product(left: Any, right: Any, of: Tuple[Any, Any, Any], ops: Tuple[str, str]) -> Any:
        found = _multiply.bind(
            left, right, group=group, layout_a=of[0], layout_b=of[1], d=of[2], op_a=ops[0], op_b=ops[1], compute=compute, **_plain
        )
        return _share(found, of[2], group)

    if ad.is_undefined_primal(a):
        if op_a == "none":  # A' = D' op(B)^T
            return product(given, b, (d, layout_b, layout_a), ("none", _flipped[op_b])), None
        return product(b, given, (layout_b, d, layout_a), (op_b, "transpose")), None  # A' = op(B) D'^T
    if op_b == "none":  # B' = op(A)^T D'
        return None, product(a, given, (layout_a, d, layout_b), (_flipped[op_a], "none"))
    return None, product(given, a, (d, layout_a, layout_b), ("transpose", op_a))  # B' = D'^T op(A)


ad.primitive_jvps[_multiply] = _multiply_jvp
ad.primitive_transposes[_multiply] = _multiply_back
batched_in_turn(_multiply)


def matmul_result(
    a: _core.Layout, b: _core.Layout, destination: Optional[Destination] = None, *, transpose_a: bool = False, transpose_b: bool = False
) -> _core.Layout:
    """The layout of a product. Local.

    Parameters
    ----------
    a, b : Layout
        The layouts of the operands.
    destination : Layout or distribution, optional
        The distribution of the product; unset: that of `a`.
    transpose_a, transpose_b : bool, default False
        Transpose the operand.
    """
    return of_product(a, b, destination, transpose_a, transpose_b)


@collective
def matmul(
    a: Any, b: Any, layout_a: Optional[_core.Layout] = None, layout_b: Optional[_core.Layout] = None,
    destination: Optional[Destination] = None, *, transpose_a: bool = False, transpose_b: bool = False, bias: Any = None,
    activation: Optional[str] = None, precision: Any = None, out_sharding: Any = None, group: Optional[Group] = None,
) -> jax.Array:  # fmt: skip
    """The product of two matrices in any distributions, with an epilogue: this rank's part of it, or of whole arrays. Collective.

    Parameters
    ----------
    a, b : array
        This rank's parts; without layouts whole arrays with a NamedSharding.
    layout_a, layout_b : Layout, optional
        The layouts of the operands.
    destination : Layout or distribution, optional
        The distribution of the product; unset: that of `a`.
    transpose_a, transpose_b : bool, default False
        Transpose the operand.
    bias : array, optional
        One number per row of the product, complete on every rank.
    activation : {'relu', 'gelu'}, optional
        Applied after the bias; gelu is the form with tanh.
    precision : str, jax.lax.Precision, optional
        As for `jax.numpy.matmul`: GPUs round factors in float32 and complex64 to TF32, but not with 'highest' or 'float32'; unset:
        `jax_default_matmul_precision`.
    """
    check_activation("matmul", activation)
    of_parts = {"layout_a": layout_a, "layout_b": layout_b, "destination": destination}
    _check_kind("matmul", layout_a is None or layout_b is None, of_parts, {"out_sharding": out_sharding})
    if layout_a is None or layout_b is None:
        return _whole_arrays.multiplied(a, b, transpose_a, transpose_b, bias, activation, precision, out_sharding, group)
    among = chosen(group)
    a, b = _part("matmul", a, layout_a, among), _part("matmul", b, layout_b, among)
    if a.dtype != b.dtype:
        raise ArgumentError(f"matmul: the dtypes {a.dtype} and {b.dtype} differ or are not supported")
    d = of_product(layout_a, layout_b, destination, transpose_a, transpose_b)
    more = () if bias is None else (jnp.asarray(bias),)
    epilogue = "-".join(([activation] if activation else []) + (["bias"] if more else [])) or "none"
    params = {"op_a": "transpose" if transpose_a else "none", "op_b": "transpose" if transpose_b else "none", "epilogue": epilogue}
    params["compute"] = compute_of("matmul", precision, a.dtype)
    found: jax.Array = _multiply.bind(
        a, b, *more, group=among, layout_a=layout_a, layout_b=layout_b, d=d,
        bias=_core.Layout(_core.Replicated(), more[0].shape, among.size) if more else "", **params,
    )  # fmt: skip
    return found
