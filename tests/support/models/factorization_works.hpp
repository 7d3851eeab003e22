// The works of factorizations on column-major parts, against residuals and against their definitions: tests
// for whatever computes them. `Where` has `why_not()` (empty: it is there), `run(job)` and `end()`.
#pragma once

#include <limits>

#include "support/models/work_memory.hpp"

namespace partita::testing::factorization_works {

inline constexpr std::array dtypes{Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128};

inline void expect_close(const Works& works, const DenseMatrix& found, const DenseMatrix& wanted,
                         double factor = 500) {
  ASSERT_EQ(found.numbers.size(), wanted.numbers.size());
  const double off = (found - wanted).norm();
  EXPECT_LE(off, factor * works.epsilon() * std::max(1.0, wanted.norm()));
}

template <class Where>
class FactorizationWorks : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = Where::why_not(); !why.empty()) GTEST_SKIP() << why;
  }
  static void TearDownTestSuite() { Where::end(); }
};
TYPED_TEST_SUITE_P(FactorizationWorks);

template <class Where, class Test>
void for_panels(const Test& test) {
  for (const Dtype dtype : dtypes) {
    for (const auto& [m, n] : {std::pair{1, 1}, {7, 7}, {40, 17}, {17, 40}, {5, 0}, {0, 5}, {150, 140}}) {
      for (const std::int64_t gap : {0, 3}) {
        SCOPED_TRACE(fmt::format("{} {}x{} gap {}", name(dtype), m, n, gap));
        Works works(dtype, Where::run);
        test(works, m, n, gap);
      }
    }
  }
}

TYPED_TEST_P(FactorizationWorks, Lu) {
  for_panels<TypeParam>([](Works& works, std::int64_t m, std::int64_t n, std::int64_t gap) {
    const std::int64_t k = std::min(m, n);
    const FactorPanel work{Factorization::lu, works.matrix(m, n, gap), works.line(k, Dtype::i32),
                           works.line(1, Dtype::i32)};
    works.set(work.panel, works.random(m, n));
    const DenseMatrix a = works.get(work.panel);
    const auto defined = gap > 0 ? std::vector<DenseMatrix>()
                                 : works.by_definition(work, {work.panel, work.pivots, work.status});
    works.run(work);
    const DenseMatrix packed = works.get(work.panel), pivots = works.get(work.pivots);
    const DenseMatrix l = triangle_of(part_of(packed, m, k), false, true);
    const DenseMatrix u = triangle_of(part_of(packed, k, n), true, false);
    EXPECT_LT(ratio(exchanged(a, pivots) - l * u, a, n, works.epsilon()), most_ratio);
    EXPECT_EQ(works.get(work.status)(0, 0), Entry(0));
    if (gap > 0) return;
    expect_close(works, packed, defined[0]);
    expect_close(works, pivots, defined[1]);
  });
}

TYPED_TEST_P(FactorizationWorks, LuOfASingularMatrixIsComplete) {
  using Where = TypeParam;
  for (const Dtype dtype : dtypes) {
    Works works(dtype, Where::run);
    const FactorPanel work{Factorization::lu, works.matrix(6, 5), works.line(5, Dtype::i32),
                           works.line(1, Dtype::i32)};
    DenseMatrix a = works.random(6, 5);
    for (std::int64_t i = 0; i < 6; ++i) a(i, 2) = 0;
    works.set(work.panel, a);
    a = works.get(work.panel);
    const auto defined = works.by_definition(work, {work.panel, work.pivots, work.status});
    works.run(work);
    const DenseMatrix packed = works.get(work.panel);
    EXPECT_EQ(works.get(work.status)(0, 0), Entry(3));
    EXPECT_EQ(defined[2](0, 0), Entry(3));
    expect_close(works, packed, defined[0]);
    const DenseMatrix product =
        triangle_of(packed, false, true) * triangle_of(part_of(packed, 5, 5), true, false);
    expect_close(works, product, exchanged(a, works.get(work.pivots)));
  }
}

