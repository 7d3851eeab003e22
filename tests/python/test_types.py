"""The package and the examples are typed as strictly as mypy can check."""

import importlib.util
import os
import pathlib
import subprocess
import sys

import partita as pt

# What has its types from a package that is not here cannot be checked.
TORCH = importlib.util.find_spec("torch") is not None
WITHOUT = [] if TORCH else ["--exclude", "partita/torch/"]
ROOT = pathlib.Path(__file__).parents[2]


def test_types():
    package = pathlib.Path(pt.__file__).parent
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, *WITHOUT, str(package), *map(str, EXAMPLES)],
        capture_output=True,
        text=True,
        env={"MYPYPATH": str(package.parent), "PATH": ""},
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_everything_public_has_a_docstring():
    for name in pt.__all__:
        thing = getattr(pt, name)
        if name.startswith("__"):
            continue
        assert thing.__doc__, name
        for member, value in vars(thing).items() if isinstance(thing, type) else []:
            if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                assert getattr(value, "__doc__", None) or thing.__module__ == "partita._core", f"{name}.{member}"
    for module in (pt.fft, pt.io, pt.linalg, pt.spectral, pt.plans):
        for name in module.__all__:
            assert getattr(module, name).__doc__, name


EXAMPLES = [path for path in sorted((ROOT / "examples/python").glob("*.py")) if TORCH or "import torch" not in path.read_text()]
