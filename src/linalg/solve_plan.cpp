// Plans that solve with factors: right-hand sides are distributed by columns, and every rank applies all
// panels to its own.
#include <fmt/format.h>

#include <partita/redistribute.hpp>

#include "base/check.hpp"
#include "base/round.hpp"
#include "linalg/facts.hpp"
#include "linalg/panel_transport.hpp"

namespace partita::linear {
namespace {

class SolvePlanner {
 public:
  SolvePlanner(std::string_view operation, const std::vector<Pass>& passes, const Operand& b,
               const Operand& x, const Topology& topology, int rank)
      : passes_(passes), b_(b), x_(x) {
    plan_.operation = operation;
    plan_.rank = rank;
    plan_.topology = topology;
  }

  Plan make(Factorization kind, const Operand& a, const FactorOptions& options, bool in_place) {
    plan_.identity = {{"A", a.to_string()},
                      {"B", b_.to_string()},
                      {"X", x_.to_string()},
                      {"options", fmt::format("{} block {}{}", factorization_name(kind), options.block,
                                              in_place ? " in place" : "")}};
    buffers_.panels = panels_of(a, options);
    buffers_.dtype = a.dtype;
    buffers_.space = a.space;
    buffers_.factor = builder_.add_operand("factors", factor_operand(panels(), a.dtype, a.space));
    buffers_.pivots = builder_.add_operand("pivots", pivots_operand(kind, panels(), a.dtype, a.space));
    const int b_buffer = builder_.add_operand("B", b_);
    const int x_buffer = builder_.add_operand("X", x_);
    add_sides();
    load(b_buffer);
    run_passes();
    store(x_buffer);
    return std::move(plan_);
  }

 private:
  const Panels& panels() const { return buffers_.panels; }
  std::int64_t count() const { return b_.layout.shape()[1]; }
  Place sides() const { return builder_.own(sides_); }
  Part rows(const IndexSet& rows) const { return {{{rows, mine_}}, sides()}; }

  // --- right-hand sides

  Operand by_columns(std::int64_t rows) const {
    const int ranks = panels().ranks;
    const std::int64_t width = std::max<std::int64_t>(1, ceil_divide(count(), ranks));
    const BlockCyclic cyclic({1, ranks}, {std::max<std::int64_t>(rows, 1), width});
    return on_heap(Layout(cyclic, {rows, count()}, ranks), buffers_.dtype, buffers_.space);
  }

  void add_sides() {
    height_ = std::max({panels().rows, b_.layout.shape()[0], x_.layout.shape()[0]});
    const Operand operand = by_columns(height_);
    sides_ = builder_.add_array("right-hand sides", operand);
    mine_ = operand.layout.region(plan_.rank).sets[1];
    plan_.method = "by right-hand sides";
    plan_.reason =
        fmt::format("{} right-hand sides over {} ranks, each of which reads {} panels of {} columns", count(),
                    panels().ranks, panels().count(), panels().width);
  }

  /// An array of fewer rows, beside the right-hand sides.
  int add_part(std::string name, std::int64_t rows) {
    return rows == height_ ? sides_ : builder_.add_array(std::move(name), by_columns(rows));
  }

  void load(int b) {
    const std::int64_t rows = b_.layout.shape()[0];
    const int part = add_part("B by columns", rows);
    const Operand to = builder_.operand(part);
    builder_.append(plan_redistribute(b_, to, plan_.topology, plan_.rank), b, part);
    if (part == sides_ || mine_.empty()) return;
    const Region loaded{{IndexSet::range(0, rows), mine_}};
    const Region missing{{IndexSet::range(rows, height_), mine_}};
    if (!loaded.empty()) builder_.copy(plan_.rank, loaded, builder_.own(part), sides());
    builder_.fill(Reduction::sum, missing, sides());
  }

  void store(int x) {
    const std::int64_t rows = x_.layout.shape()[0];
    const int part = add_part("X by columns", rows);
    const Region stored{{IndexSet::range(0, rows), mine_}};
    if (part != sides_ && !stored.empty()) builder_.copy(plan_.rank, stored, sides(), builder_.own(part));
    const Operand from = builder_.operand(part);
    builder_.append(plan_redistribute(from, x_, plan_.topology, plan_.rank), part, x);
  }

  // --- passes