inline DenseMatrix positive_definite(Works& works, std::int64_t m, std::int64_t n) {
  const DenseMatrix some = works.random(n, n);
  DenseMatrix block = some * adjoint(some);
  DenseMatrix a = works.random(m, n);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = j; i < n; ++i) a(i, j) = block(i, j) + (i == j ? static_cast<double>(n) : 0);
    for (std::int64_t i = 0; i < j; ++i) a(i, j) = std::numeric_limits<double>::quiet_NaN();
  }
  return a;
}

TYPED_TEST_P(FactorizationWorks, Cholesky) {
  for_panels<TypeParam>([](Works& works, std::int64_t m, std::int64_t n, std::int64_t gap) {
    if (m < n) return;
    const FactorPanel work{Factorization::cholesky, works.matrix(m, n, gap), {}, works.line(1, Dtype::i32)};
    works.set(work.panel, positive_definite(works, m, n));
    const DenseMatrix a = works.get(work.panel);
    const auto defined =
        gap > 0 ? std::vector<DenseMatrix>() : works.by_definition(work, {work.panel, work.status});
    works.run(work);
    const DenseMatrix packed = works.get(work.panel);
    const DenseMatrix l = triangle_of(packed, false, false), wanted = triangle_of(a, false, false);
    const DenseMatrix found = triangle_of(l * adjoint(part_of(l, n, n)), false, false);
    EXPECT_LT(ratio(found - wanted, wanted, n, works.epsilon()), most_ratio);
    EXPECT_EQ(works.get(work.status)(0, 0), Entry(0));
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < j; ++i) EXPECT_TRUE(std::isnan(packed(i, j).real()));
    }
    if (gap == 0) expect_close(works, l, triangle_of(defined[0], false, false));
  });
}

TYPED_TEST_P(FactorizationWorks, CholeskyNamesTheMinorThatIsNotPositiveDefinite) {
  using Where = TypeParam;
  for (const Dtype dtype : dtypes) {
    for (const double bad : {-1.0, std::numeric_limits<double>::quiet_NaN()}) {
      Works works(dtype, Where::run);
      const FactorPanel work{Factorization::cholesky, works.matrix(9, 6), {}, works.line(1, Dtype::i32)};
      DenseMatrix a = positive_definite(works, 9, 6);
      a(3, 3) = bad;
      works.set(work.panel, a);
      EXPECT_EQ(works.by_definition(work, {work.status})[0](0, 0), Entry(4));
      works.run(work);
      EXPECT_EQ(works.get(work.status)(0, 0), Entry(4));
    }
  }
}

TYPED_TEST_P(FactorizationWorks, QrAndItsReflectors) {
  for_panels<TypeParam>([](Works& works, std::int64_t m, std::int64_t n, std::int64_t gap) {
    const std::int64_t k = std::min(m, n);
    const FactorPanel work{Factorization::qr, works.matrix(m, n, gap), works.line(k, works.dtype()),
                           works.line(1, Dtype::i32)};
    works.set(work.panel, works.random(m, n));
    const DenseMatrix a = works.get(work.panel);
    const auto defined =
        gap > 0 ? std::vector<DenseMatrix>() : works.by_definition(work, {work.panel, work.pivots});
    works.run(work);
    const DenseMatrix packed = works.get(work.panel);
    EXPECT_EQ(works.get(work.status)(0, 0), Entry(0));
    ApplyReflectors apply{work.panel, work.pivots, works.matrix(m, m, gap), false};
    apply.reflectors.region.sets[1] = IndexSet::range(0, k);
    const DenseMatrix ones = identity(m, m);
    works.set(apply.to, ones);
    works.run(apply);
    const DenseMatrix q = works.get(apply.to);
    EXPECT_LT(ratio(adjoint(q) * q - ones, ones, m, works.epsilon()), most_ratio);
    EXPECT_LT(ratio(a - q * triangle_of(packed, true, false), a, std::max(m, n), works.epsilon()),
              most_ratio);
    apply.adjoint = true;
    works.run(apply);
    EXPECT_LT(ratio(works.get(apply.to) - ones, ones, m, works.epsilon()), most_ratio);
    if (gap > 0) return;
    expect_close(works, packed, defined[0]);
    expect_close(works, works.get(work.pivots), defined[1]);
  });
}

