"""The `partita` command of a wheel: the program in the package takes the place of this process. Not part of the package, whose
import would load NumPy and the library first."""

import importlib.util
import os
import sys
from pathlib import Path


def main() -> None:
    package = importlib.util.find_spec("partita")
    if package is None or package.origin is None:
        sys.exit("partita: the Python package is not installed; install it with pip install partita")
    program = str(Path(package.origin).with_name("bin") / "partita")
    os.execv(program, [program, *sys.argv[1:]])
