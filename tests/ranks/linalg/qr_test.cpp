// QR factorizations, and least squares.
#include "support/models/linear_model.hpp"

namespace partita::testing {
namespace {

struct QrCase {
  std::int64_t m = 0, n = 0, width = 3;
};
constexpr QrCase qr_cases[] = {{17, 17}, {40, 17, 8}, {17, 40, 8}, {40, 2},     {1, 5},
                               {5, 1},   {0, 5},      {5, 0},      {40, 40, 8}, {30, 11, 0}};

template <class Test>
void for_qr_cases(const Test& test) {
  for (const Dtype dtype : linear_dtypes) {
    for (const QrCase& one : qr_cases) {
      SCOPED_TRACE(fmt::format("{} {}x{} in panels of {}", name(dtype), one.m, one.n, one.width));
      test(dtype, one, FactorOptions{.block = one.width});
    }
  }
}

RANK_TEST(Qr, FactorsAreAnOrthonormalAndATriangularOne) {
  for_qr_cases([&](Dtype dtype, const QrCase& one, const FactorOptions& options) {
    const std::int64_t least = std::min(one.m, one.n);
    const Array a = array_of(context, random_numbers(one.m, one.n, dtype, 1), Slab(1), dtype);
    const DenseMatrix matrix = dense_of(a);
    const Qr qr(a, options);
    const Array first = qr.q(), second = qr.r();
    EXPECT_EQ(first.layout().distribution(), Distribution(Slab(1)));
    EXPECT_EQ(second.layout().distribution(), Distribution(Slab(1)));
    EXPECT_EQ(first.shape(), (Shape{one.m, least}));
    EXPECT_EQ(second.shape(), (Shape{least, one.n}));
    const DenseMatrix q = dense_of(first), r = dense_of(second);
    expect_orthonormal(q, dtype);
    EXPECT_EQ(triangle_of(r, true, false).numbers, r.numbers);
    EXPECT_LT(ratio(q * r - matrix, matrix, std::max(one.m, one.n), epsilon_of(dtype)), most_ratio);
    EXPECT_EQ(dense_of(a).numbers, matrix.numbers);
  });
}

RANK_TEST(Qr, ReflectorsAreThoseOfLapack) {
  for_qr_cases([&](Dtype dtype, const QrCase& one, const FactorOptions& options) {
    const std::int64_t least = std::min(one.m, one.n);
    const Array a = array_of(context, random_numbers(one.m, one.n, dtype, 2), Slab(0), dtype);
    const Qr qr(a, options);
    Array packed = qr.packed();
    EXPECT_EQ(packed.layout(), a.layout());
    EXPECT_EQ(qr.factors().dtype(), dtype);
    EXPECT_EQ(qr.factors().layout().distribution(), Distribution(Replicated()));
    const DenseMatrix found = dense_of(packed), tau = dense_of(qr.factors());
    const DenseMatrix q = q_of(found, tau, least);
    expect_near(dense_of(qr.q()), q, dtype);
    EXPECT_EQ(triangle_of(part_of(found, least, one.n), true, false).numbers, dense_of(qr.r()).numbers);
    if (dtype == Dtype::f64 || dtype == Dtype::c128) {
      const DenseFactors wanted = qr_by_definition(dense_of(a));
      EXPECT_LT((found - wanted.packed).norm(), 1e-10);
      EXPECT_LT((tau - wanted.pivots).norm(), 1e-10);
    }
    const Qr given = Qr::from_packed(packed, qr.factors());
    EXPECT_EQ(compare(given.packed(), packed).differing, 0);
    expect_near(dense_of(given.q()), q, dtype);
    Array other = empty(context, {one.m, one.n}, Slab(1), dtype);
    qr.packed_into(other);
    EXPECT_EQ(compare(other, packed).differing, 0);
  });
}

RANK_TEST(Qr, MultipliesByQ) {
  for_qr_cases([&](Dtype dtype, const QrCase& one, const FactorOptions& options) {
    const Qr qr(array_of(context, random_numbers(one.m, one.n, dtype, 3), Slab(0), dtype), options);
    const Array unit = array_of(context, identity(one.m, one.m), Slab(1), dtype);
    const Array whole = qr.multiply_q(unit);
    const DenseMatrix q = dense_of(whole);
    expect_orthonormal(q, dtype);
    const std::int64_t least = std::min(one.m, one.n);
    expect_near(part_of(q, one.m, least), dense_of(qr.q()), dtype);
    const Array back = qr.multiply_q(whole, {.op = Op::conjugate_transpose});
    expect_near(dense_of(back), identity(one.m, one.m), dtype);
    const DenseMatrix single = random_numbers(one.m, 1, dtype, 4);
    const Array product = qr.multiply_q(vector_of(context, single, Slab(0), dtype));
    EXPECT_EQ(product.shape(), (Shape{one.m}));
    EXPECT_LT(ratio(dense_of(product) - q * single, single, one.m, epsilon_of(dtype)), most_ratio);
    EXPECT_ERROR_ON_ALL(ArgumentError, qr.multiply_q(unit, {.op = Op::conjugate}), "conjugate");
  });
}

RANK_TEST(Qr, SolvesLeastSquaresAndSystemsOfTheLeastNorm) {
  for_qr_cases([&](Dtype dtype, const QrCase& one, const FactorOptions& options) {
    const DenseMatrix matrix = random_numbers(one.m, one.n, dtype, 5);
    const Qr qr(array_of(context, matrix, Slab(0), dtype), options);
    const DenseMatrix long_sides = random_numbers(one.m, 4, dtype, 6),
                      short_sides = random_numbers(one.n, 4, dtype, 7);
    const Array of_m = array_of(context, long_sides, Slab(1), dtype),
                of_n = array_of(context, short_sides, Slab(0), dtype);
    if (one.m < one.n) {
      EXPECT_ERROR_ON_ALL(ArgumentError, qr.solve(of_m), fmt::format("{}x{}", one.m, one.n));
      return;
    }
    const Array x = qr.solve(of_m);
    EXPECT_EQ(x.shape(), (Shape{one.n, 4}));
    expect_least_squares(matrix, dense_of(x), long_sides, dtype);
    const DenseMatrix y = dense_of(qr.solve(of_n, {.op = Op::conjugate_transpose}));
    expect_solves(adjoint(matrix), y, short_sides, dtype);
    if (one.m > one.n && one.n > 0) {  // the solution of the least norm is in the range of A
      const DenseMatrix q = dense_of(qr.q());
      EXPECT_LT(ratio(y - q * (adjoint(q) * y), y, one.m, epsilon_of(dtype)), most_ratio);
    }
    const DenseMatrix single = part_of(long_sides, one.m, 1);
    const Array one_x = qr.solve(vector_of(context, single, Slab(0), dtype));
    EXPECT_EQ(one_x.shape(), (Shape{one.n}));
    expect_least_squares(matrix, dense_of(one_x), single, dtype);
    if (is_complex(dtype)) {
      EXPECT_ERROR_ON_ALL(UnsupportedError, qr.solve(of_n, {.op = Op::transpose}), "conjugate-transpose");
    }
  });
}

RANK_TEST(Qr, SolvesIntoGivenArrays) {
  const DenseMatrix matrix = random_numbers(23, 11, Dtype::c64, 8),
                    many = random_numbers(23, 4, Dtype::c64, 9);
  const Qr qr(array_of(context, matrix, Slab(1), Dtype::c64), {.block = 3});
  Array b = array_of(context, many, Slab(0), Dtype::c64);
  Array x = empty(context, {11, 4}, Slab(1), Dtype::c64, {.order = Order::column_major});
  qr.solve_into(b, x);
  expect_least_squares(matrix, dense_of(x), many, Dtype::c64);
  EXPECT_ERROR_ON_ALL(ArgumentError, qr.solve_into(b, b), "11x4");
  const DenseMatrix square = random_numbers(23, 23, Dtype::c64, 10);
  const Qr other(array_of(context, square, Slab(0), Dtype::c64), {.block = 3});
  other.solve_into(b, b);
  expect_solves(square, dense_of(b), many, Dtype::c64);
}

RANK_TEST(Qr, OverwritesTheMatrixAndFactorizesOthers) {
  const DenseMatrix matrix = random_numbers(40, 17, Dtype::f64, 11),
                    many = random_numbers(40, 4, Dtype::f64, 12);
  const auto own = [&](const DenseMatrix& dense) {
    return array_of(context, dense, by_panels(context, 40, 3), Dtype::f64, {.order = Order::column_major});
  };
  const Array a = own(matrix), b = array_of(context, many, Slab(0), Dtype::f64);
  Qr qr(a, {.overwrite = true});
  EXPECT_EQ(dense_of(a).numbers, dense_of(qr.packed()).numbers);
  expect_least_squares(matrix, dense_of(qr.solve(b)), many, Dtype::f64);
  const DenseMatrix next = random_numbers(40, 17, Dtype::f64, 13);
  qr.factorize(own(next));
  expect_least_squares(next, dense_of(qr.solve(b)), many, Dtype::f64);
  qr.factorize(array_of(context, matrix, Slab(0), Dtype::f64));
  expect_least_squares(matrix, dense_of(qr.solve(b)), many, Dtype::f64);
}

RANK_TEST(Qr, MatricesOfLowerRankAreRefusedBySolves) {
  for (const Dtype dtype : linear_dtypes) {
    DenseMatrix matrix = random_numbers(20, 12, dtype, 14);
    for (std::int64_t i = 0; i < 20; ++i) matrix(i, 0) = 0;
    const Qr qr(array_of(context, matrix, Slab(0), dtype), {.block = 3});
    expect_orthonormal(dense_of(qr.q()), dtype);
    const Array b = array_of(context, random_numbers(20, 2, dtype, 15), Slab(0), dtype);
    const std::string text = same_error<SingularError>(context, [&] { (void)qr.solve(b); });
    EXPECT_TRUE(contains(text, "solve")) << text;
    EXPECT_FALSE(context.failed());
  }
}

RANK_TEST(Qr, HardMatrices) {
  for (const Dtype dtype : linear_dtypes) {
    DenseMatrix graded = random_numbers(40, 17, dtype, 16), hilbert(17, 17);
    for (std::int64_t j = 0; j < 17; ++j) {
      for (std::int64_t i = 0; i < 40; ++i) graded(i, j) *= std::pow(10, -static_cast<double>(i + j) / 5);
      for (std::int64_t i = 0; i < 17; ++i) hilbert(i, j) = 1 / static_cast<double>(i + j + 1);
    }
    for (const DenseMatrix& given : {graded, hilbert}) {
      const Array a = array_of(context, given, Slab(0), dtype);
      const DenseMatrix matrix = dense_of(a);
      const Qr qr(a, {.block = 3});
      const DenseMatrix q = dense_of(qr.q());
      expect_orthonormal(q, dtype);
      EXPECT_LT(ratio(q * dense_of(qr.r()) - matrix, matrix, matrix.rows, epsilon_of(dtype)), most_ratio);
    }
    graded(20, 9) = std::numeric_limits<double>::quiet_NaN();
    const Qr none(array_of(context, graded, Slab(0), dtype), {.block = 3});
    EXPECT_TRUE(std::isnan(dense_of(none.r()).norm()));
  }
}

}  // namespace
}  // namespace partita::testing
