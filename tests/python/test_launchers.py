"""Ranks by what a launcher leaves in the environment: torchrun's, whose variables are set here by hand."""

import concurrent.futures
import contextlib
import importlib.util
import os
import socket
import subprocess
import sys
import threading
import time
import types
import uuid

import numpy as np
import pytest

import partita as pt
from partita import _job_store
from partita import _links as on_host
from partita import _links_between_hosts as between_hosts

BODY = """
import os, sys, numpy as np, partita as pt
context = pt.initialize(device="cpu", deadline=20)
"""


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return str(free.getsockname()[1])


def base_environment():
    """Without a launcher's."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMI", "PARTITA_"))}


def started(ranks, text, only=None, body=BODY, **more):
    """What each rank prints, or of `only` some, and its exit code."""
    job = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free_port(), "TORCHELASTIC_RUN_ID": uuid.uuid4().hex, "WORLD_SIZE": str(ranks)}
    if 'device="cpu"' in body:
        job["JAX_PLATFORMS"] = "cpu"
    job.update({"LOCAL_WORLD_SIZE": str(ranks), **more})
    base = base_environment()
    programs = [
        subprocess.Popen(
            [sys.executable, "-c", body + text],
            env={**base, **job, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in (range(ranks) if only is None else only)
    ]
    return [(one.communicate(timeout=60)[0], one.returncode) for one in programs]


@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
def test_torchrun_starts_ranks(ranks):
    text = """
a = pt.from_local(context, np.full((2, 3), context.rank + 1.0), pt.Slab(0))
again = pt.initialize(device="cpu", deadline=20)
print(context.rank, context.size, a.sum(), pt.all_reduce(again, np.ones(1))[0], "PARTITA_SOCKETS" in os.environ)
context.close()
"""
    total = 6 * ranks * (ranks + 1) / 2
    for rank, (printed, code) in enumerate(started(ranks, text)):
        assert code == 0 and printed.split() == [str(rank), str(ranks), str(total), str(float(ranks)), "False"], printed


class Store:
    """As much of PyTorch's as ranks need to find each other."""

    def __init__(self):
        self.values, self.changed = {}, threading.Condition()

    def set(self, key, value):
        with self.changed:
            self.values[key] = value if isinstance(value, bytes) else value.encode()
            self.changed.notify_all()

    def get(self, key):
        with self.changed:
            if not self.changed.wait_for(lambda: key in self.values, 10):
                raise RuntimeError("timeout")
            return self.values[key]


class LastingStore(Store):
    """It ends when rank 0 has its connections, as that of rank 0's process does."""

    ended = False

    def get(self, key):
        if self.ended:
            raise RuntimeError("the store has ended")
        time.sleep(0.05)  # the other ranks are slower than rank 0
        return super().get(key)


def bytes_by_links(number, links):
    """What each rank has sent: its number, and that of the receiver."""
    for peer, link in enumerate(links):
        if link is not None:
            link.sendall(bytes([number, peer]))
    return [None if link is None else tuple(link.recv(2, socket.MSG_WAITALL)) for link in links]


def all_linked(ranks, rank, strangers):
    """Connects all ranks, in threads, after strangers have come to rank 0."""
    with concurrent.futures.ThreadPoolExecutor(ranks) as pool:
        first = pool.submit(rank, 0)
        strangers()
        assert not first.done()
        found = [one.result(20) for one in [first, *(pool.submit(rank, number) for number in range(1, ranks))]]
    assert found == [[(peer, number) if peer != number else None for peer in range(ranks)] for number in range(ranks)]


def test_links_between_hosts(monkeypatch):
    """Each pair of ranks is connected; who does not know the secret is let go."""
    store, ranks = LastingStore(), 4
    monkeypatch.setattr(between_hosts, "job_store", lambda *_: store)
    monkeypatch.setattr(on_host, "_patience", 0.2)
    monkeypatch.setenv("MASTER_ADDR", "127.0.0.1")
    monkeypatch.setenv("MASTER_PORT", "1")

    def strangers():
        for said in (b"", 36 * b"x"):
            port, _, host = store.get("rank 0").decode().partition(" ")
            with socket.create_connection((host, int(port)), 10) as link:
                link.sendall(said)
                assert link.recv(100) is not None
                assert link.recv(100) == b""

    def rank(number):
        links = between_hosts.links_between_hosts(number, ranks, time.monotonic() + 10)
        store.ended = store.ended or number == 0
        return bytes_by_links(number, links)

    all_linked(ranks, rank, strangers)


