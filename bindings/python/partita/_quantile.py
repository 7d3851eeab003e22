"""Medians and quantiles, without sorting whole arrays."""

from __future__ import annotations

from typing import Any, Dict, Optional, Sequence, Tuple, Union, cast

import numpy as np

from . import _core
from ._agreement import alike
from ._array import Array, Axis, distinct_axes_of
from ._axes import (
    Destination,
    in_any_order,
    has_whole_axes,
    longest_slab,
    moved,
    on_host,
    values_of,
    with_whole,
    wrapped,
)
from ._dtypes import _of_ml_dtypes
from ._errors import ArgumentError
from ._exchange import total
from ._order import order_statistics

#: Of continuous methods the parameters alpha and beta of the quantile's place (R. J. Hyndman, Y. Fan: Sample quantiles in statistical packages.
#: The American Statistician 50, 1996).
_continuous: Dict[str, Tuple[float, float]] = {
    "linear": (1, 1),
    "interpolated_inverted_cdf": (0, 1),
    "hazen": (0.5, 0.5),
    "weibull": (0, 0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
_others = ("lower", "higher", "midpoint", "nearest", "inverted_cdf", "averaged_inverted_cdf", "closest_observation")


def _place(q: float, many: int, method: str) -> Tuple[int, int, float]:
    """Of the quantile among `many` sorted elements: the elements before and after it, and its place between these."""
    if method in _continuous:
        alpha, beta = _continuous[method]
        place = many * q + (alpha + q * (1 - alpha - beta)) - 1
    elif method in ("lower", "higher", "midpoint", "nearest"):
        place = (many - 1) * q
        lower, upper = float(np.floor(place)), float(np.ceil(place))
        place = {"lower": lower, "higher": upper, "midpoint": (lower + upper) / 2, "nearest": float(np.round(place))}[method]
    else:
        place = many * q - 1 - (0.5 if method == "closest_observation" else 0)
        floor = float(np.floor(place))
        if method == "averaged_inverted_cdf":
            place = floor + (0.5 if place == floor else 1)
        elif method == "inverted_cdf":
            place = floor + (place != floor)
        else:
            place = floor + (not (place == floor and floor % 2 == 1))
    place = min(max(place, 0.0), many - 1.0)
    before = int(np.floor(place))
    return before, min(before + 1, many - 1), place - before


@alike
def median(
    a: Array, axis: Axis = None, out: None = None, *, keepdims: bool = False, distribution: Optional[Destination] = None
) -> Any:
    """The median over all axes or some, as `numpy.median`. Collective, blocking.

    Parameters
    ----------
    axis : int or sequence of int, optional
        The axes; unset: all.
    out : None
        Not supported.
    distribution : distribution or Layout, optional
        Distribution of a result over some axes. Unset: blocks along one of the remaining axes, or `Replicated`.

    Returns
    -------
    number or Array
        A number on every rank if `axis` is None. NaN if an element is NaN.

    Notes
    -----
    The array is not sorted as a whole: a sample gives bounds for the median, one pass extracts the elements between them, and only these
    are sorted. Axes that each rank has completely need no communication.
    """
    return _over(_Median(), a, axis, out, keepdims, distribution)


@alike
def nanmedian(
    a: Array, axis: Axis = None, out: None = None, *, keepdims: bool = False, distribution: Optional[Destination] = None
) -> Any:
    """The median of the elements that are not NaN, as `numpy.nanmedian`, with the arguments of `median`. Collective, blocking."""
    return _over(_Median(ignore=True), a, axis, out, keepdims, distribution)


@alike
def quantile(
    a: Array,
    q: Any,
    axis: Axis = None,
    out: None = None,
    *,
    method: str = "linear",
    keepdims: bool = False,
    distribution: Optional[Destination] = None,
) -> Any:
    """Quantiles over all axes or some, as `numpy.quantile`. Collective, blocking.

    Parameters
    ----------
    q : number or sequence of numbers
        Between 0 and 1; a sequence gives a result with its dimensions first.
    axis : int or sequence of int, optional
        The axes; unset: all.
    out : None
        Not supported.
    method : str, default 'linear'
        As in NumPy: 'linear', 'lower', 'higher', 'midpoint', 'nearest', 'inverted_cdf', 'averaged_inverted_cdf', 'closest_observation',
        'interpolated_inverted_cdf', 'hazen', 'weibull', 'median_unbiased' or 'normal_unbiased'.
    distribution : distribution or Layout, optional
        Distribution of a result over some axes. Unset: blocks along one of the remaining axes, or `Replicated`.

    Returns
    -------
    number, NumPy array or Array
        On every rank a number, or a NumPy array if `q` is a sequence, if `axis` is None. NaN if an element is NaN.

    Notes
    -----
    See `median`. Places between elements are computed in double precision. More than 16 different quantiles over all axes are found after each rank has sorted its part.
    """
    return _over(_Quantile(a, q, method), a, axis, out, keepdims, distribution)


@alike
def nanquantile(
    a: Array,
    q: Any,
    axis: Axis = None,
    out: None = None,
    *,
    method: str = "linear",
    keepdims: bool = False,
    distribution: Optional[Destination] = None,
) -> Any:
    """Quantiles of the elements that are not NaN, as `numpy.nanquantile`, with the arguments of `quantile`. Collective, blocking."""
    return _over(_Quantile(a, q, method, ignore=True), a, axis, out, keepdims, distribution)


@alike
def percentile(
    a: Array,
    q: Any,
    axis: Axis = None,
    out: None = None,
    *,
    method: str = "linear",
    keepdims: bool = False,
    distribution: Optional[Destination] = None,
) -> Any:
    """Percentiles, between 0 and 100, as `numpy.percentile`, with the other arguments of `quantile`. Collective, blocking."""
    return _over(_Quantile(a, q, method, of=100), a, axis, out, keepdims, distribution)


@alike
def nanpercentile(
    a: Array,
    q: Any,
    axis: Axis = None,
    out: None = None,
    *,
    method: str = "linear",
    keepdims: bool = False,
    distribution: Optional[Destination] = None,
) -> Any:
    """Percentiles of the elements that are not NaN, as `numpy.nanpercentile`, with the arguments of `percentile`. Collective, blocking."""
    return _over(_Quantile(a, q, method, of=100, ignore=True), a, axis, out, keepdims, distribution)


class _Median:
    """The median as what is found of one sequence, and as NumPy's function of whole axes."""

    shape: Tuple[int, ...] = ()

    def __init__(self, ignore: bool = False) -> None:
        self.name, self.ignore = "nanmedian" if ignore else "median", ignore

    def whole(self, values: Any, axes: Tuple[int, ...]) -> Any:
        """Of local values."""
        return (np.nanmedian if self.ignore else np.median)(values, axis=axes)

    def places(self, many: int) -> Sequence[int]:
        """Which elements it depends on."""
        return [many // 2] if many % 2 else [many // 2 - 1, many // 2]

    def result(self, found: Any) -> Any:
        """Of these elements."""
        return np.median(found)

    def of_nothing(self, dtype: Any) -> Any:
        """Without elements."""
        return np.median(np.array([np.nan]).astype(dtype if dtype.kind in "fc" else np.float64))


class _Quantile:
    def __init__(self, a: Array, q: Any, method: str, of: int = 1, ignore: bool = False) -> None:
        self.name = ("nan" if ignore else "") + ("quantile" if of == 1 else "percentile")
        self.ignore, self.method = ignore, method
        if method not in _continuous and method not in _others:
            raise ArgumentError(f"{self.name}: method {method!r}; known: {', '.join([*_continuous, *_others])}")
        self.q = np.asarray(np.asarray(q, np.float64) / of)
        if not ((self.q >= 0) & (self.q <= 1)).all():
            raise ArgumentError(f"{self.name}: expected numbers between 0 and {of}, got {q}")
        if isinstance(a, Array) and a.dtype.kind in "bc":
            raise ArgumentError(f"{self.name}: dtype {a.dtype} is not supported, as in NumPy: convert the array with astype")
        self.shape, self.each = self.q.shape, [float(one) for one in self.q.reshape(-1)]
        is_weak = isinstance(q, (int, float)) and not isinstance(q, np.generic)  # has no dtype of its own
        self.given = q if of == 1 else np.true_divide(q, of).tolist() if is_weak else self.q

    def dtype(self, given: Any) -> Any:
        """NumPy's dtype of the result. The places are computed in double precision, whatever it is."""
        return np.asarray(np.quantile(np.zeros(1, given), self.given, method=cast(Any, self.method))).dtype

    def whole(self, values: Any, axes: Tuple[int, ...]) -> Any:
        function: Any = np.nanquantile if self.ignore else np.quantile
        found = np.asarray(function(values, self.q.reshape(-1), axis=axes, method=self.method))  # nanquantile misplaces two dimensions of q
        return found.astype(self.dtype(values.dtype)).reshape((*self.shape, *found.shape[1:]))

    def places(self, many: int) -> Sequence[int]:
        self.between = [_place(q, many, self.method) for q in self.each]
        return [place for before, after, _ in self.between for place in (before, after)]

    def result(self, found: Any) -> Any:
        pairs = zip(found.reshape(-1, 2), self.between)
        each = [pair[0] if share == 0 else np.quantile(pair, np.float64(share)) for pair, (_, _, share) in pairs]
        return np.array(each, self.dtype(found.dtype)).reshape(self.shape)[()]

    def of_nothing(self, dtype: Any) -> Any:
        if not self.ignore:
            raise ArgumentError(f"{self.name}: the array has no elements")
        return np.full(self.shape, np.nan, self.dtype(dtype))[()]


Statistic = Union[_Median, _Quantile]


def _over(
    what: Statistic, a: Array, axis: Axis, out: None, keepdims: bool, distribution: Optional[Destination]
) -> Any:
    given = on_host(a)
    if out is not None:
        raise ArgumentError(f"{what.name}: the argument out is not supported")
    if given._core.dtype in _of_ml_dtypes:
        given = given.astype("float32")
    axis = tuple(range(a.ndim)) if axis is None and keepdims else axis
    if axis is None:
        if distribution is not None:
            raise ArgumentError(f"{what.name}: a reduction over all axes returns a number on every rank")
        elements = in_any_order(given)
        return _of_sequence(what, elements.context, elements.values)
    axes = tuple(distinct_axes_of(axis, given.ndim))
    others = [one for one in range(given.ndim) if one not in axes]
    for one in axes:
        if given.shape[one] == 0:
            raise ArgumentError(f"{what.name}: axis {one} has no elements")
    kept = [1 if one in axes else given.shape[one] for one in range(given.ndim) if keepdims or one not in axes]
    shape, first = (*what.shape, *kept), len(what.shape)
    lines = given.size // max(1, int(np.prod([given.shape[one] for one in axes])))
    if lines < given._core.context.size and not has_whole_axes(given.layout, axes):
        return moved(_line_by_line(what, a, given, axes, others, shape), distribution)
    there, cut = with_whole(given, axes)
    values = values_of(there)
    along = first + (0 if cut.axis is None else cut.axis if keepdims else others.index(cut.axis))
    local = list(shape)
    if cut.axis is not None:
        local[along] = values.shape[cut.axis]
    found = _none(what, local, given) if 0 in local else np.reshape(what.whole(values, axes), local)
    return moved(wrapped(a, cut.layout(shape, along), found), distribution)


def _none(what: Statistic, shape: Sequence[int], given: Array) -> Any:
    """A result without elements, which NumPy does not compute."""
    return np.empty(shape, np.asarray(what.whole(np.zeros(1, given.dtype), (0,))).dtype)


def _line_by_line(
    what: Statistic, like: Array, given: Array, axes: Sequence[int], others: Sequence[int], shape: Tuple[int, ...]
) -> Array:
    """With fewer lines than ranks: all ranks look for the statistic of each. The result is on every rank."""
    there = given.redistribute(longest_slab(given.shape, others))
    values = np.moveaxis(values_of(there), others, range(len(others)))
    many = int(np.prod(values.shape[: len(others)], dtype=np.int64))
    lines = values.reshape(many, values.size // max(many, 1))
    found = [_of_sequence(what, given._core.context, np.ascontiguousarray(line)) for line in lines]
    stacked = np.stack(found, -1) if found else _none(what, shape, given)
    return wrapped(like, _core.Layout(_core.Replicated(), shape, given._core.context.size), stacked.reshape(shape))


def _of_sequence(what: Statistic, context: Any, values: Any) -> Any:
    """On every rank."""
    nans = np.isnan(values) if values.dtype.kind in "fc" else None
    many, bad = (int(one) for one in total(context, [len(values), 0 if nans is None else int(np.count_nonzero(nans))]))
    if bad and not what.ignore:
        return what.result(np.full(len(what.places(many)), np.nan, values.dtype))
    if many == bad:
        return what.of_nothing(values.dtype)
    kept = values[~nans] if bad and nans is not None else values
    return what.result(order_statistics(context, kept, what.places(many - bad)))


__all__ = ["median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile"]
