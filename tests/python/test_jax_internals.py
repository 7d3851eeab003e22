"""What partita.jax takes of JAX beyond its public interface: one module of Python, and one C interface."""

import pathlib
import re
import shutil
import subprocess
import sys
import types

import pytest

jax = pytest.importorskip("jax")
here = pathlib.Path(__file__).resolve().parent
sources = here.parent.parent


def test_private_modules_are_used_in_one_module():
    package = sources / "bindings/python/partita"
    users = [path.name for path in package.rglob("*.py") if re.search(r"^\s*(from|import) jax\._src|\"jax\._src", path.read_text(), re.M)]
    assert [name for name in users if name != "_internals.py"] == []


@pytest.mark.parametrize("part", ["core.abstract_token", "dispatch.RuntimeTokenSet", "effects.ordered_effects"])
def test_a_jax_without_a_needed_part_is_named(part):
    module, name = part.split(".")
    program = (
        f"import jax._src.{module} as m; del m.{name}\n"
        "try: import partita.jax\n"
        "except ImportError as error: print(error)\n"
    )
    end = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert f"needs jax._src.{part}, which JAX {jax.__version__} does not have; it is tested with JAX 0." in end.stdout


def test_the_structs_are_those_of_jaxlib(tmp_path):
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    header = pathlib.Path(jax.ffi.include_dir()) / "xla/ffi/api/c_api.h"
    more = ["-DPARTITA_XLA_HAS_DEVICE"] if "XLA_FFI_DeviceOrdinal_Get" in header.read_text() else []
    command = [compiler, "-std=c++20", "-fsyntax-only", "-Wno-invalid-offsetof", *more, f"-I{jax.ffi.include_dir()}", f"-I{sources}"]
    end = subprocess.run([*command, str(here / "abi/xla_abi.cpp")], capture_output=True, text=True)
    assert end.returncode == 0, end.stderr


@pytest.mark.parametrize("platform, devices, is_fast", [("cpu", 1, True), ("cpu", 4, False), ("cuda", 1, True), ("cuda", 2, True)])
def test_programs_that_xla_keeps_in_order_have_no_token(platform, devices, is_fast):
    """With a token JAX would wait, before each program of several devices, for the end of the one before it."""
    from partita.jax import _fast_path

    backend = types.SimpleNamespace(local_device_count=lambda: devices)
    assert _fast_path._is_in_order((platform,), backend) == is_fast
    assert not _fast_path._is_in_order((platform, "rocm"), backend)
