"""A program of nvmath.distributed that knows nothing of Partita: ``python -m partita.compat.nvmath nvmath_program.py PACKAGE``,
with numpy, cupy or torch. Each result is compared with NumPy's of the whole."""

import contextlib
import importlib
import sys

import numpy as np
from cuda.core import system
from mpi4py import MPI

import nvmath.distributed
from nvmath.distributed.distribution import BlockCyclic, BlockNonCyclic, ProcessGrid, Slab
from nvmath.distributed.linalg import DirectSolver, direct_solver
from nvmath.distributed.linalg.advanced import MatmulEpilog, matmul, matrix_qualifiers_dtype

name = sys.argv[1]
try:
    package = importlib.import_module(name)
    assert name != "cupy" or package.cuda.is_available()
except (ImportError, AssertionError):
    print(f"skipped: {name} is not here, or has no GPU")
    sys.exit(0)

communicator = MPI.COMM_WORLD
rank, size = communicator.Get_rank(), communicator.Get_size()
device_id = rank % system.get_num_devices()
if "old" in sys.argv:
    nvmath.distributed.initialize(device_id, communicator)
else:
    nvmath.distributed.initialize(device_id, communicator, backends=["nvshmem", "nccl"])
process_group = nvmath.distributed.get_context().process_group
assert (process_group.rank, process_group.nranks) == (rank, size)


def here(array):
    """Of the package, where it computes."""
    if name == "torch":
        return package.from_numpy(np.ascontiguousarray(array)).to("cuda" if package.cuda.is_available() else "cpu")
    return package.asarray(array)


def there(array):
    """Of NumPy."""
    if name == "torch":
        return array.cpu().numpy()
    return package.asnumpy(array) if name == "cupy" else array


def rows(array, axis=0):
    """What this rank has of it, cut along the axis."""
    sizes = [Slab(axis).shape(one, array.shape)[axis] for one in range(size)]
    return np.take(array, np.arange(sum(sizes[:rank]), sum(sizes[: rank + 1])), axis)


def products():
    m, n, k = 96, 64, 128
    generator = np.random.default_rng(2)
    A, B, C = (generator.random(shape) for shape in ((m, k), (n, k), (n, m)))
    a, b, c = here(rows(A)).T, here(rows(B)).T, here(rows(C, 1)).T
    qualifiers = np.zeros((3,), dtype=matrix_qualifiers_dtype)
    qualifiers[0]["is_transpose"] = True
    distributions = [Slab.Y, Slab.Y, Slab.X]
    result = matmul(a, b, c=c, alpha=0.45, beta=0.67, distributions=distributions, qualifiers=qualifiers, options={"inplace": False})
    assert tuple(result.shape) == Slab.X.shape(rank, (m, n))
    np.testing.assert_allclose(there(result), rows(0.45 * A @ B.T + 0.67 * C.T), rtol=1e-9)
    with nvmath.distributed.linalg.advanced.Matmul(a, b, distributions=distributions, qualifiers=qualifiers) as product:
        product.plan(epilog=MatmulEpilog.RELU)
        np.testing.assert_allclose(there(product.execute()), rows(A @ B.T), rtol=1e-9)
    grid = ProcessGrid(shape=(1, size))
    blocks = BlockCyclic(grid, (8, 8))
    square = generator.random((64, 64))
    columns = [column for column in range(64) if column // 8 % size == rank]
    assert blocks.shape(rank, square.shape) == (64, len(columns)) and BlockNonCyclic(grid).shape(0, square.shape)[1] == -(-64 // size)
    part = here(np.asfortranarray(square[:, columns]))
    np.testing.assert_allclose(there(matmul(part, part, distributions=[blocks] * 3)), (square @ square)[:, columns])


def systems():
    n = 16 * size
    generator = np.random.default_rng(4)
    A, B = generator.random((n, n)) + n * np.eye(n), generator.random((n, 3))
    a, b = here(rows(A)), here(rows(B))
    x = direct_solver(a, b, distributions=[Slab.X, Slab.X], options={"inplace_a": False, "inplace_b": False})
    np.testing.assert_allclose(there(x), rows(np.linalg.solve(A, B)))
    with DirectSolver(a, b, distributions=[Slab.X, Slab.X]) as solver:
        solver.plan()
        solver.factorize()
        assert solver.solve() is b
        np.testing.assert_allclose(there(b), rows(np.linalg.solve(A, B)))
        solver.reset_operands(b=here(rows(2 * B)))
        np.testing.assert_allclose(there(solver.solve()), rows(np.linalg.solve(A, 2 * B)))


def transforms():
    shape = (16, 24, 10)
    whole = np.random.default_rng(3).random(shape) + 1j
    mine = nvmath.distributed.allocate_symmetric_memory(Slab.X.shape(rank, shape), package, dtype=here(whole[:1]).dtype)
    mine[:] = here(rows(whole))
    spectrum = nvmath.distributed.fft.fft(mine, distribution=Slab.X, options={"redistribute": False})
    np.testing.assert_allclose(there(spectrum), rows(np.fft.fftn(whole), 1), atol=1e-9)
    back = nvmath.distributed.fft.ifft(spectrum, distribution=Slab.Y, options={"redistribute": False})
    np.testing.assert_allclose(there(back) / whole.size, rows(whole), atol=1e-12)
    moved = nvmath.distributed.distribution.redistribute(mine, Slab.X, Slab.Y)
    np.testing.assert_allclose(there(moved) / whole.size, rows(whole, 1), atol=1e-12)
    nvmath.distributed.free_symmetric_memory(mine, moved)


def memory():
    extents = (3, 3) if rank == 0 else (2, 3)
    uneven = nvmath.distributed.allocate_symmetric_memory(extents, package, make_symmetric=True)
    assert tuple(uneven.shape) == extents
    with contextlib.suppress(ValueError):
        nvmath.distributed.allocate_symmetric_memory(extents, package)
        assert size == 1
    nvmath.distributed.free_symmetric_memory(uneven)


products()
systems()
transforms()
memory()
if "left" not in sys.argv:
    nvmath.distributed.finalize()
print(f"rank {rank} of {size}: all as NumPy has it")
