"""What an equation of Einstein's notation says: the labels of operands and of the result, and orders of products."""

from __future__ import annotations

import functools
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from ._errors import ArgumentError

Terms = Tuple[Tuple[Any, ...], ...]


@functools.lru_cache(maxsize=256)
def parsed(subscripts: str, dimensions: Tuple[int, ...]) -> Tuple[Terms, Tuple[Any, ...]]:
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


def labels_of(subscripts: str, arrays: Sequence[Any]) -> Terms:
    """The labels of the dimensions of each operand."""
    return parsed(subscripts, tuple(one.ndim for one in arrays))[0]


@functools.lru_cache(maxsize=256)
def as_matrices(subscripts: str) -> Optional[Tuple[bool, bool, bool]]:
    """Whether the operands and the result are transposed, if it is the product of two matrices; None: it is another sum."""
    try:
        terms, result = parsed(subscripts, (2, 2))
    except ArgumentError:  # which the call raises on all ranks
        return None
    summed = set(terms[0]) & set(terms[1]) - set(result)
    if not len(summed) == 1 or len({*terms[0], *terms[1]}) != 3 or set(result) != {*terms[0], *terms[1]} - summed:
        return None
    return terms[0][0] in summed, terms[1][1] in summed, result[0] in terms[1]


def order_asked(optimize: Any) -> Any:
    """The argument as a value that can be a key, ArgumentError for another one: lists of pairs, as einsum_path returns them, as tuples."""
    if isinstance(optimize, str) and ("random" in optimize or optimize == "auto-hq"):
        raise ArgumentError(f"einsum: optimize: {optimize!r} searches at random, so ranks find different orders: pass 'auto' or 'dp'")
    if isinstance(optimize, (bool, str)) or optimize is None:
        return optimize
    try:
        pairs = list(optimize)[1:] if len(optimize) and optimize[0] == "einsum_path" else list(optimize)
        return tuple(tuple(int(place) for place in one) for one in pairs)
    except (TypeError, ValueError, KeyError):
        raise ArgumentError(f"einsum: optimize: expected a bool, a word, or what einsum_path returns, got {optimize!r}") from None


def path_of(terms: Terms, result: Tuple[Any, ...], shapes: Tuple[Tuple[int, ...], ...], optimize: Any) -> List[Tuple[int, ...]]:
    """Which operands are multiplied: from left to right if `optimize` is False, the given ones, or in the order of opt_einsum, or else of NumPy."""
    if isinstance(optimize, tuple):
        return _given(optimize, len(terms))
    if optimize:
        return _found(terms, result, shapes, optimize)
    return [(0, 1), *((0, place) for place in range(len(terms) - 2, 0, -1))] if len(terms) > 1 else []


def _given(path: Tuple[Tuple[int, ...], ...], count: int) -> List[Tuple[int, ...]]:
    remaining = count
    for one in path:
        if not one or len(set(one)) != len(one) or not all(0 <= place < remaining for place in one):
            raise ArgumentError(f"einsum: optimize: {one} does not name different ones of {remaining} arrays")
        remaining -= len(one) - 1
    return [*path, *([tuple(range(remaining))] if remaining > 1 else [])]


@functools.lru_cache(maxsize=256)
def _found(terms: Terms, result: Tuple[Any, ...], shapes: Tuple[Tuple[int, ...], ...], optimize: Any) -> List[Tuple[int, ...]]:
    """The same on all ranks: labels are numbers, since sets of strings have another order in each process."""
    if len(terms) < 3:
        return [tuple(range(len(terms)))]
    numbers = {one: number for number, one in enumerate(dict.fromkeys(one for term in terms for one in term))}
    named, kept = [[numbers[one] for one in term] for term in terms], [numbers[one] for one in result]
    try:
        from opt_einsum import paths  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        return _found_by_numpy(named, kept, shapes, optimize)
    try:
        search = paths.get_path_fn("auto" if optimize is True else optimize)
    except KeyError:
        raise _unknown(optimize) from None
    extents = {one: extent for term, shape in zip(named, shapes) for one, extent in zip(term, shape)}
    return [tuple(one) for one in search([frozenset(term) for term in named], frozenset(kept), extents, None)]


def _found_by_numpy(terms: List[List[int]], result: List[int], shapes: Tuple[Tuple[int, ...], ...], optimize: Any) -> List[Tuple[int, ...]]:
    arrays = [np.broadcast_to(np.zeros(()), shape) for shape in shapes]
    given = [one for pair in zip(arrays, terms) for one in pair]
    try:
        return [tuple(one) for one in np.einsum_path(*given, result, optimize=optimize)[0][1:]]  # type: ignore[arg-type]
    except KeyError:
        raise _unknown(optimize) from None


def _unknown(optimize: str) -> ArgumentError:
    return ArgumentError(f"einsum: optimize: {optimize!r} is not a search of opt_einsum or NumPy: pass 'greedy', 'optimal', or what einsum_path returns")


__all__ = ["Terms", "as_matrices", "labels_of", "order_asked", "parsed", "path_of"]
