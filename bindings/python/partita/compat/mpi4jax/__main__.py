"""``python -m partita.compat.mpi4jax [--version 0.7] program.py ...``: a program of mpi4jax, unchanged."""

import runpy
import sys

from . import install

del sys.argv[0]
version = "0.9"
if sys.argv[:1] == ["--version"] and len(sys.argv) > 1:
    version = sys.argv[1]
    del sys.argv[:2]
if not sys.argv:
    sys.exit("python -m partita.compat.mpi4jax [--version 0.7] PROGRAM ARGUMENTS...")
install(version)
runpy.run_path(sys.argv[0], run_name="__main__")
