"""Einstein's summation: products of two arrays, whose order, layouts and memory are chosen together, by cost."""

from __future__ import annotations

import functools
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from ._agreement import alike
from ._array import Array, core_given
from ._calls import collective
from ._contraction import ordered, prepared, reduced
from ._einsum_plan import planned
from ._einsum_run import completed, executed, of_arrays, problem_of
from ._einsum_terms import as_matrices, order_asked, parsed
from ._errors import ArgumentError
from ._linear import matmul
from ._replicas import replicas


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


def einsum(
    subscripts: str, *operands: Any, out: Optional[Array] = None, optimize: Any = True, memory_limit: Optional[int] = None
) -> Array:
    """Sums of products, in Einstein's notation. Collective, blocking; plans are kept.

    The operands may have any distributions, also partial ones. Two at a time are multiplied as matrices. Their order, the layouts in which
    they are multiplied and those of intermediate results are chosen together: the least predicted seconds of products and moves on the
    context's machine. `einsum_path` explains the choice.

    Parameters
    ----------
    subscripts : str
        Labels of the dimensions: 'ij,jk->ik', '...i,i', 'ii->i'.
    operands : Array or numpy.ndarray
        The operands.
    out : Array, optional
        Array for the result, which is returned; unset: a new array.
    optimize : bool, str or sequence, default True
        The order. True: by cost, for up to 8 operands, and for more that of opt_einsum if it is installed, or else of NumPy. False: from left
        to right. A word: that search of opt_einsum or NumPy, by operations alone; a sequence: what `einsum_path` returns. Layouts are chosen
        in any case.
    memory_limit : int, optional
        If not 0, the maximum bytes that a rank allocates at a time: redistributed and converted operands, intermediate results, scratch of products, and
        the result; but not for staging of redistributions. Unset or 0: unlimited.

    Returns
    -------
    Array
        In NumPy's common dtype. Unless `out` is given, it has the layout that is cheapest: check it.

    Raises
    ------
    ArgumentError
        Also if the memory limit is too small for any plan; the text has the bytes that are required. The same on every rank.
    """
    factors = _matrix_product(subscripts, *operands) if len(operands) == 2 and out is None and not memory_limit else None
    if factors is not None:  # one call of the library, which compares its operands between ranks: equations of other results have others
        return _product(*factors)
    return _einsum(subscripts, *operands, out=out, optimize=optimize, memory_limit=memory_limit)


einsum.is_collective = True  # type: ignore[attr-defined]


def _multiplied(left: Array, right: Array) -> Array:
    return matmul.__wrapped__(left, right)  # type: ignore[attr-defined, no-any-return]


_multiplied.__qualname__ = "einsum"  # as errors call it
_product = collective(_multiplied)


@alike
def _einsum(
    subscripts: str, *operands: Any, out: Optional[Array] = None, optimize: Any = True, memory_limit: Optional[int] = None
) -> Array:
    check_words(subscripts, memory_limit)
    given = replicas("einsum", operands, numbers=True)
    target = None if out is None else core_given(out).layout
    for one in given:
        core_given(one)
    dtype = np.result_type(*(one.dtype for one in given))
    found = _summed(subscripts, given, dtype, target, memory_limit or None, order_asked(optimize))
    found = found if found.dtype == dtype else found.astype(dtype)
    if out is None:
        return found
    out[...] = found
    return out


def check_words(subscripts: Any, memory_limit: Any) -> None:
    """ArgumentError unless these are an equation and a number of bytes."""
    if not isinstance(subscripts, str):
        raise ArgumentError("einsum: subscripts: expected str, such as 'ij,jk->ik'")
    if memory_limit is not None and (not isinstance(memory_limit, (int, np.integer)) or memory_limit < 0):
        raise ArgumentError(f"einsum: memory_limit: expected a number of bytes, got {memory_limit!r}")


def _summed(subscripts: str, given: Sequence[Array], dtype: Any, out: Any, limit: Optional[int], optimize: Any) -> Array:
    arrays: List[Array]
    labels: Sequence[Sequence[Any]]
    result: Sequence[Any]
    as_given = _products_of_all(subscripts, tuple(one.shape for one in given)) if all(one.dtype == dtype for one in given) else None
    if as_given is not None:
        arrays, (labels, result) = list(given), as_given
    else:
        arrays, labels, result = _with_needed_labels(subscripts, given, dtype)
    if len(arrays) == 1:
        return ordered(completed(arrays[0]), labels[0], result)  # type: ignore[no-any-return]
    own, first = [one is not old for one, old in zip(arrays, given)], arrays[0]._core
    problem = problem_of(arrays, labels, result, first.context, first.dtype, dtype.itemsize, first.on_host, out, own, limit, optimize)
    return executed(planned(problem), arrays, out)


@functools.lru_cache(maxsize=256)
def _products_of_all(subscripts: str, shapes: Tuple[Tuple[int, ...], ...]) -> Optional[Tuple[Tuple[Tuple[Any, ...], ...], Tuple[Any, ...]]]:
    """The labels of several operands, all of which are multiplied as they are, and of the result. None: something is done to one before."""
    terms, result = parsed(subscripts, tuple(map(len, shapes)))
    extents: Dict[Any, int] = {}
    fits = all(extents.setdefault(one, extent) == extent for term, shape in zip(terms, shapes) for one, extent in zip(term, shape))
    if len(terms) == 1 or not fits or not all(is_multiplied(place, terms, result) for place in range(len(terms))):
        return None
    return tuple(map(tuple, terms)), tuple(result)


def _with_needed_labels(subscripts: str, given: Sequence[Array], dtype: Any) -> Tuple[List[Array], List[List[Any]], Sequence[Any]]:
    """The operands in one dtype, with each label once, summed over those that no other one has."""
    terms, result = parsed(subscripts, tuple(one.ndim for one in given))
    converted = [_converted(one, dtype, is_multiplied(place, terms, result)) for place, one in enumerate(given)]
    arrays, labels = prepared(subscripts, converted, terms, of_arrays)
    for place, term in enumerate(labels):
        arrays[place], labels[place] = reduced(arrays[place], term, needed_labels(place, labels, result), of_arrays)
    return arrays, labels, result


def needed_labels(place: int, terms: Sequence[Sequence[Any]], result: Sequence[Any]) -> "set[Any]":
    """The labels that an operand is not summed over before all products."""
    return {*result, *(one for other in (*terms[:place], *terms[place + 1 :]) for one in other)}


def is_multiplied(place: int, terms: Sequence[Sequence[Any]], result: Sequence[Any]) -> bool:
    """Whether an operand is multiplied as it is: without a diagonal, and not summed before."""
    return len(set(terms[place])) == len(terms[place]) and needed_labels(place, terms, result) >= set(terms[place])


def _converted(a: Array, dtype: Any, as_it_is: bool) -> Array:
    """In the common dtype, and with values if it is not multiplied as it is."""
    a = a if as_it_is and a.dtype == dtype else completed(a)
    return a if a.dtype == dtype else a.astype(dtype)


__all__ = ["einsum"]
