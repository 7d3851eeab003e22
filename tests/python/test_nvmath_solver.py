"""partita.compat.nvmath.linalg.DirectSolver, against NumPy."""

import numpy as np
import pytest
from nvmath_ranks import Heard, Stream, box, part, runtime, two_dimensional
from shapes import numbers

import partita as pt
from partita.compat.nvmath import allocate_symmetric_memory, free_symmetric_memory
from partita.compat.nvmath.distribution import BlockCyclic, BlockNonCyclic, ProcessGrid, Slab
from partita.compat.nvmath.linalg import DirectSolver, DirectSolverOptions, InvalidDirectSolverState, direct_solver
from partita.compat.nvmath.linalg.generic import solvermod

N, R = 10, 3


class System:
    """What a rank has of A X = B."""

    def __init__(self, ctx, dtype="float64", rules=(Slab.X, Slab.X), seed=0, vector=False, order="F"):
        self.ctx, self.rules, self.order = ctx, list(rules), order
        self.A = numbers((N, N), dtype, seed) + 3 * np.roll(np.eye(N), 1, axis=0).astype(dtype)
        self.B = numbers(N if vector else (N, R), dtype, seed + 1)
        self.X = np.linalg.solve(self.A, self.B)
        self.a, self.b = self.of(self.A, 0), self.of(self.B, 1)

    def of(self, whole, place):
        return np.array(part(whole, self.rules[place], self.ctx.rank, self.ctx.size), order=self.order)

    def solver(self, **options):
        return DirectSolver(self.a, self.b, distributions=self.rules, **options)

    def close(self, found, tolerance=1e-9):
        np.testing.assert_allclose(found, self.of(self.X, 1), rtol=tolerance, atol=tolerance)


def test_any_distributions(ctx):
    with runtime(ctx):
        rules = two_dimensional(ctx.size)
        for i, a in enumerate(rules):
            system = System(ctx, rules=(a, rules[(2 * i + 1) % len(rules)]), order="FC"[i % 2])
            x = direct_solver(system.a, system.b, distributions=system.rules)
            system.close(x)
            assert x is system.b


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_dtypes_and_vectors(ctx, dtype):
    tolerance = 1e-3 if np.finfo(dtype).bits == 32 else 1e-9
    with runtime(ctx):
        for vector in (False, True):
            system = System(ctx, dtype, vector=vector)
            before = system.a.copy(), system.b.copy()
            x = direct_solver(system.a, system.b, distributions=system.rules, options={"inplace_a": False, "inplace_b": False})
            system.close(x, tolerance)
            assert np.array_equal(system.a, before[0]) and np.array_equal(system.b, before[1])
            assert x.flags.f_contiguous and x.dtype == dtype
        rows = BlockCyclic(ProcessGrid(shape=(ctx.size,)), (2,))
        for vector in (False, True):  # blocks of rows, as of vectors
            system = System(ctx, dtype, vector=True, rules=(BlockCyclic(ProcessGrid(shape=(ctx.size, 1)), (2, 1)), rows))
            system.close(direct_solver(system.a, system.b, distributions=[rows, rows]), tolerance)


def test_one_factorization_and_many_right_hand_sides(ctx):
    linalg = pytest.importorskip("scipy.linalg")
    with runtime(ctx):
        system, other = System(ctx), System(ctx, seed=5)
        with system.solver() as solver:
            solver.plan()
            solver.plan(stream=None)
            solver.factorize()
            np.testing.assert_allclose(system.a, system.of(linalg.lu_factor(system.A)[0], 0), atol=1e-12)
            assert solver.solve() is system.b
            system.close(system.b)
            system.b[...] = system.of(2 * system.B, 1)  # looked at in each solve
            np.testing.assert_allclose(solver.solve(), 2 * system.of(system.X, 1))
            solver.reset_operands(b=other.b)
            np.testing.assert_allclose(solver.solve(), other.of(np.linalg.solve(system.A, other.B), 1))
            assert other.b is solver.solve()
            other.b[...] = other.of(other.B, 1)
            solver.reset_operands_unchecked(a=other.a)
            with pytest.raises(RuntimeError, match="before factorize"):
                solver.solve()
            solver.factorize()
            other.close(solver.solve())
            solver.release_operands()
            solver.release_operands()
            again = System(ctx, seed=9)
            solver.reset_operands(a=again.a, b=again.b)
            solver.factorize()
            again.close(solver.solve())


def test_a_is_read_again_in_each_factorization(ctx):
    with runtime(ctx):
        system, other = System(ctx), System(ctx, seed=3)
        with system.solver(options=DirectSolverOptions(inplace_a=False, inplace_b=False)) as solver:
            solver.plan()
            for one in (system, other):
                system.a[...], system.b[...] = one.a, one.b
                solver.factorize()
                solver.factorize()
                one.close(solver.solve())
                one.close(solver.solve())


