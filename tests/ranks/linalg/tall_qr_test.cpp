// QR factorizations and least squares of matrices with many more rows than columns.
#include "support/models/linear_model.hpp"

namespace partita::testing {
namespace {

/// So many rows that all ranks factorize their own, unevenly.
std::int64_t tall_rows(const Context& context, std::int64_t n) {
  const std::int64_t ranks = context.size();
  return 2 * ranks * ranks * n + 2 * ranks - 1;
}

void expect_tall_factors(const Array& a, Dtype dtype) {
  const DenseMatrix matrix = dense_of(a);
  const QrFactors factors = qr(a);
  if (!a.layout().partial()) {
    EXPECT_EQ(factors.q.layout(), a.layout());
  }
  const DenseMatrix q = dense_of(factors.q), r = dense_of(factors.r);
  ASSERT_EQ(r.rows, matrix.columns);
  expect_orthonormal(q, dtype);
  EXPECT_EQ(triangle_of(r, true, false).numbers, r.numbers);
  EXPECT_LT(ratio(q * r - matrix, matrix, matrix.rows, epsilon_of(dtype)), most_ratio);
  EXPECT_EQ(dense_of(a).numbers, matrix.numbers);
}

RANK_TEST(TallQr, OfAnyLayout) {
  for (const Dtype dtype : linear_dtypes) {
    const std::int64_t n = 5, m = tall_rows(context, n);
    const DenseMatrix matrix = random_numbers(m, n, dtype, 1);
    for (const Distribution& how : matrix_distributions({m, n}, context.size())) {
      for (const Order order : {Order::row_major, Order::column_major}) {
        SCOPED_TRACE(fmt::format("{} {}", name(dtype), how.to_string()));
        expect_tall_factors(array_of(context, matrix, how, dtype, {.order = order}), dtype);
      }
    }
  }
}

/// In columns that differ in size, depend on each other or nearly do, or are zero.
RANK_TEST(TallQr, OfIllConditionedMatrices) {
  const std::int64_t n = 17, m = tall_rows(context, n);
  for (const Dtype dtype : linear_dtypes) {
    const DenseMatrix random = random_numbers(m, n, dtype, 2);
    DenseMatrix graded = random, dependent = random, nearly = random, zero = random;
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) graded(i, j) *= std::pow(10.0, -static_cast<double>(j));
      dependent(i, 9) = dependent(i, 2) - dependent(i, 5);
      nearly(i, 16) = nearly(i, 0) * (1 + 1e-12 * nearly(i, 1).real());
      zero(i, 3) = 0;
    }
    for (const DenseMatrix& matrix : {random, graded, dependent, nearly, zero})
      expect_tall_factors(array_of(context, matrix, Slab(0), dtype), dtype);
  }
}

RANK_TEST(TallQr, KeepsNan) {
  const std::int64_t n = 3, m = tall_rows(context, n);
  DenseMatrix matrix = random_numbers(m, n, Dtype::f64, 3);
  matrix(m / 2, 1) = std::numeric_limits<double>::quiet_NaN();
  const DenseMatrix r = dense_of(qr(array_of(context, matrix, Slab(0), Dtype::f64)).r);
  EXPECT_TRUE(std::isnan(r(1, 1).real()) && std::isnan(r(1, 2).real()));
  EXPECT_FALSE(context.failed());
}

RANK_TEST(TallQr, SolvesLeastSquares) {
  const std::int64_t n = 7, m = tall_rows(context, n);
  for (const Dtype dtype : linear_dtypes) {
    const DenseMatrix matrix = random_numbers(m, n, dtype, 4), many = random_numbers(m, 12, dtype, 5);
    const Array a = array_of(context, matrix, Slab(0), dtype), b = array_of(context, many, Slab(1), dtype);
    const Array x = lstsq(a, b, {.distribution = Slab(1), .order = Order::column_major});
    EXPECT_EQ(x.layout().distribution(), Distribution(Slab(1)));
    expect_least_squares(matrix, dense_of(x), many, dtype);
    const DenseMatrix single = part_of(many, m, 1);
    const Array vector = lstsq(a, vector_of(context, single, Slab(0), dtype));
    EXPECT_EQ(vector.shape(), Shape{n});
    expect_least_squares(matrix, dense_of(vector), single, dtype);
    EXPECT_EQ(lstsq(a, empty(context, {m, 0}, Slab(0), dtype)).shape(), (Shape{n, 0}));
    EXPECT_EQ(dense_of(a).numbers, matrix.numbers);
  }
}

RANK_TEST(TallQr, LeastSquaresOfLowerRankAreRefused) {
  const std::int64_t n = 6, m = tall_rows(context, n);
  DenseMatrix matrix = random_numbers(m, n, Dtype::f64, 6);
  for (std::int64_t i = 0; i < m; ++i) matrix(i, 4) = 0;
  const Array a = array_of(context, matrix, Slab(0), Dtype::f64);
  const Array b = array_of(context, random_numbers(m, 2, Dtype::f64, 7), Slab(0), Dtype::f64);
  EXPECT_ERROR_ON_ALL(SingularError, lstsq(a, b), "(4, 4)");
  EXPECT_FALSE(context.failed());
}

}  // namespace
}  // namespace partita::testing
