"""How contexts begin, fail and end: what is said, and that nothing hangs. Programs are run as users run them."""

import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import PROCESSES

import partita as pt


def program(text, *, interrupt=None, seconds=60):
    """What it prints, and its exit code; Ctrl-C when it has printed `interrupt`."""
    running = subprocess.Popen(
        [sys.executable, "-c", "import numpy as np, partita as pt, sys, time\n" + text],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "OMPI_MCA_ess_singleton_isolated": "1"},
    )
    killer = threading.Timer(seconds, running.kill)
    killer.start()
    try:
        lines = []
        for line in running.stdout:
            lines.append(line)
            if interrupt is not None and interrupt in line:
                running.send_signal(signal.SIGINT)
                interrupt = None
        return "".join(lines), running.wait()
    finally:
        killer.cancel()


def test_results_come_by_rank():
    assert pt.run(4, lambda context: (context.rank, context.size)) == [(rank, 4) for rank in range(4)]


def test_arrays_outlive_their_ranks():
    arrays = pt.run(2, lambda context: pt.full(context, (4,), pt.Slab(0), 1.0))
    assert [one.local.sum() for one in arrays] == [2.0, 2.0]


def test_what_a_rank_raises_first_comes_out():
    class Odd(Exception):
        pass

    def body(context):
        if context.rank == 1:
            raise Odd("of rank 1")
        context.barrier()

    with pytest.raises(Odd, match="of rank 1"):
        pt.run(3, body)
    def late(context):
        if context.rank == 1:
            context.fail("soon")
            time.sleep(0.3)
            raise Odd("of rank 1")
        context.barrier()

    with pytest.raises(Odd, match="of rank 1"):
        pt.run(3, late)
    with pytest.raises(pt.ArgumentError, match="slab:7|axis"):
        pt.run(2, lambda context: pt.zeros(context, (3,), "slab:7"))
    with pytest.raises(pt.ArgumentError):
        pt.run(0, lambda context: None)
    for ranks, function, what in ((1.5, len, "expected an integer, got float"), ("2", len, "got str"), (2, 3, "a function of the context")):
        with pytest.raises(TypeError, match=what):
            pt.run(ranks, function)
    with pytest.raises(pt.FailedContextError, match="close: the context has failed: I can not"):
        pt.run(2, lambda context: context.fail("I can not"))


def test_a_block_that_ends_by_an_exception_fails_its_context():
    seen = []

    def body(context):
        with context:
            if context.rank == 0:
                raise KeyError("lost")
            try:
                context.barrier()
            except pt.Error as error:
                seen.append(str(error))
                assert context.failed and "lost" in context.failure
                raise

    with pytest.raises(KeyError):
        pt.run(2, body)
    assert "KeyError" in seen[0] and "lost" in seen[0]


def test_options():
    with pt.initialize(device="cpu", deadline=2.5, log="error", plan_cache_size=3) as context:
        assert context.size >= 1 and context.threads >= 1 and context.topology.ranks == context.size
        assert "rank 0 of" in repr(context) and context == context and context != 0
    with pytest.raises(pt.Error, match="closed"):
        context.barrier()
    for bad, what in [({"dead": 1}, "unknown option dead; known: .*deadline"), ({"deadline": -1}, "deadline"), ({"log": "loud"}, "known: trace")]:
        with pytest.raises(pt.ArgumentError, match=what):
            pt.initialize(**bad)
    for device in ["gpu", "cpu:1", "cuda:x"]:
        with pytest.raises(pt.ArgumentError, match="known"):
            pt.initialize(device=device)
    with pytest.raises(TypeError, match="mpi4py"):
        pt.initialize(comm=3)


def test_what_is_still_held_is_named_by_the_line_that_made_it():
    context = pt.initialize(device="cpu")
    line = sys._getframe().f_lineno + 1
    a = pt.zeros(context, (100,), pt.Slab(0))
    b = a.redistribute(pt.Slab(0))
    c = pt.fft.fft(a.astype("complex128"))
    kept = [a @ a, pt.SymmetricArray(context, (3,)), a.sum(0, keepdims=True)]
    held = context.close()
    for number in (line, line + 1, line + 2, line + 3):
        assert f"test_contexts.py:{number}" in held, held
    assert "bindings" not in held and "partita/_" not in held
    del b, c, kept


