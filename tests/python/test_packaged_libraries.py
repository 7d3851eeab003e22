"""Where the loader finds no OpenBLAS and no FFTW, those in Python packages are used: NumPy's, with 64-bit integers, and pyFFTW's."""

import importlib.util
import os
import subprocess
import sys

import numpy as np
import pytest

MATRICES = """
import numpy as np, partita as pt

with pt.initialize() as ctx:
    for dtype in (np.float32, np.float64, np.complex64, np.complex128):
        near = dict(rtol=1e-3, atol=1e-3) if np.dtype(dtype).name in ("float32", "complex64") else {}
        rng = np.random.default_rng(3)
        full = (rng.normal(size=(23, 23)) + (1j * rng.normal(size=(23, 23)) if np.dtype(dtype).kind == "c" else 0)).astype(dtype)
        positive = full @ full.conj().T + 23 * np.eye(23, dtype=dtype)
        a, b, s = (pt.scatter(ctx, x, pt.Slab(0)) for x in (full, full[:, :7].copy(), positive))
        whole = lambda x: x.redistribute(pt.Replicated()).local
        for found, expected in (
            (a @ a, full @ full),
            (a @ b[:, 0], full @ full[:, 0]),
            (pt.linalg.solve(a, b), np.linalg.solve(full, full[:, :7])),
            (pt.linalg.cholesky(s), np.linalg.cholesky(positive)),
            (pt.linalg.eigvalsh(s), np.linalg.eigvalsh(positive)),
            (pt.linalg.svd(a, compute_uv=False), np.linalg.svd(full, compute_uv=False)),
        ):
            assert np.allclose(whole(found), expected, **near), (dtype, whole(found), expected)
        values, vectors = pt.linalg.eigh(s)
        assert np.allclose(whole(s @ vectors), whole(vectors) * whole(values), **near)
        q, r = pt.linalg.qr(a)
        assert np.allclose(whole(q @ r), full, **near)
"""

TRANSFORMS = """
import numpy as np, partita as pt

with pt.initialize() as ctx:
    for dtype, near in ((np.complex128, 1e-9), (np.complex64, 0.05)):
        full = np.random.default_rng(3).normal(size=(512, 511)).astype(dtype)
        spectrum = pt.fft.fft2(pt.scatter(ctx, full, pt.Slab(0)))
        assert np.allclose(spectrum.redistribute(pt.Replicated()).local, np.fft.fft2(full), atol=near)
        line = np.ones(2**18, dtype)  # one line, which is large enough for the library's threads
        assert np.allclose(pt.fft.fft(pt.scatter(ctx, line, pt.Slab(0))).local, np.fft.fft(line), atol=near)
"""

HIDDEN = ("libopenblas.so.0", "libfftw3.so.3", "libfftw3f.so.3", "libfftw3_threads.so.3", "libfftw3f_threads.so.3")


def run(folder, program, **more):
    """Without the system's libraries: the loader refuses empty files, and does not go on searching."""
    for name in HIDDEN:
        (folder / name).touch()
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("LD_LIBRARY_PATH")]))
    opened = "\nprint({line.split()[-1] for line in open('/proc/self/maps') if '.so' in line})"
    environment = {**os.environ, "LD_LIBRARY_PATH": path, "VIRTUAL_ENV": sys.prefix, **more}
    return subprocess.run([sys.executable, "-c", program + opened], env=environment, capture_output=True, text=True)


def packaged(name):
    """Whether the package is installed from a wheel with libraries."""
    found = importlib.util.find_spec(name)
    folder = os.path.dirname(os.path.dirname(found.origin)) if found else ""
    return any(entry.startswith(name) and entry.endswith(".libs") for entry in map(str.lower, os.listdir(folder or ".")))


@pytest.mark.skipif(not packaged("numpy"), reason="this NumPy does not contain OpenBLAS")
def test_products_and_factorizations_use_numpys_openblas(tmp_path):
    result = run(tmp_path, MATRICES)
    assert result.returncode == 0, result.stderr
    assert "libopenblas.so" not in result.stdout and "numpy.libs" in result.stdout


@pytest.mark.skipif(not packaged("pyfftw"), reason="there is no pyFFTW")
@pytest.mark.parametrize("threads", ["1", "2"])
def test_transforms_use_pyfftws_library(tmp_path, threads):
    result = run(tmp_path, TRANSFORMS, PARTITA_THREADS=threads)
    assert result.returncode == 0, result.stderr
    assert "pyfftw.libs/libfftw3-" in result.stdout.lower() and "pyfftw.libs/libfftw3f-" in result.stdout.lower()
    assert ("libfftw3_omp" in result.stdout) == (threads == "2")


def test_errors_name_the_packages(tmp_path):
    empty = dict(VIRTUAL_ENV="", CONDA_PREFIX="", PATH="", HOME="")
    program = "import partita as pt\nwith pt.initialize() as ctx: pt.fft.fft(pt.zeros(ctx, (4, 4), pt.Slab(0), dtype=complex))"
    result = run(tmp_path, program, **empty)
    assert "there is no FFTW" in result.stderr and "pyfftw by pip" in result.stderr, result.stderr
