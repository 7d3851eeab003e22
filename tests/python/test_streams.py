"""`stream=`: every call that works on arrays takes it, but those that say so, and refuses it of host memory by name."""

import inspect

import numpy as np
import pytest

import partita as pt
from partita import fft

# What waits for the current stream of the arrays' package first, and is done when it returns.
WITHOUT = {
    "Array": {"to_string", "ptp", *(name for name in dir(np.ndarray) if name not in ("sum", "prod", "min", "max", "mean", "any", "all", "astype", "copy", "fill"))},
    "Context": {"close", "collect", "fail", "subgroup", "split", "along"},
    "FFT": {"autotune", "release", "explain"},
    "Matmul": {"autotune", "release", "explain", "reset", "unbind"},
    "Redistribute": {"explain"},
    "Halo": None,
    "SymmetricArray": None,
}
FACTORIZE = {
    "cho_factor", "cholesky", "cond", "condition", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lu_factor", "matrix_power", "matrix_rank", "multi_dot", "pinv", "polar", "qr",
    "slogdet", "svd", "svdvals",
}  # fmt: skip
MAKES = {"arange", "empty", "eye", "from_function", "from_local", "full", "linspace", "normal", "ones", "zeros"}
#: They work on the current stream of the arrays' package, or in host memory after it.
OF_NUMPY = {name for name in pt.__all__ if hasattr(np, name) or name.startswith(("unique_", "cumulative_")) or name in ("topk", "balance", "from_parts")} - MAKES - {"dot", "vdot", "matmul"}
NO_ARRAYS = {"default", "current_mesh", "initialize", "mpi_description", "parse", "run", "spmd", "traffic", "version"}


def takes_stream(function):
    return "stream" in inspect.signature(function).parameters


def test_every_function_takes_a_stream():
    functions = {name for name in pt.__all__ if inspect.isfunction(getattr(pt, name))} - OF_NUMPY
    assert {name for name in functions if not takes_stream(getattr(pt, name))} == (MAKES | NO_ARRAYS) & functions
    of_fft = {name for name in fft.__all__ if inspect.isfunction(getattr(fft, name))}
    of_fft -= {"fftfreq", "fftshift", "ifftshift", "rfftfreq"}
    assert {name for name in of_fft if takes_stream(getattr(fft, name))} == {name for name in of_fft if name.endswith("n")}
    assert all(takes_stream(getattr(pt.spectral, name)) for name in pt.spectral.__all__)
    of_linalg = {name for name in pt.linalg.__all__ if inspect.isfunction(getattr(pt.linalg, name))}
    assert {name for name in of_linalg if not takes_stream(getattr(pt.linalg, name))} == FACTORIZE
    # The others hand their options on to those.
    assert all("options" in inspect.signature(getattr(fft, name)).parameters for name in of_fft)
    for kind in (pt.Array, pt.Context, fft.FFT, pt.Matmul, pt.Redistribute):
        methods = {name for name, one in inspect.getmembers(kind, inspect.isfunction) if not name.startswith("_")}
        found = {name for name in methods if not takes_stream(getattr(kind, name))}
        assert found <= WITHOUT[kind.__name__] | {"indices"}, kind


