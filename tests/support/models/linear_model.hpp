// Matrices with known numbers on ranks, and the ratios of LAPACK's tests for what is computed with them.
#pragma once

#include <partita/linalg.hpp>

#include "support/models/dense_factors.hpp"
#include "support/models/number_model.hpp"
#include "support/models/wide.hpp"
#include "support/on_ranks.hpp"

namespace partita::testing {

inline constexpr Dtype linear_dtypes[] = {Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128};
inline constexpr Op every_op[] = {Op::none, Op::transpose, Op::conjugate, Op::conjugate_transpose};

/// All elements, on every rank; a vector is a column. Collective; sums partial arrays.
inline DenseMatrix dense_of(const Array& array) {
  const Shape& shape = array.shape();
  const std::vector<Number> numbers = whole_numbers(array);
  DenseMatrix dense(shape[0], shape.size() > 1 ? shape[1] : 1);
  for (std::int64_t i = 0; i < dense.rows; ++i) {
    for (std::int64_t j = 0; j < dense.columns; ++j)
      dense(i, j) = numbers[static_cast<std::size_t>(i * dense.columns + j)];
  }
  return dense;
}

/// The numbers of a matrix, or of a column; in a partial array contributions that sum to them.
inline void write_dense(const Array& array, const DenseMatrix& dense) {
  const int rank = array.context().rank();
  const int contribution = contribution_of(array.layout(), rank);
  const double others = contribution_count(array.layout()) - 1;
  each_element(array, [&](std::int64_t number, auto& element) {
    using T = std::decay_t<decltype(element)>;
    const Entry value = dense(number / dense.columns, number % dense.columns);
    element = narrow_to<T>(Wide(contribution > 0 ? Entry(1) : value - others));
  });
}

inline Array array_of(const Context& context, const DenseMatrix& dense, const Distribution& how, Dtype dtype,
                      const ArrayOptions& options = {}) {
  Array array = empty(context, {dense.rows, dense.columns}, how, dtype, options);
  write_dense(array, dense);
  return array;
}
/// [n], of a column.
inline Array vector_of(const Context& context, const DenseMatrix& column, const Distribution& how,
                       Dtype dtype) {
  Array array = empty(context, {column.rows}, how, dtype);
  write_dense(array, column);
  return array;
}

inline DenseMatrix hilbert(std::int64_t n) {
  DenseMatrix a(n, n);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) a(i, j) = 1 / static_cast<double>(i + j + 1);
  }
  return a;
}

/// Numbers of this size that a dtype represents: those of tests are the same in all real and in all complex
/// dtypes.
inline DenseMatrix random_numbers(std::int64_t m, std::int64_t n, Dtype dtype, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  DenseMatrix result = random_matrix(random, m, n, is_complex(dtype));
  for (Entry& x : result.numbers) x = Entry(std::complex<float>(x));
  return result;
}

/// A Hermitian matrix with eigenvalues of about n.
inline DenseMatrix positive_definite(std::int64_t n, Dtype dtype, std::uint64_t seed) {
  DenseMatrix a = hermitian_of(random_numbers(n, n, dtype, seed));
  for (std::int64_t i = 0; i < n; ++i) a(i, i) += 2 * static_cast<double>(n);
  return a;
}

/// The distribution in which factorizations compute.
inline BlockCyclic by_panels(const Context& context, std::int64_t rows, std::int64_t width) {
  return {ProcessGrid({1, context.size()}), {std::max<std::int64_t>(rows, 1), width}};
}

/// Of several rows.
inline std::vector<Extents> grids_of(int ranks) {
  std::vector<Extents> grids;
  for (int rows = 2; rows <= ranks; ++rows) {
    if (ranks % rows == 0) grids.push_back({rows, ranks / rows});
  }
  return grids;
}

