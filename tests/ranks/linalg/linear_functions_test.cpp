// The one-line calls of linear algebra.
#include "support/models/linear_model.hpp"

namespace partita::testing {
namespace {

/// Several panels on each of a few ranks.
constexpr std::int64_t of_many_panels = 300;

RANK_TEST(LinearFunctions, Solve) {
  for (const Dtype dtype : linear_dtypes) {
    for (const std::int64_t n : {0, 1, 2, 17, 150}) {
      SCOPED_TRACE(fmt::format("{} {}", name(dtype), n));
      const DenseMatrix matrix = random_numbers(n, n, dtype, 1), many = random_numbers(n, 3, dtype, 2);
      const Array a = array_of(context, matrix, Slab(0), dtype), b = array_of(context, many, Slab(0), dtype);
      for (const Op op : {Op::none, Op::conjugate_transpose}) {
        const Array x = solve(a, b, {.op = op});
        EXPECT_EQ(x.layout(), b.layout());
        expect_solves(op_of(matrix, op), dense_of(x), many, dtype);
      }
      const DenseMatrix single = part_of(many, n, 1);
      expect_solves(matrix, dense_of(solve(a, vector_of(context, single, Slab(0), dtype))), single, dtype);
      EXPECT_EQ(dense_of(a).numbers, matrix.numbers);
    }
  }
}

RANK_TEST(LinearFunctions, OfManyPanels) {
  const std::int64_t n = of_many_panels;
  const DenseMatrix matrix = random_numbers(n, n, Dtype::f64, 3), many = random_numbers(n, 5, Dtype::f64, 4);
  const Array a = array_of(context, matrix, Slab(0), Dtype::f64),
              b = array_of(context, many, Slab(0), Dtype::f64);
  expect_solves(matrix, dense_of(solve(a, b)), many, Dtype::f64);
  const DenseMatrix definite = positive_definite(n, Dtype::f64, 5);
  const DenseMatrix lower = dense_of(cholesky(array_of(context, definite, Slab(1), Dtype::f64)));
  EXPECT_LT(ratio(lower * adjoint(lower) - definite, definite, n, epsilon_of(Dtype::f64)), most_ratio);
  const DenseMatrix tall = part_of(matrix, n, 200);
  const QrFactors factors = qr(array_of(context, tall, Slab(0), Dtype::f64));
  const DenseMatrix q = dense_of(factors.q);
  expect_orthonormal(q, Dtype::f64);
  EXPECT_LT(ratio(q * dense_of(factors.r) - tall, tall, n, epsilon_of(Dtype::f64)), most_ratio);
}

RANK_TEST(LinearFunctions, PlansAreKept) {
  const Array a = array_of(context, random_numbers(19, 19, Dtype::f64, 3), Slab(0), Dtype::f64);
  const Array b = array_of(context, random_numbers(19, 2, Dtype::f64, 4), Slab(0), Dtype::f64);
  const auto call_all = [&] {
    (void)solve(a, b);
    (void)inverse(a);
    (void)slogdet(a);
    (void)lstsq(a, b);
    (void)solve_triangular(a, b);
    (void)qr(a);
  };
  call_all();
  const auto before = context.state()->plans.size();
  call_all();
  EXPECT_EQ(context.state()->plans.size(), before);
}

RANK_TEST(LinearFunctions, SolveTriangular) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Dtype dtype : linear_dtypes) {
    for (const std::int64_t n : {0, 1, 17, 150}) {
      for (int kind = 0; kind < 16; ++kind) {
        if (n != 17 && kind % 4 != static_cast<int>(n) % 4) continue;
        if (n == 150 && dtype != Dtype::c128) continue;
        const Op op = every_op[kind % 4];
        const bool upper = (kind & 4) != 0, unit = (kind & 8) != 0;
        SCOPED_TRACE(fmt::format("{} {} kind {}", name(dtype), n, kind));
        DenseMatrix given = random_numbers(n, n, dtype, 6);
        for (std::int64_t j = 0; j < n; ++j) {
          for (std::int64_t i = 0; i < n; ++i) {
            given(i, j) = i == j ? given(i, j) + 2.0 : given(i, j) / static_cast<double>(n);
            if ((upper ? i > j : i < j) || (unit && i == j)) given(i, j) = nan;
          }
        }
        const Array t = array_of(context, given, kind % 3 == 0 ? Slab(0) : Slab(1), dtype);
        const DenseMatrix matrix = op_of(triangle_of(dense_of(t), upper, unit), op);
        const DenseMatrix many = random_numbers(n, 4, dtype, 7), single = part_of(many, n, 1);
        TriangularOptions options;
        options.op = op;
        options.upper = upper;
        options.unit_diagonal = unit;
        const Array b = array_of(context, many, Slab(0), dtype);
        expect_solves(matrix, dense_of(solve_triangular(t, b, options)), many, dtype);
        const Array x = solve_triangular(t, vector_of(context, single, Slab(0), dtype), options);
        expect_solves(matrix, dense_of(x), single, dtype);
      }
    }
  }
}