def test_links_of_a_host(monkeypatch):
    """Processes of other users, and those that do not know the secret, do not end the job."""
    monkeypatch.setattr(on_host, "_patience", 0.2)
    monkeypatch.setattr(on_host, "_secret", lambda *_: b"of the store")
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", uuid.uuid4().hex)
    others = [False, True, True]  # the first that comes is of another user
    monkeypatch.setattr(on_host, "_is_of_same_user", lambda _: others.pop(0) if others else True)

    def strangers():
        for said in (b"", b"x", 36 * b"x"):
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
                while link.connect_ex(on_host._name(0, b"of the store")):
                    time.sleep(0.01)
                link.settimeout(10)
                with contextlib.suppress(OSError):  # it may have been sent away before it says anything
                    link.sendall(said)
                    while link.recv(100):
                        pass

    all_linked(3, lambda number: bytes_by_links(number, on_host.links_of_host(number, 3, time.monotonic() + 10)), strangers)


def test_programs_of_a_rank_have_each_their_part_of_a_store(monkeypatch):
    """It outlives them: what the first one has written there is not for the second one of another rank."""

    class Counting(Store):
        def add(self, key, by):
            self.values[key] = self.values.get(key, 0) + by
            return self.values[key]

    store = Counting()
    distributed = types.SimpleNamespace(
        rendezvous=lambda *_, **__: iter([(store, 0, 2)]), PrefixStore=lambda prefix, of: (prefix, of)
    )
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(distributed=distributed))
    monkeypatch.setitem(sys.modules, "torch.distributed", distributed)
    found = []
    for _ in range(2):
        monkeypatch.setattr(_job_store, "_number", None)  # another program
        for rank in (0, 0, 1):  # the first one asks twice
            if rank:
                monkeypatch.setattr(_job_store, "_number", None)
            found.append(_job_store.job_store(rank, 2, time.monotonic() + 10)[0])
    assert found == [found[0]] * 3 + [found[3]] * 3 and found[0] != found[3]


def test_jobs_of_one_host_have_names_of_their_own(monkeypatch):
    names = {on_host._name(0, b""), on_host._name(1, b""), on_host._name(0, b"secret")}
    for variable in ("MASTER_PORT", "TORCHELASTIC_RUN_ID", "SLURM_JOB_ID", "SLURM_STEP_ID", "PBS_JOBID"):
        monkeypatch.setenv(variable, "another")
        names.add(on_host._name(0, b""))
    assert len(names) == 8


def test_the_address_of_a_host_whose_name_is_one_of_the_loopback_device(monkeypatch):
    """As /etc/hosts has it: other hosts would reach themselves."""
    monkeypatch.setattr(socket, "getaddrinfo", lambda name, port, **_: [(socket.AF_INET, 0, 0, "", ("127.0.1.1", port))])
    monkeypatch.setattr(between_hosts, "_source_of", lambda family, target: "127.0.0.1" if target.startswith("127.") else "10.1.2.3")
    for name, address in (("head", "10.1.2.3"), ("127.0.0.1", "127.0.0.1"), ("localhost", "127.0.0.1")):
        assert between_hosts._own_address(f"{name}:29500") == (socket.AF_INET, address)


WITHOUT_TORCH = importlib.util.find_spec("torch") is None


@pytest.mark.skipif(not WITHOUT_TORCH, reason="PyTorch is installed")
def test_torchrun_on_several_hosts_needs_its_store():
    for printed, code in started(2, "", LOCAL_WORLD_SIZE="1"):
        assert code == 1 and "UnsupportedError" in printed and "PyTorch is not installed" in printed


@pytest.mark.skipif(WITHOUT_TORCH, reason="PyTorch is not installed")
def test_torchrun_on_several_hosts():
    """Each rank on a node of its own, as far as they know: all between them goes through the connections."""
    text = """
a = pt.from_function(context, (8, 6), pt.Slab(0), lambda i, j: i + 10.0 * j)
b = a.redistribute(pt.Slab(1))
large = pt.all_reduce(context, np.full(1 << 20, context.rank + 1.0))
print(context.topology.node_count, (a.T @ a).sum(), b.sum(), large.sum() / large.size)
if context.rank == 0:
    os._exit(3)
try:
    context.barrier()
except pt.LostPeerError as error:
    print("lost")
"""
    given = {"LOCAL_WORLD_SIZE": "1", "PARTITA_RANKS_PER_NODE": "1", "MASTER_PORT": free_port()}
    whole = np.fromfunction(lambda i, j: i + 10.0 * j, (8, 6))
    wanted = ["3", str((whole.T @ whole).sum()), str(whole.sum()), "6.0"]
    for rank, (printed, code) in enumerate(started(3, text, **given)):
        assert printed.split() == wanted + (["lost"] if rank else []) and code == (0 if rank else 3), printed
    text = "pt.initialize(device='cpu', deadline=2)"
    ((printed, code),) = started(2, text, only=[0], body="import partita as pt\n", LOCAL_WORLD_SIZE="1", MASTER_PORT=free_port())
    assert code == 1 and "TimeoutError: initialize: not all ranks of this torchrun job" in printed, printed


def test_what_torchrun_did_not_write():
    for printed, code in started(2, "", WORLD_SIZE="two"):
        assert code == 1 and 'ArgumentError: WORLD_SIZE is "two"' in printed


