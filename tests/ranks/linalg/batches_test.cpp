// Functions of many matrices: small ones by one rank each, large ones by all.
#include <partita/eigen.hpp>

#include "support/models/linear_model.hpp"

namespace partita::testing {
namespace {

/// The matrices of a batch, in row-major order of the leading dimensions.
using Dense = std::vector<DenseMatrix>;

Dense random_batch(std::int64_t count, std::int64_t m, std::int64_t n, Dtype dtype, std::uint64_t seed) {
  Dense result;
  for (std::int64_t i = 0; i < count; ++i)
    result.push_back(random_numbers(m, n, dtype, seed + static_cast<std::uint64_t>(i)));
  return result;
}

Shape batch_shape(const Shape& leading, std::int64_t m, std::int64_t n) {
  Shape shape = leading;
  shape.push_back(m);
  shape.push_back(n);
  return shape;
}

Array batch_of(const Context& context, const Shape& leading, const Dense& dense, const Distribution& how,
               Dtype dtype, const ArrayOptions& options = {}) {
  const std::int64_t m = dense[0].rows, n = dense[0].columns;
  Array array = empty(context, batch_shape(leading, m, n), how, dtype, options);
  const int rank = context.rank();
  const int contribution = contribution_of(array.layout(), rank);
  each_element(array, [&](std::int64_t number, auto& element) {
    using T = std::decay_t<decltype(element)>;
    const Entry value = dense[static_cast<std::size_t>(number / (m * n))](number / n % m, number % n);
    element = narrow_to<T>(Wide(contribution > 0 ? Entry(0) : value));
  });
  return array;
}

Dense dense_batch(const Array& array, std::int64_t m, std::int64_t n) {
  const std::vector<Number> numbers = whole_numbers(array);
  Dense result(numbers.size() / static_cast<std::size_t>(std::max<std::int64_t>(m * n, 1)),
               DenseMatrix(m, n));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto number = static_cast<std::int64_t>(i);
    result[i / static_cast<std::size_t>(m * n)](number / n % m, number % n) = numbers[i];
  }
  return result;
}

std::vector<Distribution> batch_distributions(const Context& context, const Shape& shape) {
  const std::string ranks = std::to_string(context.size());
  std::vector<Distribution> result{Slab(0), Slab(1), Slab(shape.size() - 1), Replicated()};
  if (shape.size() == 3) {
    result.push_back(Distribution::parse("mesh:r=" + ranks + ":-,r,-;uneven=balanced"));
    result.push_back(Distribution::parse("mesh:r=" + ranks + ":-,-,-;partial=sum:r"));
  }
  return result;
}

/// Columns [n] of values as matrices.
std::vector<std::vector<double>> values_of(const Array& array, std::int64_t n) {
  std::vector<std::vector<double>> result;
  for (const DenseMatrix& row : dense_batch(array, 1, n)) {
    result.emplace_back();
    for (const Entry& number : row.numbers) result.back().push_back(number.real());
  }
  return result;
}

DenseMatrix diagonal_of(const std::vector<double>& values) {
  const auto n = static_cast<std::int64_t>(values.size());
  DenseMatrix result(n, n);
  for (std::int64_t i = 0; i < n; ++i) result(i, i) = values[static_cast<std::size_t>(i)];
  return result;
}

/// Of lower triangles, and of upper ones whose diagonal is 1.
void expect_triangular(const Array& a, const Array& b, const Dense& matrices, const Dense& sides, Op op,
                       Dtype dtype) {
  for (const bool upper : {false, true}) {
    TriangularOptions options;
    options.op = op;
    options.upper = upper;
    options.unit_diagonal = upper;
    const Array x = solve_triangular(a, b, options);
    EXPECT_EQ(x.layout(), b.layout());
    const std::int64_t n = matrices[0].rows;
    const Dense found = dense_batch(x, n, 2);
    for (std::size_t i = 0; i < matrices.size(); ++i)
      expect_solves(op_of(triangle_of(matrices[i], upper, upper), op), found[i], sides[i], dtype);
  }
}

void check_all(Context& context, const Shape& leading, std::int64_t n, Dtype dtype, const Distribution& how) {
  std::int64_t count = 1;
  for (const std::int64_t extent : leading) count *= extent;
  const Dense matrices = random_batch(count, n, n, dtype, 1), sides = random_batch(count, n, 2, dtype, 50);
  Dense definite;
  for (std::int64_t i = 0; i < count; ++i)
    definite.push_back(positive_definite(n, dtype, 100 + static_cast<std::uint64_t>(i)));
  const Array a = batch_of(context, leading, matrices, how, dtype),
              b = batch_of(context, leading, sides, Slab(0), dtype),
              p = batch_of(context, leading, definite, how, dtype);
  const Dense inverses = dense_batch(inverse(a), n, n), lower = dense_batch(cholesky(p), n, n);
  const QrFactors factors = qr(a);
  const Dense q = dense_batch(factors.q, n, n), r = dense_batch(factors.r, n, n);
  const EigenFactors eigen = eigh(p);
  const auto eigenvalues = values_of(eigen.values, n), again = values_of(eigvalsh(p), n);
  const Dense vectors = dense_batch(eigen.vectors, n, n);
  const SvdFactors singular = svd(a);
  const auto values = values_of(singular.values, n), only = values_of(svdvals(a), n);
  const Dense u = dense_batch(singular.u, n, n), vh = dense_batch(singular.vh, n, n);
  const LogDeterminants determinants = log_determinants(a);
  const std::vector<Number> signs = whole_numbers(determinants.sign),
                            logs = whole_numbers(determinants.log_absolute);
  const double epsilon = epsilon_of(dtype);
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    SCOPED_TRACE(i);
    const DenseMatrix& matrix = matrices[i];
    EXPECT_LT(ratio(matrix * inverses[i] - identity(n, n), matrix.norm() * inverses[i].norm(), n, epsilon),
              most_ratio);
    expect_near(lower[i] * adjoint(lower[i]), definite[i], dtype);
    EXPECT_EQ(triangle_of(lower[i], false, false).numbers, lower[i].numbers);
    expect_orthonormal(q[i], dtype);
    expect_near(q[i] * r[i], matrix, dtype);
    EXPECT_EQ(triangle_of(r[i], true, false).numbers, r[i].numbers);
    expect_orthonormal(vectors[i], dtype);
    expect_near(definite[i] * vectors[i], vectors[i] * diagonal_of(eigenvalues[i]), dtype);
    expect_near(diagonal_of(again[i]), diagonal_of(eigenvalues[i]), dtype);
    expect_orthonormal(u[i], dtype);
    expect_near(u[i] * diagonal_of(values[i]) * vh[i], matrix, dtype);
    expect_near(diagonal_of(only[i]), diagonal_of(values[i]), dtype);
    double product = 0;
    for (const double value : values[i]) product += std::log(value);
    EXPECT_NEAR(std::abs(signs[i]), 1, 1e-5);
    EXPECT_NEAR(logs[i].real(), product, 1e4 * epsilon * static_cast<double>(n));
  }
  const Dense least = dense_batch(lstsq(a, b), n, 2);
  for (std::size_t i = 0; i < matrices.size(); ++i) expect_solves(matrices[i], least[i], sides[i], dtype);
  for (const Op op : every_op) {
    expect_triangular(a, b, matrices, sides, op, dtype);
    const Array x = solve(a, b, {.op = op});
    EXPECT_EQ(x.layout(), b.layout());
    const Dense found = dense_batch(x, n, 2);
    for (std::size_t i = 0; i < matrices.size(); ++i)
      expect_solves(op_of(matrices[i], op), found[i], sides[i], dtype);
  }
}

