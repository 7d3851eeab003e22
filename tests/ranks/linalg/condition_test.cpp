// Norms and condition numbers.
#include "support/models/linear_model.hpp"

namespace partita::testing {
namespace {

double norm_of(const DenseMatrix& a, MatrixNorm which) {
  return which == MatrixNorm::one ? a.norm() : adjoint(a).norm();
}

double condition_of(const DenseMatrix& a, MatrixNorm which) {
  return norm_of(a, which) * norm_of(solved(a, identity(a.rows, a.rows)), which);
}

/// A lower bound, within a factor.
void expect_estimates(double found, double wanted, double relative) {
  EXPECT_LE(found, wanted * (1 + relative));
  EXPECT_GE(found, wanted / 3);
}

constexpr MatrixNorm every_norm[] = {MatrixNorm::one, MatrixNorm::infinity};

RANK_TEST(Condition, NormsInEveryDistribution) {
  for (const Dtype dtype : linear_dtypes) {
    const DenseMatrix matrix = random_numbers(13, 18, dtype, 1);
    for (const Distribution& how : matrix_distributions({13, 18}, context.size())) {
      SCOPED_TRACE(fmt::format("{} {}", name(dtype), how.to_string()));
      for (const Order order : {Order::row_major, Order::column_major}) {
        const Array a = array_of(context, matrix, how, dtype, {.order = order});
        for (const MatrixNorm which : every_norm) {
          const double found = matrix_norm(a, which), wanted = norm_of(matrix, which);
          EXPECT_NEAR(found, wanted, 100 * epsilon_of(dtype) * wanted);
        }
      }
    }
    const Array part = array_of(context, matrix, Slab(0), dtype).window({3, 2}, {7, 9}).permuted({1, 0});
    for (const MatrixNorm which : every_norm) {
      EXPECT_NEAR(matrix_norm(part, which), norm_of(dense_of(part), which), 1e-4);
    }
  }
}

RANK_TEST(Condition, NormsOfEmptyMatricesAndNan) {
  for (const MatrixNorm which : every_norm) {
    EXPECT_EQ(matrix_norm(empty(context, {0, 0}, Slab(0), Dtype::f64), which), 0);
    EXPECT_EQ(matrix_norm(empty(context, {3, 0}, Slab(0), Dtype::c64), which), 0);
    DenseMatrix matrix = random_numbers(9, 9, Dtype::f64, 2);
    matrix(8, 0) = std::numeric_limits<double>::quiet_NaN();
    const Array a = array_of(context, matrix, Slab(0), Dtype::f64);
    EXPECT_TRUE(std::isnan(matrix_norm(a, which)));
    EXPECT_TRUE(std::isnan(condition(a, which)));
  }
}

RANK_TEST(Condition, Estimates) {
  for (const Dtype dtype : linear_dtypes) {
    for (const std::int64_t n : {1, 2, 5, 40}) {
      SCOPED_TRACE(fmt::format("{} {}", name(dtype), n));
      const DenseMatrix matrix = random_numbers(n, n, dtype, 3), definite = positive_definite(n, dtype, 4);
      const Array a = array_of(context, matrix, Slab(0), dtype),
                  positive = array_of(context, definite, Slab(1), dtype);
      const Lu lu(a);
      const Cholesky cholesky(positive);
      for (const MatrixNorm which : every_norm) {
        const double wanted = condition_of(matrix, which), found = condition(a, which);
        const double relative = 1e3 * epsilon_of(dtype) * wanted;
        expect_estimates(found, wanted, relative);
        EXPECT_EQ(lu.condition(matrix_norm(a, which), which), found);
        expect_estimates(cholesky.condition(matrix_norm(positive, which), which),
                         condition_of(definite, which), 1e-4);
      }
    }
  }
}

RANK_TEST(Condition, HilbertAndGradedMatrices) {
  DenseMatrix hilbert(6, 6), diagonal(10, 10);
  for (std::int64_t j = 0; j < 6; ++j) {
    for (std::int64_t i = 0; i < 6; ++i) hilbert(i, j) = 1 / static_cast<double>(i + j + 1);
  }
  for (std::int64_t i = 0; i < 10; ++i) diagonal(i, i) = std::pow(10, -10 * static_cast<double>(i));
  for (const MatrixNorm which : every_norm) {
    expect_estimates(condition(array_of(context, hilbert, Slab(0), Dtype::f64), which), 2.907e7, 1e-3);
    expect_estimates(condition(array_of(context, diagonal, Slab(0), Dtype::f64), which), 1e90, 1e-10);
  }
}

RANK_TEST(Condition, SingularAndEmptyMatrices) {
  const double infinity = std::numeric_limits<double>::infinity();
  DenseMatrix matrix = random_numbers(9, 9, Dtype::f64, 5);
  for (std::int64_t i = 0; i < 9; ++i) matrix(i, 4) = 0;
  EXPECT_EQ(condition(array_of(context, matrix, Slab(0), Dtype::f64)), infinity);
  EXPECT_EQ(condition(array_of(context, DenseMatrix(3, 3), Slab(0), Dtype::f64)), infinity);
  EXPECT_EQ(condition(empty(context, {0, 0}, Slab(0), Dtype::f64)), 0);
  Array wide = empty(context, {3, 5}, Slab(0), Dtype::f64);
  fill_random(wide, 1);
  EXPECT_ERROR_ON_ALL(ArgumentError, condition(wide), "square", "3x5");
  EXPECT_ERROR_ON_ALL(ArgumentError, matrix_norm(empty(context, {4}, Slab(0), Dtype::f64)), "matrix");
  EXPECT_ERROR_ON_ALL(ArgumentError, matrix_norm(empty(context, {4, 4}, Slab(0), Dtype::i32)), "astype");
  EXPECT_ERROR_ON_ALL(ArgumentError, condition(Array()));
}

}  // namespace
}  // namespace partita::testing
