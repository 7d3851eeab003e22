// LU factorizations on grids of ranks, with tournament pivoting.
#include "support/models/hard_matrices.hpp"
#include "support/models/linear_model.hpp"

namespace partita::testing {
namespace {

/// In host memory, also where there are devices; right-hand sides are where arrays are by default.
Array matrix_of(const Context& context, const DenseMatrix& dense, const Distribution& how, Dtype dtype,
                Order order = Order::row_major) {
  return array_of(context, dense, how, dtype, {.order = order, .space = MemorySpace::host});
}

RANK_TEST(LuGrid, FactorizesAndSolves) {
  for (const Extents& grid : grids_of(context.size())) {
    for (const Dtype dtype : linear_dtypes) {
      for (const auto& [n, width] : {std::pair{0, 3}, {1, 3}, {3, 3}, {4, 3}, {17, 3}, {40, 8}, {17, 40}}) {
        const bool short_test = dtype == Dtype::f32 || dtype == Dtype::c128;
        if (short_test && n != 17) continue;
        SCOPED_TRACE(fmt::format("{} {} in blocks of {} on {}", name(dtype), n, width, to_string(grid)));
        const DenseMatrix matrix = random_numbers(n, n, dtype, 1), many = random_numbers(n, 7, dtype, 2);
        const Lu factors(matrix_of(context, matrix, Slab(0), dtype), {.block = width, .grid = grid});
        EXPECT_TRUE(contains(factors.explain(), "on a grid of " + to_string(grid)));
        EXPECT_EQ(factors.first_zero_pivot(), std::nullopt);
        expect_lu(matrix, dense_of(factors.packed()), dense_of(factors.pivots()), dtype);
        for (const Op op : every_op) {
          const Array b = array_of(context, many, Slab(1), dtype);
          expect_solves(op_of(matrix, op), dense_of(factors.solve(b, {.op = op})), many, dtype);
          const DenseMatrix single = part_of(many, n, 1);
          Array x = vector_of(context, single, Slab(0), dtype);
          factors.solve_into(x, x, {.op = op});
          expect_solves(op_of(matrix, op), dense_of(x), single, dtype);
        }
      }
    }
  }
}

RANK_TEST(LuGrid, FactorizesRectangles) {
  for (const Extents& grid : grids_of(context.size())) {
    for (const Dtype dtype : {Dtype::f64, Dtype::c64}) {
      for (const auto& [m, n] : {std::pair{40, 17}, {17, 40}, {1, 5}, {5, 1}, {0, 5}, {5, 0}, {13, 12}}) {
        for (const std::int64_t width : {3, 8}) {
          SCOPED_TRACE(fmt::format("{} {}x{} in blocks of {}", name(dtype), m, n, width));
          const DenseMatrix matrix = random_numbers(m, n, dtype, 3);
          for (const Distribution& how : matrix_distributions({m, n}, context.size())) {
            const Array a = matrix_of(context, matrix, how, dtype);
            const Lu lu(a, {.block = width, .grid = grid});
            Array packed = empty(context, {m, n}, Slab(1), dtype);
            lu.packed_into(packed);
            expect_lu(matrix, dense_of(packed), dense_of(lu.pivots()), dtype);
            if (width == 8) break;
          }
        }
      }
    }
  }
}

RANK_TEST(LuGrid, DeterminantsAreThoseOfWholeColumns) {
  for (const Extents& grid : grids_of(context.size())) {
    const Array a = matrix_of(context, random_numbers(19, 19, Dtype::c128, 4), Slab(1), Dtype::c128);
    const LogDeterminant found = Lu(a, {.block = 3, .grid = grid}).log_determinant();
    const LogDeterminant wanted = Lu(a, {.block = 3, .grid = {1, context.size()}}).log_determinant();
    EXPECT_LT(std::abs(found.sign - wanted.sign), 1e-11);
    EXPECT_NEAR(found.log_absolute, wanted.log_absolute, 1e-11);
  }
}

RANK_TEST(LuGrid, OverwritesBlocks) {
  for (const Extents& grid : grids_of(context.size())) {
    const DenseMatrix matrix = random_numbers(17, 17, Dtype::f64, 5),
                      many = random_numbers(17, 4, Dtype::f64, 6);
    const Array a = matrix_of(context, matrix, BlockCyclic(grid, {3, 3}), Dtype::f64, Order::column_major);
    const Array b = array_of(context, many, Slab(0), Dtype::f64);
    Lu factors(a, {.overwrite = true, .grid = grid});
    expect_lu(matrix, dense_of(a), dense_of(factors.pivots()), Dtype::f64);
    EXPECT_EQ(compare(factors.packed(), a).largest_difference, 0);
    expect_solves(matrix, dense_of(factors.solve(b)), many, Dtype::f64);
    const DenseMatrix other = random_numbers(17, 17, Dtype::f64, 7);
    factors.factorize(matrix_of(context, other, Slab(0), Dtype::f64));  // in other memory and panels
    expect_solves(other, dense_of(factors.solve(b)), many, Dtype::f64);
    const Lu given = Lu::from_packed(factors.packed(), factors.pivots());
    expect_solves(other, dense_of(given.solve(b)), many, Dtype::f64);
  }
}

RANK_TEST(LuGrid, HardMatrices) {
  for (const Extents& grid : grids_of(context.size())) {
    for (const Dtype dtype : linear_dtypes) {
      const std::int64_t n = 40;
      for (const DenseMatrix& given :
           {graded(n, dtype), nearly_singular(n, dtype), hilbert(n), identity(n, n), growing(20)}) {
        SCOPED_TRACE(fmt::format("{} on {}", name(dtype), to_string(grid)));
        const Array a = matrix_of(context, given, Slab(0), dtype);
        const DenseMatrix matrix = dense_of(a), many = random_numbers(matrix.rows, 3, dtype, 32);
        const Lu lu(a, {.block = 8, .grid = grid});
        expect_lu(matrix, dense_of(lu.packed()), dense_of(lu.pivots()), dtype);
        if (lu.first_zero_pivot() || given.rows == 20) continue;  // elements grow to 2^19
        expect_solves(matrix, dense_of(lu.solve(array_of(context, many, Slab(0), dtype))), many, dtype);
      }
    }
  }
}

RANK_TEST(LuGrid, SingularMatricesAreFactorizedAndRefusedBySolves) {
  for (const Extents& grid : grids_of(context.size())) {
    for (const Dtype dtype : linear_dtypes) {
      for (const std::int64_t zero : {0, 2, 10, 16}) {
        SCOPED_TRACE(fmt::format("{} column {} on {}", name(dtype), zero, to_string(grid)));
        DenseMatrix matrix = random_numbers(17, 17, dtype, 18);
        for (std::int64_t i = 0; i < 17; ++i) matrix(i, zero) = 0;
        Lu lu(matrix_of(context, matrix, Slab(0), dtype), {.block = 3, .grid = grid});
        EXPECT_EQ(lu.first_zero_pivot(), zero);
        expect_lu(matrix, dense_of(lu.packed()), dense_of(lu.pivots()), dtype);
        EXPECT_EQ(lu.log_determinant().sign, Entry(0));
        const Array b = array_of(context, random_numbers(17, 2, dtype, 19), Slab(0), dtype);
        const std::string text = singular_error([&] { (void)lu.solve(b); });
        EXPECT_TRUE(contains(text, fmt::format("{} solve", zero)) && contains(text, "singular")) << text;
        expect_same_on_all(context, text);
        const DenseMatrix good = random_numbers(17, 17, dtype, 20);
        lu.factorize(matrix_of(context, good, Slab(0), dtype));
        EXPECT_EQ(lu.first_zero_pivot(), std::nullopt);
        expect_solves(good, dense_of(lu.solve(b)), dense_of(b), dtype);
      }
    }
    const Lu none(matrix_of(context, DenseMatrix(12, 12), Slab(0), Dtype::f64), {.block = 3, .grid = grid});
    EXPECT_EQ(none.first_zero_pivot(), 0);
    EXPECT_EQ(dense_of(none.packed()).norm(), 0);
  }
}

RANK_TEST(LuGrid, NumbersThatAreNone) {
  for (const Extents& grid : grids_of(context.size())) {
    for (const Dtype dtype : linear_dtypes) {
      DenseMatrix matrix = random_numbers(12, 12, dtype, 33);
      matrix(7, 4) = std::numeric_limits<double>::quiet_NaN();
      const Lu lu(matrix_of(context, matrix, Slab(0), dtype), {.block = 3, .grid = grid});
      const Array b = array_of(context, random_numbers(12, 2, dtype, 34), Slab(0), dtype);
      EXPECT_EQ(lu.first_zero_pivot(), std::nullopt);
      EXPECT_TRUE(std::isnan(dense_of(lu.solve(b)).norm()));
      EXPECT_TRUE(std::isnan(lu.log_determinant().log_absolute));
      for (const Entry& pivot : dense_of(lu.pivots()).numbers)
        EXPECT_TRUE(pivot.real() >= 0 && pivot.real() < 12);
    }
  }
}

RANK_TEST(LuGrid, PartialPivotingIsOfWholeColumns) {
  const Array a = array_of(context, random_numbers(9, 9, Dtype::f64, 1), Slab(0), Dtype::f64);
  const Lu lu(a, {.block = 3, .pivoting = Pivoting::partial});
  const DenseFactors wanted = lu_by_definition(dense_of(a), 9);
  EXPECT_EQ(dense_of(lu.pivots()).numbers, wanted.pivots.numbers);
  EXPECT_FALSE(contains(lu.explain(), "on a grid"));
  if (context.size() == 1) return;
  const FactorOptions options{.grid = {context.size(), 1}, .pivoting = Pivoting::partial};
  EXPECT_ERROR_ON_ALL(UnsupportedError, Lu(a, options), "partial", "tournament");
  if (a.local().space == MemorySpace::device)
    EXPECT_ERROR_ON_ALL(UnsupportedError, Lu(a, {.grid = {context.size(), 1}}), "device memory", "grid");
  EXPECT_FALSE(context.failed());
}

}  // namespace
}  // namespace partita::testing