RANK_TEST(LinearFunctions, SolveTriangularInTheMemoryOfTheFactors) {
  const DenseMatrix matrix = positive_definite(17, Dtype::f64, 8),
                    many = random_numbers(17, 4, Dtype::f64, 9);
  const Array t =
      array_of(context, matrix, by_panels(context, 17, 3), Dtype::f64, {.order = Order::column_major});
  const Array b = array_of(context, many, Slab(0), Dtype::f64);
  TriangularOptions options;
  expect_solves(triangle_of(matrix, false, false), dense_of(solve_triangular(t, b, options)), many,
                Dtype::f64);
  options.upper = true;
  expect_solves(triangle_of(matrix, true, false), dense_of(solve_triangular(t, b, options)), many,
                Dtype::f64);
  EXPECT_EQ(dense_of(t).numbers, matrix.numbers);
}

RANK_TEST(LinearFunctions, SingularTrianglesAreRefused) {
  DenseMatrix matrix = positive_definite(17, Dtype::c64, 10);
  matrix(11, 11) = matrix(14, 14) = 0;
  const Array t = array_of(context, matrix, Slab(0), Dtype::c64);
  const Array b = array_of(context, random_numbers(17, 2, Dtype::c64, 11), Slab(0), Dtype::c64);
  EXPECT_ERROR_ON_ALL(SingularError, solve_triangular(t, b), "solve_triangular", "11");
  TriangularOptions options;
  options.unit_diagonal = true;
  const DenseMatrix x = dense_of(solve_triangular(t, b, options));
  EXPECT_LT(ratio(triangle_of(matrix, false, true) * x - dense_of(b), matrix.norm() * x.norm(), 17,
                  epsilon_of(Dtype::c64)),
            most_ratio);
}

RANK_TEST(LinearFunctions, Inverse) {
  for (const Dtype dtype : linear_dtypes) {
    for (const std::int64_t n : {0, 1, 17, 40}) {
      SCOPED_TRACE(fmt::format("{} {}", name(dtype), n));
      const DenseMatrix matrix = random_numbers(n, n, dtype, 12);
      const Array a = array_of(context, matrix, Slab(1), dtype, {.order = Order::column_major});
      const Array result = inverse(a);
      EXPECT_EQ(result.layout(), a.layout());
      EXPECT_EQ(result.operand().axis_order, a.operand().axis_order);
      const DenseMatrix inverted = dense_of(result);
      EXPECT_LT(
          ratio(matrix * inverted - identity(n, n), matrix.norm() * inverted.norm(), n, epsilon_of(dtype)),
          most_ratio);
    }
  }
}

