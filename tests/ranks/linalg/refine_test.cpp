// Factorizations in lower precision, refined to full precision or given up.
#include <partita/astype.hpp>

#include "support/models/linear_model.hpp"

namespace partita::testing {
namespace {

bool is_wide_dtype(Dtype dtype) {
  return dtype == Dtype::f64 || dtype == Dtype::c128;
}

/// With a condition number of about `spread` times those of two random matrices.
DenseMatrix ill_conditioned(std::int64_t n, Dtype dtype, double spread, std::uint64_t seed) {
  DenseMatrix left = random_numbers(n, n, dtype, seed);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i)
      left(i, j) *= std::pow(spread, -static_cast<double>(j) / static_cast<double>(n - 1));
  }
  return left * random_numbers(n, n, dtype, seed + 1);
}

/// Rows and columns multiplied by powers of 10 from 10^-exponent to 10^exponent.
DenseMatrix graded(DenseMatrix a, double row_exponent, double column_exponent) {
  const auto last = static_cast<double>(a.rows - 1);
  for (std::int64_t j = 0; j < a.columns; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i)
      a(i, j) *= std::pow(10, row_exponent * (2 * static_cast<double>(i) / last - 1)) *
                 std::pow(10, column_exponent * (1 - 2 * static_cast<double>(j) / last));
  }
  return a;
}

void expect_refined(const RefinedSolution& found, const DenseMatrix& a, const DenseMatrix& b, Dtype dtype) {
  expect_solves(a, dense_of(found.x), b, dtype);
  const double epsilon = 2 * epsilon_of(dtype);
  EXPECT_LE(found.refinement.backward_error, std::sqrt(static_cast<double>(a.rows)) * epsilon);
  EXPECT_EQ(found.refinement.fell_back, !found.refinement.reason.empty());
}

RANK_TEST(Refine, EveryDtypeSizeAndOp) {
  for (const Dtype dtype : linear_dtypes) {
    for (const std::int64_t n : {1, 2, 17, 70}) {
      SCOPED_TRACE(fmt::format("{} {}", name(dtype), n));
      const DenseMatrix matrix = random_numbers(n, n, dtype, 1), many = random_numbers(n, 3, dtype, 2),
                        single = part_of(many, n, 1);
      const Array a = array_of(context, matrix, Slab(0), dtype), b = array_of(context, many, Slab(1), dtype);
      for (const Op op : every_op) {
        RefineOptions options;
        options.op = op;
        const RefinedSolution found = solve_refined(a, b, options);
        EXPECT_EQ(found.x.layout(), b.layout());
        EXPECT_FALSE(found.refinement.fell_back) << found.refinement.reason;
        EXPECT_GE(found.refinement.iterations, is_wide_dtype(dtype) && n > 2 ? 1 : 0);
        expect_refined(found, op_of(matrix, op), many, dtype);
      }
      const RefinedSolution one = solve_refined(a, vector_of(context, single, Slab(0), dtype));
      EXPECT_EQ(one.x.shape(), Shape({n}));
      EXPECT_FALSE(one.refinement.fell_back) << one.refinement.reason;
      expect_refined(one, matrix, single, dtype);
      EXPECT_EQ(dense_of(a).numbers, matrix.numbers);
      EXPECT_EQ(dense_of(b).numbers, many.numbers);
    }
  }
}

RANK_TEST(Refine, EmptySystems) {
  for (const auto& [n, count] : {std::pair{0, 0}, {0, 3}, {5, 0}}) {
    Array a = empty(context, {n, n}, Slab(0), Dtype::f64),
          b = empty(context, {n, count}, Slab(0), Dtype::f64);
    fill_random(a, 1);
    const RefinedSolution found = solve_refined(a, b);
    EXPECT_EQ(found.x.shape(), b.shape());
    EXPECT_FALSE(found.refinement.fell_back);
    EXPECT_EQ(found.refinement.backward_error, 0);
  }
}