def test_ranks_that_do_not_come():
    text = """
try:
    pt.initialize(device="cpu", deadline=0.3)
except pt.TimeoutError as error:
    print(error)
"""
    for rank, missing in [(0, "rank 1, 2"), (2, "rank 0")]:
        ((printed, code),) = started(3, text, only=[rank], body="import partita as pt")
        assert code == 0 and missing in printed, printed


def test_a_rank_that_dies_is_told():
    text = """
if context.rank == 1:
    os._exit(3)
try:
    context.barrier()
except pt.LostPeerError as error:
    print("lost", error)
"""
    (first, code), (_, died), (last, _) = started(3, text)
    assert died == 3 and first.startswith("lost") and last.startswith("lost")


@pytest.mark.skipif(WITHOUT_TORCH, reason="PyTorch is not installed")
def test_torchrun_itself(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(BODY + "assert context.size == 2; context.barrier(); print('done', flush=True); context.close()")
    run = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", str(program)]
    done = subprocess.run(run, capture_output=True, text=True, timeout=120)
    assert done.stdout.count("done") == 2, done.stdout + done.stderr
    where = ["--nnodes=2", "--nproc-per-node=1", "--master-addr=127.0.0.1", f"--master-port={free_port()}"]
    hosts = [
        subprocess.Popen([*run[:3], *where, f"--node-rank={host}", str(program)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for host in range(2)
    ]
    for one in hosts:
        printed, _ = one.communicate(timeout=120)
        assert one.returncode == 0 and "done" in printed, printed


def alone(text, **variables):
    """What a program prints that has only these variables of launchers."""
    launchers = ("OMPI_", "PMI", "PARTITA_", "SLURM_", "PALS_", "FLUX_", "RANK", "WORLD_SIZE", "MASTER_")
    base = {name: value for name, value in os.environ.items() if not name.startswith(launchers)}
    done = subprocess.run(
        [sys.executable, "-c", "import partita as pt\n" + text], env={**base, **variables}, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_no_program_looks_for_connections_that_are_taken():
    """Those of `partita run --threads`, whether its environment is the process's or os.environ."""
    text = """
import subprocess
with pt.initialize(device="cpu") as context:
    child = [sys.executable, "-c", "import partita as pt; print(pt.initialize(device='cpu').size)"]
    for given in (None, dict(os.environ)):
        print(subprocess.run(child, env=given, capture_output=True, text=True).stdout.strip())
    print(os.environ.get("PARTITA_SOCKETS"))
"""
    here, there = socket.socketpair()
    with here, there:
        programs = [
            subprocess.Popen(
                [sys.executable, "-c", "import os, sys, partita as pt\n" + text],
                env={**base_environment(), "PARTITA_SOCKETS": value},
                pass_fds=[end.fileno()],
                stdout=subprocess.PIPE,
                text=True,
            )
            for value, end in ((f"0:-,{here.fileno()}", here), (f"1:{there.fileno()},-", there))
        ]
        assert [one.communicate(timeout=60)[0].split() for one in programs] == [["1", "1", "None"]] * 2


SLURM = {"SLURM_JOB_ID": "7", "SLURM_PROCID": "1", "SLURM_NTASKS": "4", "SLURM_LOCALID": "1", "SLURM_NNODES": "1"}


def test_slurm_without_mpi_starts_programs_of_one_rank():
    text = "context = pt.initialize(device='cpu'); print(context.rank, context.size); context.close()"
    assert alone(text, **SLURM) == "0 1"


@pytest.mark.parametrize("variables", [{"PMI_RANK": "1", "PMI_SIZE": "4"}, {"PMIX_RANK": "1"}], ids=["pmi2", "pmix"])
def test_slurm_says_by_what_it_has_started_ranks(variables):
    assert f"{next(iter(variables))} is set" in alone("print(pt.mpi_description())", **SLURM, **variables)


def test_an_mpi_of_another_launcher_is_refused_as_the_world():
    """mpi4py has started it, so it runs: in each process as a world of its own."""
    pytest.importorskip("mpi4py")
    text = """
from mpi4py import MPI
if pt.mpi_description().startswith("none"):
    raise SystemExit(print("none"))
try:
    pt.initialize(device="cpu")
except pt.UnsupportedError as error:
    print(error)
print("alone", pt.initialize(MPI.COMM_SELF, device="cpu").size)
"""
    printed = alone(text, SLURM_STEP_NUM_TASKS="3")
    if printed == "none":
        pytest.skip("Partita is built without the MPI of mpi4py")
    assert "the launcher has started 3 ranks, but" in printed and printed.endswith("\nalone 1"), printed


def test_slurm_with_the_variables_of_torch():
    text = "print(context.rank, context.size, pt.all_reduce(context, np.ones(1))[0]); context.close()"
    for rank, (printed, code) in enumerate(started(2, text, **{**SLURM, "LOCAL_WORLD_SIZE": "2"})):
        assert code == 0 and printed.split() == [str(rank), "2", "2.0"], printed