/// Of every kind, even and uneven, with replicas and with contributions.
inline std::vector<Distribution> matrix_distributions(const Shape& shape, int ranks) {
  const std::string count = std::to_string(ranks);
  std::vector<Box::Bounds> boxes(static_cast<std::size_t>(ranks), {{0, 0}, {0, 0}});
  boxes.back() = {{0, 0}, {shape[0], shape[1] / 3}};
  boxes.front() = {{0, ranks > 1 ? shape[1] / 3 : 0}, shape};
  std::vector<Distribution> result{
      Slab(0),
      Slab(1),
      Box(boxes),
      BlockCyclic(ProcessGrid({ranks, 1}), {3, 2}),
      BlockCyclic(ProcessGrid({1, ranks}), {std::max<std::int64_t>(shape[0], 1), 3}),
      BlockNonCyclic(ProcessGrid({1, ranks})),
      Replicated(),
      Distribution::parse("mesh:r=" + count + ":-,r;uneven=balanced"),
      Distribution::parse("mesh:r=" + count + ":-,-;partial=sum:r")};
  if (ranks % 2 == 0) {
    const std::string half = std::to_string(ranks / 2);
    result.push_back(BlockCyclic(ProcessGrid({2, ranks / 2}), {2, 3}));
    result.push_back(Distribution::parse("mesh:x=2,y=" + half + ":y,-"));
    result.push_back(Distribution::parse("mesh:x=2,y=" + half + ":y,-;partial=sum:x"));
  }
  return result;
}

inline bool is_partial(const Distribution& distribution) {
  return contains(distribution.to_string(), "partial");
}

// --- ratios

/// |A X - B| / (|A| |X| n epsilon); `a` is op(A).
inline void expect_solves(const DenseMatrix& a, const DenseMatrix& x, const DenseMatrix& b, Dtype dtype) {
  ASSERT_EQ(x.rows, a.columns);
  ASSERT_EQ(x.columns, b.columns);
  EXPECT_LT(ratio(a * x - b, a.norm() * x.norm(), a.columns, epsilon_of(dtype)), most_ratio);
}

/// |A^H (A X - B)| / (|A| (|A| |X| + |B|) max(m, n) epsilon), where X minimizes |A X - B|.
inline void expect_least_squares(const DenseMatrix& a, const DenseMatrix& x, const DenseMatrix& b,
                                 Dtype dtype) {
  ASSERT_EQ(x.rows, a.columns);
  ASSERT_EQ(x.columns, b.columns);
  const double scale = a.norm() * (a.norm() * x.norm() + b.norm());
  EXPECT_LT(ratio(adjoint(a) * (a * x - b), scale, std::max(a.rows, a.columns), epsilon_of(dtype)),
            most_ratio);
}

/// |A - B| / (|B| n epsilon).
inline void expect_near(const DenseMatrix& a, const DenseMatrix& b, Dtype dtype) {
  ASSERT_EQ(a.rows, b.rows);
  ASSERT_EQ(a.columns, b.columns);
  EXPECT_LT(ratio(a - b, b, std::max(b.rows, b.columns), epsilon_of(dtype)), most_ratio);
}

/// |Q^H Q - 1| / (m epsilon).
inline void expect_orthonormal(const DenseMatrix& q, Dtype dtype) {
  EXPECT_LT(ratio(adjoint(q) * q - identity(q.columns, q.columns), 1, q.rows, epsilon_of(dtype)), most_ratio);
}

/// P A = L U, by what LAPACK would return.
inline void expect_lu(const DenseMatrix& a, const DenseMatrix& packed, const DenseMatrix& pivots,
                      Dtype dtype) {
  const std::int64_t least = std::min(a.rows, a.columns);
  ASSERT_EQ(packed.rows, a.rows);
  ASSERT_EQ(packed.columns, a.columns);
  ASSERT_EQ(pivots.rows, least);
  for (std::int64_t i = 0; i < least; ++i) {
    ASSERT_GE(pivots(i, 0).real(), static_cast<double>(i));
    ASSERT_LT(pivots(i, 0).real(), static_cast<double>(a.rows));
  }
  const DenseMatrix l = triangle_of(part_of(packed, a.rows, least), false, true);
  const DenseMatrix u = triangle_of(part_of(packed, least, a.columns), true, false);
  EXPECT_LT(ratio(l * u - exchanged(a, pivots), a, a.columns, epsilon_of(dtype)), most_ratio);
}

}  // namespace partita::testing
