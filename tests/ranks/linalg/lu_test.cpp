// LU factorizations: one matrix, many systems.
#include "support/models/hard_matrices.hpp"
#include "support/models/linear_model.hpp"

namespace partita::testing {
namespace {

/// A square matrix in panels of a given width.
struct LuCase {
  Dtype dtype = Dtype::f64;
  std::int64_t n = 0, width = 3;
};
constexpr LuCase lu_cases[] = {
    {Dtype::f64, 0},     {Dtype::c128, 1},     {Dtype::f64, 2, 1},   {Dtype::f64, 5},     {Dtype::f32, 17},
    {Dtype::f64, 17},    {Dtype::c64, 17},     {Dtype::c128, 17},    {Dtype::f32, 40, 8}, {Dtype::f64, 40, 8},
    {Dtype::c64, 40, 8}, {Dtype::c128, 40, 8}, {Dtype::f64, 17, 40}, {Dtype::f64, 40, 0}};

template <class Test>
void for_lu_cases(const Test& test) {
  for (const LuCase& one : lu_cases) {
    SCOPED_TRACE(fmt::format("{} {} in panels of {}", name(one.dtype), one.n, one.width));
    test(one, FactorOptions{.block = one.width});
  }
}

RANK_TEST(Lu, SolvesByEveryOp) {
  for_lu_cases([&](const LuCase& one, const FactorOptions& options) {
    const Array a = array_of(context, random_numbers(one.n, one.n, one.dtype, 1), Slab(0), one.dtype);
    const DenseMatrix matrix = dense_of(a);
    const Lu lu(a, options);
    for (const Op op : every_op) {
      const DenseMatrix many = random_numbers(one.n, 7, one.dtype, 2), single = part_of(many, one.n, 1);
      const DenseMatrix of_a = op_of(matrix, op);
      const Array b = array_of(context, many, Slab(1), one.dtype);
      expect_solves(of_a, dense_of(lu.solve(b, {.op = op})), many, one.dtype);
      const Array x = lu.solve(vector_of(context, single, Slab(0), one.dtype), {.op = op});
      EXPECT_EQ(x.shape(), (Shape{one.n}));
      expect_solves(of_a, dense_of(x), single, one.dtype);
      EXPECT_EQ(dense_of(b).numbers, many.numbers);
    }
    EXPECT_EQ(dense_of(a).numbers, matrix.numbers);
  });
}

RANK_TEST(Lu, FactorsAreThoseOfLapack) {
  for (const Dtype dtype : linear_dtypes) {
    for (const auto& [m, n] : {std::pair{17, 17}, {40, 17}, {17, 40}, {1, 5}, {5, 1}, {0, 5}, {5, 0}}) {
      for (const std::int64_t width : {3, 8}) {
        SCOPED_TRACE(fmt::format("{} {}x{} in panels of {}", name(dtype), m, n, width));
        const Array a = array_of(context, random_numbers(m, n, dtype, 3), Slab(0), dtype);
        const Lu lu(a, {.block = width});
        const Array packed = lu.packed(), pivots = lu.pivots();
        EXPECT_EQ(packed.layout(), a.layout());
        EXPECT_EQ(pivots.dtype(), Dtype::i32);
        EXPECT_EQ(pivots.layout().distribution().kind(), DistributionKind::replicated);
        const DenseMatrix matrix = dense_of(a), found = dense_of(packed), exchanges = dense_of(pivots);
        expect_lu(matrix, found, exchanges, dtype);
        EXPECT_EQ(lu.first_zero_pivot(), std::nullopt);
        if (dtype != Dtype::f64 && dtype != Dtype::c128) continue;
        const DenseFactors wanted = lu_by_definition(matrix, std::max(n, 1));
        EXPECT_EQ(exchanges.numbers, wanted.pivots.numbers);
        EXPECT_LT((found - wanted.packed).norm(), 1e-10);
      }
    }
  }
}

RANK_TEST(Lu, SolvesIntoGivenArrays) {
  const std::int64_t n = 17, count = 5;
  for (const Dtype dtype : {Dtype::f32, Dtype::c128}) {
    const Lu lu(array_of(context, random_numbers(n, n, dtype, 4), Slab(1), dtype), {.block = 3});
    const DenseMatrix matrix = random_numbers(n, n, dtype, 4), many = random_numbers(n, count, dtype, 5);
    for (int kind = 0; kind < 5; ++kind) {
      SCOPED_TRACE(fmt::format("{} memory {}", name(dtype), kind));
      const Layout rows(Slab(0), {n, count}, context.size()), columns(Slab(1), {n, count}, context.size());
      Wrapped b = make_array(context, rows, dtype, kind),
              x = make_array(context, columns, dtype, (kind + 2) % 5);
      write_dense(b.array, many);
      lu.solve_into(b.array, x.array);
      expect_solves(matrix, dense_of(x.array), many, dtype);
      EXPECT_EQ(dense_of(b.array).numbers, many.numbers);
      for (int round = 0; round < 2; ++round) {  // the second one as planned before
        write_dense(b.array, many);
        lu.solve_into(b.array, b.array, {.op = Op::conjugate_transpose});
        expect_solves(adjoint(matrix), dense_of(b.array), many, dtype);
      }
    }
    const DenseMatrix single = part_of(many, n, 1);
    Array b = vector_of(context, single, Slab(0), dtype);
    Array x = vector_of(context, single, Replicated(), dtype);
    lu.solve_into(b, x);
    expect_solves(matrix, dense_of(x), single, dtype);
    lu.solve_into(b, b);
    expect_solves(matrix, dense_of(b), single, dtype);
  }
}

RANK_TEST(Lu, SolutionsAreWhereTheOptionsSay) {
  const std::int64_t n = 12;
  const Lu lu(array_of(context, random_numbers(n, n, Dtype::f64, 6), Slab(0), Dtype::f64), {.block = 3});
  const Array b = array_of(context, random_numbers(n, 4, Dtype::f64, 7), Slab(1), Dtype::f64);
  EXPECT_EQ(lu.solve(b).layout(), b.layout());
  const Array x = lu.solve(
      b, {.distribution = Replicated(), .order = Order::column_major, .residency = Residency::ordinary});
  EXPECT_EQ(x.layout().distribution(), Distribution(Replicated()));
  EXPECT_EQ(x.operand().axis_order, (Extents{1, 0}));
  EXPECT_EQ(x.operand().residency, Residency::ordinary);
  EXPECT_EQ(compare(lu.solve(b), x).largest_difference, 0);
}

RANK_TEST(Lu, OverwritesTheMatrixInItsOwnMemory) {
  for (const std::int64_t n : {0, 5, 17, 40}) {
    const BlockCyclic how = by_panels(context, n, 3);
    const DenseMatrix matrix = random_numbers(n, n, Dtype::f64, 8),
                      many = random_numbers(n, 4, Dtype::f64, 9);
    Array a = array_of(context, matrix, how, Dtype::f64, {.order = Order::column_major});
    Array b = array_of(context, many, Slab(0), Dtype::f64);
    const Lu lu(a, {.overwrite = true});
    EXPECT_TRUE(contains(lu.explain(), "panels of 3 columns")) << lu.explain();
    expect_solves(matrix, dense_of(lu.solve(b)), many, Dtype::f64);
    Array packed = lu.packed();
    expect_lu(matrix, dense_of(packed), dense_of(lu.pivots()), Dtype::f64);
    EXPECT_EQ(triangle_of(dense_of(a), true, false).numbers,
              triangle_of(dense_of(packed), true, false).numbers);
  }
}

RANK_TEST(Lu, PacksIntoTheMatrixAndIntoOthers) {
  const DenseMatrix matrix = random_numbers(23, 19, Dtype::c64, 10);
  Array a = array_of(context, matrix, Slab(0), Dtype::c64);
  const Lu lu(a, {.block = 3});
  Array other = empty(context, {23, 19}, BlockCyclic(ProcessGrid({context.size(), 1}), {2, 3}), Dtype::c64,
                      {.residency = Residency::ordinary, .order = Order::column_major});
  lu.packed_into(other);
  expect_lu(matrix, dense_of(other), dense_of(lu.pivots()), Dtype::c64);
  lu.packed_into(a);
  EXPECT_EQ(compare(a, other).largest_difference, 0);
}

RANK_TEST(Lu, FactorizesOtherMatrices) {
  const std::int64_t n = 17;
  Array a = array_of(context, random_numbers(n, n, Dtype::f64, 11), Slab(0), Dtype::f64);
  Lu lu(a, {.block = 3});
  const DenseMatrix many = random_numbers(n, 4, Dtype::f64, 12);
  const Array b = array_of(context, many, Slab(0), Dtype::f64);
  for (std::uint64_t seed = 20; seed < 25; ++seed) {
    const DenseMatrix matrix = random_numbers(n, n, Dtype::f64, seed);
    if (seed % 2 == 0) {
      write_dense(a, matrix);
      lu.factorize(a);
    } else {
      lu.factorize(array_of(context, matrix, Slab(1), Dtype::f64));
    }
    expect_solves(matrix, dense_of(lu.solve(b)), many, Dtype::f64);
  }
  Lu moved = std::move(lu);
  write_dense(a, random_numbers(n, n, Dtype::f64, 26));
  moved.factorize(a);
  expect_solves(dense_of(a), dense_of(moved.solve(b)), many, Dtype::f64);
  const Array other = array_of(context, random_numbers(n, n + 1, Dtype::f64, 1), Slab(0), Dtype::f64);
  EXPECT_ERROR_ON_ALL(ArgumentError, moved.factorize(other), "17x18");
}

RANK_TEST(Lu, TakesFactorsOfLapack) {
  for (const Dtype dtype : linear_dtypes) {
    for (const std::int64_t n : {0, 1, 17, 40}) {
      SCOPED_TRACE(fmt::format("{} {}", name(dtype), n));
      const DenseMatrix matrix = random_numbers(n, n, dtype, 13), many = random_numbers(n, 3, dtype, 14);
      const DenseFactors factors = lu_by_definition(matrix, std::max<std::int64_t>(n, 1));
      const Array packed = array_of(context, factors.packed, Slab(1), dtype);
      const Array pivots = vector_of(context, factors.pivots, Slab(0), Dtype::i32);
      const Lu lu = Lu::from_packed(packed, pivots);
      for (const Op op : {Op::none, Op::transpose}) {
        const Array x = lu.solve(array_of(context, many, Slab(0), dtype), {.op = op});
        expect_solves(op_of(matrix, op), dense_of(x), many, dtype);
      }
      EXPECT_EQ(compare(lu.packed(), packed).largest_difference, 0);
      EXPECT_EQ(compare(lu.pivots(), pivots).differing, 0);
    }
  }
}

RANK_TEST(Lu, FactorsOfManyPanelsAreTakenBack) {
  const std::int64_t n = 150;
  const DenseMatrix matrix = random_numbers(n, n, Dtype::f64, 15),
                    many = random_numbers(n, 3, Dtype::f64, 16);
  const Lu first(array_of(context, matrix, Slab(0), Dtype::f64), {.block = 16});
  const Lu lu = Lu::from_packed(first.packed(), first.pivots());
  const Array b = array_of(context, many, Slab(0), Dtype::f64);
  expect_solves(matrix, dense_of(lu.solve(b)), many, Dtype::f64);
  EXPECT_EQ(compare(lu.packed(), first.packed()).differing, 0);
  EXPECT_NEAR(lu.log_determinant().log_absolute, first.log_determinant().log_absolute, 1e-10);
}

RANK_TEST(Lu, DeterminantsAreProductsOfPivots) {
  for_lu_cases([&](const LuCase& one, const FactorOptions& options) {
    const DenseMatrix matrix = random_numbers(one.n, one.n, one.dtype, 17);
    const DenseFactors factors = lu_by_definition(matrix, std::max<std::int64_t>(one.n, 1));
    Entry sign = 1;
    double size = 0;
    for (std::int64_t i = 0; i < one.n; ++i) {
      sign *= factors.packed(i, i) / std::abs(factors.packed(i, i));
      if (factors.pivots(i, 0) != static_cast<double>(i)) sign = -sign;
      size += std::log(std::abs(factors.packed(i, i)));
    }
    const LogDeterminant found = Lu(array_of(context, matrix, Slab(0), one.dtype), options).log_determinant();
    const double tolerance = 1e4 * epsilon_of(one.dtype);
    EXPECT_LT(std::abs(found.sign - sign), tolerance);
    EXPECT_NEAR(found.log_absolute, size, tolerance);
    EXPECT_NEAR(std::abs(found.sign), 1, 1e-15);
  });
}

RANK_TEST(Lu, SingularMatricesAreFactorizedAndRefusedBySolves) {
  for (const Dtype dtype : linear_dtypes) {
    for (const std::int64_t zero : {0, 2, 10, 16}) {
      SCOPED_TRACE(fmt::format("{} column {}", name(dtype), zero));
      DenseMatrix matrix = random_numbers(17, 17, dtype, 18);
      for (std::int64_t i = 0; i < 17; ++i) matrix(i, zero) = 0;
      if (zero < 16) matrix(3, 16) = 0;
      Array a = array_of(context, matrix, Slab(0), dtype);
      Lu lu(a, {.block = 3});
      EXPECT_EQ(lu.first_zero_pivot(), zero);
      expect_lu(matrix, dense_of(lu.packed()), dense_of(lu.pivots()), dtype);
      EXPECT_EQ(lu.log_determinant().sign, Entry(0));
      EXPECT_EQ(lu.log_determinant().log_absolute, -std::numeric_limits<double>::infinity());
      Array b = array_of(context, random_numbers(17, 2, dtype, 19), Slab(0), dtype);
      const std::string text = singular_error([&] { (void)lu.solve(b); });
      EXPECT_TRUE(contains(text, fmt::format("{} solve", zero)) && contains(text, "singular")) << text;
      expect_same_on_all(context, text);
      EXPECT_ERROR_ON_ALL(SingularError, lu.solve_into(b, b, {.op = Op::transpose}), "singular");
      EXPECT_FALSE(context.failed());
      const Lu given = Lu::from_packed(lu.packed(), lu.pivots());
      EXPECT_EQ(given.first_zero_pivot(), zero);
      write_dense(a, random_numbers(17, 17, dtype, 20));
      lu.factorize(a);
      EXPECT_EQ(lu.first_zero_pivot(), std::nullopt);
      expect_solves(dense_of(a), dense_of(lu.solve(b)), dense_of(b), dtype);
    }
  }
}

RANK_TEST(Lu, OnlySquareMatricesAreSolvedWith) {
  const Lu lu(array_of(context, random_numbers(6, 4, Dtype::f64, 21), Slab(0), Dtype::f64));
  const Array b = array_of(context, random_numbers(6, 2, Dtype::f64, 22), Slab(0), Dtype::f64);
  EXPECT_ERROR_ON_ALL(ArgumentError, lu.solve(b), "square", "6x4");
  EXPECT_ERROR_ON_ALL(ArgumentError, lu.log_determinant(), "square", "6x4");
}

RANK_TEST(Lu, PivotsThatNoFactorizationHasAreRefused) {
  const Array packed = array_of(context, random_numbers(4, 4, Dtype::f64, 23), Slab(0), Dtype::f64);
  const auto pivots = [&](std::initializer_list<int> values, Dtype dtype = Dtype::i32) {
    DenseMatrix column(static_cast<std::int64_t>(values.size()), 1);
    std::ranges::transform(values, column.numbers.begin(), [](int value) { return Entry(value); });
    return vector_of(context, column, Slab(0), dtype);
  };
  EXPECT_ERROR_ON_ALL(ArgumentError, Lu::from_packed(packed, pivots({0, 2, 4, 3})), "4");
  EXPECT_ERROR_ON_ALL(ArgumentError, Lu::from_packed(packed, pivots({0, 0, 2, 3})), "row 1");
  EXPECT_ERROR_ON_ALL(ArgumentError, Lu::from_packed(packed, pivots({0, -1, 2, 3})), "-1");
  EXPECT_ERROR_ON_ALL(ArgumentError, Lu::from_packed(packed, pivots({0, 1, 2})), "pivots");
  EXPECT_ERROR_ON_ALL(ArgumentError, Lu::from_packed(packed, pivots({0, 1, 2, 3}, Dtype::i64)), "i64");
  EXPECT_ERROR_ON_ALL(ArgumentError, Lu::from_packed(packed, Array()), "pivots");
}

// --- matrices that are hard to factorize

RANK_TEST(Lu, HardMatrices) {
  for (const Dtype dtype : linear_dtypes) {
    for (const std::int64_t n : {17, 40}) {
      for (const DenseMatrix& given : {graded(n, dtype), nearly_singular(n, dtype), hilbert(n)}) {
        SCOPED_TRACE(fmt::format("{} {}", name(dtype), n));
        const Array a = array_of(context, given, Slab(0), dtype);
        const DenseMatrix matrix = dense_of(a), many = random_numbers(n, 3, dtype, 32);
        const Lu lu(a, {.block = 8});
        expect_lu(matrix, dense_of(lu.packed()), dense_of(lu.pivots()), dtype);
        if (lu.first_zero_pivot()) continue;
        expect_solves(matrix, dense_of(lu.solve(array_of(context, many, Slab(0), dtype))), many, dtype);
      }
    }
    const Lu lu(array_of(context, growing(20), Slab(0), dtype), {.block = 3});
    const DenseMatrix packed = dense_of(lu.packed());
    EXPECT_EQ(packed(19, 19), Entry(std::ldexp(1, 19)));
    EXPECT_EQ(packed.numbers, lu_by_definition(growing(20), 20).packed.numbers);
  }
}

RANK_TEST(Lu, ZerosAndNumbersThatAreNone) {
  for (const Dtype dtype : linear_dtypes) {
    const Lu zero(array_of(context, DenseMatrix(12, 12), Slab(0), dtype), {.block = 3});
    EXPECT_EQ(zero.first_zero_pivot(), 0);
    EXPECT_EQ(dense_of(zero.packed()).norm(), 0);
    DenseMatrix matrix = random_numbers(12, 12, dtype, 33);
    matrix(7, 4) = std::numeric_limits<double>::quiet_NaN();
    const Lu lu(array_of(context, matrix, Slab(0), dtype), {.block = 3});
    const Array b = array_of(context, random_numbers(12, 2, dtype, 34), Slab(0), dtype);
    EXPECT_EQ(lu.first_zero_pivot(), std::nullopt);
    EXPECT_TRUE(std::isnan(dense_of(lu.solve(b)).norm()));
    EXPECT_TRUE(std::isnan(lu.log_determinant().log_absolute));
    for (const Entry& pivot : dense_of(lu.pivots()).numbers)
      EXPECT_TRUE(pivot.real() >= 0 && pivot.real() < 12);
  }
}

RANK_TEST(Lu, SystemsWithoutRightHandSides) {
  for (const std::int64_t n : {0, 5}) {
    const Array a = array_of(context, random_numbers(n, n, Dtype::f64, 35), Slab(0), Dtype::f64);
    const Lu lu(a, {.block = 3});
    const Array x = lu.solve(empty(context, {n, 0}, Slab(0), Dtype::f64));
    EXPECT_EQ(x.shape(), (Shape{n, 0}));
  }
  const Lu none(empty(context, {0, 0}, Slab(0), Dtype::f64));
  EXPECT_EQ(none.solve(empty(context, {0}, Slab(0), Dtype::f64)).shape(), (Shape{0}));
  EXPECT_EQ(none.solve(empty(context, {0, 4}, Slab(1), Dtype::f64)).shape(), (Shape{0, 4}));
  EXPECT_EQ(none.log_determinant().sign, Entry(1));
  EXPECT_EQ(none.log_determinant().log_absolute, 0);
}

RANK_TEST(Lu, IsExplainedByItsPanels) {
  const Lu lu(array_of(context, random_numbers(24, 24, Dtype::f64, 36), Slab(0), Dtype::f64), {.block = 4});
  EXPECT_EQ(lu.plan().operation, "lu");
  EXPECT_TRUE(contains(lu.explain(), "panels of 4 columns")) << lu.explain();
  const Lu given = Lu::from_packed(lu.packed(), lu.pivots());
  EXPECT_ERROR_ON_ALL(ArgumentError, given.plan(), "plan");
}

}  // namespace
}  // namespace partita::testing