RANK_TEST(Refine, Cholesky) {
  for (const Dtype dtype : {Dtype::f64, Dtype::c128}) {
    const DenseMatrix matrix = positive_definite(50, dtype, 3), many = random_numbers(50, 2, dtype, 4);
    const Array b = array_of(context, many, Slab(0), dtype);
    RefineOptions options;
    options.method = Factorization::cholesky;
    for (const double factor : {1.0, 1e-200, 1e200}) {
      DenseMatrix scaled = matrix;
      for (Entry& number : scaled.numbers) number *= factor;
      const Array a = array_of(context, scaled, Slab(1), dtype);
      const RefinedSolution found = solve_refined(a, b, options);
      EXPECT_FALSE(found.refinement.fell_back) << found.refinement.reason;
      EXPECT_GE(found.refinement.iterations, 1);
      expect_refined(found, scaled, many, dtype);
    }
    DenseMatrix indefinite = matrix;
    indefinite(20, 20) = -1;
    EXPECT_ERROR_ON_ALL(SingularError,
                        solve_refined(array_of(context, indefinite, Slab(0), dtype), b, options),
                        "not positive definite");
  }
}

RANK_TEST(Refine, EveryDistribution) {
  const std::int64_t n = 24;
  const DenseMatrix matrix = random_numbers(n, n, Dtype::c128, 5),
                    many = random_numbers(n, 4, Dtype::c128, 6);
  const Array usual_a = array_of(context, matrix, Slab(0), Dtype::c128),
              usual_b = array_of(context, many, Slab(0), Dtype::c128);
  for (const Distribution& how : matrix_distributions({n, n}, context.size())) {
    SCOPED_TRACE(how.to_string());
    const RefinedSolution found = solve_refined(array_of(context, matrix, how, Dtype::c128), usual_b);
    EXPECT_FALSE(found.refinement.fell_back) << found.refinement.reason;
    expect_refined(found, matrix, many, Dtype::c128);
  }
  for (const Distribution& how : matrix_distributions({n, 4}, context.size())) {
    SCOPED_TRACE(how.to_string());
    const Array b = array_of(context, many, how, Dtype::c128);
    RefineOptions options;
    options.order = Order::column_major;
    const RefinedSolution found = solve_refined(usual_a, b, options);
    expect_refined(found, matrix, many, Dtype::c128);
    options.distribution = Slab(1);
    const RefinedSolution elsewhere = solve_refined(usual_a, b, options);
    EXPECT_EQ(elsewhere.x.layout(), Layout(Slab(1), {n, 4}, context.size()));
    expect_refined(elsewhere, matrix, many, Dtype::c128);
  }
}

RANK_TEST(Refine, WindowsAndTransposedViews) {
  const std::int64_t n = 20;
  const DenseMatrix matrix = random_numbers(n + 3, n + 3, Dtype::f64, 7),
                    many = random_numbers(n, 3, Dtype::f64, 8);
  const Array whole = array_of(context, matrix, Slab(0), Dtype::f64);
  const Array part = whole.window({2, 1}, {n, n}).permuted({1, 0});
  const RefinedSolution found = solve_refined(part, array_of(context, many, Slab(0), Dtype::f64));
  EXPECT_FALSE(found.refinement.fell_back) << found.refinement.reason;
  expect_refined(found, dense_of(part), many, Dtype::f64);
}

