// Cholesky factorizations: one matrix, many systems.
#include "support/models/linear_model.hpp"

namespace partita::testing {
namespace {

/// Only the lower triangle is read.
DenseMatrix with_nothing_above(DenseMatrix a) {
  for (std::int64_t j = 0; j < a.columns; ++j) {
    for (std::int64_t i = 0; i < j; ++i) a(i, j) = std::numeric_limits<double>::quiet_NaN();
  }
  return a;
}

RANK_TEST(Cholesky, SolvesByEveryOp) {
  for (const Dtype dtype : linear_dtypes) {
    for (const auto& [n, width] :
         {std::pair{0, 3}, {1, 3}, {2, 1}, {5, 3}, {17, 3}, {40, 8}, {17, 40}, {40, 0}}) {
      SCOPED_TRACE(fmt::format("{} {} in panels of {}", name(dtype), n, width));
      const DenseMatrix matrix = positive_definite(n, dtype, 1), many = random_numbers(n, 7, dtype, 2);
      const Array a = array_of(context, with_nothing_above(matrix), Slab(0), dtype);
      const Cholesky factors(a, {.block = width});
      for (const Op op : every_op) {
        const Array b = array_of(context, many, Slab(1), dtype);
        expect_solves(op_of(matrix, op), dense_of(factors.solve(b, {.op = op})), many, dtype);
        const DenseMatrix single = part_of(many, n, 1);
        const Array x = factors.solve(vector_of(context, single, Slab(0), dtype), {.op = op});
        EXPECT_EQ(x.shape(), (Shape{n}));
        expect_solves(op_of(matrix, op), dense_of(x), single, dtype);
      }
      const Array l = factors.lower();
      EXPECT_EQ(l.layout(), a.layout());
      const DenseMatrix lower = dense_of(l);
      EXPECT_EQ(triangle_of(lower, false, false).numbers, lower.numbers);
      EXPECT_LT(ratio(lower * adjoint(lower) - matrix, matrix, n, epsilon_of(dtype)), most_ratio);
      for (std::int64_t i = 0; i < n; ++i) EXPECT_TRUE(lower(i, i).real() > 0 && lower(i, i).imag() == 0);
    }
  }
}

RANK_TEST(Cholesky, SolvesIntoGivenArrays) {
  const std::int64_t n = 17, count = 5;
  const DenseMatrix matrix = positive_definite(n, Dtype::c64, 3),
                    many = random_numbers(n, count, Dtype::c64, 4);
  const Cholesky factors(array_of(context, matrix, Slab(1), Dtype::c64), {.block = 3});
  for (int kind = 0; kind < 5; ++kind) {
    const Layout rows(Slab(0), {n, count}, context.size());
    Wrapped b = make_array(context, rows, Dtype::c64, kind);
    write_dense(b.array, many);
    Array x = empty(context, {n, count}, Replicated(), Dtype::c64);
    factors.solve_into(b.array, x, {.op = Op::transpose});
    expect_solves(op_of(matrix, Op::transpose), dense_of(x), many, Dtype::c64);
    factors.solve_into(b.array, b.array);
    expect_solves(matrix, dense_of(b.array), many, Dtype::c64);
  }
}

RANK_TEST(Cholesky, OverwritesTheMatrixInItsOwnMemory) {
  for (const std::int64_t n : {0, 17, 40}) {
    const DenseMatrix matrix = positive_definite(n, Dtype::f64, 5),
                      many = random_numbers(n, 4, Dtype::f64, 6);
    Array a = array_of(context, with_nothing_above(matrix), by_panels(context, n, 3), Dtype::f64,
                       {.order = Order::column_major});
    Cholesky factors(a, {.overwrite = true});
    const Array b = array_of(context, many, Slab(0), Dtype::f64);
    expect_solves(matrix, dense_of(factors.solve(b)), many, Dtype::f64);
    const DenseMatrix lower = dense_of(factors.lower());
    EXPECT_EQ(triangle_of(dense_of(a), false, false).numbers, lower.numbers);
    Array other =
        array_of(context, matrix, by_panels(context, n, 3), Dtype::f64, {.order = Order::column_major});
    factors.factorize(other);
    EXPECT_EQ(triangle_of(dense_of(other), false, false).numbers, lower.numbers);
    expect_solves(matrix, dense_of(factors.solve(b)), many, Dtype::f64);
  }
}

RANK_TEST(Cholesky, MatricesThatAreNotPositiveDefiniteAreRefused) {
  for (const Dtype dtype : linear_dtypes) {
    for (const std::int64_t bad : {0, 2, 10, 16}) {
      for (const double value : {-1.0, 0.0, std::numeric_limits<double>::quiet_NaN()}) {
        SCOPED_TRACE(fmt::format("{} element {} is {}", name(dtype), bad, value));
        const DenseMatrix good = positive_definite(17, dtype, 7);
        DenseMatrix matrix = good;
        matrix(bad, bad) = value;
        if (bad < 16) matrix(16, 16) = -1;
        const Array wrong = array_of(context, matrix, Slab(0), dtype);
        const Array right = array_of(context, good, Slab(0), dtype);
        const std::string order = fmt::format("order {}", bad + 1);
        EXPECT_ERROR_ON_ALL(SingularError, Cholesky(wrong, {.block = 3}), "not positive definite", order);
        EXPECT_FALSE(context.failed());
        Cholesky factors(right, {.block = 3});
        try {
          factors.factorize(wrong);
          ADD_FAILURE() << "nothing was thrown";
        } catch (const SingularError& error) {
          EXPECT_EQ(error.index(), bad);
        }
        const Array b = array_of(context, random_numbers(17, 2, dtype, 8), Slab(0), dtype);
        EXPECT_ERROR_ON_ALL(ArgumentError, factors.solve(b), "factorize");
        factors.factorize(right);
        expect_solves(good, dense_of(factors.solve(b)), dense_of(b), dtype);
      }
    }
  }
}

RANK_TEST(Cholesky, TakesALowerTriangle) {
  for (const Dtype dtype : linear_dtypes) {
    for (const std::int64_t n : {0, 1, 17}) {
      const DenseMatrix matrix = positive_definite(n, dtype, 9), many = random_numbers(n, 3, dtype, 10);
      const DenseMatrix lower = cholesky_by_definition(matrix).packed;
      const Array l = array_of(context, with_nothing_above(lower), Slab(1), dtype);
      const Cholesky factors = Cholesky::from_lower(l);
      const Array b = array_of(context, many, Slab(0), dtype);
      expect_solves(matrix, dense_of(factors.solve(b)), many, dtype);
      const Cholesky again = Cholesky::from_lower(factors.lower());
      EXPECT_EQ(compare(again.lower(), factors.lower()).differing, 0);
      Array given = empty(context, {n, n}, Slab(0), dtype);
      factors.lower_into(given);
      EXPECT_EQ(compare(Cholesky::from_lower(given).lower(), factors.lower()).differing, 0);
    }
  }
}

RANK_TEST(Cholesky, DeterminantsArePositive) {
  for (const Dtype dtype : linear_dtypes) {
    for (const std::int64_t n : {0, 1, 17}) {
      const DenseMatrix matrix = positive_definite(n, dtype, 11);
      const DenseMatrix lower = cholesky_by_definition(matrix).packed;
      double wanted = 0;
      for (std::int64_t i = 0; i < n; ++i) wanted += 2 * std::log(lower(i, i).real());
      const LogDeterminant found =
          Cholesky(array_of(context, matrix, Slab(0), dtype), {.block = 3}).log_determinant();
      EXPECT_EQ(found.sign, Entry(1));
      EXPECT_NEAR(found.log_absolute, wanted, 1e4 * epsilon_of(dtype));
    }
  }
}

RANK_TEST(Cholesky, HardMatrices) {
  for (const auto& [dtype, n] :
       {std::pair{Dtype::f32, 4}, {Dtype::f64, 8}, {Dtype::c64, 4}, {Dtype::c128, 8}}) {
    DenseMatrix hilbert(n, n), graded = positive_definite(n, dtype, 12);
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < n; ++i) {
        hilbert(i, j) = 1 / static_cast<double>(i + j + 1);
        graded(i, j) *= std::pow(10, -static_cast<double>(i + j) / 2);
      }
    }
    for (const DenseMatrix& given : {hilbert, graded}) {
      const Array a = array_of(context, given, Slab(0), dtype);
      const DenseMatrix matrix = dense_of(a), many = random_numbers(n, 2, dtype, 13);
      const Cholesky factors(a, {.block = 2});
      const DenseMatrix lower = dense_of(factors.lower());
      EXPECT_LT(ratio(lower * adjoint(lower) - matrix, matrix, n, epsilon_of(dtype)), most_ratio);
      expect_solves(matrix, dense_of(factors.solve(array_of(context, many, Slab(0), dtype))), many, dtype);
    }
  }
}

}  // namespace
}  // namespace partita::testing