/// A panel's factorization: Q^H A is R, column by column, and Q brings A back. `scale`: of each column.
inline void factor_and_apply(Works& works, const DenseMatrix& numbers, const std::vector<double>& scale) {
  const std::int64_t m = numbers.rows, n = numbers.columns;
  const FactorPanel work{Factorization::qr, works.matrix(m, n, 1), works.line(n, works.dtype()),
                         works.line(1, Dtype::i32)};
  works.set(work.panel, numbers);
  const DenseMatrix a = works.get(work.panel);
  works.run(work);
  EXPECT_EQ(works.get(work.status)(0, 0), Entry(0));
  const DenseMatrix r = triangle_of(works.get(work.panel), true, false);
  ApplyReflectors apply{work.panel, work.pivots, works.matrix(m, n), true};
  works.set(apply.to, a);
  const auto expect_columns = [&](const DenseMatrix& wanted, const char* what) {
    const DenseMatrix found = works.get(apply.to);
    for (std::int64_t j = 0; j < n; ++j) {
      double off = 0, of = 0;
      for (std::int64_t i = 0; i < m; ++i) {
        const double by = 1 / scale[static_cast<std::size_t>(j)];
        off += std::norm((found(i, j) - (i < wanted.rows ? wanted(i, j) : Entry(0))) * by);
        of += std::norm(a(i, j) * by);
      }
      EXPECT_LE(std::sqrt(off), 100 * works.epsilon() * std::sqrt(of * static_cast<double>(n))) << what << j;
    }
  };
  works.run(apply);
  expect_columns(r, "Q^H A, column ");
  apply.adjoint = false;
  works.run(apply);
  expect_columns(a, "Q Q^H A, column ");
}

TYPED_TEST_P(FactorizationWorks, QrOfTallPanels) {
  using Where = TypeParam;
  for (const Dtype dtype : dtypes) {
    for (const auto& [m, n] : {std::pair{600, 45}, {9000, 33}, {20000, 18}, {40000, 9}}) {
      SCOPED_TRACE(fmt::format("{} {}x{}", name(dtype), m, n));
      Works works(dtype, Where::run);
      factor_and_apply(works, works.random(m, n), std::vector<double>(static_cast<std::size_t>(n), 1));
    }
  }
}

/// Zeros, columns that depend on others, and columns whose squares overflow or underflow.
TYPED_TEST_P(FactorizationWorks, QrOfDegeneratePanels) {
  using Where = TypeParam;
  constexpr std::int64_t m = 90, n = 40;
  for (const Dtype dtype : dtypes) {
    for (const char* const kind : {"zeros", "dependent", "graded", "zeros below"}) {
      SCOPED_TRACE(fmt::format("{} {}", name(dtype), kind));
      Works works(dtype, Where::run);
      const double small = works.epsilon() > 1e-10 ? 1e-30 : 1e-250;
      DenseMatrix a = works.random(m, n);
      std::vector<double> scale(n, 1);
      for (std::int64_t j = 0; j < n; ++j) {
        if (kind == std::string("graded"))
          scale[static_cast<std::size_t>(j)] =
              std::array{1., small, 1 / small}.at(static_cast<std::size_t>(j % 3));
        for (std::int64_t i = 0; i < m; ++i) {
          if (kind == std::string("zeros")) a(i, j) = 0;
          if (kind == std::string("dependent") && j >= 10) a(i, j) = a(i, j % 10);
          if (kind == std::string("zeros below") && i > j / 2) a(i, j) = 0;
          a(i, j) *= scale[static_cast<std::size_t>(j)];
        }
      }
      factor_and_apply(works, a, scale);
    }
  }
}

