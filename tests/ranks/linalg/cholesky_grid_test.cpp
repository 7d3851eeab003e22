// Cholesky factorizations on grids of ranks.
#include "support/models/linear_model.hpp"

namespace partita::testing {
namespace {

Array with_upper_nan(const Context& context, DenseMatrix a, const Distribution& how, Dtype dtype,
                     const ArrayOptions& options = {}) {
  for (std::int64_t j = 0; j < a.columns; ++j) {
    for (std::int64_t i = 0; i < j; ++i) a(i, j) = std::numeric_limits<double>::quiet_NaN();
  }
  return array_of(context, a, how, dtype, options);
}

RANK_TEST(Cholesky, FactorizesAndSolvesOnEveryGrid) {
  for (const Extents& grid : grids_of(context.size())) {
    for (const Dtype dtype : linear_dtypes) {
      for (const auto& [n, width] : {std::pair{0, 3}, {1, 3}, {3, 3}, {4, 3}, {17, 3}, {40, 8}, {17, 40}}) {
        const bool short_test = dtype == Dtype::f32 || dtype == Dtype::c128;
        if (short_test && n != 17) continue;
        SCOPED_TRACE(fmt::format("{} {} in blocks of {} on {}", name(dtype), n, width, to_string(grid)));
        const DenseMatrix matrix = positive_definite(n, dtype, 1), many = random_numbers(n, 7, dtype, 2);
        const Cholesky factors(with_upper_nan(context, matrix, Slab(0), dtype),
                               {.block = width, .grid = grid});
        EXPECT_TRUE(contains(factors.explain(), "on a grid of " + to_string(grid)));
        for (const Op op : every_op) {
          const Array b = array_of(context, many, Slab(1), dtype);
          expect_solves(op_of(matrix, op), dense_of(factors.solve(b, {.op = op})), many, dtype);
          const DenseMatrix single = part_of(many, n, 1);
          Array x = vector_of(context, single, Slab(0), dtype);
          factors.solve_into(x, x, {.op = op});
          expect_solves(op_of(matrix, op), dense_of(x), single, dtype);
        }
        const DenseMatrix lower = dense_of(factors.lower());
        EXPECT_EQ(triangle_of(lower, false, false).numbers, lower.numbers);
        EXPECT_LT(ratio(lower * adjoint(lower) - matrix, matrix, n, epsilon_of(dtype)), most_ratio);
        double wanted = 0;
        for (std::int64_t i = 0; i < n; ++i) wanted += 2 * std::log(lower(i, i).real());
        EXPECT_NEAR(factors.log_determinant().log_absolute, wanted, 1e4 * epsilon_of(dtype));
      }
    }
  }
}

RANK_TEST(Cholesky, OverwritesBlocksOnAGrid) {
  for (const Extents& grid : grids_of(context.size())) {
    const DenseMatrix matrix = positive_definite(17, Dtype::f64, 5),
                      many = random_numbers(17, 4, Dtype::f64, 6);
    const BlockCyclic blocks(grid, {3, 3});
    const auto given = [&] {
      return with_upper_nan(context, matrix, blocks, Dtype::f64, {.order = Order::column_major});
    };
    const Array a = given(), b = array_of(context, many, Slab(0), Dtype::f64);
    Cholesky factors(a, {.overwrite = true, .grid = grid});
    const DenseMatrix lower = dense_of(factors.lower());
    EXPECT_EQ(triangle_of(dense_of(a), false, false).numbers, lower.numbers);
    expect_solves(matrix, dense_of(factors.solve(b)), many, Dtype::f64);
    const Array other = given();
    factors.factorize(other);
    EXPECT_EQ(triangle_of(dense_of(other), false, false).numbers, lower.numbers);
    const Array rows = with_upper_nan(context, matrix, Slab(0), Dtype::f64);
    factors.factorize(rows);  // in other memory and panels
    expect_solves(matrix, dense_of(factors.solve(b)), many, Dtype::f64);
    EXPECT_EQ(compare(rows, with_upper_nan(context, matrix, Slab(0), Dtype::f64)).largest_difference, 0);
  }
}

RANK_TEST(Cholesky, MatricesThatAreNotPositiveDefiniteAreRefusedOnGrids) {
  for (const Extents& grid : grids_of(context.size())) {
    for (const std::int64_t bad : {0, 2, 10, 16}) {
      const DenseMatrix good = positive_definite(17, Dtype::c128, 7);
      DenseMatrix matrix = good;
      matrix(bad, bad) = -1;
      if (bad < 16) matrix(16, 16) = -1;
      Cholesky factors(array_of(context, good, Slab(0), Dtype::c128), {.block = 3, .grid = grid});
      const Array wrong = array_of(context, matrix, Slab(0), Dtype::c128);
      EXPECT_ERROR_ON_ALL(SingularError, factors.factorize(wrong), fmt::format("order {}", bad + 1));
      const Array b = array_of(context, random_numbers(17, 2, Dtype::c128, 8), Slab(0), Dtype::c128);
      EXPECT_ERROR_ON_ALL(ArgumentError, factors.solve(b), "factorize");
      factors.factorize(array_of(context, good, Slab(0), Dtype::c128));
      expect_solves(good, dense_of(factors.solve(b)), dense_of(b), Dtype::c128);
    }
  }
}

RANK_TEST(Cholesky, RefusesGridsOfOtherRanks) {
  const Array a = array_of(context, positive_definite(9, Dtype::f64, 1), Slab(0), Dtype::f64);
  EXPECT_ERROR_ON_ALL(ArgumentError, Cholesky(a, {.grid = {2, context.size()}}), "cholesky", "grid");
  if (context.size() == 1) return;
  EXPECT_ERROR_ON_ALL(UnsupportedError, Qr(a, {.grid = {context.size(), 1}}), "qr", "grid");
  EXPECT_FALSE(context.failed());
}

}  // namespace
}  // namespace partita::testing