// Iterative refinement does not converge: the condition number times the rounding of f32 is above 1.
RANK_TEST(Refine, IllConditionedByGmres) {
  const std::int64_t n = 60;
  for (const Dtype dtype : {Dtype::f64, Dtype::c128}) {
    for (const double spread : {1e3, 1e5, 1e7}) {
      SCOPED_TRACE(fmt::format("{} {}", name(dtype), spread));
      const DenseMatrix matrix = ill_conditioned(n, dtype, spread, 9),
                        many = random_numbers(n, 19, dtype, 11);
      const RefinedSolution found = solve_refined(array_of(context, matrix, Slab(0), dtype),
                                                  array_of(context, part_of(many, n, 3), Slab(0), dtype));
      EXPECT_FALSE(found.refinement.fell_back) << found.refinement.reason;
      EXPECT_GT(found.refinement.iterations, 2);
      expect_refined(found, matrix, part_of(many, n, 3), dtype);
      // More columns than GMRES takes together, or at all.
      const RefinedSolution all =
          solve_refined(array_of(context, matrix, Slab(1), dtype), array_of(context, many, Slab(0), dtype));
      expect_refined(all, matrix, many, dtype);
      const RefinedSolution one = solve_refined(array_of(context, matrix, Slab(0), dtype),
                                                vector_of(context, part_of(many, n, 1), Slab(0), dtype));
      EXPECT_FALSE(one.refinement.fell_back) << one.refinement.reason;
      expect_refined(one, matrix, part_of(many, n, 1), dtype);
    }
  }
}

RANK_TEST(Refine, HilbertAndGradedMatrices) {
  const std::int64_t n = 12;
  const DenseMatrix b = random_numbers(n, 2, Dtype::f64, 12);
  const DenseMatrix matrices[] = {hilbert(n), graded(random_numbers(n, n, Dtype::f64, 13), 0, 100),
                                  graded(random_numbers(n, n, Dtype::f64, 14), 80, 60),
                                  graded(random_numbers(n, n, Dtype::f64, 15), 3, 5)};
  for (const DenseMatrix& matrix : matrices) {
    SCOPED_TRACE(matrix.norm());
    const Array a = array_of(context, matrix, Slab(0), Dtype::f64);
    for (const Op op : {Op::none, Op::transpose}) {
      RefineOptions options;
      options.op = op;
      const RefinedSolution found = solve_refined(a, array_of(context, b, Slab(0), Dtype::f64), options);
      expect_refined(found, op_of(matrix, op), b, Dtype::f64);
    }
  }
}

RANK_TEST(Refine, FallsBack) {
  DenseMatrix close(2, 2);  // singular in f32
  close(0, 0) = close(0, 1) = close(1, 0) = 1;
  close(1, 1) = 1 + 1e-12;
  const DenseMatrix two = random_numbers(2, 1, Dtype::f64, 16);
  const RefinedSolution found = solve_refined(array_of(context, close, Slab(0), Dtype::f64),
                                              array_of(context, two, Slab(0), Dtype::f64));
  EXPECT_TRUE(found.refinement.fell_back);
  EXPECT_TRUE(contains(found.refinement.reason, "singular")) << found.refinement.reason;
  expect_refined(found, close, two, Dtype::f64);

  const DenseMatrix matrix = random_numbers(30, 30, Dtype::f64, 17),
                    b = random_numbers(30, 2, Dtype::f64, 18);
  RefineOptions none;
  none.iterations = 0;
  const RefinedSolution without = solve_refined(array_of(context, matrix, Slab(0), Dtype::f64),
                                                array_of(context, b, Slab(0), Dtype::f64), none);
  EXPECT_TRUE(without.refinement.fell_back);
  EXPECT_EQ(without.refinement.iterations, 0);
  EXPECT_TRUE(contains(without.refinement.reason, "0 corrections")) << without.refinement.reason;
  expect_refined(without, matrix, b, Dtype::f64);
  none.tolerance = 1e-4;
  EXPECT_FALSE(solve_refined(array_of(context, matrix, Slab(0), Dtype::f64),
                             array_of(context, b, Slab(0), Dtype::f64), none)
                   .refinement.fell_back);

  const DenseMatrix zero(5, 5);
  EXPECT_ERROR_ON_ALL(SingularError,
                      solve_refined(array_of(context, zero, Slab(0), Dtype::f64),
                                    array_of(context, DenseMatrix(5, 1), Slab(0), Dtype::f64)));
}

