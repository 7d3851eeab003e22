// Plans of tall QR factorizations, on numbers: the same reflectors on two levels by their definition.
#include "linalg/tall.hpp"
#include "partita/verify_numbers.hpp"
#include "support/models/consistent_plans.hpp"
#include "support/models/dense_factors.hpp"
#include "support/models/random_layouts.hpp"
#include "support/test.hpp"

namespace partita::testing {
namespace {

struct TallFactors {
  DenseMatrix q, r;
};

DenseMatrix rows_of(const DenseMatrix& matrix, std::int64_t first, std::int64_t count) {
  DenseMatrix part(count, matrix.columns);
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t j = 0; j < matrix.columns; ++j) part(i, j) = matrix(first + i, j);
  }
  return part;
}

void write_rows(DenseMatrix& matrix, std::int64_t first, const DenseMatrix& part) {
  for (std::int64_t i = 0; i < part.rows; ++i) {
    for (std::int64_t j = 0; j < part.columns; ++j) matrix(first + i, j) = part(i, j);
  }
}

TallFactors tall_by_definition(const DenseMatrix& a, int ranks) {
  const std::int64_t n = a.columns;
  const Layout rows(Slab(0), {a.rows, n}, ranks);
  std::vector<DenseFactors> parts;
  DenseMatrix triangles(ranks * n, n), q(a.rows, n);
  const auto own = [&](int rank) { return rows.region(rank).sets[0]; };
  const auto first_of = [&](int rank) { return own(rank).empty() ? 0 : own(rank).front(); };
  for (int rank = 0; rank < ranks; ++rank) {
    const std::int64_t count = own(rank).size();
    parts.push_back(qr_by_definition(rows_of(a, first_of(rank), count)));
    write_rows(triangles, rank * n,
               triangle_of(rows_of(parts.back().packed, 0, std::min(count, n)), true, false));
  }
  const DenseFactors all = qr_by_definition(triangles);
  const DenseMatrix q_of_triangles = q_of(all.packed, all.pivots, n);
  for (int rank = 0; rank < ranks; ++rank) {
    const DenseFactors& part = parts[static_cast<std::size_t>(rank)];
    const std::int64_t least = std::min(part.packed.rows, n);
    write_rows(q, first_of(rank),
               q_of(part.packed, part.pivots, least) * rows_of(q_of_triangles, rank * n, least));
  }
  return {q, triangle_of(rows_of(all.packed, 0, n), true, false)};
}

TallFactors with_positive_diagonal(TallFactors factors) {
  for (std::int64_t j = 0; j < factors.r.rows; ++j) {
    const Entry phase = factors.r(j, j) / std::abs(factors.r(j, j));
    for (std::int64_t l = 0; l < factors.r.columns; ++l) factors.r(j, l) *= std::conj(phase);
    for (std::int64_t i = 0; i < factors.q.rows; ++i) factors.q(i, j) *= phase;
  }
  return factors;
}

Entry zero(const Index& /*at*/) {
  return 0;
}

std::function<Entry(const Index&)> of(const DenseMatrix& matrix) {
  return [&matrix](const Index& at) { return matrix(at[0], at[1]); };
}
std::function<Entry(const Index&, int)> replicas_of(const DenseMatrix& matrix) {
  return [value = of(matrix)](const Index& at, int) { return value(at); };
}

class TallCase {
 public:
  explicit TallCase(std::uint64_t seed) : random_(seed), numbers_(seed), seed_(seed) {
    ranks_ = random_.number(1, 6);
    topology_ = random_.maybe() ? Topology::regular(ranks_) : Topology::regular(ranks_, random_.number(1, 2));
    dtype_ = random_.maybe() ? Dtype::f64 : Dtype::c128;
    n_ = random_.number(1, 6);
    m_ = n_ + random_.number(0, 40);
    a_ = random_matrix(numbers_, m_, n_, is_complex(dtype_));
    factors_ = tall_by_definition(a_, ranks_);
  }