def calls(ctx):
    """On host memory, by name."""
    a, b, z = (pt.zeros(ctx, (6, 6), pt.Slab(0), kind) for kind in ("float64", "float64", "complex128"))
    m = pt.eye(ctx, 6, distribution="slab:0")
    pair = pt.linalg.lu_factor(m)
    x, ones, every = np.ones(3), np.ones((ctx.size, 2)), {}
    for name in ("fftn", "ifftn", "fft", "ifft", "fft2", "ifft2", "irfftn", "irfft", "irfft2"):
        every[name] = lambda given, name=name: getattr(fft, name)(z, **given)
    for name in ("rfftn", "rfft", "rfft2", "dctn", "idctn", "dstn", "idstn", "dct", "idct", "dst", "idst"):
        every[name] = lambda given, name=name: getattr(fft, name)(a, **given)
    for name in ("sum", "prod", "min", "max", "mean", "any", "all", "gather", "copy"):
        every[name] = lambda given, name=name: getattr(a, name)(**given)
    every["fftn into"] = lambda given: fft.fftn(z, out=pt.zeros(ctx, (6, 6), pt.Slab(1), "complex128"), **given)
    planned, product, moving = fft.FFT(z), pt.Matmul(a, b), pt.Redistribute(a, pt.zeros(ctx, (6, 6), pt.Slab(1)))
    neighbour = (ctx.rank + 1) % ctx.size
    return {
        **every,
        "sum over rows": lambda given: a.sum(axis=0, **given),
        "redistribute": lambda given: a.redistribute(pt.Slab(1), **given),
        "redistribute into": lambda given: pt.redistribute(a, pt.zeros(ctx, (6, 6), pt.Slab(1)), **given),
        "Redistribute.execute": lambda given: moving.execute(**given),
        "astype": lambda given: a.astype("float32", **given),
        "at": lambda given: a.at((0, 0), **given),
        "fill": lambda given: a.fill(0, **given),
        "random": lambda given: pt.random(ctx, (6, 6), pt.Slab(0), **given),
        "scatter": lambda given: pt.scatter(ctx, np.ones((6, 6)), pt.Slab(0), **given),
        "matmul": lambda given: pt.matmul(a, b, **given),
        "matmul into": lambda given: pt.matmul(a, b, out=pt.zeros(ctx, (6, 6), pt.Slab(0)), **given),
        "Matmul.execute": lambda given: product.execute(**given),
        "FFT.execute": lambda given: planned.execute(**given),
        "FFT.inverse": lambda given: planned.inverse(**given),
        "dot": lambda given: pt.dot(a, b, **given),
        "vdot": lambda given: pt.vdot(a, b, **given),
        "norm": lambda given: pt.norm(a, **given),
        "norm by singular values": lambda given: pt.norm(a, 2, **given),
        "solve": lambda given: pt.linalg.solve(m, b, **given),
        "solve_triangular": lambda given: pt.linalg.solve_triangular(m, b, **given),
        "lstsq": lambda given: pt.linalg.lstsq(m, b, **given),
        "lu_solve": lambda given: pt.linalg.lu_solve(pair, b, **given),
        "LU.solve into": lambda given: pt.linalg.LU(m).solve(b, out=a, **given),
        "solve_poisson": lambda given: pt.spectral.solve_poisson(a, **given),
        "gradient": lambda given: pt.spectral.gradient(a, **given),
        "convolve": lambda given: pt.spectral.convolve(a, b, **given),
        "multiply": lambda given: pt.spectral.multiply(a, lambda k: 1.0, **given),
        "resize": lambda given: pt.spectral.resize(z, (6, 6), (8, 8), **given),
        "broadcast": lambda given: pt.broadcast(ctx, x, **given),
        "reduce": lambda given: pt.reduce(ctx, x, **given),
        "all_reduce": lambda given: pt.all_reduce(ctx, x, **given),
        "gather of memory": lambda given: pt.gather(ctx, x, **given),
        "scatter_from": lambda given: pt.scatter_from(ctx, ones, np.ones((1, 2)), **given),
        "all_gather": lambda given: pt.all_gather(ctx, x, **given),
        "reduce_scatter": lambda given: pt.reduce_scatter(ctx, ones, **given),
        "all_to_all": lambda given: pt.all_to_all(ctx, ones, **given),
        "scan": lambda given: pt.scan(ctx, x, **given),
        "send": lambda given: pt.send(ctx, x, neighbour, **given),
        "receive": lambda given: pt.receive(ctx, x, neighbour, **given),
        "send_receive": lambda given: pt.send_receive(ctx, x, neighbour, np.ones(3), (ctx.rank - 1) % ctx.size, **given),
        "barrier": lambda given: ctx.barrier(**given),
    }


def test_host_memory_has_no_streams(ctx):
    if ctx.device != "cpu":
        pytest.skip("a context with a device")
    for name, call in calls(ctx).items():
        with pytest.raises(pt.UnsupportedError, match="stream|device"):
            call({"stream": 1})
            pytest.fail(f"{name} has ignored its stream")
        with pytest.raises(TypeError, match="stream"):
            call({"stream": "fast"})
        if name not in ("send", "receive"):
            call({})
    ctx.barrier()
