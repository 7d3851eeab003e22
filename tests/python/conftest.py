"""Tests that take `ctx` run on PARTITA_TEST_RANKS ranks: threads of this process, or (PARTITA_TEST_GROUP=processes) the
processes that a launcher has started, each with a pytest of its own. Others need no ranks, and run in one process."""

import os
import signal
import sys

import numpy as np
import pytest

import partita as pt

RANKS = int(os.environ.get("PARTITA_TEST_RANKS", "3"))
PROCESSES = os.environ.get("PARTITA_TEST_GROUP") == "processes"
# XLA runs the programs of all ranks of a process in so many threads.
os.environ.setdefault("PJRT_NPROC", str(max(RANKS, len(os.sched_getaffinity(0)))))
# A shell has its programs in the background ignore Ctrl-C, and what they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
DEVICE = "cuda" if os.environ.get("PARTITA_TEST_DEVICE") else "cpu"  # "fake", or "cuda"
# On fake devices, whose memory is the host's, programs of JAX run on the CPU; on GPUs contexts leave it some memory.
os.environ.setdefault("JAX_PLATFORMS", "cuda,cpu" if os.environ.get("PARTITA_TEST_DEVICE") == "cuda" else "cpu")
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
if os.environ.get("PARTITA_TEST_DEVICE") == "fake":
    from fake_xla import give_handlers_of_devices

    give_handlers_of_devices()


def pytest_addoption(parser):
    parser.addoption("--with-ranks-only", action="store_true", default=PROCESSES, help="only the tests that take ranks")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--with-ranks-only"):
        items[:] = [item for item in items if "ctx" in item.fixturenames]


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    if PROCESSES or "ctx" not in pyfuncitem.fixturenames:
        return None
    given = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    pt.run(RANKS, lambda context: pyfuncitem.obj(**{**given, "ctx": context}), device=DEVICE, deadline=60)
    return True


@pytest.fixture(scope="session")
def launched():
    context = pt.initialize(device=DEVICE, deadline=60) if PROCESSES else None
    assert context is None or context.size == RANKS
    yield context
    if context is not None:
        context.close()


@pytest.fixture
def ctx(launched):
    return launched


@pytest.fixture(autouse=True)
def nobody_else_computes(request):
    """Data analysis on devices takes nothing of other packages."""
    yield
    if os.environ.get("PARTITA_TEST_DEVICE") == "fake" and request.node.path.name.startswith(("test_analysis", "test_device_ufuncs")):
        assert not {"torch", "cupy"} & set(sys.modules)


@pytest.fixture
def folder(ctx, tmp_path):
    """The same on all ranks."""
    if not PROCESSES:
        return tmp_path
    text = np.zeros(1000, np.uint8)
    if ctx.rank == 0:
        path = str(tmp_path).encode()
        text[: len(path)] = list(path)
    return type(tmp_path)(bytes(pt.broadcast(ctx, text)).rstrip(b"\0").decode())


@pytest.fixture
def group(ctx, folder):
    """torch.distributed with the ranks of the context; one rank of its own where a test's context comes later."""
    dist = pytest.importorskip("torch.distributed")
    rank, size = (ctx.rank, ctx.size) if ctx is not None else (0, 1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=size)
    yield
    dist.destroy_process_group()
