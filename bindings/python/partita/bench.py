"""The overhead of the package: its calls compared with the same calls in C++, NumPy and mpi4py, in the same run.

    mpirun -n 2 python -m partita.bench               # or: partita bench python
    python -m partita.bench --case 'matmul/*' --json results.jsonl
    mpirun -n 2 python -m partita.bench jax           # or: partita bench jax; also torch

Everything that is compared runs turn by turn on all ranks; medians are quoted, of the slowest rank. Of small calls, whose turns are
short, the least is reported too: what they take where nothing else of the machine comes between.
"""

from __future__ import annotations

import argparse
import fnmatch
import functools
import importlib
import json
import os
import subprocess
import sys
import time
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

import numpy as np

from . import _core, fft
from ._array import Array, default_multiply, default_redistribution
from ._collectives import all_gather, all_reduce, all_to_all
from ._context import Context, initialize
from ._contraction import Steps, summed
from ._create import from_local, random
from ._einsum import einsum
from ._einsum_run import of_arrays
from ._errors import UnsupportedError
from ._linear import matmul
from ._shapes import reshape

__all__ = ["main"]

Seconds = Callable[[int], float]


class Case(NamedTuple):
    """What is measured: seconds of so many calls, of ours and of what it is compared with."""

    name: str
    bytes: int
    ours: Seconds
    peer: str
    theirs: Seconds
    calls: int


Cases = Callable[[Context, Optional[str]], Iterator[Case]]


def called(call: Callable[[], Any]) -> Seconds:
    """The seconds of calls in Python."""

    def seconds(calls: int) -> float:
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        return time.perf_counter() - begin

    return seconds


def queued(call: Callable[[], Any], wait: Callable[[Any], Any]) -> Seconds:
    """The seconds of calls that return before they are done, one behind the other, until the last one is."""

    def seconds(calls: int) -> float:
        found = None
        begin = time.perf_counter()
        for _ in range(calls):
            found = call()
        wait(found)
        return time.perf_counter() - begin

    return seconds


# A case is measured before the next one is made, so its calls see its arrays.
def _beside_cpp(context: Context) -> Iterator[Case]:
    core = context._core
    for size, edge, calls in (("small", 16, 200), ("large", 1024, 3)):
        a, b = (random(context, (edge, edge), "slab:0", seed=seed) for seed in (1, 2))
        cpp = _matmul_in_cpp(a, b)
        yield Case(f"matmul/{size}", 8 * edge * edge, called(lambda: a @ b), "cpp", cpp, calls)
    for size, edge, calls in (("small", 16, 200), ("large", 1024, 5)):
        z = random(context, (edge, edge), "slab:0", "complex128")
        cpp = _fft_in_cpp(z)
        yield Case(f"fftn/{size}", 16 * edge * edge, called(lambda: fft.fftn(z)), "cpp", cpp, calls)
    for size, edge, calls in (("small", 16, 200), ("large", 2048, 5)):
        a, columns = random(context, (edge, edge), "slab:0"), _core.Slab(1)
        cpp = _redistribute_in_cpp(a, columns)
        ours = called(lambda: a.redistribute(columns))
        yield Case(f"redistribute/{size}", 8 * edge * edge, ours, "cpp", cpp, calls)
    for size, length, calls in (("small", 100, 500), ("large", 1 << 20, 10)):
        x, y = np.ones(length), np.empty(length)
        cpp = _all_reduce_in_cpp(core, x, y)
        ours = called(lambda: all_reduce(context, x, y))
        yield Case(f"all_reduce/{size}", 8 * length, ours, "cpp", cpp, calls)


def _matmul_in_cpp(a: Array, b: Array) -> Seconds:
    return lambda calls: _core.seconds_of_matmul(a._core, b._core, default_multiply, calls)


def _fft_in_cpp(z: Array) -> Seconds:
    options = _core.FftOptions(axes=[0, 1])
    return lambda calls: _core.seconds_of_fft(z._core, options, calls)


def _redistribute_in_cpp(a: Array, rule: _core.Slab) -> Seconds:
    return lambda calls: _core.seconds_of_redistribute(a._core, rule, default_redistribution, calls)


