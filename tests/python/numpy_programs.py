"""Random calls of functions that have NumPy's names, and what NumPy makes of them: shape, dtype, distribution, function and arguments are drawn.

Each case is drawn from a seed by all ranks alike. `draw` returns the arrays, their distributions, and the call, which takes a namespace: `np` for NumPy's
arrays, and for distributed ones `pt` or, for odd seeds, `Dispatched`, NumPy's functions."""

import math

import numpy as np
from shapes import part, spread

import partita as pt

FLOATS = ["float32", "float64", "complex64", "complex128"]
INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
#: Of float16, NumPy has sums in float16, and Partita in float32.
DTYPES, SUMMED = ["bool", *INTEGERS, "float16", *FLOATS], ["bool", *INTEGERS, *FLOATS]


class Dispatched:
    """NumPy's functions of distributed arrays; those of the package that an older NumPy does not have."""

    def __getattr__(self, name):
        return getattr(np if hasattr(np, name) else pt, name)


dispatched = Dispatched()


class Generator(np.random.Generator):
    """Random numbers for calls on a number of ranks."""

    ranks = 1


def values(rng, shape, dtype, nan=False):
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    found = rng.integers(0 if dtype.startswith("u") else -4, 5, shape).astype(dtype)
    if dtype.startswith("complex"):
        found = found + 1j * rng.integers(-4, 5, shape).astype(found.real.dtype)
    if nan and dtype.startswith(("float", "complex")):
        found = np.where(rng.random(shape) < 0.2, np.nan, found)
    return np.asarray(found, dtype)


def shape_of(rng, least=0, most=3, empty=True):
    return tuple(int(n) for n in rng.integers(0 if empty and rng.random() < 0.1 else 1, 8, rng.integers(least, most + 1)))


def rule(rng, shape, ranks):
    """A distribution of any kind that suits the shape."""
    if not shape or rng.random() < 0.15:
        return pt.Replicated()
    cut = int(rng.integers(len(shape)))
    kind = rng.choice(["slab", "box", "cyclic", "block", "mesh"])
    grid = [ranks if axis == cut else 1 for axis in range(len(shape))]
    if kind == "slab":
        return pt.Slab(cut)
    if kind == "box":
        points = sorted(int(one) for one in rng.integers(0, shape[cut] + 1, ranks - 1))
        return pt.Box.from_cuts([[0, *points, n] if axis == cut else [0, n] for axis, n in enumerate(shape)])
    if kind == "cyclic":
        return pt.BlockCyclic(pt.ProcessGrid(grid), [int(one) for one in rng.integers(1, 4, len(shape))])
    if kind == "block":
        return pt.BlockNonCyclic(grid)
    names = ["x" if axis == cut and rng.random() < 0.8 else None for axis in range(len(shape))]
    return pt.Partitioned(pt.Mesh({"x": ranks}), pt.P(*names, uneven=str(rng.choice(["ceil", "balanced"]))))


def some_axis(rng, a):
    return int(rng.integers(-a.ndim, a.ndim))


def axes(rng, a):
    """None, an axis, or several."""
    if not a.ndim or rng.random() < 0.25:
        return None
    if rng.random() < 0.6:
        return some_axis(rng, a)
    return tuple(int(one) for one in rng.permutation(a.ndim)[: rng.integers(1, a.ndim + 1)])


def factors(rng, size, dimensions):
    """A shape of so many dimensions for the elements."""
    if size == 0:
        return tuple(int(n) for n in rng.permutation([0, *rng.integers(1, 4, dimensions - 1)]))
    found = []
    for _ in range(dimensions - 1):
        divisors = [d for d in range(1, size + 1) if size % d == 0]
        found.append(int(rng.choice(divisors)))
        size //= found[-1]
    return (*found, size)