RANK_TEST(Refine, NanOfOneRank) {
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {nan, infinity}) {
    const DenseMatrix good = random_numbers(20, 20, Dtype::f64, 19),
                      b = random_numbers(20, 2, Dtype::f64, 20);
    DenseMatrix matrix = good, side = b;
    matrix(19, 0) = bad;
    side(19, 1) = bad;
    const RefinedSolution of_a = solve_refined(array_of(context, matrix, Slab(0), Dtype::f64),
                                               array_of(context, b, Slab(0), Dtype::f64));
    EXPECT_TRUE(of_a.refinement.fell_back);
    EXPECT_TRUE(contains(of_a.refinement.reason, "NaN"));
    const RefinedSolution of_b = solve_refined(array_of(context, good, Slab(0), Dtype::f64),
                                               array_of(context, side, Slab(0), Dtype::f64));
    EXPECT_TRUE(of_b.refinement.fell_back);
    EXPECT_FALSE(context.failed());
  }
}

RANK_TEST(Refine, PrecisionOfProducts) {
  const DenseMatrix matrix = random_numbers(90, 90, Dtype::f64, 21),
                    b = random_numbers(90, 2, Dtype::f64, 22);
  const Array a = array_of(context, matrix, Slab(0), Dtype::f64),
              many = array_of(context, b, Slab(0), Dtype::f64);
  for (const ComputeType compute : {ComputeType::f32, ComputeType::tf32, ComputeType::bf16x9}) {
    RefineOptions options;
    options.compute = compute;
    const RefinedSolution found = solve_refined(a, many, options);
    EXPECT_FALSE(found.refinement.fell_back) << found.refinement.reason;
    expect_refined(found, matrix, b, Dtype::f64);
  }
  RefineOptions wide;
  wide.compute = ComputeType::f64;
  EXPECT_ERROR_ON_ALL(UnsupportedError, solve_refined(a, many, wide), "f64", "tf32");
  EXPECT_ERROR_ON_ALL(UnsupportedError, Lu(a, {.compute = ComputeType::tf32}), "tf32", "f64");
  const Lu single(astype(a, Dtype::f32), {.compute = ComputeType::tf32});
  EXPECT_LT(dense_of(single.solve(astype(many, Dtype::f32))).norm(), 1e6);
}

RANK_TEST(Refine, WrongArguments) {
  Array a = empty(context, {6, 6}, Slab(0), Dtype::f64), b = empty(context, {6, 2}, Slab(0), Dtype::f64);
  fill_random(a, 1);
  fill_random(b, 2);
  RefineOptions options;
  options.method = Factorization::qr;
  EXPECT_ERROR_ON_ALL(ArgumentError, solve_refined(a, b, options), "qr", "cholesky");
  options = {};
  options.tolerance = -1;
  EXPECT_ERROR_ON_ALL(ArgumentError, solve_refined(a, b, options), "tolerance", "-1");
  options = {};
  options.iterations = -2;
  EXPECT_ERROR_ON_ALL(ArgumentError, solve_refined(a, b, options), "-2");
  EXPECT_ERROR_ON_ALL(ArgumentError, solve_refined(a.window({0, 0}, {6, 5}), b), "square");
  EXPECT_ERROR_ON_ALL(ArgumentError, solve_refined(a, a.window({0, 0}, {5, 5})), "B");
  EXPECT_ERROR_ON_ALL(ArgumentError, solve_refined(Array(), b));
  EXPECT_ERROR_ON_ALL(ArgumentError, solve_refined(a, Array()));
  options = {};
  options.iterations = context.rank() == 0 ? 5 : 6;
  if (context.size() > 1) {
    EXPECT_ERROR_ON_ALL(DisagreementError, solve_refined(a, b, options), "iterations");
  }
  EXPECT_FALSE(context.failed());
}

}  // namespace
}  // namespace partita::testing
