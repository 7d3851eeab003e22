#include "plan/explain.hpp"

#include <cmath>

#include "plan/moves.hpp"

namespace partita {
namespace {

constexpr int most_ranks_asked = 1024;
constexpr int sample_size = 256;

Totals totals_of(const Planner& planner, int ranks) {
  Totals totals;
  const std::vector<int> asked = sample_ranks(ranks, ranks <= most_ranks_asked ? ranks : sample_size);
  for (const int rank : asked) {
    const Traffic more = traffic(planner(rank));
    for (const auto& [name, value] : traffic_fields) totals.traffic.*value += more.*value;
  }
  totals.ranks = ranks;
  totals.asked = static_cast<int>(asked.size());
  if (totals.asked < ranks) {
    const double factor = static_cast<double>(ranks) / static_cast<double>(totals.asked);
    for (const auto& [name, value] : traffic_fields) {
      std::int64_t& sum = totals.traffic.*value;
      sum = std::llround(static_cast<double>(sum) * factor);
    }
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