RANK_TEST(LinearFunctions, Determinants) {
  const std::int64_t n = 6;
  DenseMatrix triangle = triangle_of(random_numbers(n, n, Dtype::c128, 13), true, false);
  for (std::int64_t i = 0; i < n; ++i) triangle(i, i) = i % 2 == 0 ? Entry(0, 2) : Entry(-1);
  const LogDeterminant found = slogdet(array_of(context, triangle, Slab(0), Dtype::c128));
  EXPECT_LT(std::abs(found.sign - Entry(0, 1)), 1e-14);  // (2i)^3 (-1)^3 = 8i
  EXPECT_NEAR(found.log_absolute, std::log(8.0), 1e-14);
  DenseMatrix rotated = identity(n, n);
  std::swap(rotated(0, 0), rotated(1, 0));
  std::swap(rotated(1, 1), rotated(0, 1));
  EXPECT_EQ(slogdet(array_of(context, rotated, Slab(0), Dtype::f32)).sign, Entry(-1));
  const LogDeterminant zero = slogdet(array_of(context, DenseMatrix(n, n), Slab(0), Dtype::f64));
  EXPECT_EQ(zero.sign, Entry(0));
  EXPECT_EQ(zero.log_absolute, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(slogdet(empty(context, {0, 0}, Slab(0), Dtype::f64)).sign, Entry(1));
}

RANK_TEST(LinearFunctions, LeastSquares) {
  for (const Dtype dtype : linear_dtypes) {
    for (const auto& [m, n] :
         {std::pair{17, 17}, {40, 17}, {17, 40}, {150, 20}, {20, 150}, {1, 5}, {5, 1}, {5, 0}}) {
      SCOPED_TRACE(fmt::format("{} {}x{}", name(dtype), m, n));
      const DenseMatrix matrix = random_numbers(m, n, dtype, 14), many = random_numbers(m, 3, dtype, 15);
      const Array a = array_of(context, matrix, Slab(0), dtype), b = array_of(context, many, Slab(1), dtype);
      const DenseMatrix x = dense_of(lstsq(a, b));
      ASSERT_EQ(x.rows, n);
      if (m >= n) {
        expect_least_squares(matrix, x, many, dtype);
      } else {
        expect_solves(matrix, x, many, dtype);
        // Of the X with A X = B, the one in the range of A^H has the least norm.
        const DenseMatrix q = dense_of(qr(array_of(context, adjoint(matrix), Slab(0), dtype)).q);
        EXPECT_LT(ratio(x - q * (adjoint(q) * x), x, n, epsilon_of(dtype)), most_ratio);
      }
      const DenseMatrix single = part_of(many, m, 1);
      const Array vector = lstsq(a, vector_of(context, single, Slab(0), dtype));
      EXPECT_EQ(vector.shape(), (Shape{n}));
      EXPECT_LT(ratio(dense_of(vector) - part_of(x, n, 1), x, 100 * std::max(m, n), epsilon_of(dtype)),
                most_ratio);
      EXPECT_EQ(dense_of(b).numbers, many.numbers);
    }
  }
}

RANK_TEST(LinearFunctions, SingularMatricesAreRefused) {
  DenseMatrix matrix = random_numbers(17, 17, Dtype::f64, 16);
  for (std::int64_t i = 0; i < 17; ++i) matrix(i, 9) = 0;
  const Array a = array_of(context, matrix, Slab(0), Dtype::f64);
  const Array b = array_of(context, random_numbers(17, 2, Dtype::f64, 17), Slab(0), Dtype::f64);
  EXPECT_ERROR_ON_ALL(SingularError, solve(a, b), "solve");
  EXPECT_ERROR_ON_ALL(SingularError, inverse(a), "singular");
  EXPECT_ERROR_ON_ALL(SingularError, lstsq(a, b));
  EXPECT_ERROR_ON_ALL(SingularError, cholesky(a), "not positive definite");
  EXPECT_FALSE(context.failed());
  const DenseMatrix good = positive_definite(17, Dtype::f64, 18);
  expect_solves(good, dense_of(solve(array_of(context, good, Slab(0), Dtype::f64), b)), dense_of(b),
                Dtype::f64);
}

}  // namespace
}  // namespace partita::testing