def test_several_contexts_and_any_order_of_garbage():
    first, second = pt.initialize(), pt.initialize()
    a, b = pt.zeros(first, (4,), pt.Slab(0)), pt.zeros(second, (4,), pt.Slab(0))
    with pytest.raises(pt.ArgumentError, match="different contexts"):
        a + b
    window = a[1:]
    del first, a
    assert (window + 1).sum() == 3
    second.close()
    assert b.local.sum() == 0


def calls_of_two(one, other, folder):
    """All that takes several arrays, or a plan and arrays, with some of another context."""
    a, b, c, d = one["a"], other["a"], one["c"], other["c"]
    redistribution, halo, transform = pt.Redistribute(a, one["columns"]), pt.Halo(a, [1, 0]), pt.fft.FFT(c)
    product = pt.Matmul(a, a)
    cells = np.zeros(halo.extended_shape)
    return {
        "b[...] = a": lambda: b.__setitem__(..., a),
        "a + b": lambda: a + b,
        "add, out": lambda: np.add(a, a, out=b),
        "add, where": lambda: np.add(a, a, out=a, where=b > 0),
        "+=": lambda: a.__iadd__(b),
        "dot": lambda: pt.dot(a, b),
        "vdot": lambda: pt.vdot(a, b),
        "@": lambda: a @ b,
        "matmul": lambda: pt.matmul(a, b),
        "matmul, c": lambda: pt.matmul(a, a, c=b, beta=1),
        "matmul, out": lambda: pt.matmul(a, a, out=b),
        "matmul, bias": lambda: pt.matmul(a, a, epilogue="bias", bias=other["row"]),
        "Matmul": lambda: pt.Matmul(a, b),
        "Matmul, out": lambda: pt.Matmul(a, a, out=b),
        "Matmul.reset": lambda: product.reset(b, b),
        "redistribute": lambda: pt.redistribute(a, other["columns"]),
        "Redistribute": lambda: pt.Redistribute(a, other["columns"]),
        "Redistribute.execute": lambda: redistribution.execute(b, other["columns"]),
        "fftn": lambda: pt.fft.fftn(c, out=d),
        "dctn": lambda: pt.fft.dctn(a, out=b),
        "FFT": lambda: pt.fft.FFT(c, out=d),
        "FFT.execute": lambda: transform.execute(d, other["d"]),
        "FFT.execute, input": lambda: transform.execute(d),
        "FFT.inverse": lambda: transform.inverse(None, d),
        "Halo.execute": lambda: halo.execute(b),
        "Halo.accumulate": lambda: halo.accumulate(cells, b),
        "Halo.start": lambda: halo.start(b, cells),
        "convolve": lambda: pt.spectral.convolve(a, b),
        "take": lambda: pt.take(a, pt.argsort(other["row"])),
        "a[mask]": lambda: one["row"][other["row"] > 0],
        "isin": lambda: pt.isin(a, b),
        "searchsorted": lambda: pt.searchsorted(pt.sort(one["row"]), b),
        "union1d": lambda: pt.union1d(one["row"], other["row"]),
        "histogram": lambda: pt.histogram(a, 5, weights=b),
        "where": lambda: pt.where(a > 0, a, b),
        "concatenate": lambda: pt.concatenate([a, b]),
        "einsum": lambda: pt.einsum("ij,kj->ik", a, b),
        "solve_refined": lambda: pt.linalg.solve_refined(a, b),
        "write_hdf5": lambda: pt.io.write_hdf5(str(folder / "two.h5"), {"a": a, "b": b}),
    }