RANK_TEST(Batches, EveryDtypeAndFunction) {
  for (const Dtype dtype : linear_dtypes) {
    for (const std::int64_t n : {1, 6}) {
      SCOPED_TRACE(fmt::format("{} {}", name(dtype), n));
      check_all(context, {5}, n, dtype, Slab(0));
    }
  }
}

RANK_TEST(Batches, EveryDistribution) {
  for (const Distribution& how : batch_distributions(context, {7, 4, 4})) {
    SCOPED_TRACE(how.to_string());
    check_all(context, {7}, 4, Dtype::c128, how);
  }
  for (const Distribution& how : batch_distributions(context, {2, 3, 4, 4})) {
    SCOPED_TRACE(how.to_string());
    check_all(context, {2, 3}, 4, Dtype::f64, how);
  }
}

// Too few and too large to be computed by one rank each, if there are several.
RANK_TEST(LargeBatches, ByAllRanks) {
  const std::int64_t n = 260;
  const Dense matrices = random_batch(1, n, n, Dtype::f64, 3), sides = random_batch(1, n, 2, Dtype::f64, 4);
  const Array a = batch_of(context, {1, 1}, matrices, Slab(2), Dtype::f64),
              b = batch_of(context, {1, 1}, sides, Slab(3), Dtype::f64);
  expect_solves(matrices[0], dense_batch(solve(a, b), n, 2)[0], sides[0], Dtype::f64);
  const LogDeterminants found = log_determinants(a);
  EXPECT_EQ(found.sign.shape(), Shape({1, 1}));
  const LogDeterminant wanted = slogdet(array_of(context, matrices[0], Slab(0), Dtype::f64));
  EXPECT_EQ(whole_numbers(found.sign)[0], Number(wanted.sign.real()));
  EXPECT_NEAR(whole_numbers(found.log_absolute)[0].real(), wanted.log_absolute, 1e-9);
  expect_solves(matrices[0], dense_batch(lstsq(a, b), n, 2)[0], sides[0], Dtype::f64);
  const QrFactors factors = qr(a);
  expect_near(dense_batch(factors.q, n, n)[0] * dense_batch(factors.r, n, n)[0], matrices[0], Dtype::f64);
  expect_near(diagonal_of(values_of(svdvals(a), n)[0]),
              diagonal_of(values_of(svdvals(array_of(context, matrices[0], Slab(0), Dtype::f64)), n)[0]),
              Dtype::f64);
}