def _all_reduce_in_cpp(context: _core.Context, x: Any, y: Any) -> Seconds:
    return lambda calls: _core.seconds_of_all_reduce(context, x, y, calls)


def _beside_numpy(context: Context) -> Iterator[Case]:
    for size, rows, calls in (("small", 16, 1000), ("large", 2048, 10)):
        x, y = np.ones((rows, 1024)), np.ones((rows, 1024))
        a, b = (from_local(context, one, "slab:0") for one in (x, y))
        ours, theirs = called(lambda: a + b), called(lambda: x + y)
        yield Case(f"ufunc/{size}", x.nbytes * context.size, ours, "numpy", theirs, calls)


def _beside_mpi4py(context: Context) -> Iterator[Case]:
    try:
        from mpi4py import MPI
    except ImportError:
        return
    comm = MPI.COMM_WORLD
    if comm.size != context.size:
        return
    length = (256 << 20) // 4
    x, y = np.ones(length, np.float32), np.empty(length, np.float32)
    part = np.ones(length // context.size, np.float32)
    gathered = np.empty(part.size * context.size, np.float32)
    rows, received = x[: gathered.size], y[: gathered.size]
    for name, ours, theirs in (
        ("all_reduce", lambda: all_reduce(context, x, y), lambda: comm.Allreduce(x, y)),
        ("all_gather", lambda: all_gather(context, part, gathered), lambda: comm.Allgather(part, gathered)),
        ("all_to_all", lambda: all_to_all(context, rows, received), lambda: comm.Alltoall(rows, received)),
    ):
        yield Case(f"collective/{name}", x.nbytes, called(ours), "mpi4py", called(theirs), 1)


def _beside_operations(context: Context) -> Iterator[Case]:
    """Equations by cost, compared with the order of the fewest operations and the layouts that each product and reshape has by itself."""
    steps = Steps(of_arrays.total, of_arrays.diagonal, of_arrays.with_axis, of_arrays.without_axis, reshape, matmul)
    for name, text, operands in (
        ("core", "ijk,ia,jb,kc->abc", [((160, 160, 160), 2), ((160, 12), 0), ((160, 12), 0), ((160, 12), 0)]),
        ("gram", "aijk,bijk->ab", [((64, 32, 32, 32), 3), ((64, 32, 32, 32), 3)]),
        ("tensors", "abc,cde,ef->abdf", [((60, 50, 70), 1), ((70, 30, 50), 2), ((50, 60), 0)]),
    ):
        arrays = [random(context, shape, _core.Slab(axis), seed=seed) for seed, (shape, axis) in enumerate(operands)]
        ours, theirs = (functools.partial(call, text, arrays) for call in (_by_cost, functools.partial(_by_operations, steps)))
        yield Case(f"einsum/{name}", sum(8 * one.size for one in arrays), called(ours), "operations", called(theirs), 1)


def _by_cost(text: str, arrays: List[Array]) -> Array:
    return einsum(text, *arrays)


def _by_operations(steps: Steps, text: str, arrays: List[Array]) -> Any:
    return summed(text, list(arrays), True, steps)


def _imported(package: str) -> Seconds:
    # As of an installed package, whose bytecode is there.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    return called(lambda: subprocess.run([sys.executable, "-c", f"import {package}"], check=True, env=environment))


def _cases(context: Context, device: Optional[str]) -> Iterator[Case]:
    if device == "cuda":
        raise UnsupportedError("the cases of the package itself run on the CPU only; jax and torch also have cases for GPUs")
    yield from _beside_cpp(context)
    yield from _beside_numpy(context)
    yield from _beside_operations(context)
    if context.size > 1:
        yield from _beside_mpi4py(context)
    else:
        yield Case("import", 0, _imported("partita"), "numpy", _imported("numpy"), 1)


# Calls of a turn of small ones: short compared with what a scheduler gives a process at once.
_calls_of_turn = 20


class Times(NamedTuple):
    """Seconds of one call, of ours and of what it is compared with."""

    median: Tuple[float, float]
    least: Tuple[float, float]


def _measure(context: Context, case: Case, runs: int) -> Times:
    """Over the runs, of the slowest rank."""
    is_small = case.calls >= 5 * _calls_of_turn
    calls = _calls_of_turn if is_small else case.calls
    turns = case.calls // calls
    found: List[Any] = []
    for run in range(runs + 1):
        took = np.empty((turns, 2))
        for turn in range(turns):
            for place, seconds in enumerate((case.ours, case.theirs)):
                context.barrier()
                took[turn, place] = seconds(calls) / calls
        all_reduce(context, took, took, reduction="max")
        if run > 0:  # the first one warms up
            found.append(took)
    ours, theirs = np.concatenate(found).T
    return Times((float(np.median(ours)), float(np.median(theirs))), (float(ours.min()), float(theirs.min())))


def _line(context: Context, operation: str, case: Case, times: Times) -> Dict[str, Any]:
    ours, theirs = times.median
    return {
        "operation": operation,
        "case": case.name,
        "ranks": context.size,
        "bytes": case.bytes,
        "ours_s": ours,
        "peers": {case.peer: theirs},
        "least": {"ours": times.least[0], case.peer: times.least[1]},
        "bound": case.peer,
        "bound_s": theirs,
        "over_bound": ours / theirs,
    }


def _of_package(package: str) -> Cases:
    """The cases of calls in another package's programs."""
    try:
        module = importlib.import_module(f"partita.{package}.bench")
    except ModuleNotFoundError as missing:
        sys.exit(f"partita bench {package}: the package {missing.name} is not installed for {sys.executable}")
    found: Cases = module.cases
    return found


def main(
    arguments: Optional[List[str]] = None, cases: Cases = _cases, operation: str = "python", about: str = __doc__ or ""
) -> None:
    """The command, of these cases. Collective over the ranks that started it."""
    parser = argparse.ArgumentParser(description=about.partition("\n")[0])
    if operation == "python":
        parser.add_argument("package", nargs="?", choices=["jax", "torch"], help="package whose cases are measured")
    parser.add_argument("--case", default="*", help="a case's name, or a shell pattern")
    parser.add_argument("--device", choices=["cpu", "cuda"], help="device of the cases (jax: CPU; torch: all available)")
    parser.add_argument("--runs", type=int, default=9, help="interleaved runs, of which the median is reported (9)")
    parser.add_argument("--pin", action="store_true", help="bind each rank to its own core: rank r to the r-th available one")
    parser.add_argument("--json", help="append one JSON object per line to this file")
    parser.add_argument("--list", action="store_true", help="list the cases and exit")
    given = parser.parse_args(arguments)
    package: Optional[str] = getattr(given, "package", None)
    if package is not None:
        cases, operation = _of_package(package), package
    with initialize(device="cpu") as context:
        if given.pin:
            cores = sorted(os.sched_getaffinity(0))
            os.sched_setaffinity(0, {cores[context.rank % len(cores)]})
        try:
            _run(context, cases(context, given.device), operation, given)
        except UnsupportedError as error:
            sys.exit(f"partita bench {operation}: {error}")


def _run(context: Context, cases: Iterator[Case], operation: str, given: argparse.Namespace) -> None:
    for case in cases:
        if not fnmatch.fnmatch(case.name, given.case):
            continue
        if given.list:
            if context.rank == 0:
                print(case.name)
            continue
        times = _measure(context, case, given.runs)
        if context.rank > 0:
            continue
        ours, theirs = times.median
        print(
            f"{case.name:<24} {context.size:>3} ranks  ours {1e6 * ours:>11.1f} us  {case.peer} {1e6 * theirs:>11.1f} us  "
            f"{1e6 * (ours - theirs):>+10.1f} us  {theirs / ours:>6.2f}x  least {1e6 * times.least[0]:>11.1f} us "
            f"{1e6 * (times.least[0] - times.least[1]):>+10.1f} us",
            flush=True,
        )
        if given.json:
            with open(given.json, "a") as file:
                file.write(json.dumps(_line(context, operation, case, times)) + "\n")


if __name__ == "__main__":
    main()