  void expect_factors() {
    const Operand a = operand({m_, n_}), q = operand({m_, n_}), r = operand({n_, n_});
    SCOPED_TRACE(fmt::format("A {} Q {} R {}", a.to_string(), q.to_string(), r.to_string()));
    const Planner planner = [&](int rank) { return linear::plan_tall_qr(a, q, r, topology_, rank); };
    expect_right(planner, {{0, replicas_of(a_)}, {1, {}, of(factors_.q)}, {2, {}, of(factors_.r)}});
  }

  /// Also with a shift.
  void expect_factors_by(linear::TallMethod method) {
    if (m_ < 2 * n_) return;
    const TallFactors wanted = with_positive_diagonal(factors_);
    const Operand a = operand({m_, n_}, method), q = operand({m_, n_}, method), r = operand({n_, n_}, method);
    SCOPED_TRACE(fmt::format("A {} Q {} R {}", a.to_string(), q.to_string(), r.to_string()));
    const Planner planner = [&](int rank) {
      return linear::plan_cholesky_qr(method, a, q, r, topology_, rank);
    };
    expect_right(
        planner,
        {{0, replicas_of(a_)}, {1, {}, of(wanted.q)}, {2, {}, of(wanted.r)}, {3}, {4}, {5, {}, zero}},
        method);
  }

  void expect_solutions_by(linear::TallMethod method) {
    if (m_ < 2 * n_) return;
    const std::int64_t count = random_.number(0, 9);
    const DenseMatrix sides = random_matrix(numbers_, m_, count, is_complex(dtype_));
    const DenseMatrix solution = solved_by_least_squares(a_, sides);
    const Operand a = operand({m_, n_}, method), b = operand({m_, count}, method),
                  x = operand({n_, count}, method);
    SCOPED_TRACE(fmt::format("A {} B {} X {}", a.to_string(), b.to_string(), x.to_string()));
    const Planner planner = [&](int rank) {
      return linear::plan_cholesky_qr_least_squares(method, a, b, x, topology_, rank);
    };
    expect_right(
        planner,
        {{0, replicas_of(a_)}, {1, replicas_of(sides)}, {2, {}, of(solution)}, {3}, {4}, {5, {}, zero}},
        method);
  }

  void expect_solutions() {
    const std::int64_t count = random_.number(0, 9);
    const DenseMatrix sides = random_matrix(numbers_, m_, count, is_complex(dtype_));
    const DenseMatrix solution = solved_by_least_squares(a_, sides);
    const Operand a = operand({m_, n_}), b = operand({m_, count}), x = operand({n_, count}),
                  r = operand({n_, n_});
    SCOPED_TRACE(fmt::format("A {} B {} X {}", a.to_string(), b.to_string(), x.to_string()));
    const Planner planner = [&](int rank) {
      return linear::plan_tall_least_squares(a, b, x, r, topology_, rank);
    };
    expect_right(
        planner,
        {{0, replicas_of(a_)}, {1, replicas_of(sides)}, {2, {}, of(solution)}, {3, {}, of(factors_.r)}});
  }

 private:
  Operand operand(const Shape& shape) {
    for (;;) {
      const Layout layout = random_.layout(shape, ranks_);
      if (layout.partial()) continue;
      return Operand::of(layout, dtype_, random_.maybe() ? Order::row_major : Order::column_major,
                         random_.maybe() ? Residency::heap : Residency::ordinary);
    }
  }
  /// Inverses are applied on devices.
  Operand operand(const Shape& shape, linear::TallMethod method) {
    Operand result = operand(shape);
    if (method == linear::TallMethod::inverses || seed_ % 3 == 0) result.space = MemorySpace::device;
    return result;
  }
  void expect_right(const Planner& planner, std::vector<OperandNumbers> operands,
                    linear::TallMethod method) const {
    if (method == linear::TallMethod::inverses) operands.push_back({6});
    expect_right(planner, operands, {.alpha = method == linear::TallMethod::shifted ? 0.5 : 0.0});
  }
  void expect_right(const Planner& planner, const std::vector<OperandNumbers>& operands,
                    const Parameters& parameters = {}) const {
    expect_consistent(planner, ranks_);
    const Verdict verdict = verify_numbers(planner, operands, parameters, 4, seed_);
    EXPECT_TRUE(verdict.ok()) << verdict.faults.front();
  }

