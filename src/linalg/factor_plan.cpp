// Plans of factorizations: right-looking, with a look-ahead of one panel.
#include <fmt/format.h>

#include <partita/redistribute.hpp>

#include "base/check.hpp"
#include "linalg/facts.hpp"
#include "linalg/grid_plans.hpp"
#include "linalg/panel_transport.hpp"

namespace partita::linear {
namespace {

class FactorPlanner {
 public:
  FactorPlanner(Factorization kind, const Operand& a, const Topology& topology, int rank,
                const FactorOptions& options, const Machine& machine)
      : kind_(kind), a_(a), memory_limit_(options.memory_limit), compute_(options.compute) {
    buffers_.panels = panels_of(kind, a, options, topology, machine);
    in_place_ = in_place(panels(), a, options);
    plan_.operation = factorization_name(kind);
    plan_.rank = rank;
    plan_.topology = topology;
    plan_.identity = {{"A", a.to_string()},
                      {"options", fmt::format("{}{} computed in {}", linear::to_string(panels()),
                                              in_place_ ? " in place" : "", name(options.compute))}};
    buffers_.dtype = a.dtype;
    buffers_.space = a.space;
  }

  Plan make() {
    add_operands();
    plan_.method = panels().ranks == 1 ? "local" : (panels().on_grid() ? "grid" : "right-looking");
    plan_.reason = linear::to_string(panels());
    if (!panels().on_grid()) {
      factorize();
    } else if (kind_ == Factorization::lu) {
      check<UnsupportedError>(
          a_.space == MemorySpace::host,
          "lu: matrices in device memory are not factorized on grids of several rows, but the "
          "grid is {}x{}; use {{1, {}}}",
          panels().grid_rows, panels().grid_columns(), panels().ranks);
      factorize_lu_on_grid(buffers_, compute_, builder_);
    } else {
      factorize_cholesky_on_grid(buffers_, compute_, builder_);
    }
    return std::move(plan_);
  }

 private:
  const Panels& panels() const { return buffers_.panels; }
  bool is_mine(int k) const { return k < panels().count() && panels().owner(k) == plan_.rank; }
  Place factor() const { return builder_.own(buffers_.factor); }
  Part pivots_of(int k) const { return {buffers_.pivots_of(k), builder_.own(buffers_.pivots)}; }

  void add_operands() {
    const int a = builder_.add_operand("A", a_);
    const Operand factor = factor_operand(panels(), a_.dtype, a_.space);
    buffers_.factor = builder_.add_operand("factors", in_place_ ? a_ : factor);
    buffers_.pivots = builder_.add_operand("pivots", pivots_operand(kind_, panels(), a_.dtype, a_.space));
    buffers_.status = builder_.add_operand("status", status_operand(panels(), a_.space));
    if (in_place_) return;
    const RedistributeOptions how{.staging_bytes = staging_within(memory_limit_, 1, panels().ranks)};
    builder_.append(plan_redistribute(a_, factor, plan_.topology, plan_.rank, how), a, buffers_.factor);
  }

  void factorize() {
    std::vector<PanelTurn> turns;
    for (int k = 0; k < panels().count(); ++k) turns.push_back({k, panels().rows_from(k)});
    FactorBuffers passed = buffers_;
    if (kind_ == Factorization::cholesky) passed.pivots = -1;
    PanelTransport transport(passed, builder_, std::move(turns), PanelTransport::Readiness::by_turn);
    transport.open();
    if (is_mine(0)) {
      factorize_panel(0);
      transport.announce(0);
    }
    for (int k = 0; k < panels().count(); ++k) {
      const FoundPanel panel = transport.take(k);
      std::int64_t rest = panels().end(k);
      if (is_mine(k + 1)) {
        rest = panels().end(k + 1);
        update(k, panel, panels().columns_of(k + 1));
        factorize_panel(k + 1);
        transport.announce(k + 1);
      }
      update(k, panel, panels().owned(plan_.rank, rest, panels().columns));
      transport.release(k);
    }
    transport.close();
    // Peers do not read the panels any more.
    if (kind_ == Factorization::lu && exchanges_left(panels(), a_.space))
      exchange_left(panels(), buffers_.factor, buffers_.pivots, builder_);
  }

  void factorize_panel(int k) {
    FactorPanel work;
    work.kind = kind_;
    work.panel = {{{panels().rows_from(k), panels().columns_of(k)}}, factor()};
    work.pivots = pivots_of(k);
    work.status = {buffers_.status_of(k), builder_.own(buffers_.status)};
    builder_.compute(work);
  }

  /// Columns behind panel k, by that panel.
  void update(int k, const FoundPanel& panel, const IndexSet& columns) {
    if (columns.empty()) return;
    if (kind_ == Factorization::lu) return update_lu(k, panel, columns);
    if (kind_ == Factorization::cholesky) return update_cholesky(k, panel, columns);
    ApplyReflectors work;
    work.reflectors = panel.part(panels().rows_from(k), panels().diagonal(k));
    work.factors = pivots_of(k);
    work.to = {{{panels().rows_from(k), columns}}, factor()};
    work.adjoint = true;
    builder_.compute(work);
  }

  void update_lu(int k, const FoundPanel& panel, const IndexSet& columns) {
    const IndexSet diagonal = panels().diagonal(k), below = panels().rows_below(k);
    const Part top{{{diagonal, columns}}, factor()};
    builder_.compute(ExchangeRows{{{{panels().rows_from(k), columns}}, factor()}, pivots_of(k)});
    TriangularSolve solve;
    solve.triangle = panel.part(diagonal, diagonal);
    solve.to = top;
    solve.unit_diagonal = true;
    builder_.compute(solve);
    if (below.empty()) return;
    Multiply multiply;
    multiply.a = panel.part(below, diagonal);
    multiply.b = top;
    multiply.to = {{{below, columns}}, factor()};
    multiply.beta = Beta::one;
    multiply.compute = compute_;
    builder_.compute(multiply);
  }

  /// One block of columns after the other, from its diagonal on: what is above is not computed.
  void update_cholesky(int k, const FoundPanel& panel, const IndexSet& columns) {
    const IndexSet diagonal = panels().diagonal(k);
    const auto first = static_cast<int>(columns.front() / panels().width);
    for (int j = first; panels().first(j) <= columns.back(); j += panels().ranks) {
      Multiply multiply;
      multiply.a = panel.part(panels().rows_from(j), diagonal);
      multiply.b = panel.part(panels().columns_of(j), diagonal);
      multiply.to = {{{panels().rows_from(j), panels().columns_of(j)}}, factor()};
      multiply.transpose_b = multiply.conjugate_b = true;
      multiply.beta = Beta::one;
      multiply.compute = compute_;
      builder_.compute(multiply);
    }
  }

  Factorization kind_;
  Operand a_;
  bool in_place_ = false;
  std::int64_t memory_limit_;
  ComputeType compute_;
  Plan plan_;
  planning::PlanBuilder builder_{plan_};
  FactorBuffers buffers_;
};

}  // namespace
}  // namespace partita::linear

namespace partita {

Plan plan_factorization(Factorization kind, const Operand& a, const Topology& topology, int rank,
                        const FactorOptions& options, const Machine& machine) {
  linear::check_factorized(kind, a);
  linear::check_compute(kind, a.dtype, options.compute);
  Plan plan = linear::FactorPlanner(kind, a, topology, rank, options, machine).make();
  linear::check_memory(plan, options.memory_limit);
  return plan;
}

}  // namespace partita