TYPED_TEST_P(FactorizationWorks, ReflectorsOnUnevenColumns) {
  using Where = TypeParam;
  for (const Dtype dtype : dtypes) {
    for (const bool adjoint_one : {false, true}) {
      Works works(dtype, Where::run);
      const std::int64_t m = 90, k = 75;
      const FactorPanel work{Factorization::qr, works.matrix(m, k), works.line(k, dtype),
                             works.line(1, Dtype::i32)};
      works.set(work.panel, works.random(m, k));
      works.run(work);
      const ApplyReflectors apply{work.panel, work.pivots, works.cyclic_columns(m, 40, 4, 10), adjoint_one};
      works.set(apply.to, works.random(m, apply.to.region.sets[1].size()));
      const DenseMatrix wanted = works.by_definition(apply, {apply.to})[0];
      works.run(apply);
      expect_close(works, works.get(apply.to), wanted);
    }
  }
}

/// More than are exchanged at once; of rows above, too.
TYPED_TEST_P(FactorizationWorks, ManyRowsAreExchanged) {
  using Where = TypeParam;
  for (const Dtype dtype : dtypes) {
    for (const auto& [count, columns] : {std::pair{128, 21}, {129, 21}, {300, 21}, {300, 3}}) {
      Works works(dtype, Where::run);
      ExchangeRows work{works.matrix(310, columns, 5), works.line(count, Dtype::i32), false};
      DenseMatrix pivots = works.random(count, 1);
      for (Entry& pivot : pivots.numbers) pivot = std::floor((pivot.real() + 1) * 155 * 0.999);
      works.set(work.pivots, pivots);
      works.set(work.to, works.random(310, columns));
      const DenseMatrix before = works.get(work.to);
      works.run(work);
      EXPECT_EQ(works.get(work.to).numbers, exchanged(before, pivots).numbers);
      work.backward = true;
      works.run(work);
      EXPECT_EQ(works.get(work.to).numbers, before.numbers);
    }
  }
}

TYPED_TEST_P(FactorizationWorks, RowsAreExchangedForwardAndBackward) {
  using Where = TypeParam;
  for (const Dtype dtype : dtypes) {
    Works works(dtype, Where::run);
    ExchangeRows work{works.cyclic_columns(11, 40, 4, 10), works.line(6, Dtype::i32), false};
    constexpr std::array order{3., 1., 10., 9., 4., 10.};
    DenseMatrix pivots(6, 1);
    for (std::int64_t i = 0; i < 6; ++i) pivots(i, 0) = order[static_cast<std::size_t>(i)];
    works.set(work.pivots, pivots);
    works.set(work.to, works.random(11, work.to.region.sets[1].size()));
    const DenseMatrix before = works.get(work.to);
    EXPECT_EQ(works.by_definition(work, {work.to})[0].numbers, exchanged(before, pivots).numbers);
    works.run(work);
    EXPECT_EQ(works.get(work.to).numbers, exchanged(before, pivots).numbers);
    work.backward = true;
    EXPECT_EQ(works.by_definition(work, {work.to})[0].numbers, before.numbers);
    works.run(work);
    EXPECT_EQ(works.get(work.to).numbers, before.numbers);
  }
}