def key(rng, a, basic=True):
    found = []
    for n in a.shape[: rng.integers(0, a.ndim + 1)]:
        kind = rng.random()
        if kind < 0.25 and n:
            found.append(int(rng.integers(-n, n)))
        elif kind < 0.85:
            bounds = [None if rng.random() < 0.3 else int(rng.integers(-n - 1, n + 2)) for _ in range(2)]
            found.append(slice(*bounds, int(rng.choice([1, 1, 2, 3, -1, -2]))))
        else:
            found.append(slice(None))
        if rng.random() < 0.1:
            found.append(None)
    if rng.random() < 0.2:
        found.append(Ellipsis)
    return tuple(found)


def beside(x, values, how):
    """Values as an array of the context and in the memory space of another one."""
    found = spread(x.context, values, how)
    return found if x.space == "host" else found.copy(space=x.space)


def selection(rng, a):
    """What a call passes as `where=`, often nothing."""
    if rng.random() < 0.6:
        return lambda np_, x: {}
    extents = tuple(1 if rng.random() < 0.3 else n for n in a.shape)[int(rng.integers(a.ndim + 1)) :]
    mask = np.asarray(rng.random(extents) < 0.6)
    how = rule(rng, extents, rng.ranks) if mask.ndim and rng.random() < 0.5 else None
    return lambda np_, x: {"where": mask if np_ is np or how is None else beside(x, mask, how)}


CASES = {}


def case(*, dtypes=DTYPES, least=0, empty=True, nan=False, most=3):
    """Registers a function that draws a call of one array."""

    def register(function):
        CASES[function.__name__] = (function, dtypes, least, empty, nan, most)
        return function

    return register


@case(dtypes=SUMMED)
def sums(rng, a):
    name = str(rng.choice(["sum", "prod", "any", "all"]))
    axis, keep, mask = axes(rng, a), bool(rng.integers(2)), selection(rng, a)
    if axis is None:
        keep = False
    first = {"initial": int(rng.integers(0, 4))} if name in ("sum", "prod") and rng.random() < 0.3 else {}
    return lambda np_, x: getattr(np_, name)(x, axis=axis, keepdims=keep, **first, **mask(np_, x))


@case(empty=False, nan=True)
def extrema(rng, a):
    name, axis = str(rng.choice(["min", "max", "ptp"] if a.dtype != bool else ["min", "max"])), axes(rng, a)
    return lambda np_, x: getattr(np_, name)(x, axis=axis)


@case(nan=True)
def extrema_with_a_number(rng, a):
    name, axis, first, mask = str(rng.choice(["min", "max"])), axes(rng, a), int(rng.integers(0, 2)), selection(rng, a)
    return lambda np_, x: getattr(np_, name)(x, axis=axis, initial=first, **mask(np_, x))


@case(empty=False, nan=True)
def places_of_extrema(rng, a):
    name, axis, keep = str(rng.choice(["argmax", "argmin"])), some_axis(rng, a) if a.ndim and rng.random() < 0.7 else None, bool(rng.integers(2))
    return lambda np_, x: getattr(np_, name)(x, axis=axis, keepdims=keep)


@case(dtypes=SUMMED, empty=False)
def moments(rng, a):
    name, axis, ddof, mask = str(rng.choice(["var", "std"])), axes(rng, a), int(rng.integers(2)), selection(rng, a)
    return lambda np_, x: getattr(np_, name)(x, axis=axis, ddof=ddof, **mask(np_, x))


@case(dtypes=SUMMED, empty=False)
def means(rng, a):
    name, axis = str(rng.choice(["mean", "average"])), axes(rng, a)
    mask = selection(rng, a) if name == "mean" else lambda np_, x: {}
    return lambda np_, x: getattr(np_, name)(x, axis=axis, **mask(np_, x))


@case(dtypes=["int32", "float32", "float64"], empty=False, nan=True)
def without_nan(rng, a):
    name, axis = str(rng.choice(["nansum", "nanprod", "nanmin", "nanmax", "nanmean", "nanvar", "nanstd"])), axes(rng, a)
    return lambda np_, x: getattr(np_, name)(x, axis=axis)