RANK_TEST(Batches, RightHandSidesForAllMatrices) {
  const Dense matrices = random_batch(4, 5, 5, Dtype::c64, 5);
  const DenseMatrix many = random_numbers(5, 3, Dtype::c64, 6), one = part_of(many, 5, 1);
  const Array a = batch_of(context, {4}, matrices, Slab(0), Dtype::c64);
  const Array x = solve(a, array_of(context, many, Slab(0), Dtype::c64),
                        {.distribution = Slab(1), .order = Order::column_major});
  EXPECT_EQ(x.layout(), Layout(Slab(1), {4, 5, 3}, context.size()));
  const Array single = solve(a, vector_of(context, one, Slab(0), Dtype::c64));
  EXPECT_EQ(single.shape(), Shape({4, 5}));
  for (std::size_t i = 0; i < 4; ++i) {
    expect_solves(matrices[i], dense_batch(x, 5, 3)[i], many, Dtype::c64);
    expect_solves(matrices[i], dense_batch(single, 5, 1)[i], one, Dtype::c64);
  }
}

RANK_TEST(Batches, RectanglesAndEmptyBatches) {
  for (const auto& [m, n] : {std::pair{7, 3}, {3, 7}}) {
    const std::int64_t k = std::min(m, n);
    const Dense matrices = random_batch(4, m, n, Dtype::c128, 7);
    const Array a = batch_of(context, {4}, matrices, Slab(0), Dtype::c128, {.order = Order::column_major});
    const QrFactors factors = qr(a);
    const SvdFactors singular = svd(a);
    const Dense sides = random_batch(4, m, 2, Dtype::c128, 70),
                least = dense_batch(lstsq(a, batch_of(context, {4}, sides, Slab(1), Dtype::c128)), n, 2);
    for (std::size_t i = 0; i < 4; ++i) {
      expect_near(dense_batch(factors.q, m, k)[i] * dense_batch(factors.r, k, n)[i], matrices[i],
                  Dtype::c128);
      expect_least_squares(matrices[i], least[i], sides[i], Dtype::c128);
      expect_near(dense_batch(singular.u, m, k)[i] * diagonal_of(values_of(singular.values, k)[i]) *
                      dense_batch(singular.vh, k, n)[i],
                  matrices[i], Dtype::c128);
    }
  }
  for (const Shape& shape : {Shape{0, 3, 3}, Shape{3, 0, 0}, Shape{2, 0, 4, 4}}) {
    const Array none = empty(context, shape, Slab(0), Dtype::f64);
    EXPECT_EQ(inverse(none).shape(), shape);
    EXPECT_EQ(cholesky(none).shape(), shape);
    EXPECT_EQ(eigh(none).vectors.shape(), shape);
    EXPECT_EQ(svd(none).u.shape(), shape);
    EXPECT_EQ(qr(none).r.shape(), shape);
    EXPECT_EQ(lstsq(none, none).shape(), shape);
    EXPECT_EQ(solve_triangular(none, none).shape(), shape);
    EXPECT_EQ(log_determinants(none).sign.shape().size(), shape.size() - 2);
  }
  const LogDeterminants ones = log_determinants(empty(context, {3, 0, 0}, Slab(0), Dtype::f64));
  for (const Number& number : whole_numbers(ones.sign)) EXPECT_EQ(number, Number(1));
}