inline void solve_and_check(Works& works, const TriangularSolve& work, std::int64_t n) {
  DenseMatrix t = works.random(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      t(i, j) = i == j ? t(i, j) + 2.0 : t(i, j) / static_cast<double>(n);
      const bool unread = work.upper ? i > j : i < j;
      if (unread || (i == j && work.unit_diagonal)) t(i, j) = std::numeric_limits<double>::quiet_NaN();
    }
  }
  works.set(work.triangle, t);
  works.set(work.to, works.random(work.to.region.sets[0].size(), work.to.region.sets[1].size()));
  const DenseMatrix b = works.get(work.to);
  const DenseMatrix wanted = works.by_definition(work, {work.to})[0];
  works.run(work);
  const DenseMatrix x = works.get(work.to);
  expect_close(works, x, wanted);
  const DenseMatrix whole =
      op_of(triangle_of(works.get(work.triangle), work.upper, work.unit_diagonal), work.op);
  expect_close(works, work.from_right ? x * whole : whole * x, b);
}

TYPED_TEST_P(FactorizationWorks, TriangularSolves) {
  using Where = TypeParam;
  for (const Dtype dtype : dtypes) {
    for (int kind = 0; kind < 32; ++kind) {
      const Op op = static_cast<Op>(kind % 4);
      const bool upper = (kind & 4) != 0, unit = (kind & 8) != 0, right = (kind & 16) != 0;
      for (const std::int64_t n : {0, 1, 13}) {
        SCOPED_TRACE(fmt::format("{} kind {} n {}", name(dtype), kind, n));
        Works works(dtype, Where::run);
        const Part triangle = works.matrix(n, n), to = right ? works.matrix(5, n) : works.matrix(n, 1);
        solve_and_check(works, {triangle, to, op, upper, unit, right}, n);
        if (!right)
          solve_and_check(works, {triangle, works.cyclic_columns(n, 30, 2, 10), op, upper, unit, false}, n);
      }
    }
  }
}

/// Of few columns, in several blocks of rows.
TYPED_TEST_P(FactorizationWorks, TriangularSolvesOfFewColumns) {
  using Where = TypeParam;
  for (const Dtype dtype : dtypes) {
    for (int kind = 0; kind < 16; ++kind) {
      const Op op = static_cast<Op>(kind % 4);
      const bool upper = (kind & 4) != 0, unit = (kind & 8) != 0;
      for (const auto& [n, columns] : {std::pair{64, 2}, {65, 1}, {150, 8}, {201, 3}}) {
        SCOPED_TRACE(fmt::format("{} kind {} n {}", name(dtype), kind, n));
        Works works(dtype, Where::run);
        solve_and_check(works, {works.matrix(n, n, 3), works.matrix(n, columns, 1), op, upper, unit, false},
                        n);
      }
    }
  }
}

inline void multiply_and_check(Works& works, const Multiply& work) {
  for (const Part* const part : {&work.a, &work.b, &work.to}) {
    const Shape shape = part->region.shape();
    works.set(*part, works.random(shape[0], shape[1]));
  }
  const DenseMatrix wanted = works.by_definition(work, {work.to})[0];
  works.run(work);
  expect_close(works, works.get(work.to), wanted);
}

/// What updates use; with conjugates and uneven parts along k, which some BLAS reads after a copy only.
TYPED_TEST_P(FactorizationWorks, ProductsOfTransposedParts) {
  using Where = TypeParam;
  constexpr std::int64_t m = 12, n = 9, k = 21;
  for (const Dtype dtype : dtypes) {
    for (int kind = 0; kind < 16; ++kind) {
      SCOPED_TRACE(fmt::format("{} kind {}", name(dtype), kind));
      Multiply work;
      work.transpose_a = (kind & 1) != 0, work.transpose_b = (kind & 2) != 0;
      work.conjugate_a = (kind & 4) != 0, work.conjugate_b = (kind & 8) != 0;
      work.beta = Beta::one;
      Works works(dtype, Where::run);
      works.parameters.alpha = -1;
      work.a = work.transpose_a ? works.matrix(k, m, 2) : works.matrix(m, k, 2);
      work.b = work.transpose_b ? works.matrix(n, k) : works.matrix(k, n);
      work.to = works.matrix(m, n, 1);
      multiply_and_check(works, work);
      if (work.transpose_a || !work.transpose_b) continue;
      work.a = works.cyclic_columns(m, 60, 2, 10);
      work.b = works.cyclic_columns(n, 60, 2, 10);
      multiply_and_check(works, work);
    }
  }
}