@case(nan=True)
def choices(rng, a):
    limit = int(rng.integers(-3, 4))
    if a.dtype == bool or a.dtype.kind == "u":
        limit = abs(limit) % 2
    return lambda np_, x: np_.where(x > limit, x, -x if a.dtype != bool else ~x) if a.dtype.kind not in "c" else np_.where(x == limit, x, 2 * x)


@case(dtypes=[*INTEGERS, "float32", "float64"])
def limits(rng, a):
    low, high = (int(one) for one in rng.integers(0, 4, 2))
    return lambda np_, x: np_.clip(x, low, low + high)


@case(dtypes=["float32", "float64"])
def roundings(rng, a):
    decimals = int(rng.integers(-1, 3))
    return lambda np_, x: np_.round(x / 7, decimals)


@case(dtypes=FLOATS)
def parts_of_numbers(rng, a):
    return lambda np_, x: np_.real(x) * 2 + np_.imag(x) + x.conj()


@case()
def reshapes(rng, a):
    shape, order = factors(rng, a.size, int(rng.integers(1, 5))), str(rng.choice(["C", "C", "F"]))
    if rng.random() < 0.3 and a.size:
        shape = (*shape[:-1], -1)
    return lambda np_, x: np_.reshape(x, shape, order=order)


@case(least=1)
def orders(rng, a):
    first, second = some_axis(rng, a), some_axis(rng, a)
    return lambda np_, x: np_.moveaxis(np_.swapaxes(x, first, second), first, second)


@case(least=1)
def new_dimensions(rng, a):
    place = int(rng.integers(-a.ndim - 1, a.ndim + 1))
    return lambda np_, x: np_.expand_dims(x, place)


@case(least=1)
def squeezes(rng, a):
    ones = tuple(slice(0, 1) if rng.random() < 0.5 else slice(None) for _ in a.shape)
    return lambda np_, x: np_.squeeze(x[ones])


@case()
def broadcasts(rng, a):
    ones = tuple(slice(0, 1) if rng.random() < 0.5 else slice(None) for _ in a.shape)
    extents = a[ones].shape
    wanted = (*(int(n) for n in rng.integers(1, 4, rng.integers(0, 2))), *(int(rng.integers(1, 6)) if n == 1 else n for n in extents))
    return lambda np_, x: np_.broadcast_to(x[ones], wanted)


@case(least=1)
def rolls(rng, a):
    axis = axes(rng, a)
    shift = int(rng.integers(-9, 9)) if not isinstance(axis, tuple) else tuple(int(one) for one in rng.integers(-9, 9, len(axis)))
    return lambda np_, x: np_.roll(x, shift, axis)


@case(least=1)
def flips(rng, a):
    axis = axes(rng, a)
    return lambda np_, x: np_.flip(x, axis)


@case(least=2)
def rotations(rng, a):
    turns, plane = int(rng.integers(-2, 5)), tuple(int(one) for one in rng.permutation(a.ndim)[:2])
    return lambda np_, x: np_.rot90(x, turns, plane)


@case(least=1, most=2)
def repeats(rng, a):
    axis = some_axis(rng, a) if rng.random() < 0.7 else None
    n = a.size if axis is None else a.shape[axis]
    times = int(rng.integers(0, 4)) if rng.random() < 0.5 else rng.integers(0, 3, n)
    return lambda np_, x: np_.repeat(x, times, axis)


@case(most=2)
def tiles(rng, a):
    times = tuple(int(one) for one in rng.integers(0, 4, rng.integers(1, 4)))
    return lambda np_, x: np_.tile(x, times)


@case(least=1, most=2, empty=False)
def pads(rng, a):
    widths = [tuple(int(one) for one in rng.integers(0, 4, 2)) for _ in a.shape]
    mode = str(rng.choice(["constant", "edge", "wrap", "reflect", "symmetric", "empty"]))
    inside = tuple(slice(before, before + n) if mode == "empty" else slice(None) for (before, _), n in zip(widths, a.shape))
    return lambda np_, x: np_.pad(x, widths, mode)[inside]


