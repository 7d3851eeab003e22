"""Einstein's summation: a path of products of two arrays, each by transposed views, reshapes and one matrix product."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any, Callable, Dict, FrozenSet, Hashable, List, Optional, Sequence, Tuple

import numpy as np

from ._agreement import alike
from ._array import Array, core_given
from ._calls import collective
from ._diagonals import diagonal
from ._errors import ArgumentError
from ._linear import matmul
from ._moves import settled
from ._replicas import replicas
from ._shapes import reshape
from ._views import with_axis, without_axis

Labels = List[Any]


@dataclasses.dataclass(frozen=True)
class Steps:
    """What sums of products are made of, for one kind of arrays; `product` is of matrices, behind dimensions that both have."""

    total: Callable[[Any, List[int]], Any]
    diagonal: Callable[[Any, int, int, int], Any]
    with_axis: Callable[[Any, int], Any]
    without_axis: Callable[[Any, int], Any]
    reshape: Callable[[Any, Sequence[int]], Any]
    product: Callable[[Any, Any], Any]
    #: Labels of distributed dimensions: in front of those that they are merged with, so that parts stay together.
    cut: FrozenSet[Hashable] = frozenset()


def _total(a: Array, axes: List[int]) -> Any:
    return a.sum(axes, dtype=a.dtype)


def _diagonal(a: Array, offset: int, first: int, second: int) -> Array:
    return diagonal(a, offset, first, second)


_of_arrays = Steps(_total, _diagonal, with_axis, without_axis, reshape, matmul)


def contracted(
    a: Any, of_a: Sequence[Hashable], b: Any, of_b: Sequence[Hashable], kept: Sequence[Hashable], steps: Steps = _of_arrays
) -> Any:
    """The sum of a[of_a] b[of_b] over all labels that are not kept, with the dimensions in the order of `kept`. Collective, blocking."""
    a, left_labels = _reduced(a, list(of_a), {*of_b, *kept}, steps)
    b, right_labels = _reduced(b, list(of_b), {*left_labels, *kept}, steps)
    both = [one for one in left_labels if one in right_labels]
    batch, summed = [one for one in both if one in kept], [one for one in both if one not in kept]
    rows, columns = ([one for one in labels if one not in both] for labels in (left_labels, right_labels))
    for merged in (rows, columns, summed):
        merged.sort(key=lambda one: one not in steps.cut)
    extents = {**dict(zip(left_labels, a.shape)), **dict(zip(right_labels, b.shape))}
    left = _grouped(a, left_labels, [*([one] for one in batch), rows, summed], steps)
    right = _grouped(b, right_labels, [*([one] for one in batch), summed, columns], steps)
    found = steps.product(left, right)
    labels = [*batch, *rows, *columns]
    shape = tuple(extents[one] for one in labels)
    if not rows and found.ndim > len(batch) and found.shape != shape:
        found = steps.without_axis(found, len(batch))
    if not columns and found.ndim > len(batch) and found.shape != shape:
        found = steps.without_axis(found, found.ndim - 1)
    found = found if found.shape == shape else steps.reshape(found, shape)
    order = [labels.index(one) for one in kept]
    return found if order == list(range(len(order))) else found.transpose(order)


def _reduced(a: Any, labels: Labels, needed: "set[Hashable]", steps: Steps) -> Tuple[Any, Labels]:
    """Summed over the labels that are not needed."""
    gone = [axis for axis, one in enumerate(labels) if one not in needed]
    return steps.total(a, gone) if gone else a, [one for one in labels if one in needed]


def _grouped(a: Any, labels: Labels, groups: List[Labels], steps: Steps) -> Any:
    """One dimension for each group of labels."""
    order = [labels.index(one) for group in groups for one in group]
    a = a if order == list(range(a.ndim)) else a.transpose(order)
    shape, start = [], 0
    for group in groups:
        shape.append(math.prod(a.shape[start : start + len(group)]))
        start += len(group)
    if all(len(group) == 1 for group in groups):
        return a
    if all(len(group) <= 1 for group in groups):
        for place, group in enumerate(groups):
            if not group:
                a = steps.with_axis(a, place)
        return a
    return steps.reshape(a, shape)


@functools.lru_cache(maxsize=256)
def _parsed(subscripts: str, dimensions: Tuple[int, ...]) -> Tuple[Tuple[Tuple[Any, ...], ...], Tuple[Any, ...]]:
    """The labels of the operands and of the result; those of an ellipsis are numbers, counted from the last dimension."""
    text = subscripts.replace(" ", "")
    inputs, arrow, output = text.partition("->")
    terms = inputs.split(",")
    if len(terms) != len(dimensions):
        raise ArgumentError(f"einsum: {subscripts!r} is of {len(terms)} arrays, but {len(dimensions)} are given")
    many = max([count - len(term.replace("...", "")) for term, count in zip(terms, dimensions) if "..." in term], default=0)
    found = tuple(_labels(subscripts, term, count) for term, count in zip(terms, dimensions))
    if arrow:
        result = _labels(subscripts, output, len(output.replace("...", "")) + (many if "..." in output else 0))
    else:
        letters = [one for term in found for one in term if isinstance(one, str)]
        result = (*range(-many, 0), *sorted(one for one in set(letters) if letters.count(one) == 1))
    known = {one for term in found for one in term}
    if len(set(result)) != len(result) or not set(result) <= known:
        raise ArgumentError(f"einsum: {subscripts!r}: each label of the result must be in an operand, and in the result once")
    return found, result


def _labels(subscripts: str, term: str, count: int) -> Tuple[Any, ...]:
    before, dots, after = term.partition("...")
    letters = before + after
    if not all(one.isalpha() for one in letters) or (not dots and len(letters) != count) or len(letters) > count:
        raise ArgumentError(f"einsum: {subscripts!r}: {term!r} does not describe an array of {count} dimensions")
    return (*before, *range(len(letters) - count, 0), *after)


@functools.lru_cache(maxsize=256)
def _path(terms: Tuple[Tuple[Any, ...], ...], result: Tuple[Any, ...], shapes: Tuple[Tuple[int, ...], ...], optimize: Any) -> List[Tuple[int, ...]]:
    """Which operands are multiplied, in the order of opt_einsum, or else of NumPy."""
    if len(terms) < 3:
        return [tuple(range(len(terms)))]
    names: Dict[Any, str] = {}
    for term in terms:
        for one in term:
            names.setdefault(one, chr(ord("a") + len(names)) if len(names) < 26 else chr(ord("A") + len(names) - 26))
    text = ",".join("".join(names[one] for one in term) for term in terms) + "->" + "".join(names[one] for one in result)
    try:
        import opt_einsum  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        arrays = [np.broadcast_to(np.zeros(()), shape) for shape in shapes]
        return [tuple(one) for one in np.einsum_path(text, *arrays, optimize=optimize)[0][1:]]
    found = opt_einsum.contract_path(text, *shapes, shapes=True, optimize="auto" if optimize is True else optimize)
    return [tuple(one) for one in found[0]]


@functools.lru_cache(maxsize=256)
def as_matrices(subscripts: str) -> Optional[Tuple[bool, bool, bool]]:
    """Whether the operands and the result are transposed, if it is the product of two matrices; None: it is another sum."""
    try:
        terms, result = _parsed(subscripts, (2, 2))
    except ArgumentError:  # which the call raises on all ranks
        return None
    summed = set(terms[0]) & set(terms[1]) - set(result)
    if not len(summed) == 1 or len({*terms[0], *terms[1]}) != 3 or set(result) != {*terms[0], *terms[1]} - summed:
        return None
    return terms[0][0] in summed, terms[1][1] in summed, result[0] in terms[1]


def _matrix_product(subscripts: Any, a: Any, b: Any) -> Optional[Tuple[Array, Array]]:
    """The usual case: the factors of a product of two matrices of one dtype. None: another sum."""
    if not isinstance(subscripts, str) or type(a) is not Array or type(b) is not Array:
        return None
    if a.ndim != 2 or b.ndim != 2 or a._core.dtype != b._core.dtype:
        return None
    transposed = as_matrices(subscripts)
    if transposed is None:
        return None
    left, right = (one.T if other else one for one, other in zip((a, b), transposed))
    if left.shape[1] != right.shape[0] or a._core.is_partial or b._core.is_partial:
        return None
    return (right.T, left.T) if transposed[2] else (left, right)


def einsum(subscripts: str, *operands: Any, out: Optional[Array] = None, optimize: Any = True) -> Array:
    """Sums of products, in Einstein's notation. Collective, blocking.

    The operands may have any distributions. Two at a time are multiplied as matrices, in the order of opt_einsum if that is installed, or else
    of NumPy; dimensions that are summed or kept together are made one before.

    Parameters
    ----------
    subscripts : str
        Labels of the dimensions: 'ij,jk->ik', '...i,i', 'ii->i'.
    operands : Array or numpy.ndarray
        The operands.
    out : Array, optional
        Array for the result, which is returned; unset: a new array.
    optimize : bool or str
        The search for the order, as in numpy.einsum; False: from left to right.

    Returns
    -------
    Array
        In NumPy's common dtype. Check its layout: it is that of the last product.
    """
    factors = _matrix_product(subscripts, *operands) if len(operands) == 2 and out is None else None
    if factors is not None:  # one call of the library, which compares its operands between ranks: equations of other results have others
        return _product(*factors)
    return _einsum(subscripts, *operands, out=out, optimize=optimize)


einsum.is_collective = True  # type: ignore[attr-defined]


def _multiplied(left: Array, right: Array) -> Array:
    return matmul.__wrapped__(left, right)  # type: ignore[attr-defined, no-any-return]


_multiplied.__qualname__ = "einsum"  # as errors call it
_product = collective(_multiplied)


@alike
def _einsum(subscripts: str, *operands: Any, out: Optional[Array] = None, optimize: Any = True) -> Array:
    if not isinstance(subscripts, str):
        raise ArgumentError("einsum: subscripts: expected str, such as 'ij,jk->ik'")
    given = [settled("einsum", one) for one in replicas("einsum", operands, numbers=True)]
    dtype = np.result_type(*(one.dtype for one in given))
    found = summed(subscripts, [one if one.dtype == dtype else one.astype(dtype) for one in given], optimize, _of_arrays)
    found = found if found.dtype == dtype else found.astype(dtype)
    if out is None:
        return found  # type: ignore[no-any-return]
    core_given(out)
    out[...] = found
    return out


def labels_of(subscripts: str, arrays: Sequence[Any]) -> Tuple[Tuple[Any, ...], ...]:
    """The labels of the dimensions of each operand."""
    return _parsed(subscripts, tuple(one.ndim for one in arrays))[0]


def summed(subscripts: str, given: List[Any], optimize: Any, steps: Steps) -> Any:
    """The sum of products of arrays of one dtype, by such steps."""
    terms, result = _parsed(subscripts, tuple(one.ndim for one in given))
    prepared = [_distinct(subscripts, one, list(term), steps) for one, term in zip(given, terms)]
    _require_extents(subscripts, prepared, steps)
    arrays, labels = [one for one, _ in prepared], [term for _, term in prepared]
    shapes = tuple(one.shape for one in arrays)
    for pair in _path(tuple(map(tuple, labels)), result, shapes, optimize) if optimize else [(0, 1)] * (len(arrays) - 1):
        if len(pair) == 1:
            continue
        chosen = [(arrays[place], labels[place]) for place in pair]
        for place in sorted(pair, reverse=True):
            del arrays[place], labels[place]
        needed = {*result, *(one for term in labels for one in term)}
        first, term = chosen[0]
        for place, (other, others) in enumerate(chosen[1:], 2):
            later = needed | {one for _, more in chosen[place:] for one in more}
            kept = [one for one in dict.fromkeys((*term, *others)) if one in later]
            last = not arrays and place == len(chosen)
            kept = list(result) if last else kept
            first, term = contracted(first, term, other, others, kept, steps), kept
        arrays.append(first)
        labels.append(term)
    found, term = _reduced(arrays[0], labels[0], set(result), steps)
    return found if list(term) == list(result) else found.transpose([term.index(one) for one in result])


def _distinct(subscripts: str, a: Any, term: Labels, steps: Steps) -> Tuple[Any, Labels]:
    """With each label once: of repeated ones the diagonal."""
    for one in [one for one in dict.fromkeys(term) if term.count(one) > 1]:
        while term.count(one) > 1:
            first = term.index(one)
            second = term.index(one, first + 1)
            if a.shape[first] != a.shape[second]:
                raise ArgumentError(f"einsum: {subscripts!r}: {one!r} is of {a.shape[first]} and of {a.shape[second]} elements")
            a = steps.diagonal(a, 0, first, second)
            term = [label for axis, label in enumerate(term) if axis not in (first, second)] + [one]
    return a, term


def _require_extents(subscripts: str, prepared: List[Tuple[Any, Labels]], steps: Steps) -> None:
    """ArgumentError if extents differ; dimensions of extent 1 are dropped where another operand has more."""
    extents: Dict[Any, int] = {}
    for a, term in prepared:
        for one, extent in zip(term, a.shape):
            if extents.get(one, 1) == 1:
                extents[one] = extent
    for place, (a, term) in enumerate(prepared):
        for axis in reversed(range(len(term))):
            if a.shape[axis] == 1 != extents[term[axis]]:
                a, term = steps.without_axis(a, axis), term[:axis] + term[axis + 1 :]
            elif a.shape[axis] != extents[term[axis]]:
                raise ArgumentError(f"einsum: {subscripts!r}: {term[axis]!r} is of {extents[term[axis]]} and of {a.shape[axis]} elements")
        prepared[place] = (a, term)


__all__ = ["einsum"]