TYPED_TEST_P(FactorizationWorks, NumbersThatAreNotNumbersDoNotHang) {
  using Where = TypeParam;
  for (const Dtype dtype : dtypes) {
    for (const Factorization kind : {Factorization::lu, Factorization::qr}) {
      Works works(dtype, Where::run);
      const FactorPanel work{kind, works.matrix(40, 20),
                             works.line(20, kind == Factorization::lu ? Dtype::i32 : dtype),
                             works.line(1, Dtype::i32)};
      DenseMatrix a = works.random(40, 20);
      a(5, 3) = std::numeric_limits<double>::quiet_NaN();
      works.set(work.panel, a);
      works.run(work);
      EXPECT_TRUE(std::isnan(works.get(work.panel).norm()));
      if (kind == Factorization::qr) continue;
      for (const Entry& pivot : works.get(work.pivots).numbers) {
        EXPECT_GE(pivot.real(), 0);
        EXPECT_LT(pivot.real(), 40);
      }
    }
  }
}

/// From their column on. U of the columns before is as without.
TYPED_TEST_P(FactorizationWorks, LuKeepsNumbersThatAreNotNumbers) {
  using Where = TypeParam;
  constexpr std::int64_t m = 50, n = 20;
  for (const Dtype dtype : dtypes) {
    for (const auto& [row, at] : {std::pair{0, 0}, {7, 7}, {49, 3}, {2, 19}, {49, 19}}) {
      const std::int64_t column = at;
      SCOPED_TRACE(fmt::format("{} row {} column {}", name(dtype), row, column));
      DenseMatrix packed[2];
      for (const bool bad : {false, true}) {
        Works works(dtype, Where::run);
        const FactorPanel work{Factorization::lu, works.matrix(m, n, 2), works.line(n, Dtype::i32),
                               works.line(1, Dtype::i32)};
        DenseMatrix a = works.random(m, n);
        if (bad) a(row, column) = std::numeric_limits<double>::quiet_NaN();
        works.set(work.panel, a);
        works.run(work);
        packed[bad ? 1 : 0] = works.get(work.panel);
      }
      EXPECT_TRUE(std::isnan(part_of(packed[1], m, column + 1).norm()));
      const auto before = [&](const DenseMatrix& all) {
        return triangle_of(part_of(all, m, column), true, false);
      };
      EXPECT_LE((before(packed[1]) - before(packed[0])).norm(), 1e-4);
    }
  }
}

TYPED_TEST_P(FactorizationWorks, OtherDtypesAreRefused) {
  using Where = TypeParam;
  Works works(Dtype::i32, Where::run);
  const FactorPanel work{Factorization::lu, works.matrix(3, 3), works.line(3, Dtype::i32),
                         works.line(1, Dtype::i32)};
  EXPECT_TRUE(contains(caught<UnsupportedError>([&] { works.run(work); }), "no factorization in i32"));
}

REGISTER_TYPED_TEST_SUITE_P(FactorizationWorks, Lu, LuOfASingularMatrixIsComplete, Cholesky,
                            CholeskyNamesTheMinorThatIsNotPositiveDefinite, QrAndItsReflectors,
                            QrOfTallPanels, QrOfDegeneratePanels, ReflectorsOnUnevenColumns,
                            ManyRowsAreExchanged, RowsAreExchangedForwardAndBackward, TriangularSolves,
                            TriangularSolvesOfFewColumns, ProductsOfTransposedParts,
                            NumbersThatAreNotNumbersDoNotHang, LuKeepsNumbersThatAreNotNumbers,
                            OtherDtypesAreRefused);

}  // namespace partita::testing::factorization_works