@case(least=1)
def triangles(rng, a):
    name, k = str(rng.choice(["tril", "triu"])), int(rng.integers(-3, 4))
    return lambda np_, x: getattr(np_, name)(x, k)


@case(least=2)
def diagonals(rng, a):
    name, offset, plane = str(rng.choice(["diagonal", "trace"] if str(a.dtype) in SUMMED else ["diagonal"])), int(rng.integers(-3, 4)), [int(one) for one in rng.permutation(a.ndim)[:2]]
    if name == "trace":
        return lambda np_, x: np.trace(x, offset, *plane)
    return lambda np_, x: np_.diagonal(x, offset, *plane)


@case()
def indices(rng, a):
    chosen = key(rng, a)
    return lambda np_, x: x[chosen]


@case()
def assignments(rng, a):
    chosen = key(rng, a)
    number = a.dtype.type(1)
    own = a[chosen].copy() if a.ndim else a.copy()

    def assigned(np_, x):
        if np_ is np:
            x[chosen] = number + own if a.dtype != bool else own
            return x
        other = number + own if a.dtype != bool else own
        if any(isinstance(one, slice) and one.step not in (None, 1) for one in chosen):
            x = x.redistribute(pt.Slab(0))
        x[chosen] = other if np.ndim(other) else other[()]
        return x

    return assigned


def index_array(rng, n, shape):
    """Integers of any dtype and sign, sometimes all equal."""
    found = rng.integers(-n, n, shape) if n else np.zeros(shape, int)
    return (found if rng.random() < 0.8 else found[..., :1] * np.ones_like(found)).astype(rng.choice(["int64", "int64", "int32"]))


def advanced_key(rng, a):
    """A key with arrays of integers and of booleans next to numbers, slices, None and an Ellipsis."""
    shape = tuple(int(n) for n in rng.integers(1, 5, rng.integers(1, 3)))
    found, left, arrays = [], list(a.shape), 0
    while left:
        n, kind = left[0], rng.random()
        if kind < 0.45 and n:
            some = tuple(1 if rng.random() < 0.3 else extent for extent in shape[int(rng.integers(len(shape))) :])
            found.append(index_array(rng, n, some))
            arrays += 1
        elif kind < 0.55 and (not arrays or rng.random() < 0.3):
            many = int(rng.integers(1, len(left) + 1))
            mask = np.zeros(math.prod(left[:many]), bool)
            count = len(mask) if not arrays and rng.random() < 0.3 else min(len(mask), shape[-1])
            mask[rng.permutation(len(mask))[:count]] = True
            if arrays and count != shape[-1]:
                mask[:] = False
                mask[: min(1, len(mask))] = True
            if count != shape[-1]:
                shape = (count,)
            found.append(mask.reshape(left[:many]))
            arrays += 1
            left = left[many - 1 :]
        elif kind < 0.65 and n:
            found.append(int(rng.integers(-n, n)))
        elif kind < 0.75:
            found.append(slice(int(rng.integers(-n - 1, n + 1)), None, int(rng.choice([1, 1, 2, -1]))))
        else:
            found.append(slice(None))
        left = left[1:]
        if rng.random() < 0.1:
            found.append(None)
        if rng.random() < 0.15:
            break
    if left and rng.random() < 0.3 or rng.random() < 0.1:
        found.append(Ellipsis)
    if not arrays and not any(one is Ellipsis for one in found):
        found.insert(0, bool(rng.integers(2)))
    return tuple(found) if len(found) != 1 or rng.random() < 0.3 else found[0]


def valid(a, key):
    """Whether NumPy takes the key."""
    try:
        a[key]
    except IndexError:
        return False
    return True


