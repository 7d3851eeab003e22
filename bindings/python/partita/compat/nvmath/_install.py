"""In the place of nvmath.distributed."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Dict, List, Tuple

from ... import _core
from . import _version

#: Beneath nvmath.distributed: its names, and our modules where they are called otherwise.
_modules: Dict[str, str] = {
    "distribution": "", "distribution._configuration": "distribution._redistribute", "distribution.distributions": "distribution",
    "distribution.redistribute": "distribution._redistribute", "fft": "", "fft._configuration": "", "fft.fft": "fft",
    "linalg": "", "linalg._internal": "", "linalg._internal.epilog_protocol": "", "linalg.advanced": "",
    "linalg.advanced._configuration": "", "linalg.advanced.helpers": "", "linalg.advanced.helpers.matmul": "",
    "linalg.advanced.matmulmod": "", "linalg.generic": "", "linalg.generic._configuration": "",
    "linalg.generic.solvermod": "", "process_group": "", "reshape": "", "reshape._configuration": "reshape",
    "reshape.reshape": "reshape", "_internal": "", "_internal.nvshmem": "", "_internal.tensor_ifc": "",
    "_internal.tensor_ifc_cupy": "", "_internal.tensor_ifc_numpy": "", "_internal.tensor_ifc_torch": "",
    "_internal.tensor_wrapper": "", "_utils": "_memory",
}  # fmt: skip
# What replaces nvmath itself: its names, and our modules (none: an empty package).
_stand_ins: List[Tuple[str, str]] = [
    ("bindings", ""), ("bindings.cublas", "_nvmath.cublas"), ("bindings.cublasMp", "_nvmath.cublasMp"),
    ("bindings.nvshmem", "_nvmath.nvshmem"), ("internal", ""), ("internal.utils", "_nvmath.utils"),
    ("internal.typemaps", "_nvmath.typemaps"), ("internal.tensor_wrapper", "_internal.tensor_wrapper"),
    ("internal.tensor_ifc", "_internal.tensor_ifc"), ("internal.tensor_ifc_ndbuffer", "_nvmath.ndbuffer"), ("internal.tensor_ifc_numpy", "_internal.tensor_ifc_numpy"),
    ("internal.tensor_ifc_cupy", "_internal.tensor_ifc_cupy"), ("internal.tensor_ifc_torch", "_internal.tensor_ifc_torch"),
]  # fmt: skip


def _place(name: str, module: ModuleType) -> None:
    """As if it had been imported by that name."""
    sys.modules[name] = module
    parent, _, child = name.rpartition(".")
    # A package keeps what it has of that name: nvmath's fft.fft is the function.
    if parent and not hasattr(sys.modules[parent], child):
        setattr(sys.modules[parent], child, module)


def _package(name: str) -> ModuleType:
    made = ModuleType(name, "Replaces a package that is not installed: see partita.compat.nvmath.")
    made.__path__ = []
    _place(name, made)
    return made


def _is_there(name: str) -> bool:
    try:
        importlib.import_module(name)
    except Exception:  # also libraries of CUDA that are not there
        for part in [loaded for loaded in sys.modules if loaded.startswith(name.partition(".")[0] + ".")]:
            if sys.modules[part] is None:
                del sys.modules[part]
        return False
    return True


def _stand_in_for_nvmath(version: str) -> None:
    from .linalg.advanced import _enums

    nvmath = _package("nvmath")
    nvmath.__dict__.update(CudaDataType=_enums.CudaDataType, ComputeType=_enums.ComputeType, __version__=f"{version}.0")
    for name, ours in _stand_ins:
        if ours:
            _place(f"nvmath.{name}", importlib.import_module(f"{__package__}.{ours}"))
        else:
            _package(f"nvmath.{name}")


def _stand_in_for_cuda_core() -> None:
    if not _is_there("cuda"):
        _package("cuda")
    module = importlib.import_module(f"{__package__}._nvmath.cuda_core")
    for name in ("cuda.core", "cuda.core.experimental"):
        _place(name, module)
    setattr(sys.modules["cuda"], "core", module)  # also where the real one has been imported


def install(version: str = "1.0") -> None:
    """Let ``import nvmath.distributed`` mean this package, in this process, from now on. Local.

    Where nvmath is not installed, and where cuda.core is not or there is no GPU, what programs of nvmath.distributed take of them
    is put in their place.

    Parameters
    ----------
    version : str
        Whose behaviour counts where versions differ: '0.8', '0.9' or '1.0'. Names of all three are there with each.

    Raises
    ------
    ValueError
        Another version.
    RuntimeError
        The program has imported the real nvmath.distributed.
    """
    _version.choose(version)
    ours = sys.modules[__package__]
    there = sys.modules.get("nvmath.distributed")
    if there is ours:
        return
    if there is not None:
        raise RuntimeError("install: nvmath.distributed has already been imported; call install before that")
    if not _is_there("nvmath"):
        _stand_in_for_nvmath(version)
    # The real one ends programs that ask it for devices where there is no driver.
    if not _core.device_count() or not _is_there("cuda.core"):
        _stand_in_for_cuda_core()
    sys.modules["nvmath.distributed"] = ours
    setattr(sys.modules["nvmath"], "distributed", ours)
    for name, called in _modules.items():
        sys.modules[f"nvmath.distributed.{name}"] = importlib.import_module(f"{__package__}.{called or name}")