def test_states(ctx):
    with runtime(ctx):
        system = System(ctx)
        solver = system.solver()
        for early in (solver.factorize, solver.solve):
            with pytest.raises(RuntimeError, match="before plan"):
                early()
        solver.plan()
        with pytest.raises(RuntimeError, match="before factorize"):
            solver.solve()
        for given in ({}, {"a": None, "b": None}):
            with pytest.raises(ValueError, match="nothing is given"):
                solver.reset_operands(**given)
        for wrong in ({"a": system.b}, {"b": system.b.astype("float32")}):
            with pytest.raises(ValueError, match="does not match"):
                solver.reset_operands(**wrong)
        solver.release_operands()
        for step in (solver.plan, solver.factorize, solver.solve):
            with pytest.raises(RuntimeError, match="released: set operands with reset_operands"):
                step()
        with pytest.raises(ValueError, match="both operands"):
            solver.reset_operands(b=system.b)
        solver.free()
        solver.free()
        for step in (solver.plan, solver.factorize, solver.solve, solver.release_operands, lambda: solver.reset_operands(b=system.b)):
            with pytest.raises(InvalidDirectSolverState, match="freed"):
                step()
        ctx.barrier()


def test_singular_matrices(ctx):
    with runtime(ctx):
        system = System(ctx)
        system.A[:, 4] = 0
        system.a[...] = system.of(system.A, 0)
        with system.solver() as solver:
            solver.plan()
            with pytest.raises(RuntimeError, match="A is singular.* minor of order 5"):
                solver.factorize()
            np.testing.assert_array_equal(system.a, system.of(system.A, 0))
            with pytest.raises(RuntimeError, match="before factorize"):
                solver.solve()
            system.a[...] = system.of(System(ctx).A, 0)
            solver.factorize()
            System(ctx).close(solver.solve())


def test_systems_that_cannot_be(ctx):
    with runtime(ctx):
        system = System(ctx)
        wide = part(np.ones((N, N + 1)), Slab.X, ctx.rank, ctx.size)
        with pytest.raises(ValueError, match="square"):
            direct_solver(wide, system.b, distributions=system.rules)
        with pytest.raises(ValueError, match="10 rows"):
            direct_solver(system.a, part(np.ones((N + 1, 2)), Slab.X, ctx.rank, ctx.size), distributions=system.rules)
        with pytest.raises(ValueError, match="expected two"):
            direct_solver(system.a, system.b, distributions=[Slab.X])
        with pytest.raises(TypeError, match="one dtype"):
            direct_solver(system.a, system.b.astype("float32"), distributions=system.rules)
        with pytest.raises(ValueError, match="float16 is not supported"):
            direct_solver(system.a.astype("float16"), system.b.astype("float16"), distributions=system.rules)
        with pytest.raises(ValueError, match="B has one"):
            direct_solver(system.a, system.b[:, 0], distributions=[Slab.X, BlockNonCyclic(ProcessGrid(shape=(ctx.size, 1)))])
        with pytest.raises(pt.UnsupportedError, match="handle"):
            DirectSolverOptions(handle=3)
        with pytest.raises(ValueError, match="blocking"):
            DirectSolverOptions(blocking=False)
        ctx.barrier()


def test_boxes_streams_and_logs(ctx):
    with runtime(ctx):
        system, heard, stream = System(ctx), Heard(), Stream()
        boxes = [box(shape, 0, ctx.rank, ctx.size) for shape in ((N, N), (N, R))]
        with DirectSolver(system.a, system.b, distributions=boxes, options={"logger": heard.logger}, stream=stream) as solver:
            solver.plan(stream=stream)
            solver.factorize(stream=stream)
            system.close(solver.solve(stream=stream))
        assert stream.waits >= 4 and len(heard.records) >= 3
    assert solvermod.DirectSolver is DirectSolver


def test_symmetric_memory(ctx):
    with runtime(ctx):
        rules = [Slab.X, Slab.X]
        shape = (2 * ctx.size, 2 * ctx.size)
        a, b = (allocate_symmetric_memory((2, extent), np, axis_order="F") for extent in (shape[1], R))
        whole = numbers(shape) + 3 * np.eye(shape[0])
        a[...], b[...] = part(whole, Slab.X, ctx.rank, ctx.size), 1
        x = direct_solver(a, b, distributions=rules, options={"inplace_b": False})
        np.testing.assert_allclose(x, part(np.linalg.solve(whole, np.ones((shape[0], R))), Slab.X, ctx.rank, ctx.size))
        free_symmetric_memory(a, b, x)