  RandomLayouts random_;
  std::mt19937_64 numbers_;
  std::uint64_t seed_;
  int ranks_ = 1;
  Topology topology_;
  Dtype dtype_ = Dtype::f64;
  std::int64_t m_ = 0, n_ = 0;
  DenseMatrix a_;
  TallFactors factors_;
};

TEST(TallPlan, FactorizesAndSolvesInAnyDistribution) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    TallCase test(seed);
    test.expect_factors();
    test.expect_solutions();
    if (HasFailure()) return;
  }
}

using linear::TallMethod;

TEST(TallPlan, CholeskyQrFactorizesAndSolvesInAnyDistribution) {
  for (std::uint64_t seed = 1000; seed < 1060; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    TallCase test(seed);
    const auto method = static_cast<TallMethod>(seed / 3 % 3);  // device memory: by seed % 3
    test.expect_factors_by(method);
    test.expect_solutions_by(method);
    if (HasFailure()) return;
  }
}

TEST(TallPlan, IsForManyMoreRowsThanColumns) {
  const auto operand = [](const Shape& shape, int ranks) {
    return Operand::of(Layout(Slab(0), shape, ranks), Dtype::f64);
  };
  const auto by_rows = [&](const Shape& shape, int ranks) {
    return linear::suits_tsqr(operand(shape, ranks));
  };
  EXPECT_TRUE(by_rows({800, 10}, 4) && by_rows({320, 10}, 4) && by_rows({1 << 24, 512}, 64));
  EXPECT_FALSE(by_rows({319, 10}, 4) || by_rows({800, 10}, 1));
  const auto is_tall = [&](const Shape& shape) { return linear::is_tall(operand(shape, 2)); };
  EXPECT_TRUE(is_tall({40, 10}) && is_tall({1 << 24, 512}));
  EXPECT_FALSE(is_tall({39, 10}) || is_tall({800, 0}) || is_tall({1 << 24, 513}) || is_tall({800}));
}

TEST(TallPlan, MethodsAreTriedByPriceAndByWhatIsMeasured) {
  const auto first = [](std::int64_t m, std::int64_t n, MemorySpace space, int ranks = 1) {
    Operand a = Operand::of(Layout(Slab(0), {m, n}, ranks), Dtype::f64);
    a.space = space;
    return linear::choose_tall_method(a, true, Topology::regular(ranks), Machine{});
  };
  EXPECT_EQ(first(1 << 20, 128, MemorySpace::device), TallMethod::inverses);
  EXPECT_EQ(first(1 << 20, 128, MemorySpace::host), TallMethod::solves);
  EXPECT_EQ(first(1 << 20, 128, MemorySpace::host, 64), TallMethod::solves);
  EXPECT_EQ(first(40, 10, MemorySpace::host), TallMethod::reflectors);
  const auto next = [](TallMethod tried, const linear::TallMeasures& measures) {
    return linear::next_tall_method(tried, 10, measures);
  };
  const linear::TallMeasures good{true, 1, 1e-3, 10}, inaccurate{true, 1, 1e-3, 1e6}, far{true, 1, 0.1, 10},
      indefinite{false, 1, 0, 10}, none{true, std::nan(""), std::nan(""), std::nan("")};
  for (const TallMethod method : {TallMethod::inverses, TallMethod::solves, TallMethod::shifted})
    EXPECT_EQ(next(method, good), std::nullopt);
  EXPECT_EQ(next(TallMethod::inverses, inaccurate), TallMethod::solves);
  for (const linear::TallMeasures& measures : {far, indefinite}) {
    EXPECT_EQ(next(TallMethod::inverses, measures), TallMethod::shifted);
    EXPECT_EQ(next(TallMethod::solves, measures), TallMethod::shifted);
    EXPECT_EQ(next(TallMethod::shifted, measures), TallMethod::reflectors);
  }
  EXPECT_EQ(next(TallMethod::solves, none), TallMethod::reflectors);
}

}  // namespace
}  // namespace partita::testing
