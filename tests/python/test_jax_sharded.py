"""partita.jax: whole arrays with a NamedSharding, in one process with several devices and in several processes."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("jax")


@pytest.mark.parametrize("devices, processes", [(4, 1), (1, 2), (1, 3)])
def test_whole_arrays(devices, processes):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = Path(__file__).with_name("jax_sharded_program.py")
    words = [sys.executable, str(program), str(devices), str(processes)]
    started = [
        subprocess.Popen([*words, str(process), str(port)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for process in range(processes)
    ]
    for process, one in enumerate(started):
        printed = one.communicate(timeout=600)[0]
        assert one.returncode == 0, f"process {process}:\n{printed[-4000:]}"