def spread_key(rng, key, ranks):
    """For each array of a key, the distribution in which it is passed; None: as a NumPy array."""
    return [rule(rng, np.shape(one), ranks) if isinstance(one, np.ndarray) and rng.random() < 0.5 else None for one in (key if isinstance(key, tuple) else (key,))]


def passed(x, key, rules):
    """The key for a distributed array."""
    found = tuple(one if how is None else spread(x.context, one, how) for one, how in zip(key if isinstance(key, tuple) else (key,), rules))
    return found if isinstance(key, tuple) else found[0]


@case(least=1, most=4)
def arrays_as_indices(rng, a):
    key = advanced_key(rng, a)
    while not valid(a, key):
        key = advanced_key(rng, a)
    rules = spread_key(rng, key, rng.ranks)
    return lambda np_, x: x[key if np_ is np else passed(x, key, rules)]


def given_values(rng, a, shape):
    """Values that broadcast to a shape, and the distribution in which they are passed."""
    if rng.random() < 0.25:
        return a.dtype.type(1), None
    extents = tuple(1 if rng.random() < 0.2 else n for n in shape)
    extents = extents[int(rng.integers(len(extents) + 1)) :] if rng.random() < 0.2 else extents
    found = values(rng, extents, str(a.dtype))
    return found, rule(rng, extents, rng.ranks) if found.ndim and rng.random() < 0.6 else None


@case(least=1, most=4)
def assignments_by_arrays(rng, a):
    key = advanced_key(rng, a)
    while not valid(a, key):
        key = advanced_key(rng, a)
    rules = spread_key(rng, key, rng.ranks)
    number, how = given_values(rng, a, a[key].shape)

    def assigned(np_, x):
        if np_ is np:
            x[key] = number
            return x
        if any(isinstance(one, slice) and one.step not in (None, 1) for one in (key if isinstance(key, tuple) else (key,))):
            x = x.redistribute(pt.Slab(0))
        x[passed(x, key, rules)] = number if how is None else spread(x.context, number, how)
        return x

    return assigned


@case(empty=False)
def puts(rng, a):
    index = index_array(rng, a.size, int(rng.integers(0, 9)))
    mode = str(rng.choice(["raise", "wrap", "clip"]))
    index = index if mode == "raise" else index * 3
    number = values(rng, int(rng.integers(1, 12)), str(a.dtype))
    hows = [rule(rng, one.shape, rng.ranks) if rng.random() < 0.5 else None for one in (index, number)]

    def put(np_, x):
        if np_ is np:
            np.put(x, index, number, mode)
        else:
            np.put(x, *(one if how is None else spread(x.context, one, how) for one, how in zip((index, number), hows)), mode)
        return x

    return put


@case(least=1, empty=False)
def lines(rng, a):
    axis = some_axis(rng, a)
    extents = [1 if rng.random() < 0.2 else n for n in a.shape]
    extents[axis] = int(rng.integers(0, 6))
    index = index_array(rng, a.shape[axis], extents)
    how = rule(rng, index.shape, rng.ranks) if rng.random() < 0.6 else None
    number, of_number = given_values(rng, a, np.take_along_axis(a, index, axis).shape)
    sets = rng.random() < 0.5

    def along(np_, x):
        there = index if np_ is np or how is None else spread(x.context, index, how)
        if not sets:
            return np.take_along_axis(x, there, axis)
        np.put_along_axis(x, there, number if np_ is np or of_number is None else spread(x.context, number, of_number), axis)
        return x

    return along


@case(dtypes=SUMMED, least=1, nan=True, most=4)  # of float16, NumPy has lines that begin with NaN first
def distinct_lines(rng, a):
    axis, options = some_axis(rng, a), {name: bool(rng.integers(2)) for name in ("return_index", "return_inverse", "return_counts", "equal_nan")}
    if rng.random() < 0.7:
        options["axis"] = axis
    options["return_index"] |= options["return_inverse"]  # else NumPy's order of elements that are NaN is not stable
    if a.ndim == 1 or "axis" not in options:
        options["equal_nan"] = True
    many = 1 + sum(options[name] for name in options if name.startswith("return"))
    which = int(rng.integers(many))
    few = rng.random() < 0.5

    def unique(np_, x):
        x = x if not few else np.floor(x / 3) if a.dtype.kind == "f" else x % 2 if a.dtype.kind in "iu" else x
        found = np.unique(x, **options)
        return found[which] if many > 1 else found

    return unique


