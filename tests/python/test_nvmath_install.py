"""partita.compat.nvmath in the place of nvmath.distributed: in processes of their own."""

import os
import pathlib
import subprocess
import sys

import pytest

import partita.compat.nvmath as nvmath
from partita import _core

HERE = pathlib.Path(__file__).parent
PROGRAM = HERE / "nvmath_program.py"


def python(*arguments, **more):
    """Alone, whatever has started this process."""
    launched = ("OMPI_", "PMI", "PRTE", "PARTITA_SOCKETS")
    alone = {name: value for name, value in os.environ.items() if not name.startswith(launched)}
    return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, env={**alone, **more})


@pytest.mark.parametrize("how", ["", "old", "left"])
def test_a_program(how):
    done = python("-m", "partita.compat.nvmath", PROGRAM, "numpy", how)
    if "this Partita has no module (it has: none)" in done.stderr:
        pytest.skip("Partita is built without MPI, and the program has a communicator of mpi4py's")
    assert done.returncode == 0 and "rank 0 of 1: all as NumPy has it" in done.stdout, done.stderr


@pytest.mark.parametrize("name", ["torch", "cupy"])
def test_a_program_of_another_package(name):
    done = python("-m", "partita.compat.nvmath", PROGRAM, name)
    assert done.returncode == 0, done.stderr
    if done.stdout.startswith("skipped"):
        pytest.skip(done.stdout.strip())


def test_names():
    code = """
import partita.compat.nvmath as ours
ours.install("0.9")
import nvmath.distributed
from nvmath.distributed.fft import FFTOptions, fft
from nvmath.distributed.linalg.advanced import MatmulOptions
from nvmath.distributed.linalg._internal.epilog_protocol import relu_aux_mm_shape
from nvmath.distributed._internal.tensor_wrapper import maybe_register_package, wrap_operand
from nvmath.distributed.process_group import MPIProcessGroup, ReductionOp
from nvmath.distributed.reshape import Reshape, ReshapeOptions, reshape
from nvmath.distributed.reshape.reshape import InvalidReshapeState
from nvmath.distributed.distribution.distributions import Slab
from nvmath.distributed.distribution.redistribute import InvalidRedistributeState
from nvmath.distributed.fft.fft import InvalidFFTState
from nvmath.distributed.linalg.advanced import helpers, matmulmod
from nvmath.distributed.linalg.advanced.matmulmod import MMTraits
from nvmath.distributed.linalg import DirectSolver
from nvmath.distributed.linalg.generic._configuration import DirectSolverOptions
from nvmath.distributed.linalg.generic.solvermod import InvalidDirectSolverState, direct_solver
assert nvmath.distributed.linalg.generic.solvermod.DirectSolver is DirectSolver
from nvmath.distributed._internal.tensor_ifc_numpy import CudaDistributedTensor, NumpyDistributedTensor
from nvmath.internal.tensor_wrapper import wrap_operand as wrap
from nvmath.internal.typemaps import NAME_TO_DATA_TYPE, NAME_TO_DATA_WIDTH
from nvmath.internal.utils import device_ctx, get_or_create_stream
from nvmath.bindings import cublasMp, nvshmem
from cuda.core import Device, system
import numpy as np
assert nvmath.distributed is ours and nvmath.distributed.fft.fft is fft and callable(fft)
assert MatmulOptions().inplace is False and wrap is wrap_operand and relu_aux_mm_shape(84, 3) == (16, 3)
assert NAME_TO_DATA_TYPE["float32"] == nvmath.CudaDataType.CUDA_R_32F and NAME_TO_DATA_WIDTH["bfloat16"] == 16
assert system.get_num_devices() >= 1 and cublasMp.numroc(10, 2, 1, 0, 2) == 4 and cublasMp.MatmulEpilogue.BIAS == 4
with device_ctx("cpu"):
    assert get_or_create_stream("cpu", None, "numpy") is None
assert nvmath.distributed.linalg.advanced.matmulmod.Matmul is nvmath.distributed.linalg.advanced.Matmul
assert nvmath.distributed.linalg.advanced.helpers.matmul is helpers.matmul
try:
    helpers.matmul.create_mxfp8_scale(None, 0)
except NotImplementedError as refused:
    assert "create_mxfp8_scale" in str(refused)
assert not isinstance(wrap_operand(np.zeros(1)), CudaDistributedTensor) and isinstance(wrap_operand(np.zeros(1)), NumpyDistributedTensor)
maybe_register_package("numpy")
one = wrap_operand(np.zeros((2, 3), order="F"))
assert (one.name, one.dtype, one.strides, one.device, one.device_id) == ("numpy", "float64", (1, 2), "cpu", "cpu")
two = one.__class__.empty(one.shape, dtype=one.dtype, strides=one.strides)
two.copy_(one, None)
assert (two.tensor == 0).all() and two.strides == one.strides and one.to("cpu").data_ptr != one.data_ptr
nvmath.distributed.initialize(0, None)
assert (nvshmem.my_pe(), nvshmem.n_pes()) == (0, 1)
ours.install("0.9")
"""
    done = python("-c", code)
    assert done.returncode == 0, done.stderr


def test_cuda_core_without_a_driver(tmp_path):
    """It is installed, and fails where it is asked for devices: on a machine without any it is replaced."""
    if _core.device_count():
        pytest.skip("there is a GPU")
    core = tmp_path / "cuda" / "core"
    core.mkdir(parents=True)
    (core / "__init__.py").write_text("def __getattr__(name):\n    raise RuntimeError('CUDA_ERROR_NO_DEVICE')\n")
    for before in ("", "import cuda.core\n"):
        code = before + """
import partita.compat.nvmath as ours
ours.install()
import cuda.core
from cuda.core import Device, system
from cuda.core.experimental import Device as Experimental
assert cuda.core.system is system and system.get_num_devices() == 1 and Experimental is Device
Device(0).set_current()
"""
        done = python("-c", code, PYTHONPATH=os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
        assert done.returncode == 0, done.stderr


def test_everything_public_has_a_docstring():
    modules = [nvmath, nvmath.distribution, nvmath.fft, nvmath.linalg, nvmath.linalg.advanced, nvmath.linalg.generic, nvmath.reshape]
    for module in modules:
        assert module.__doc__
        for name in module.__all__:
            thing = getattr(module, name)
            assert thing.__doc__, name
            for member, value in vars(thing).items() if isinstance(thing, type) else []:
                if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                    inherited = getattr(super(thing, thing), member, None)
                    assert value.__doc__ or getattr(inherited, "__doc__", None), f"{name}.{member}"


def test_too_late():
    code = """
import sys, types
import partita.compat.nvmath as ours
sys.modules["nvmath.distributed"] = types.ModuleType("nvmath.distributed")
ours.install()
"""
    done = python("-c", code)
    assert done.returncode != 0 and "already been imported" in done.stderr


def test_a_program_that_fails_lets_nobody_wait():
    code = """
import partita.compat.nvmath as nvmath
nvmath.initialize(0)
raise ValueError("a program's own")
"""
    done = python("-c", code)
    assert done.returncode == 1 and "a program's own" in done.stderr


def test_how_it_is_started():
    done = python("-m", "partita.compat.nvmath")
    assert done.returncode != 0 and "PROGRAM" in done.stderr
