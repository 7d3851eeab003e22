"""Names that are borrowed from NumPy and SciPy have their arguments: order, names and defaults. No ranks."""

import inspect

import numpy as np
import pytest

import partita as pt

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def parameters(function):
    return list(inspect.signature(function).parameters.values())


def check(ours, theirs, names=True):
    """What is given by position means the same, as far as ours goes; keywords of the same name have the same default.

    `names`: they are called the same, too (NumPy's ufuncs and methods in C have other names, or none that matter)."""
    by_position = [one for one in parameters(ours) if one.kind in POSITIONAL]
    by_position_there = [one for one in parameters(theirs) if one.kind in POSITIONAL]
    assert len(by_position) <= len(by_position_there), f"{ours.__name__} takes more arguments by position"
    for mine, other in zip(by_position, by_position_there):
        assert not names or mine.name == other.name, f"{ours.__name__}: {mine.name} is where {other.name} would be"
        assert repr(other.default) in (repr(mine.default), "<no value>"), f"{ours.__name__}: the default of {mine.name}"
    there = {one.name: one for one in parameters(theirs)}
    for mine in parameters(ours):
        if names and mine.kind is inspect.Parameter.KEYWORD_ONLY and mine.name in there:
            given = repr(there[mine.name].default)
            assert given in (repr(mine.default), "<no value>"), f"{ours.__name__}: the default of {mine.name}"


@pytest.mark.parametrize("name", [f"{i}{r}fft{d}" for i in ("", "i") for r in ("", "r") for d in ("", "2", "n")])
def test_transforms_of_numpy(name):
    check(getattr(pt.fft, name), getattr(np.fft, name))
    assert len([one for one in parameters(getattr(pt.fft, name)) if one.kind in POSITIONAL]) == 5  # all of them


@pytest.mark.parametrize("name", ["hfft", "ihfft", "fftshift", "ifftshift"])
def test_spectra_of_numpy(name):
    check(getattr(pt.fft, name), getattr(np.fft, name))


@pytest.mark.parametrize("name", [f"{i}{kind}{d}" for i in ("", "i") for kind in ("dct", "dst") for d in ("", "n")])
def test_transforms_of_scipy(name):
    check(getattr(pt.fft, name), getattr(pytest.importorskip("scipy.fft"), name))


@pytest.mark.parametrize("name", ["all", "any", "max", "mean", "min", "prod", "sum"])
def test_reductions(name):
    check(getattr(pt.Array, name), getattr(np, name), names=False)


#: Another meaning here, or of the array API standard: their arguments are those of NumPy's newest versions.
OTHERS = {"einsum", "einsum_path", "linspace", "ones", "arange", "broadcast", "copy", "dot", "empty", "eye", "full", "matmul", "norm", "vdot", "where", "zeros", "concatenate"}


@pytest.mark.parametrize("name", sorted(set(pt.__all__) - OTHERS))
def test_functions_of_arrays(name):
    ours, theirs = getattr(pt, name), getattr(np, name, None)
    if not inspect.isfunction(ours) or not callable(theirs) or isinstance(theirs, type):
        pytest.skip("not a function of NumPy")
    try:
        check(ours, theirs, names=name not in ("all", "any", "max", "min", "ptp"))
    except ValueError:
        pytest.skip("compiled")


def test_linear_algebra():
    check(pt.norm, np.linalg.norm)

    def numpys(a, b):  # np.dot and np.vdot, which are compiled, and np.matmul, whose third is the result
        pass

    for name in ("dot", "vdot", "matmul"):
        check(getattr(pt, name), numpys)


NUMPYS = [
    "cholesky", "cond", "det", "eigh", "eigvalsh", "inv", "lstsq", "matrix_norm", "matrix_power", "matrix_rank", "multi_dot", "norm", "pinv", "qr", "slogdet",
    "svd", "svdvals", "vector_norm",
]  # fmt: skip


@pytest.mark.parametrize("name", NUMPYS)
def test_linear_algebra_of_numpy(name):
    theirs = getattr(np.linalg, name, None)
    if theirs is None or (name == "cholesky" and len(parameters(theirs)) == 1):
        pytest.skip("an older NumPy")
    check(getattr(pt.linalg, name), theirs)
    by_position = [[one for one in parameters(function) if one.kind in POSITIONAL] for function in (getattr(pt.linalg, name), theirs)]
    assert len(by_position[0]) == len(by_position[1])


@pytest.mark.parametrize("name", ["solve", "lu_factor", "lu_solve", "cho_factor", "cho_solve", "solve_triangular", "polar"])
def test_linear_algebra_of_scipy(name):
    check(getattr(pt.linalg, name), getattr(pytest.importorskip("scipy.linalg"), name))


def test_results_of_linear_algebra():
    for theirs in ("EighResult", "QRResult", "SVDResult", "SlogdetResult"):
        ours = getattr(pt.linalg, theirs)
        modules = [np.linalg, getattr(np.linalg, "_linalg", None), getattr(np.linalg, "linalg", None)]
        found = [getattr(module, theirs) for module in modules if hasattr(module, theirs)]
        assert not found or ours._fields == found[0]._fields


def test_every_transform_is_compared():
    functions = {name for name in pt.fft.__all__ if name != "FFT" and not name.endswith(("shift", "freq", "hfft"))}
    assert functions == {f"{i}{r}fft{d}" for i in ("", "i") for r in ("", "r") for d in ("", "2", "n")} | {
        f"{i}{kind}{d}" for i in ("", "i") for kind in ("dct", "dst") for d in ("", "n")
    }
