// QR factorizations and least squares of matrices with many more rows than columns.
#include "linalg/tall.hpp"
#include "support/models/linear_model.hpp"

namespace partita::testing {
namespace {

/// So many rows that all ranks factorize their own, unevenly.
std::int64_t tall_rows(const Context& context, std::int64_t n) {
  const std::int64_t ranks = context.size();
  return 2 * ranks * ranks * n + 2 * ranks - 1;
}

using linear::TallMethod;

TallMethod cholesky_qr_for(const Array& a) {
  return a.operand().space == MemorySpace::device ? TallMethod::inverses : TallMethod::solves;
}

void expect_tall_factors(const Array& a, const QrFactors& factors, const DenseMatrix& matrix, Dtype dtype) {
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

void expect_tall_factors(const Array& a, Dtype dtype) {
  const DenseMatrix matrix = dense_of(a);
  for (const TallMethod first : {TallMethod::reflectors, cholesky_qr_for(a)})
    expect_tall_factors(a, linear::tall_qr(a, first, SourcePlace::current()), matrix, dtype);
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
    DenseMatrix graded = random, dependent = random, nearly = random, zero = random, smooth = random,
                tiny = random, large = random;
    const bool single = dtype == Dtype::f32 || dtype == Dtype::c64;
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) graded(i, j) *= std::pow(10.0, -static_cast<double>(j));
      dependent(i, 9) = dependent(i, 2) - dependent(i, 5);
      nearly(i, 16) = nearly(i, 0) * (1 + 1e-12 * nearly(i, 1).real());
      zero(i, 3) = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        smooth(i, j) = 1 / static_cast<double>(i + j + 1);  // the first columns of a Hilbert matrix
        tiny(i, j) *= single ? 1e-30 : 1e-200;
        large(i, j) *= single ? 1e25 : 1e200;
      }
    }
    for (const DenseMatrix& matrix :
         {random, graded, dependent, nearly, zero, smooth, tiny, large, DenseMatrix(m, n)})
      expect_tall_factors(array_of(context, matrix, Slab(0), dtype), dtype);
  }
}

RANK_TEST(TallQr, KeepsNan) {
  const std::int64_t n = 3, m = tall_rows(context, n);
  DenseMatrix matrix = random_numbers(m, n, Dtype::f64, 3);
  matrix(m / 2, 1) = std::numeric_limits<double>::quiet_NaN();
  const Array a = array_of(context, matrix, Slab(0), Dtype::f64);
  for (const TallMethod first : {TallMethod::reflectors, cholesky_qr_for(a)}) {
    const DenseMatrix r = dense_of(linear::tall_qr(a, first, SourcePlace::current()).r);
    EXPECT_TRUE(std::isnan(r(1, 1).real()) && std::isnan(r(1, 2).real()));
    EXPECT_FALSE(context.failed());
  }
}

/// Condition numbers that products of triangles cannot cover: with triangular solves, with a shift, and by
/// reflectors. R is the one with a positive diagonal while CholeskyQR serves.
RANK_TEST(TallQr, TakesTheMethodThatServes) {
  const std::int64_t n = 12, m = tall_rows(context, n);
  for (const double smallest : {1e-1, 1e-5, 1e-11, 1e-15}) {
    SCOPED_TRACE(smallest);
    const DenseMatrix left = random_numbers(m, n, Dtype::f64, 8), right = random_numbers(n, n, Dtype::f64, 9);
    DenseMatrix scaled = left;
    for (std::int64_t i = 0; i < m; ++i) scaled(i, n - 1) *= smallest;
    const Array a = array_of(context, scaled * right, Slab(0), Dtype::f64, {.order = Order::column_major});
    const QrFactors factors = linear::tall_qr(a, cholesky_qr_for(a), SourcePlace::current());
    expect_tall_factors(a, factors, dense_of(a), Dtype::f64);
    if (smallest < 1e-11) continue;
    const DenseMatrix r = dense_of(factors.r);
    for (std::int64_t j = 0; j < n; ++j) EXPECT_GT(r(j, j).real(), 0);
  }
}

RANK_TEST(TallQr, IsChosenForManyRows) {
  const std::int64_t n = 16, m = 10'000 * context.size();
  Array a = empty(context, {m, n}, Slab(0), Dtype::f64);
  fill_random(a, 1);
  const QrFactors factors = qr(a);
  const Array product = matmul(factors.q, factors.r, {.distribution = Slab(0)});
  EXPECT_LT(compare(product, a).largest_difference, 1e-13);
  const DenseMatrix r = dense_of(factors.r);
  for (std::int64_t j = 0; j < n; ++j) EXPECT_GT(r(j, j).real(), 0);
}

RANK_TEST(TallQr, SolvesLeastSquares) {
  const std::int64_t n = 7, m = tall_rows(context, n);
  for (const Dtype dtype : linear_dtypes) {
    const DenseMatrix matrix = random_numbers(m, n, dtype, 4), many = random_numbers(m, 12, dtype, 5);
    const Array a = array_of(context, matrix, Slab(0), dtype), b = array_of(context, many, Slab(1), dtype);
    const DenseMatrix single = part_of(many, m, 1);
    for (const TallMethod first : {TallMethod::reflectors, cholesky_qr_for(a)}) {
      const auto solve = [&](const Array& sides, const SolveOptions& options = {}) {
        return linear::tall_least_squares(a, sides, options, first, SourcePlace::current());
      };
      const Array x = solve(b, {.distribution = Slab(1), .order = Order::column_major});
      EXPECT_EQ(x.layout().distribution(), Distribution(Slab(1)));
      expect_least_squares(matrix, dense_of(x), many, dtype);
      const Array vector = solve(vector_of(context, single, Slab(0), dtype));
      EXPECT_EQ(vector.shape(), Shape{n});
      expect_least_squares(matrix, dense_of(vector), single, dtype);
      EXPECT_EQ(solve(empty(context, {m, 0}, Slab(0), dtype)).shape(), (Shape{n, 0}));
      EXPECT_EQ(dense_of(a).numbers, matrix.numbers);
    }
  }
}

RANK_TEST(TallQr, LeastSquaresOfLowerRankAreRefused) {
  const std::int64_t n = 6, m = tall_rows(context, n);
  DenseMatrix matrix = random_numbers(m, n, Dtype::f64, 6);
  for (std::int64_t i = 0; i < m; ++i) matrix(i, 4) = 0;
  const Array a = array_of(context, matrix, Slab(0), Dtype::f64);
  const Array b = array_of(context, random_numbers(m, 2, Dtype::f64, 7), Slab(0), Dtype::f64);
  for (const TallMethod first : {TallMethod::reflectors, cholesky_qr_for(a)}) {
    EXPECT_ERROR_ON_ALL(SingularError, linear::tall_least_squares(a, b, {}, first, SourcePlace::current()),
                        "(4, 4)");
  }
  EXPECT_FALSE(context.failed());
}

}  // namespace
}  // namespace partita::testing
