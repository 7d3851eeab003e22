// Eigenvalues, singular values and polar decompositions, by one rank and divided.
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <partita/array_reductions.hpp>
#include <partita/astype.hpp>
#include <partita/create.hpp>
#include <partita/eigen.hpp>
#include <partita/elements.hpp>
#include <partita/elementwise.hpp>
#include <partita/matmul.hpp>
#include <partita/redistribute.hpp>

#include "support/on_ranks.hpp"

namespace partita::testing {
namespace {

/// So many rows are divided; others are computed by one rank.
constexpr EigenOptions divided{.base = 8};

double epsilon_of(Dtype dtype) {
  return dtype == Dtype::f32 || dtype == Dtype::c64 ? 1.2e-7 : 2.3e-16;
}

Array random_matrix(const Context& context, std::int64_t rows, std::int64_t columns, Dtype dtype) {
  Array array = empty(context, {rows, columns}, Slab(0), dtype);
  fill_random(array, 5);
  return array;
}

Array product(const Array& a, const Array& b, Op op_a = Op::none, Op op_b = Op::none) {
  return matmul(a, b, {.op_a = op_a, .op_b = op_b, .distribution = Slab(0)});
}

/// The norm of A - B.
double distance(const Array& a, const Array& b) {
  Array difference = redistribute(a, Slab(0));
  difference -= redistribute(b, Slab(0));
  return norm<double>(difference);
}

/// LAPACK's ratio of an error that is a norm of n x n elements.
double ratio(double error, double size, std::int64_t n, Dtype dtype) {
  return error / (std::max(size, 1e-30) * static_cast<double>(n) * epsilon_of(dtype));
}

void expect_orthonormal(const Array& columns) {
  const std::int64_t n = columns.shape()[1];
  const Array unit = eye(columns.context(), n, n, Slab(0), columns.dtype());
  const Array gram = product(columns, columns, Op::conjugate_transpose);
  EXPECT_LT(ratio(distance(gram, unit), 1, std::max(columns.shape()[0], n), columns.dtype()), 30);
}

/// A diag(values)
Array scaled_columns(const Array& a, const Array& values) {
  return redistribute(a, Slab(0)) * astype(values, a.dtype());
}

void expect_eigen(const Array& a, const EigenOptions& options) {
  const auto [values, vectors] = eigh(a, options);
  EXPECT_EQ(vectors.layout(), a.layout());
  const double size = norm<double>(a);
  EXPECT_LT(
      ratio(distance(product(a, vectors), scaled_columns(vectors, values)), size, a.shape()[0], a.dtype()),
      30);
  expect_orthonormal(vectors);
  EXPECT_LT(ratio(distance(eigvalsh(a, options), values), size, a.shape()[0], a.dtype()), 30);
}

void expect_svd(const Array& a, const EigenOptions& options) {
  const auto [u, values, vh] = svd(a, options);
  const std::int64_t longest = std::max(a.shape()[0], a.shape()[1]);
  EXPECT_LT(ratio(distance(product(scaled_columns(u, values), vh), a), norm<double>(a), longest, a.dtype()),
            30);
  expect_orthonormal(u);
  expect_orthonormal(redistribute(vh, Slab(0), {.axes = {1, 0}}));
  EXPECT_LT(ratio(distance(svdvals(a, options), values), norm<double>(a), longest, a.dtype()), 30);
  if (a.shape()[0] < a.shape()[1]) return;
  const PolarFactors factors = polar(a);
  EXPECT_LT(ratio(distance(product(factors.u, factors.h), a), norm<double>(a), longest, a.dtype()), 30);
  expect_orthonormal(factors.u);
}

constexpr Dtype computed[] = {Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128};

RANK_TEST(Eigen, RandomMatricesOfEveryDtype) {
  for (const Dtype dtype : computed) {
    for (const std::int64_t n : {1, 2, 25}) {
      const Array a = random_matrix(context, n, n, dtype);
      const Array hermitian = product(a, a, Op::none, Op::conjugate_transpose);
      expect_eigen(hermitian, {});
      if (n == 25) expect_eigen(hermitian, divided);
    }
  }
}

/// `count` of them from number `first` on; as close to those among all as all are to the right ones.
void expect_some(const Array& a, EigenOptions options, std::int64_t first, std::int64_t count) {
  SCOPED_TRACE("rows " + std::to_string(a.shape()[0]) + " base " + std::to_string(options.base) + " first " +
               std::to_string(first) + " count " + std::to_string(count));
  const std::int64_t n = a.shape()[0], behind = count < 0 ? n : first + count;
  const Array all = eigvalsh(a, options);
  options.first = first;
  options.count = count;
  const auto [values, vectors] = eigh(a, options);
  const Array only = eigvalsh(a, options);
  const double size = norm<double>(a);
  ASSERT_EQ(values.shape(), Shape{behind - first});
  ASSERT_EQ(only.shape(), Shape{behind - first});
  ASSERT_EQ(vectors.shape(), (Shape{n, behind - first}));
  if (behind == first) return;
  const Array right = all.window({first}, {behind - first});
  EXPECT_LT(ratio(distance(values, right), size, n, a.dtype()), 30);
  EXPECT_LT(ratio(distance(only, right), size, n, a.dtype()), 30);
  EXPECT_LT(ratio(distance(product(a, vectors), scaled_columns(vectors, values)), size, n, a.dtype()), 30);
  expect_orthonormal(vectors);
}

RANK_TEST(Eigen, SomeByTheirNumbers) {
  for (const Dtype dtype : computed) {
    const Array a = random_matrix(context, 25, 25, dtype);
    const Array hermitian = product(a, a, Op::none, Op::conjugate_transpose);
    for (const EigenOptions& options : {EigenOptions{}, divided}) {
      for (const auto& [first, count] : {std::pair{0, 1}, std::pair{24, 1}, std::pair{9, 6}, std::pair{3, 20},
                                         std::pair{7, -1}, std::pair{25, -1}})
        expect_some(hermitian, options, first, count);
    }
  }
  // Many are equal.
  Array unit = eye(context, 20, 20, Slab(0), Dtype::f64);
  for (const EigenOptions& options : {EigenOptions{}, divided}) expect_some(unit, options, 4, 5);
  const Array one = eye(context, 1, 1, Slab(0), Dtype::f64);
  expect_some(one, {}, 0, 1);
}

RANK_TEST(Eigen, SomeOfManyMatrices) {
  Array batch = empty(context, {3, 13, 13}, Slab(0), Dtype::c128);
  fill_random(batch, 5);
  for (const bool upper : {false, true}) {
    const EigenFactors all = eigh(batch, {.upper = upper});
    for (const auto& [first, count] : {std::pair{2, 2}, std::pair{1, 11}}) {
      const EigenOptions options{.upper = upper, .first = first, .count = count};
      const EigenFactors some = eigh(batch, options);
      ASSERT_EQ(some.values.shape(), (Shape{3, count}));
      ASSERT_EQ(some.vectors.shape(), (Shape{3, 13, count}));
      const Array only = eigvalsh(batch, options);
      for (std::int64_t i = 0; i < 3; ++i) {
        for (std::int64_t j = 0; j < count; ++j) {
          const double right = at<double>(all.values, {i, first + j});
          EXPECT_NEAR(at<double>(some.values, {i, j}), right, 1e-12);
          EXPECT_NEAR(at<double>(only, {i, j}), right, 1e-12);
          // The same vector but for its phase.
          std::complex<double> same;
          for (std::int64_t k = 0; k < 13; ++k)
            same += std::conj(at<std::complex<double>>(all.vectors, {i, k, first + j})) *
                    at<std::complex<double>>(some.vectors, {i, k, j});
          EXPECT_NEAR(std::abs(same), 1, 1e-10);
        }
      }
    }
  }
}

RANK_TEST(Eigen, SingularValuesOfEveryShape) {
  for (const Dtype dtype : {Dtype::f64, Dtype::c64}) {
    for (const auto& [m, n] : {std::pair{1, 1}, std::pair{20, 20}, std::pair{33, 12}, std::pair{12, 33}}) {
      const Array a = random_matrix(context, m, n, dtype);
      expect_svd(a, {});
      expect_svd(a, divided);
    }
  }
}

RANK_TEST(Eigen, OneTriangleIsRead) {
  const Array a = random_matrix(context, 17, 17, Dtype::c128);
  const Array hermitian = product(a, a, Op::none, Op::conjugate_transpose);
  for (const bool upper : {false, true}) {
    Array other = empty(context, {17, 17}, Slab(0), Dtype::c128);
    fill(other, [&](const Index& at) {
      const bool is_read = upper ? at[0] <= at[1] : at[0] >= at[1];
      return std::complex<double>(is_read ? 0 : 1e10);
    });
    const Array stored = hermitian + other;
    for (const std::int64_t base : {0, 8}) {
      const auto [values, vectors] = eigh(stored, {.base = base, .upper = upper});
      const Array error = product(hermitian, vectors) - scaled_columns(vectors, values);
      EXPECT_LT(norm<double>(error), 1e-10);
      EXPECT_LT(distance(eigvalsh(stored, {.base = base, .upper = upper}), values), 1e-10);
    }
  }
}

// Eigenvalues that are equal are not divided by any sigma.
RANK_TEST(Eigen, EqualAndZeroValues) {
  const Array unit = eye(context, 20, 20, Slab(0), Dtype::f64);
  expect_eigen(unit, divided);
  expect_svd(unit, divided);
  Array zero = zeros(context, {20, 20}, Slab(0), Dtype::f64);
  EXPECT_EQ(norm<double>(eigvalsh(zero, divided)), 0);
  EXPECT_EQ(norm<double>(svdvals(zero, divided)), 0);
  Array projector = empty(context, {20, 20}, Slab(0), Dtype::f64);
  fill(projector, [](const Index& at) { return at[0] == at[1] && at[0] % 3 == 0 ? 1.0 : 0.0; });
  expect_eigen(projector, divided);
  expect_svd(projector, divided);
}

RANK_TEST(Eigen, GradedAndOfLowRank) {
  Array grades = empty(context, {24, 24}, Slab(0), Dtype::f64);
  fill(grades, [](const Index& at) { return std::pow(10.0, -static_cast<double>(at[0] + at[1]) / 4); });
  const Array graded = random_matrix(context, 24, 24, Dtype::f64) * grades;
  expect_svd(graded, divided);
  expect_svd(graded, {});
  const Array thin = random_matrix(context, 24, 3, Dtype::f64);
  const Array low = product(thin, thin, Op::none, Op::transpose);
  expect_eigen(low, divided);
  expect_svd(low, divided);
}

/// Also those whose inverses are beyond the largest number.
RANK_TEST(Eigen, TheSmallestAndTheLargestNumbers) {
  for (const auto& [dtype, size] :
       {std::pair{Dtype::f32, 1e-40}, {Dtype::f32, 1e35}, {Dtype::f64, 1e-310}, {Dtype::f64, 1e300}}) {
    for (const std::int64_t columns : {12, 4}) {
      Array a = random_matrix(context, 12, columns, dtype);
      scale(a, size);
      expect_svd(a, divided);
    }
  }
}

RANK_TEST(Eigen, EmptyMatrices) {
  const Array none = empty(context, {0, 0}, Slab(0), Dtype::f64);
  EXPECT_EQ(eigh(none).values.shape(), Shape{0});
  EXPECT_EQ(svd(none).values.shape(), Shape{0});
  const Array tall = empty(context, {5, 0}, Slab(0), Dtype::f64);
  EXPECT_EQ(svd(tall).u.shape(), (Shape{5, 0}));
}

// What one rank computes, another would divide: the ranks would make different calls.
RANK_TEST(Eigen, OptionsOfOneRank) {
  if (context.size() == 1) GTEST_SKIP() << "needs several ranks";
  const Array a = random_matrix(context, 20, 20, Dtype::f64);
  const EigenOptions options = context.rank() == 0 ? divided : EigenOptions{};
  for (const auto& call : {std::function<void()>([&] { (void)eigh(a, options); }),
                           std::function<void()>([&] { (void)svdvals(a, options); })}) {
    EXPECT_NE(same_error<DisagreementError>(context, call).find("base 8"), std::string::npos);
  }
  expect_svd(a, {});  // the context is as before
}

RANK_TEST(Eigen, WhatIsRefusedIsRefusedOnAllRanks) {
  const Array wide = random_matrix(context, 3, 5, Dtype::f64);
  EXPECT_NE(same_error<ArgumentError>(context, [&] { (void)eigh(wide); }).find("square"), std::string::npos);
  EXPECT_NE(same_error<ArgumentError>(context, [&] { (void)polar(wide); }).find("transpose"),
            std::string::npos);
  const Array integers = empty(context, {3, 3}, Slab(0), Dtype::i32);
  EXPECT_NE(same_error<ArgumentError>(context, [&] { (void)svd(integers); }).find("astype"),
            std::string::npos);
  const Array square = random_matrix(context, 5, 5, Dtype::f64);
  const std::pair<EigenOptions, std::string> outside[] = {
      {{.first = -1}, "A has 5 eigenvalues; 6 of them from number -1 on were asked for"},
      {{.first = 6}, "A has 5 eigenvalues"},
      {{.first = 2, .count = 4}, "A has 5 eigenvalues; 4 of them from number 2 on were asked for"},
      {{.count = -2}, "A has 5 eigenvalues"}};
  for (const auto& [wrong, text] : outside) {
    const EigenOptions& options = wrong;  // clang 14 captures no bindings
    EXPECT_NE(same_error<ArgumentError>(context, [&] { (void)eigh(square, options); }).find(text),
              std::string::npos);
    EXPECT_NE(same_error<ArgumentError>(context, [&] { (void)eigvalsh(square, options); }).find(text),
              std::string::npos);
  }
  EXPECT_NE(
      same_error<ArgumentError>(context, [&] { (void)svd(square, {.first = 1}); }).find("options of eigh"),
      std::string::npos);
  Array broken = zeros(context, {9, 9}, Slab(0), Dtype::f64);
  set_at(broken, {5, 3}, std::numeric_limits<double>::quiet_NaN());
  EXPECT_NE(same_error<ArgumentError>(context, [&] { (void)eigh(broken); }).find("NaN"), std::string::npos);
  EXPECT_NE(same_error<ArgumentError>(context, [&] { (void)svd(broken); }).find("NaN"), std::string::npos);
}

}  // namespace
}  // namespace partita::testing
