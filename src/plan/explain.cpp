#include "plan/explain.hpp"

#include <cmath>

#include "plan/moves.hpp"

namespace partita {
namespace {

constexpr int most_ranks_asked = 1024;
constexpr int sample_size = 256;

void add(Traffic& sum, const Traffic& term) {
  sum.local_bytes += term.local_bytes;
  sum.node_bytes += term.node_bytes;
  sum.network_bytes += term.network_bytes;
  sum.staging_bytes += term.staging_bytes;
  sum.messages += term.messages;
  sum.signals += term.signals;
}

Traffic scaled(const Traffic& traffic, double factor) {
  const auto scale = [factor](std::int64_t value) {
    return std::llround(static_cast<double>(value) * factor);
  };
  return {scale(traffic.local_bytes),   scale(traffic.node_bytes), scale(traffic.network_bytes),
          scale(traffic.staging_bytes), scale(traffic.messages),   scale(traffic.signals)};
}

Totals totals_of(const Planner& planner, int ranks) {
  Totals totals;
  const std::vector<int> asked = sample_ranks(ranks, ranks <= most_ranks_asked ? ranks : sample_size);
  for (const int rank : asked) add(totals.traffic, traffic(planner(rank)));
  totals.ranks = ranks;
  totals.asked = static_cast<int>(asked.size());
  if (totals.asked < ranks) {
    totals.traffic = scaled(totals.traffic, static_cast<double>(ranks) / static_cast<double>(totals.asked));
  }
  return totals;
}

}  // namespace

std::string explain(const Plan& plan, const ExplainOptions& options, const Planner& planner) {
  std::optional<Totals> totals;
  if (planner) totals = totals_of(planner, plan.topology.ranks());
  return options.format == ExplainOptions::Format::json ? explain_json(plan, totals, options.steps)
                                                        : explain_text(plan, totals, options.steps);
}

}  // namespace partita