@case(least=1)
def joins(rng, a):
    axis, other = some_axis(rng, a), int(rng.integers(0, 3))
    cut = [slice(None)] * a.ndim
    cut[axis] = slice(other, None)
    return lambda np_, x: np_.concatenate([x, x[tuple(cut)], x], axis)


@case()
def stacks(rng, a):
    axis = int(rng.integers(-a.ndim - 1, a.ndim + 1))
    return lambda np_, x: np_.stack([x, x], axis)


@case(least=1)
def piles(rng, a):
    name = str(rng.choice(["vstack", "hstack", "dstack"]))
    return lambda np_, x: getattr(np_, name)([x, x])


@case(least=1)
def divisions(rng, a):
    axis, count = some_axis(rng, a), int(rng.integers(1, 4))
    which = int(rng.integers(count))
    return lambda np_, x: np_.array_split(x, count, axis)[which]


def other(rng, a, shape, np_=np, dtypes=DTYPES):
    return values(rng, shape, str(rng.choice(dtypes)))


@case(least=1)
def products(rng, a):
    k, n, lead = a.shape[-1], int(rng.integers(1, 6)), a.shape[:-2]
    kind = rng.random()
    shape = (k,) if kind < 0.2 else (k, n) if kind < 0.5 else (*(1 if rng.random() < 0.4 else m for m in lead), k, n)
    b = other(rng, a, shape)
    if a.dtype == b.dtype == np.int8:
        b = b.astype("int16")
    return lambda np_, x: np_.matmul(x, b if np_ is np else pt.scatter(x.context, b, pt.Slab(0)))


@case(most=2)
def outer_products(rng, a):
    b, name = other(rng, a, shape_of(rng, 0, 2)), str(rng.choice(["outer", "kron"]))
    return lambda np_, x: getattr(np_, name)(x, b)


@case(least=1)
def inner_products(rng, a):
    b = other(rng, a, (*shape_of(rng, 0, 1), a.shape[-1]), dtypes=[str(a.dtype)])
    name = str(rng.choice(["inner", "dot", "tensordot"]))
    if a.dtype == np.int8:
        b = b.astype("int16")
    if name == "inner":
        return lambda np_, x: np_.inner(x, b if np_ is np else pt.scatter(x.context, b, pt.Slab(0)))
    if name == "dot":
        b = np.moveaxis(b, -1, -2) if b.ndim > 1 else b
        return lambda np_, x: np_.dot(x, b if np_ is np else pt.scatter(x.context, np.ascontiguousarray(b), pt.Slab(0)))
    return lambda np_, x: np_.tensordot(x, b, ([-1], [b.ndim - 1]))


@case()
def products_with_numbers(rng, a):
    number, first = int(rng.integers(0, 4)), bool(rng.integers(2))
    return lambda np_, x: np_.dot(number, x) if first else np_.dot(x, number)


@case(empty=False)
def single_indices(rng, a):
    axis = some_axis(rng, a) if a.ndim and rng.random() < 0.7 else None
    n = a.size if axis is None else a.shape[axis]
    index, mode = int(rng.integers(-n, n)), str(rng.choice(["raise", "wrap", "clip"]))
    return lambda np_, x: np_.take(x, index, axis, mode=mode)