@pytest.mark.parametrize("step", [1, -1])
def test_arrays_of_two_contexts(ctx, folder, step):
    """One error on all ranks, at once, where they number the ranks alike and where they do not."""
    if os.environ.get("PARTITA_TEST_DEVICE"):
        return  # ufuncs and ghost cells are of memory of the host here
    with ctx.split(0, step * ctx.rank) as second:
        arrays = [
            {
                "a": pt.full(one, (7, 7), "slab:0", 1.0),
                "columns": pt.full(one, (7, 7), "slab:1", 1.0),
                "row": pt.full(one, (7,), "replicated", 1.0),
                "c": pt.full(one, (7, 7), "slab:0", 1j),
                "d": pt.full(one, (7, 7), "slab:0", 1j),
            }
            for one in (ctx, second)
        ]
        for name, call in calls_of_two(*arrays, folder).items():
            with pytest.raises(pt.ArgumentError, match="different contexts") as caught:
                call()
            text = np.frombuffer(str(caught.value).encode().ljust(1000), np.uint8).copy()
            first = text.copy()
            pt.broadcast(ctx, first)
            assert np.array_equal(first, text), (name, str(caught.value))
        for one in arrays:
            assert one["a"].sum() == 49
        second.barrier()


def test_ctrl_c_ends_a_wait():
    text = """
def body(context):
    pt.receive(context, np.zeros(1), 1 - context.rank)
try:
    print("waiting", flush=True)
    pt.run(2, body)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    begin = time.monotonic()
    printed, code = program(text, interrupt="waiting")
    assert "interrupted" in printed and code == 0 and time.monotonic() - begin < 30


@pytest.mark.parametrize("line", ["time.sleep(0.01)", "sum(range(1000))", "np.ones(9) + 1", "context.barrier()"])
def test_ctrl_c_ends_the_python_of_ranks(line):
    """Before the main thread goes on; and the process ends as others do."""
    text = f"""
ended = []
def body(context):
    try:
        context.barrier()
        print("started", flush=True)
        while True:
            {line}
    finally:
        ended.append(context.rank)
try:
    pt.run(2, body)
except KeyboardInterrupt:
    print("interrupted", sorted(ended), flush=True)
"""
    begin = time.monotonic()
    printed, code = program(text, interrupt="started")
    assert "interrupted [0, 1]" in printed and code == 0 and time.monotonic() - begin < 30, printed


def test_ctrl_c_ends_ranks_of_ranks():
    text = """
def inner(context):
    print("started", flush=True)
    pt.receive(context, np.zeros(1), 1 - context.rank)
try:
    pt.run(2, lambda context: pt.run(2, inner))
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    begin = time.monotonic()
    printed, code = program(text, interrupt="started")
    assert "interrupted" in printed and code == 0 and time.monotonic() - begin < 30, printed


def test_ctrl_c_waits_for_what_cannot_be_ended():
    text = """
def body(context):
    print("started", flush=True)
    time.sleep(1.5)
    print("slept", flush=True)
try:
    pt.run(2, body)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    printed, code = program(text, interrupt="started")
    assert printed.split()[-1] == "interrupted" and code == 0, printed


def test_ctrl_c_between_calls():
    text = """
with pt.initialize() as context:
    try:
        print(context.size, "waiting", flush=True)
        while True:
            context.barrier()
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""
    printed, code = program(text, interrupt="waiting")
    assert "interrupted" in printed


def test_ctrl_c_ends_a_wait_of_a_process(ctx):
    group = ctx.split(0)
    if not PROCESSES or ctx.size == 1:
        pytest.skip("one process waits for another")
    with pytest.raises(KeyboardInterrupt if ctx.rank == 0 else pt.LostPeerError):
        if ctx.rank == 0:
            threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
            pt.receive(group, np.zeros(1), 1)
        else:
            group.barrier()
    assert group.failed and not ctx.failed
    ctx.barrier()


def test_forked_children_do_no_harm():
    context = pt.initialize()
    a = pt.full(context, (8,), pt.Slab(0), 2.0)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(len, ["ab", "c"]) == [2, 1]
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            context.barrier()
        except pt.FailedContextError as error:
            os.write(writing, f"{a.local.sum()} {error}".encode())
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert re.match(rb"16.0 .*fork", os.read(reading, 1000))
    assert (a + 1).sum() == 24.0
    context.close()


