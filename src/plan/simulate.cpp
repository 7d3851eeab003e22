#include <algorithm>
#include <cmath>
#include <partita/machine.hpp>

#include "base/check.hpp"
#include "plan/events.hpp"
#include "plan/moves.hpp"

namespace partita {
namespace {

constexpr int most_ranks_run = 64;  // by events; beyond, a sample of as many is priced

// What leaves its rank: read by or written to a peer of the node, or sent.
void add_totals(Prediction& prediction, const Traffic& traffic) {
  prediction.total_bytes += traffic.node_bytes + traffic.network_bytes;
  prediction.total_messages += traffic.messages;
}

void choose_slowest(Prediction& prediction, const std::vector<Plan>& plans,
                    const std::vector<double>& seconds) {
  const auto slowest = std::max_element(seconds.begin(), seconds.end());
  const Plan& plan = plans[static_cast<std::size_t>(slowest - seconds.begin())];
  prediction.seconds = *slowest;
  prediction.slowest_rank = plan.rank;
  prediction.per_rank = traffic(plan);
}

Prediction simulate_all(const Planner& planner, int ranks, const Machine& machine) {
  Prediction prediction;
  std::vector<Plan> plans;
  for (int rank = 0; rank < ranks; ++rank) {
    plans.push_back(planner(rank));
    add_totals(prediction, traffic(plans.back()));
  }
  choose_slowest(prediction, plans, run_events(plans, machine));
  prediction.ranks_priced = ranks;
  return prediction;
}

// One plan is kept at a time: the plans of a sample may be large.
Prediction simulate_sample(const Planner& planner, int ranks, const Machine& machine) {
  Prediction prediction;
  const std::vector<int> sample = sample_ranks(ranks, most_ranks_run);
  for (const int rank : sample) {
    const Plan plan = planner(rank);
    add_totals(prediction, traffic(plan));
    const double seconds = price(plan, machine);
    if (seconds > prediction.seconds || rank == 0) choose_slowest(prediction, {plan}, {seconds});
  }
  const double factor = static_cast<double>(ranks) / static_cast<double>(sample.size());
  prediction.total_bytes = std::llround(factor * static_cast<double>(prediction.total_bytes));
  prediction.total_messages = std::llround(factor * static_cast<double>(prediction.total_messages));
  prediction.ranks_priced = static_cast<int>(sample.size());
  return prediction;
}

}  // namespace

Prediction simulate(const Planner& planner, int ranks, const Machine& machine) {
  check(static_cast<bool>(planner), "simulate needs a planner");
  check(ranks >= 1, "simulate needs at least one rank, not {}", ranks);
  const int planned = planner(0).topology.ranks();
  check(planned == ranks, "the plans are for {} ranks, not {}", planned, ranks);
  return ranks <= most_ranks_run ? simulate_all(planner, ranks, machine)
                                 : simulate_sample(planner, ranks, machine);
}

}  // namespace partita