  void run_passes() {
    std::vector<PanelTurn> turns;
    std::vector<const Pass*> pass_of_turn;
    for (const Pass& pass : passes_) {
      for (int i = 0; i < panels().count(); ++i) {
        const int k = pass.forward() ? i : panels().count() - 1 - i;
        turns.push_back({k, pass.rows(panels(), k)});
        pass_of_turn.push_back(&pass);
      }
    }
    PanelTransport transport(buffers_, builder_, turns, PanelTransport::Readiness::from_start);
    transport.open();
    if (transport.announces(0)) transport.announce(0);
    for (int turn = 0; turn < static_cast<int>(turns.size()); ++turn) {
      const FoundPanel panel = transport.take(turn);
      if (transport.announces(turn + 1)) transport.announce(turn + 1);
      const auto at = static_cast<std::size_t>(turn);
      if (!mine_.empty()) apply(*pass_of_turn[at], turns[at].panel, panel);
      transport.release(turn);
    }
    transport.close();
  }

  void apply(const Pass& pass, int k, const FoundPanel& panel) {
    if (pass.kind == Pass::Kind::reflectors) return apply_reflectors(pass, k, panel);
    if (pass.exchanges && pass.forward()) exchange_rows(k, false);
    const IndexSet diagonal = panels().diagonal(k);
    const IndexSet others = pass.kind == Pass::Kind::upper ? panels().rows_above(k) : panels().rows_below(k);
    if (pass.transposes()) {
      multiply(pass, panel, k, others, rows(others), rows(diagonal));
      solve(pass, k, panel);
    } else {
      solve(pass, k, panel);
      multiply(pass, panel, k, others, rows(diagonal), rows(others));
    }
    if (pass.exchanges && !pass.forward()) exchange_rows(k, true);
  }

  void apply_reflectors(const Pass& pass, int k, const FoundPanel& panel) {
    ApplyReflectors work;
    work.reflectors = panel.part(panels().rows_from(k), panels().diagonal(k));
    work.factors = {buffers_.pivots_of(k), builder_.own(buffers_.pivots)};
    work.to = rows(IndexSet::range(panels().first(k), panels().rows));
    work.adjoint = pass.transposes();
    builder_.compute(work);
  }

  void exchange_rows(int k, bool backward) {
    builder_.compute(ExchangeRows{
        rows(panels().rows_from(k)), {buffers_.pivots_of(k), builder_.own(buffers_.pivots)}, backward});
  }

  void solve(const Pass& pass, int k, const FoundPanel& panel) {
    TriangularSolve work;
    work.triangle = panel.part(panels().diagonal(k), panels().diagonal(k));
    work.to = rows(panels().diagonal(k));
    work.op = pass.op;
    work.upper = pass.kind == Pass::Kind::upper;
    work.unit_diagonal = pass.unit_diagonal;
    builder_.compute(work);
  }

  /// to -= op(T) from, T the rows `others` of the panel.
  void multiply(const Pass& pass, const FoundPanel& panel, int k, const IndexSet& others, const Part& from,
                const Part& to) {
    if (others.empty()) return;
    Multiply work;
    work.a = panel.part(others, panels().diagonal(k));
    work.b = from;
    work.to = to;
    work.transpose_a = pass.transposes();
    work.conjugate_a = pass.op == Op::conjugate || pass.op == Op::conjugate_transpose;
    work.beta = Beta::one;
    builder_.compute(work);
  }

  const std::vector<Pass>& passes_;
  Operand b_, x_;
  Plan plan_;
  planning::PlanBuilder builder_{plan_};
  FactorBuffers buffers_;
  std::int64_t height_ = 0;  // of the right-hand sides
  int sides_ = -1;
  IndexSet mine_;  // right-hand sides of this rank
};

}  // namespace

Plan plan_passes(std::string_view operation, const std::vector<Pass>& passes, Factorization kind,
                 const Operand& a, const Operand& b, const Operand& x, const Topology& topology, int rank,
                 const FactorOptions& options, bool in_place) {
  return SolvePlanner(operation, passes, b, x, topology, rank).make(kind, a, options, in_place);
}

}  // namespace partita::linear

namespace partita {

Plan plan_solve(Factorization kind, const Operand& a, const Operand& b, const Operand& x,
                const Topology& topology, int rank, Op op, const FactorOptions& options, bool in_place) {
  linear::check_factorized(kind, a);
  linear::check_sides(kind, a, b, x, op);
  return linear::plan_passes("solve", linear::passes_of(kind, op, a.dtype), kind, a, b, x, topology, rank,
                             options, in_place);
}

}  // namespace partita