@case(least=1)
def sums_of_products(rng, a):
    extents = dict(zip("abc", a.shape))
    letters = list(extents)
    extents["d"] = 3
    second = [str(one) for one in rng.permutation([*letters, "d"])[: rng.integers(1, 4)]]
    third = [str(one) for one in rng.permutation([*letters, "d"])[: rng.integers(0, 3)]] if rng.random() < 0.3 else None
    terms = [letters, second] + ([third] if third is not None else [])
    used = sorted({one for term in terms for one in term})
    result = [str(one) for one in rng.permutation(used)[: rng.integers(0, len(used) + 1)]]
    text = ",".join("".join(term) for term in terms) + "->" + "".join(result)
    others = [other(rng, a, tuple(extents[one] for one in term), dtypes=["float64", "int64", "complex128"]) for term in terms[1:]]
    return lambda np_, x: np_.einsum(text, x, *others)


@case(least=2, empty=False)
def repeated_labels(rng, a):
    n = min(a.shape[:2])
    rest = "cde"[: a.ndim - 2]
    text = str(rng.choice([f"aa{rest}->a", f"aa{rest}->{rest}", "aa...->...a", "aa..."]))
    return lambda np_, x: np_.einsum(text, x[:n, :n])


@case(dtypes=FLOATS, least=1, empty=False)
def spectra(rng, a):
    name, axis = str(rng.choice(["fftshift", "ifftshift", "hfft", "ihfft"])), some_axis(rng, a)
    if name.endswith("shift"):
        chosen = axes(rng, a)
        return lambda np_, x: getattr(np_.fft, name)(x, axes=chosen)
    n = int(rng.integers(1, 9)) if rng.random() < 0.5 else max(1, 2 * (a.shape[axis] - 1))
    if name == "hfft":
        return lambda np_, x: np_.fft.hfft(x, n, axis, norm="ortho")
    return lambda np_, x: np_.fft.ihfft(np_.real(x), n, axis)


@case(empty=False)
def likenesses(rng, a):
    name = str(rng.choice(["zeros_like", "ones_like", "full_like"]))
    return lambda np_, x: getattr(np_, name)(x, *([1] if name == "full_like" else []))


@case(least=1, empty=False)
def diagonals_of_vectors(rng, a):
    k = int(rng.integers(-3, 4))
    return lambda np_, x: np_.diag(x if x.ndim == 2 else np_.ravel(x)[:9], k)


@case(least=1, empty=False, dtypes=["int32", "float32", "float64", "complex128"])
def derivatives(rng, a):
    axis, edge_order = some_axis(rng, a), 1
    if a.shape[axis] < 2:
        return lambda np_, x: np_.append(x, x, axis)
    if a.shape[axis] > 2 and rng.random() < 0.4:
        edge_order = 2
    where = np.cumsum(rng.integers(1, 4, a.shape[axis])) / 2
    name = str(rng.choice(["gradient", "trapezoid"]))
    given = [where] if rng.random() < 0.5 else [0.5] if name == "gradient" else []
    options = {"edge_order": edge_order} if name == "gradient" else {}
    return lambda np_, x: getattr(np_ if hasattr(np_, name) else pt, name)(x, *given, axis=axis, **options)


@case(dtypes=["int32", "float64"])
def interpolations(rng, a):
    points, heights = np.sort(rng.integers(-20, 20, 6)) / 4, rng.integers(-5, 5, 6) / 1.0
    options = {"period": 2.5} if rng.random() < 0.3 else {"left": -9.0}
    return lambda np_, x: np_.interp(x, points, heights, **options)


@case(dtypes=["int32", "float64", "complex128"], least=1, most=2, empty=False)
def covariances(rng, a):
    many = a.shape[0] if a.ndim == 1 else a.shape[1]
    often, weights = [rng.integers(1, 4, many) if rng.random() < 0.3 else None for _ in range(2)]
    ddof = int(rng.integers(0, 2)) if many > 2 else 0
    return lambda np_, x: np_.cov(x, ddof=ddof, fweights=often, aweights=weights)


@case(dtypes=["int32", "float32", "float64", "complex64"], least=1, empty=False)
def cross_products(rng, a):
    index, other = rng.integers(0, a.shape[-1], 3), values(rng, (3,), str(a.dtype))
    return lambda np_, x: np_.cross(np_.take(x, index, -1), other)


