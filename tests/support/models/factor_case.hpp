// Random factorizations and solves of any matrix, and what their plans must compute.
#pragma once

#include <partita/linalg.hpp>
#include <partita/verify_numbers.hpp>

#include "linalg/panels.hpp"
#include "support/models/array_model.hpp"
#include "support/models/consistent_plans.hpp"
#include "support/models/dense_factors.hpp"
#include "support/models/random_layouts.hpp"
#include "support/test.hpp"

namespace partita::testing {

class FactorCase {
 public:
  using Numbers = std::function<Entry(const Index&)>;

  explicit FactorCase(std::uint64_t seed) : random_(seed), numbers_(seed), seed_(seed) {
    ranks_ = random_.number(1, 8);
    topology_ = random_topology();
    kind_ = static_cast<Factorization>(random_.number(0, 2));
    dtype_ = random_.maybe() ? Dtype::f64 : Dtype::c128;
    space_ = random_.maybe(0.3) ? MemorySpace::device : MemorySpace::host;
    constexpr std::array extents{0, 1, 2, 5, 12, 17, 31};
    const auto extent = [&] { return extents[static_cast<std::size_t>(random_.number(0, 6))]; };
    m_ = n_ = extent();
    if (kind_ != Factorization::cholesky && random_.maybe()) n_ = extent();
    width_ = std::array{1, 2, 3, 8, 40}[static_cast<std::size_t>(random_.number(0, 4))];
    options_ = {.block = width_, .overwrite = random_.maybe(0.3), .grid = random_grid()};
    const bool whole = !options_.grid.empty() && options_.grid[0] == 1;
    if (kind_ == Factorization::lu && random_.maybe())
      options_.pivoting = whole ? Pivoting::partial : Pivoting::tournament;
    a_ = operand({m_, n_});
    if (options_.overwrite) {
      if (options_.grid.empty()) options_.grid = {1, ranks_};
      const std::int64_t height = options_.grid[0] == 1 ? std::max<std::int64_t>(m_, 1) : width_;
      a_ = operand(Layout(BlockCyclic(options_.grid, {height, width_}), {m_, n_}, ranks_));
      a_.axis_order = {1, 0};
      a_.residency = Residency::heap;
      a_.dense = true;
      if (random_.maybe()) options_.block = 0;
      const bool taken = options_.grid[0] == 1 || linear::looks_for_grid(kind_, a_, options_, topology_);
      if (taken && random_.maybe()) options_.grid = {};
    }
    matrix_ = random_numbers(m_, n_);
    if (kind_ == Factorization::cholesky) add_to_diagonal();
    factorize();
  }

  std::string to_string() const {
    std::string text = fmt::format(
        "seed {} {} of {}, block {} grid {}{}, nodes", seed_, static_cast<int>(kind_), a_.to_string(),
        options_.block, partita::to_string(options_.grid), options_.overwrite ? " overwritten" : "");
    for (int rank = 0; rank < ranks_; ++rank) text += " " + std::to_string(topology_.node(rank));
    return text;
  }

  void expect_factors() const {
    const Planner planner = [this](int rank) {
      return plan_factorization(kind_, a_, topology_, rank, options_);
    };
    expect_consistent(planner, ranks_);
    std::vector<OperandNumbers> operands{{0, contributions_of(matrix_, a_.layout)},
                                         {1, {}, of(factors_.packed)},
                                         {3, {}, of(factors_.status)}};
    if (options_.overwrite) {
      operands = {{1, contributions_of(matrix_, a_.layout), of(factors_.packed), 0}, operands[2]};
    }
    if (kind_ != Factorization::cholesky) operands.push_back({2, {}, of(factors_.pivots)});
    expect_right(planner, operands);
  }

  /// For random right-hand sides, with any op.
  void expect_solutions() {
    if (kind_ == Factorization::qr ? m_ < n_ : m_ != n_) return;
    const Op op = random_op();
    const bool transposes = op == Op::transpose || op == Op::conjugate_transpose;
    const std::int64_t count = std::array{0, 1, 3, 10}[static_cast<std::size_t>(random_.number(0, 3))];
    const std::int64_t rows_of_b = transposes ? n_ : m_, rows_of_x = transposes ? m_ : n_;
    const DenseMatrix b = random_numbers(rows_of_b, count);
    const DenseMatrix whole = kind_ == Factorization::cholesky ? hermitian_of(matrix_) : matrix_;
    const DenseMatrix x = solved_by_least_squares(op_of(whole, op), b);
    const bool in_place = rows_of_b == rows_of_x && random_.maybe(0.3);
    const Operand of_b = operand({rows_of_b, count}, in_place);
    const Operand of_x = in_place ? of_b : operand({rows_of_x, count}, true);
    SCOPED_TRACE(fmt::format("op {} B {} X {}{}", static_cast<int>(op), of_b.to_string(), of_x.to_string(),
                             in_place ? " in place" : ""));
    Machine machine;
    if (random_.maybe()) machine.peer_bandwidth = 1;  // so that devices pass right-hand sides, not panels
    const Planner planner = [&](int rank) {
      return plan_solve(kind_, a_, of_b, of_x, topology_, rank, op, options_, in_place, machine);
    };
    expect_consistent(planner, ranks_);
    const auto given = contributions_of(b, of_b.layout);
    std::vector<OperandNumbers> operands{{0, replicas_of(factors_.packed)}};
    if (kind_ != Factorization::cholesky) operands.push_back({1, replicas_of(factors_.pivots)});
    if (in_place) {
      operands.push_back({3, given, of(x), 2});
    } else {
      operands.push_back({2, given});
      operands.push_back({3, {}, of(x)});
    }
    expect_right(planner, operands);
  }

