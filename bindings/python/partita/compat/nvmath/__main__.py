"""``python -m partita.compat.nvmath program.py ...``: a program of nvmath.distributed, unchanged."""

import runpy
import sys

from . import install

if len(sys.argv) < 2:
    sys.exit("python -m partita.compat.nvmath PROGRAM ARGUMENTS...")
install()
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
