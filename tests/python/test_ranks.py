"""Ranks for notebooks: calls, cells, output, errors, interrupts, and ranks that end. They are started here; no test takes ranks."""

import contextlib
import gc
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import partita as pt
from partita.ranks import Handle, _output, _processes

FACTOR = 3
KINDS = ["processes", "threads"]


@pytest.fixture(scope="module")
def all_ranks():
    made = {}
    yield lambda kind: made.setdefault(kind, None) or made.__setitem__(kind, pt.Ranks(3, kind=kind, device="cpu", deadline=60)) or made[kind]
    for ranks in made.values():
        ranks.close()


@pytest.fixture(params=KINDS)
def ranks(request, all_ranks, monkeypatch):
    found = all_ranks(request.param)
    found.output = "lines"
    monkeypatch.setattr(found, "_patience", 60)  # a machine that is busy with other tests may take 5 s to interrupt a rank
    yield found
    found.run("for name in [name for name in globals() if name[0] != '_' and name not in ('pt', 'ctx')]: del globals()[name]")


@pytest.fixture
def processes(all_ranks):
    found = all_ranks("processes")
    found.output = "lines"
    return found


def has_ended(process):
    """Within a time that only a failure needs."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            with open(f"/proc/{process}/stat") as file:
                if file.read().rsplit(")", 1)[1].split()[0] == "Z":  # nobody has asked for its exit code yet
                    return True
        except OSError:
            return True
        time.sleep(0.01)
    return False


def process_numbers(ranks):
    return ranks(lambda ctx: os.getpid())


# --- calls and variables


def test_results_are_ordered_by_rank(ranks):
    assert ranks(lambda ctx: (ctx.rank, ctx.size)) == [(0, 3), (1, 3), (2, 3)]
    assert ranks.size == len(ranks) == 3
    assert ranks(lambda ctx, x, *, y: x + y + ctx.rank, 1, y=10) == [11, 12, 13]
    assert [a.tolist() for a in ranks(lambda ctx, x: x * ctx.rank, np.arange(2))] == [[0, 0], [0, 1], [0, 2]]


def test_arrays_stay_on_the_ranks(ranks):
    def products(ctx):
        a = pt.from_function(ctx, (6, 4), "slab:0", lambda i, j: i + 10.0 * j)
        return {"gram": a.T @ a, "a": a, "again": [a]}

    found = ranks(products)
    a = found[0]["a"]
    whole = np.add.outer(np.arange(6.0), 10 * np.arange(4.0))
    assert isinstance(a, Handle) and all(one["a"] is a and one["again"][0] is a for one in found)
    assert a.shape == (6, 4) and a.dtype == "float64" and a.layout == pt.Layout(pt.Slab(0), (6, 4), 3) and "<svg" in a._repr_svg_()
    assert np.array_equal(a.gather(), whole) and np.allclose(found[2]["gram"].gather(), whole.T @ whole)
    assert ranks(lambda ctx, arrays: float(arrays["a"].sum()), found[1]) == [whole.sum()] * 3
    ranks["b"] = a
    ranks.run("b += 1")
    assert np.array_equal(a.gather(), whole + 1) and isinstance(ranks["b"], Handle)
    # What has no handle any more is dropped at the next call.
    held = ranks(lambda ctx: sys.getrefcount(b))  # noqa: F821: a variable of the rank
    del a, found
    gc.collect()
    assert all(now < before for now, before in zip(ranks(lambda ctx: sys.getrefcount(b)), held))  # noqa: F821


def test_variables(ranks):
    ranks["x"] = [1, 2]
    ranks.run("x.append(ctx.rank)")
    assert ranks["x"] == [[1, 2, 0], [1, 2, 1], [1, 2, 2]]
    del ranks["x"]
    with pytest.raises(KeyError, match="x"):
        ranks["x"]


def test_cells(ranks):
    assert ranks.run("import math\nx = ctx.rank + 1\nmath.pi * x") == pytest.approx(np.pi)
    assert ranks.run("x;") is None and ranks.run("x  # ;") == 1 and ranks.run("y = 2") is None and ranks.run("") is None
    shown = ranks.run("class A:\n    def __repr__(self): return 'an A'\n    def _repr_html_(self): return '<b>A</b>'\nA()")
    assert repr(shown) == "an A" and shown._repr_mimebundle_()["text/html"] == "<b>A</b>"
    assert "generator" in repr(ranks.run("(i for i in range(3))"))
    with pytest.raises(SyntaxError):
        ranks.run("x = 1 +")


def test_functions_are_sent_with_what_they_use(ranks):
    def factorial(n):
        return 1 if n == 0 else n * factorial(n - 1)

    counts = []
    assert ranks(lambda ctx: factorial(4) * FACTOR + len(counts)) == [72] * 3
    ranks.run("def doubled(x): return 2 * x")
    assert ranks(lambda ctx: doubled(ctx.rank)) == [0, 2, 4]  # noqa: F821: of the ranks
    with pytest.raises(NameError, match="missing"):
        ranks(lambda ctx: missing)  # noqa: F821


def test_what_cannot_be_sent(ranks):
    for call, what in (
        (lambda: ranks(lambda ctx: threading.Lock()), "the result cannot be sent"),
        (lambda: ranks(lambda ctx, x: x, threading.Lock()), "an argument cannot be sent"),
        (lambda: ranks(lambda ctx: ranks), "the ranks themselves"),
        (lambda: ranks(3), "expected a function of the context, got int"),
    ):
        with pytest.raises(pt.TypeError, match=what):
            call()
    one = ranks(lambda ctx: [pt.zeros(ctx, 3, "slab:0")][ctx.rank != 1 :])[1]
    with pytest.raises(pt.RanksError, match="rank 0 raised ArgumentError.*rank 0 does not have.*rank 2 raised"):
        ranks(lambda ctx, a: None, one)


# --- output


def test_lines_are_labelled(ranks, capsys):
    ranks.run("import sys\nprint('a', ctx.rank)\nprint('e', file=sys.stderr)\nprint('rest', end='')")
    out, err = capsys.readouterr()
    assert sorted(out.splitlines()) == sorted(f"[{rank}] {text}" for rank in range(3) for text in (f"a {rank}", "rest"))
    assert sorted(err.splitlines()) == ["[0] e", "[1] e", "[2] e"]


def test_equal_lines_are_merged(ranks, capsys, monkeypatch):
    monkeypatch.setattr(pt.Ranks, "_merging", 60.0)
    ranks.output = "merged"
    ranks.run("print('same')\nif ctx.rank < 2: print('two')\nprint('own', ctx.rank)")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "[0-2] same" and "[0-1] two" in lines and "[2] own 2" in lines
    ranks.output = 1
    ranks.run("print('rank', ctx.rank)")
    assert capsys.readouterr().out == "rank 1\n"
    with pytest.raises(pt.ArgumentError, match="output"):
        ranks.output = 3


def test_lines_arrive_during_the_call(processes, monkeypatch):
    seen = []
    monkeypatch.setattr(_output, "_write", lambda stream, text: seen.append(text) or (tmp / "go").write_text(""))
    tmp = pathlib.Path(processes(lambda ctx: __import__("tempfile").mkdtemp())[0])
    processes(waits_for_file, str(tmp))
    assert "[0] now\n" in seen


def waits_for_file(ctx, folder):
    import os
    import time

    print("now")
    while not os.path.exists(f"{folder}/go"):
        time.sleep(0.01)


def test_what_programs_and_libraries_print(processes, capsys):
    processes.run("import os\nif ctx.rank == 1: os.system('echo from a program')\nif ctx.rank == 2: os.write(2, b'raw')")
    out, err = capsys.readouterr()
    assert out == "[1] from a program\n" and err == "[2] raw\n"


# --- errors


def test_the_same_exception_on_all_ranks(ranks):
    ranks.run("a = pt.ones(ctx, (4, 4), 'slab:0')")
    with pytest.raises(ZeroDivisionError) as caught:
        ranks.run("def f(): return 1 / 0\nf()")
    assert "return 1 / 0" in str(caught.value.__cause__) and "_worker.py" not in str(caught.value.__cause__)
    with pytest.raises(pt.ArgumentError, match="slab:9"):
        ranks.run("pt.zeros(ctx, (4, 4), 'slab:9')")
    assert ranks.run("a.sum()") == 16


def test_an_exception_of_one_rank(ranks):
    ranks.run("a = pt.ones(ctx, (4, 4), 'slab:0')")
    with pytest.raises(pt.RanksError, match="^rank 1 raised ValueError: mine$") as caught:
        ranks.run("if ctx.rank == 1: raise ValueError('mine')")
    assert list(caught.value.errors) == [1] and "raise ValueError" in caught.value.tracebacks[1]
    assert ranks.run("a.sum()") == 16  # nobody waited for it: the context is as before


def test_an_exception_that_others_wait_for(ranks, monkeypatch):
    monkeypatch.setattr(pt.Ranks, "_grace", 0.1)
    ranks.run("a = pt.ones(ctx, (4, 4), 'slab:0'); before = ctx")
    with pytest.raises(pt.RanksError, match="^rank 2 raised KeyError: 'mine'; the context has failed: its arrays are lost"):
        ranks.run("if ctx.rank == 2: raise KeyError('mine')\nctx.barrier()")
    with pytest.raises(pt.FailedContextError, match="rank 2 raised KeyError: 'mine'"):
        ranks.run("a.sum()")
    assert ranks.run("ctx is not before and pt.ones(ctx, 5, 'slab:0').sum()") == 5


def test_ranks_that_are_no_longer_at_the_same_place(ranks):
    """An exception of one rank alone, after which the others have made a call more."""
    ranks.run("a = pt.ones(ctx, (4, 4), 'slab:0')")
    with pytest.raises(pt.RanksError):
        ranks.run("if ctx.rank == 2: raise ValueError\nif ctx.rank < 2: pair = ctx.subgroup([0, 1]); pair.barrier()")
    assert ranks.run("pt.ones(ctx, 5, 'slab:0').sum()") == 5


def test_a_closed_context_is_made_again(ranks):
    ranks.run("ctx.close()")
    assert ranks.run("pt.ones(ctx, 5, 'slab:0').sum()") == 5


def test_exit_is_an_error(ranks):
    with pytest.raises(pt.RanksError, match="ranks 0-2 raised SystemExit"):
        ranks.run("raise SystemExit(3)")


# --- interrupts


def interrupted_when(path, count=3):
    """Sends Ctrl-C when that many ranks have left a file there."""

    def wait_and_send():
        end = time.monotonic() + 60
        while len(list(path.iterdir())) < count and time.monotonic() < end:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=wait_and_send).start()


BEGUN = "import pathlib, time; pathlib.Path(folder, str(ctx.rank)).touch()\n"


def test_ctrl_c_ends_python_code(ranks, tmp_path):
    ranks["folder"] = str(tmp_path)
    ranks.run("a = pt.ones(ctx, (4, 4), 'slab:0')")
    interrupted_when(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        ranks.run(BEGUN + "while True: time.sleep(0.01)")
    assert ranks.run("a.sum()") == 16


def test_ctrl_c_ends_waits(ranks, tmp_path):
    ranks["folder"] = str(tmp_path)
    ranks["x"] = 5
    interrupted_when(tmp_path)
    with pytest.raises(KeyboardInterrupt, match="the next call has a new one"):
        ranks.run(BEGUN + "if ctx.rank: ctx.barrier()\nwhile True: time.sleep(0.01)")
    assert ranks.run("x + pt.ones(ctx, 5, 'slab:0').sum()") == 10


def test_ranks_that_do_not_react_are_replaced(tmp_path, monkeypatch):
    monkeypatch.setattr(pt.Ranks, "_patience", 0.2)
    with pt.Ranks(2, device="cpu") as ranks:
        handle = ranks(lambda ctx: pt.ones(ctx, 4, "slab:0"))[0]
        numbers = process_numbers(ranks)
        ranks["folder"] = str(tmp_path)
        interrupted_when(tmp_path, 2)
        code = "while ctx.rank:\n    try: time.sleep(0.1)\n    except KeyboardInterrupt: pass"
        with pytest.raises(KeyboardInterrupt, match="rank 1 did not leave its call, and the ranks were restarted: the variables"):
            ranks.run(BEGUN + code)
        assert all(has_ended(one) for one in numbers) and not set(process_numbers(ranks)) & set(numbers)
        with pytest.raises(KeyError):
            ranks["folder"]
        with pytest.raises(pt.ArgumentError, match="was lost when the ranks were restarted"):
            ranks(lambda ctx, a: None, handle)


# --- the end of ranks


def test_a_killed_rank():
    with pt.Ranks(2, device="cpu") as ranks:
        numbers = process_numbers(ranks)
        with pytest.raises(pt.RanksError, match=r"rank 1 was ended by signal 9 \(SIGKILL\).*restart\(\) starts new ones"):
            ranks.run("import os, signal\nif ctx.rank == 1: os.kill(os.getpid(), signal.SIGKILL)\nctx.barrier()")
        assert all(has_ended(one) for one in numbers)
        with pytest.raises(pt.RanksError, match="SIGKILL"):
            ranks.run("1")
        ranks.restart()
        assert ranks(lambda ctx: pt.ones(ctx, 4, "slab:0").sum()) == [4.0, 4.0]
        numbers = process_numbers(ranks)
        os.kill(numbers[0], signal.SIGTERM)  # between two calls
        with pytest.raises(pt.RanksError, match="rank 0 was ended by signal 15"):
            ranks.run("1")
    with pytest.raises(pt.RanksError, match="closed"):
        ranks.run("1")


def test_two_at_once_and_their_end(processes):
    others = pt.Ranks(2, kind="threads", device="cpu")
    third = pt.Ranks(1, device="cpu")
    number = process_numbers(third)[0]
    text = "pt.ones(ctx, 4, 'slab:0').sum() * ctx.size"
    assert [one.run(text) for one in (processes, others, third, processes)] == [12.0, 8.0, 4.0, 12.0]
    array = others(lambda ctx: pt.ones(ctx, 4, "slab:0"))[0]
    with pytest.raises(pt.ArgumentError, match="belongs to other ranks"):
        processes(lambda ctx, a: None, array)
    del third
    gc.collect()
    assert has_ended(number)
    others.close()


def test_forks_cannot_use_the_ranks(processes):
    child = os.fork()
    if child == 0:
        try:
            processes.run("1")
        except pt.Error as error:
            os._exit(7 if "fork" in str(error) else 8)
        os._exit(9)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert processes.run("1 + 1") == 2


def test_ranks_end_with_their_notebook():
    program = (
        "import os, threading, partita as pt\nranks = pt.Ranks(2, device='cpu')\n"
        "print(*ranks(lambda ctx: os.getpid()), flush=True)\n"
        "child = os.fork()\n"  # which does not keep them
        "if child == 0: os.close(1); __import__('time').sleep(300)\n"
        "print(child, flush=True)\n"
        "threading.Timer(0.5, lambda: os.kill(os.getpid(), 9)).start()\n"
        "ranks.run('if ctx.rank == 1: 3 ** 10**8')"  # which holds the interpreter lock for minutes
    )
    ended = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    *numbers, child = [int(one) for one in ended.stdout.split()]
    try:
        assert len(numbers) == 2 and all(has_ended(one) for one in numbers)
    finally:
        for one in (child, *numbers):
            with contextlib.suppress(OSError):
                os.kill(one, signal.SIGKILL)


def test_ranks_by_mpi():
    if shutil.which("mpirun") is None:
        pytest.skip("no launcher of an MPI")
    with pt.Ranks(2, launcher="mpi", device="cpu") as ranks:
        numbers = process_numbers(ranks)
        assert ranks.run("pt.ones(ctx, 4, 'slab:0').sum()") == 4
        os.kill(numbers[1], signal.SIGKILL)
        with pytest.raises(pt.RanksError, match="rank 1 was ended by signal 9"):
            ranks.run("ctx.barrier()")
    assert all(has_ended(one) for one in numbers)


def test_ranks_that_cannot_be_started():
    for make, what in (
        (lambda: pt.Ranks(0), "number of ranks"),
        (lambda: pt.Ranks(2, kind="fibres"), "'processes' or 'threads'"),
        (lambda: pt.Ranks(2, speed=1), "unknown option speed"),
        (lambda: pt.Ranks(2, connect="x"), "connect"),
        (lambda: pt.Ranks(2, launcher="mpi", kind="threads"), "launcher"),
    ):
        with pytest.raises(pt.ArgumentError, match=what):
            make()
    with pytest.raises(pt.LostPeerError, match="could not be started.*no launcher"):
        pt.Ranks(2, launcher="/no/launcher")
    with pytest.raises(pt.ArgumentError, match="device"):
        pt.Ranks(2, kind="threads", device="abacus")


# --- ranks that were started before


def launched(launcher, program):
    """The command line that starts a program on two ranks: of `partita run`, or that of mpirun which it would execute."""
    if launcher == "partita":
        return [_processes._command(), "run", "-q", "--threads", "2", "--", *program]
    if shutil.which("mpirun") is None:
        pytest.skip("no launcher of an MPI")
    shown = subprocess.run([_processes._command(), "run", "-n", "2", "--dry-run", "--", *program], check=True, capture_output=True, text=True)
    return shlex.split(shown.stdout)


@pytest.mark.parametrize("launcher", ["partita", "mpirun"])
def test_connection_to_ranks(tmp_path, launcher):
    path = tmp_path / "address"
    job = subprocess.Popen(launched(launcher, [sys.executable, "-m", "partita.ranks", "--listen", str(path)]), start_new_session=True)
    try:
        name, secret, size = _processes.read_address(str(path), 60)
        assert path.stat().st_mode & 0o777 == 0o600 and size == 2
        with pytest.raises(pt.Error, match="does not know the secret"):
            _processes.connected(f"{name}-0", b"another")
        path.chmod(0o644)
        with pytest.raises(pt.ArgumentError, match="0600"):
            pt.Ranks(connect=path)
        path.chmod(0o600)
        with pt.Ranks(connect=path, device="cpu") as ranks:
            assert ranks(lambda ctx: ctx.size) == [2, 2] and ranks.run("pt.ones(ctx, 4, 'slab:0').sum()") == 4
            with pytest.raises(pt.ArgumentError, match="mpirun"):
                ranks.restart()
        job.wait(60)
        assert not path.exists()
    finally:
        job.kill()


# --- notebooks


class Shell:
    """What the extension needs of IPython."""

    def __init__(self):
        self.user_ns, self.magics = {}, {}

    def register_magic_function(self, function, magic_kind, magic_name):
        self.magics[magic_kind, magic_name] = function


def test_the_magic(ranks):
    shell = Shell()
    pt.load_ipython_extension(shell)
    magic = shell.magics["cell", "partita"]
    shell.user_ns.update(mine=ranks, other=3)
    assert magic("mine", "y = ctx.size\ny") == 3 and ranks["y"] == [3, 3, 3]
    with pytest.raises(pt.ArgumentError, match="other is not a partita.Ranks"):
        magic("other", "1")
    with pt.Ranks(1, kind="threads", device="cpu"):
        assert magic("", "ctx.size") == 1  # of those made last


def test_the_magic_in_ipython(all_ranks):
    interactive = pytest.importorskip("IPython.core.interactiveshell")
    from traitlets.config import Config

    shell = interactive.InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}))
    shell.user_ns["mine"] = all_ranks("threads")
    shell.run_line_magic("load_ext", "partita")
    found = shell.run_cell("%%partita mine\nx = 7\nx + ctx.size", store_history=False)
    assert found.success and found.result == 10
    assert isinstance(shell.run_cell("%%partita mine\n1 / 0", store_history=False).error_in_exec, ZeroDivisionError)


def test_the_document():
    """The code of docs/notebooks.md runs as it is shown."""
    text = (pathlib.Path(__file__).parents[2] / "docs/notebooks.md").read_text()
    shell = Shell()
    pt.load_ipython_extension(shell)
    variables = {"np": np, "pt": pt}
    for code in re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S):
        first, _, rest = code.partition("\n")
        if first.startswith("%%partita"):
            shell.magics["cell", "partita"](first[len("%%partita") :].strip(), rest)
        else:
            exec(compile(code, "block", "exec"), variables)
