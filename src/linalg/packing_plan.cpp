// Plans that bring factors into LAPACK's form, and back.
#include <fmt/format.h>

#include "linalg/grid_plans.hpp"

namespace partita::linear {

void exchange_left(const Panels& panels, int factor, int pivots, planning::PlanBuilder& builder, bool undo) {
  for (int i = 1; i < panels.count(); ++i) {
    const int k = undo ? panels.count() - i : i;
    const IndexSet left = panels.owned(builder.rank(), 0, panels.first(k));
    if (left.empty()) continue;
    builder.compute(ExchangeRows{{{{panels.rows_from(k), left}}, builder.own(factor)},
                                 {{{panels.diagonal(k)}}, builder.own(pivots)},
                                 undo});
  }
}

Plan plan_packing(Factorization kind, const Operand& a, const Operand& other, const Topology& topology,
                  int rank, const FactorOptions& options, const Machine& machine, bool packs,
                  MemorySpace factorized_in) {
  const Panels panels = panels_of(kind, a, options, topology, machine);
  const Operand factors = factor_operand(panels, a.dtype, a.space);
  Plan plan;
  plan.operation = packs ? "pack factors" : "unpack factors";
  plan.method = "redistribute";
  plan.rank = rank;
  plan.topology = topology;
  plan.identity = {{"A", a.to_string()},
                   {packs ? "to" : "from", other.to_string()},
                   {"options", fmt::format("{} {}", factorization_name(kind), to_string(panels))}};
  planning::PlanBuilder builder(plan);
  const int from = builder.add_operand("source", packs ? factors : other);
  const int to = builder.add_operand("destination", packs ? other : factors);
  const int pivots = builder.add_operand("pivots", pivots_operand(kind, panels, a.dtype, a.space));
  const bool exchanges =
      kind == Factorization::lu && panels.count() > 1 && !exchanges_left(panels, factorized_in);
  int source = from;
  if (packs && exchanges) {
    source = builder.add_array("factors with all exchanges", factors);
    const Region own = factors.layout.region(rank);
    if (!own.empty()) builder.copy(rank, own, builder.own(from), builder.own(source));
    exchange_left(panels, source, pivots, builder);
  }
  append_redistribution(builder, source, to);
  if (!packs && exchanges) exchange_left(panels, to, pivots, builder, true);
  return plan;
}

}  // namespace partita::linear