def in_a_context_of_its_own(value):
    with pt.initialize(device="cpu") as context:
        return float(pt.full(context, 10, pt.Slab(0), float(value)).sum())


POOLS = """
import multiprocessing, sys
import numpy as np, partita as pt
sys.path.insert(0, sys.argv[1])
from test_contexts import in_a_context_of_its_own

if __name__ == "__main__":
    with pt.initialize(device="cpu") as context:
        a = pt.full(context, 6, pt.Slab(0), 1.0)
        with multiprocessing.get_context(sys.argv[2]).Pool(2) as pool:
            print(pool.map(in_a_context_of_its_own, [1, 2, 3]), a.sum())
    def body(context):
        if context.rank == 0:
            child = multiprocessing.get_context(sys.argv[2]).Process(target=len, args=("ab",))
            child.start(), child.join(30)
            assert child.exitcode == 0, child.exitcode
        return float(pt.all_reduce(context, np.ones(1))[0])
    print(pt.run(2, body))
"""


@pytest.mark.parametrize("how", ["fork", "spawn", "forkserver"])
def test_pools_beside_a_context(tmp_path, how):
    """Their processes have contexts of their own, and leave those of this one alone."""
    program = tmp_path / "program.py"
    program.write_text(POOLS)
    given = [sys.executable, str(program), os.path.dirname(__file__), how]
    ended = subprocess.run(given, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0 and ended.stdout.splitlines() == ["[10.0, 20.0, 30.0] 6.0", "[2.0, 2.0]"], ended


def test_a_suite_in_processes_of_xdist(tmp_path):
    pytest.importorskip("xdist")
    (tmp_path / "test_small.py").write_text(
        """
import numpy as np, partita as pt, pytest

@pytest.fixture(scope="session")
def alone():
    with pt.initialize(device="cpu") as context:
        yield context

@pytest.mark.parametrize("seed", range(20))
def test_alone(alone, seed):
    a = pt.random(alone, (8, 8), "slab:0", seed=seed)
    assert np.allclose((a @ a.T).gather(), a.local @ a.local.T)

@pytest.mark.parametrize("ranks", range(1, 6))
def test_ranks(ranks):
    assert pt.run(ranks, lambda context: pt.all_reduce(context, np.ones(4)).sum()) == [4.0 * ranks] * ranks
"""
    )
    given = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "3", str(tmp_path)]
    ended = subprocess.run(given, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert ended.returncode == 0 and "25 passed" in ended.stdout, ended.stdout + ended.stderr


def test_programs_end_with_everything_alive():
    printed, code = program(
        """
context = pt.initialize()
a = pt.zeros(context, (3,), pt.Slab(0))
local = a.local
cycle = [a]; cycle.append(cycle)
print("done", flush=True)
"""
    )
    assert printed.split() == ["done"] and code == 0


def test_communicators_of_mpi4py():
    pytest.importorskip("mpi4py")
    printed, code = program(
        """
from mpi4py import MPI
if pt.mpi_description().startswith("none"):  # the library is built without that MPI
    sys.exit(print("done"))
with pt.initialize(MPI.COMM_SELF) as context:
    assert pt.all_reduce(context, np.ones(2)).sum() == 2 * context.size
print("done")
"""
    )
    assert printed.split() == ["done"] and code == 0


@pytest.mark.parametrize("kind", ["array", "product"])
def test_threads_go_on_while_ranks_wait(kind):
    """A rank that waits holds no lock of the interpreter."""
    counted = []

    def body(context):
        if context.rank == 0:
            for _ in range(100):
                counted.append(time.sleep(0.0001))
        a = pt.zeros(context, (6, 6), pt.Slab(0))
        return (a @ a).sum() if kind == "product" else a.sum()

    assert pt.run(3, body) == [0.0] * 3 and len(counted) == 100
    assert np.ones(1)[0] == 1