 private:
  Topology random_topology() {
    switch (random_.number(0, 3)) {
      case 0:
        return Topology::regular(ranks_);
      case 1:
        return Topology::regular(ranks_, random_.number(2, 3));
      case 2:
        return Topology::regular(ranks_, 1);
      default: {
        std::vector<int> nodes(static_cast<std::size_t>(ranks_));
        for (int rank = 1; rank < ranks_; ++rank) {
          const int most = *std::max_element(nodes.begin(), nodes.end()) + 1;
          nodes[static_cast<std::size_t>(rank)] = random_.number(0, most);
        }
        return Topology::of(nodes);
      }
    }
  }
  /// Or none: chosen by the planner.
  Extents random_grid() {
    if (random_.maybe()) return {};
    const bool on_grids =
        kind_ == Factorization::cholesky || (kind_ == Factorization::lu && space_ == MemorySpace::host);
    int rows = on_grids ? random_.number(1, ranks_) : 1;
    while (ranks_ % rows != 0) --rows;
    return {rows, ranks_ / rows};
  }
  Op random_op() {
    if (kind_ == Factorization::qr && is_complex(dtype_))
      return random_.maybe() ? Op::none : Op::conjugate_transpose;
    return static_cast<Op>(random_.number(0, 3));
  }

  Operand operand(const Layout& layout) {
    Operand result = Operand::of(layout, dtype_, random_.maybe() ? Order::row_major : Order::column_major,
                                 random_.maybe() ? Residency::heap : Residency::ordinary);
    if (random_.maybe(0.2)) {
      result.dense = false;
      result.residency = Residency::ordinary;
    }
    result.space = space_;
    return result;
  }
  Operand operand(const Shape& shape, bool whole = false) {
    for (;;) {
      const Layout layout = random_.layout(shape, ranks_);
      if (!whole || !layout.partial()) return operand(layout);
    }
  }

  DenseMatrix random_numbers(std::int64_t m, std::int64_t n) {
    return random_matrix(numbers_, m, n, is_complex(dtype_));
  }
  /// What is above the diagonal is not that of a Hermitian matrix.
  void add_to_diagonal() {
    for (std::int64_t i = 0; i < n_; ++i) matrix_(i, i) = matrix_(i, i).real() + 2 * static_cast<double>(n_);
  }
  void factorize() {
    const std::int64_t panels = (std::min(m_, n_) + width_ - 1) / width_;
    if (kind_ == Factorization::lu) {
      const linear::Panels used = linear::panels_of(kind_, a_, options_, topology_, {});
      factors_ = used.on_grid() ? lu_by_tournament(matrix_, used.width, used.grid_rows)
                                : lu_by_definition(matrix_, width_, linear::exchanges_left(used, a_.space));
    }
    if (kind_ == Factorization::qr) factors_ = qr_by_definition(matrix_);
    if (kind_ == Factorization::cholesky) factors_ = cholesky_by_definition(matrix_);
    if (kind_ != Factorization::lu) factors_.status = DenseMatrix(panels, 1);
    if (kind_ != Factorization::cholesky) return;
    // Panels are updated as whole blocks on the diagonal, whose upper triangle then stays.
    DenseMatrix& packed = factors_.packed;
    for (std::int64_t j = 0; j < n_; ++j) {
      for (std::int64_t i = j / width_ * width_; i < j; ++i) {
        for (std::int64_t l = 0; l < j / width_ * width_; ++l)
          packed(i, j) -= packed(i, l) * std::conj(packed(j, l));
      }
    }
  }

  static Numbers of(const DenseMatrix& matrix) {
    return [&matrix](const Index& at) { return matrix(at[0], at.size() > 1 ? at[1] : 0); };
  }
  static std::function<Entry(const Index&, int)> replicas_of(const DenseMatrix& matrix) {
    return [value = of(matrix)](const Index& at, int) { return value(at); };
  }
  /// That sum to the matrix.
  static std::function<Entry(const Index&, int)> contributions_of(const DenseMatrix& matrix,
                                                                  const Layout& layout) {
    return [value = of(matrix), count = contribution_count(layout)](const Index& at, int contribution) {
      return contribution > 0 ? Entry(1) : value(at) - static_cast<double>(count - 1);
    };
  }

  void expect_right(const Planner& planner, const std::vector<OperandNumbers>& operands) const {
    const Verdict verdict = verify_numbers(planner, operands, {.alpha = -1}, 4, seed_);
    EXPECT_TRUE(verdict.ok()) << verdict.faults.front();
  }

  RandomLayouts random_;
  std::mt19937_64 numbers_;
  std::uint64_t seed_;
  int ranks_ = 1;
  Topology topology_;
  Factorization kind_ = Factorization::lu;
  Dtype dtype_ = Dtype::f64;
  MemorySpace space_ = MemorySpace::host;
  std::int64_t m_ = 0, n_ = 0, width_ = 1;
  FactorOptions options_;
  Operand a_ = Operand::of(Layout(Slab(0), {1}, 1), Dtype::f64);
  DenseMatrix matrix_;
  DenseFactors factors_;
};

}  // namespace partita::testing