@case(dtypes=["bool", "int64", "float64"], least=2, most=2, empty=False)
def chains_of_matrices(rng, a):
    n = min(a.shape)
    if rng.random() < 0.5:
        power = int(rng.integers(0, 4))
        return lambda np_, x: np_.linalg.matrix_power(x[:n, :n], power)
    return lambda np_, x: np_.linalg.multi_dot([x, np_.matrix_transpose(x), x, x[0]] if a.dtype != bool else [x, np_.matrix_transpose(x)])


def generator(seed, ranks):
    rng = Generator(np.random.PCG64(seed))
    rng.ranks = ranks
    return rng


def draw(seed, ranks, only=()):
    """Of a case, or one of the cases `only`: the name, the array, its distribution and the call."""
    rng = generator(seed, ranks)
    names = list(only or CASES)
    name = names[int(rng.integers(len(names)))]
    function, dtypes, least, empty, nan, most = CASES[name]
    a = values(rng, shape_of(rng, least, most, empty), str(rng.choice(dtypes)), nan)
    return name, a, rule(rng, a.shape, ranks), function(rng, a)


def check(call, a, given, text, names):
    """What the call makes of the distributed array, which is equal to what NumPy makes of the array, and that in whole."""
    result = call(np, a.copy())
    wanted = np.asarray(result)
    found = made = call(names, given)
    if isinstance(found, pt.Array):
        assert found.space == given.space and (found.space == "device" or found.local.shape == found.local_shape), text
        assert found.dtype == wanted.dtype, f"{text}: {found.dtype}, not {wanted.dtype}"
        found = found.gather(space="host")
    found = np.asarray(found)
    assert found.shape == wanted.shape, f"{text}: {found.shape}, not {wanted.shape}"
    if wanted.dtype.kind in "fc":
        tolerance = 1e-3 if wanted.dtype == np.float16 else 1e-5 if wanted.dtype in (np.float32, np.complex64) else 1e-12
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance, err_msg=text)
    else:
        np.testing.assert_array_equal(found, wanted, err_msg=text)
    return made, found


def names_of(seed):
    """Whose functions are called on distributed arrays."""
    return dispatched if seed % 2 else pt


def compare(ctx, seed, only=(), space="host"):
    """One case on the ranks of a context, of an array in host or device memory."""
    name, a, distribution, call = draw(seed, ctx.size, only)
    with np.errstate(all="ignore"):
        given = spread(ctx, a, distribution)
        given = given if space == "host" else given.copy(space=space)
        check(call, a, given, f"seed {seed}: {name} of {a.dtype} {a.shape} in {distribution} over {ctx.size}", names_of(seed))


def _suits(name, a):
    _, dtypes, least, empty, nan, most = CASES[name]
    return str(a.dtype) in dtypes and least <= a.ndim <= most and (empty or a.size) and (nan or not np.isnan(a).any())


def compare_chain(ctx, seed, length=6):
    """Cases of which each takes what the one before has made: in its layout, order of dimensions and memory."""
    rng = generator(seed, ctx.size)
    a = values(rng, shape_of(rng), str(rng.choice(DTYPES)))
    given = spread(ctx, a, rule(rng, a.shape, ctx.size))
    names = []
    with np.errstate(all="ignore"):
        for _ in range(length):
            suitable = [name for name in CASES if _suits(name, a)]
            # Of small integers all results are exact.
            if not isinstance(given, pt.Array) or not suitable or a.size > 500 or not (np.isnan(a) | ((np.round(a) == a) & (abs(a) < 1000))).all():
                return
            names.append(suitable[int(rng.integers(len(suitable)))])
            call = CASES[names[-1]][0](rng, a)
            given = given.copy() if given._read_only else given
            given, a = check(call, a, given, f"seed {seed}: {', '.join(names)} of {a.dtype} {a.shape} in {given.layout}", names_of(seed))
