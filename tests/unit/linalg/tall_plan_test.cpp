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
  void expect_right(const Planner& planner, const std::vector<OperandNumbers>& operands) const {
    expect_consistent(planner, ranks_);
    const Verdict verdict = verify_numbers(planner, operands, {}, 4, seed_);
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

TEST(TallPlan, IsForManyMoreRowsThanColumns) {
  const auto suits = [](const Shape& shape, int ranks) {
    return linear::is_tall(Operand::of(Layout(Slab(0), shape, ranks), Dtype::f64));
  };
  EXPECT_TRUE(suits({800, 10}, 4) && suits({320, 10}, 4) && suits({1 << 24, 512}, 64));
  EXPECT_FALSE(suits({319, 10}, 4) || suits({800, 10}, 1) || suits({800, 0}, 4) || suits({1 << 24, 513}, 2) ||
               suits({800}, 2));
}

}  // namespace
}  // namespace partita::testing