RANK_TEST(Batches, Errors) {
  Dense matrices = random_batch(6, 4, 4, Dtype::f64, 8);
  for (std::int64_t i = 0; i < 4; ++i) matrices[4](i, 2) = 0;
  const Array a = batch_of(context, {6}, matrices, Slab(0), Dtype::f64);
  const Array b = batch_of(context, {6}, random_batch(6, 4, 1, Dtype::f64, 9), Slab(0), Dtype::f64);
  EXPECT_ERROR_ON_ALL(SingularError, solve(a, b), "singular", "matrix 4 of the batch");
  EXPECT_ERROR_ON_ALL(SingularError, inverse(a), "singular", "matrix 4 of the batch");
  EXPECT_ERROR_ON_ALL(SingularError, lstsq(a, b), "of R is 0", "matrix 4 of the batch");
  EXPECT_ERROR_ON_ALL(SingularError, solve_triangular(a, b), "(2, 2) of T is 0", "matrix 4 of the batch");
  EXPECT_ERROR_ON_ALL(ArgumentError, lstsq(a, b, {.op = Op::transpose}), "must be none");
  EXPECT_ERROR_ON_ALL(ArgumentError, lstsq(a, empty(context, {6, 5}, Slab(0), Dtype::f64)), "lstsq",
                      "leading dimensions");
  EXPECT_ERROR_ON_ALL(SingularError, cholesky(a), "not positive definite", "of the batch");
  EXPECT_EQ(whole_numbers(log_determinants(a).sign)[4], Number(0));
  matrices[5](3, 3) = std::numeric_limits<double>::quiet_NaN();
  const Array nan = batch_of(context, {6}, matrices, Slab(0), Dtype::f64);
  EXPECT_ERROR_ON_ALL(ArgumentError, eigh(nan), "NaN");
  EXPECT_ERROR_ON_ALL(ArgumentError, svdvals(nan), "NaN");
  Array wide = empty(context, {6, 4, 5}, Slab(0), Dtype::f64),
        whole = empty(context, {6, 4, 4}, Slab(0), Dtype::i32);
  EXPECT_ERROR_ON_ALL(ArgumentError, inverse(wide), "square", "6x4x5");
  EXPECT_ERROR_ON_ALL(ArgumentError, cholesky(whole), "astype");
  EXPECT_ERROR_ON_ALL(ArgumentError, log_determinants(empty(context, {3, 3}, Slab(0), Dtype::f64)),
                      "slogdet");
  EXPECT_ERROR_ON_ALL(ArgumentError, solve(a, empty(context, {6, 5, 1}, Slab(0), Dtype::f64)),
                      "leading dimensions");
  EXPECT_ERROR_ON_ALL(ArgumentError, solve(a, empty(context, {5, 4, 1}, Slab(0), Dtype::f64)),
                      "leading dimensions");
  EXPECT_ERROR_ON_ALL(ArgumentError, solve(a, empty(context, {6, 4, 1}, Slab(0), Dtype::f32)), "astype");
  EXPECT_ERROR_ON_ALL(ArgumentError, solve(a, Array()), "B");
  EXPECT_FALSE(context.failed());
}

}  // namespace
}  // namespace partita::testing
