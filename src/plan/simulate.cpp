#include <algorithm>
#include <cmath>
#include <partita/machine.hpp>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "plan/cost.hpp"
#include "plan/events.hpp"
#include "plan/moves.hpp"
#include "plan/sample.hpp"
#include "plan/work.hpp"

namespace partita {
namespace {

using namespace planning;

// One rank alone, its partners taken to be as far as it is: copies share the node's memory bandwidth evenly,
// messages share its link evenly and run behind the copies, one after another in each direction.
class Pricing {
 public:
  Pricing(const Plan& plan, const Machine& machine)
      : plan_(plan),
        machine_(machine),
        sharers_(ranks_on_node(plan.topology, plan.rank)),
        complete_(plan.steps.size(), 0.0) {}

  double seconds() {
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) run(plan_.steps[i], complete_[i]);
    return now_;
  }

 private:
  void run(const Step& step, double& complete) {
    for (const int message : step.after) {
      const auto index = static_cast<std::size_t>(message);
      check(index < complete_.size(), "a step waits for step {} of {}", message, complete_.size());
      now_ = std::max(now_, complete_[index]);
    }
    if (is_copy(step.kind)) now_ += copy_seconds(step);
    if (step.kind == StepKind::compute) now_ += compute_seconds(plan_, step, machine_);
    if (step.kind == StepKind::signal || step.kind == StepKind::wait) now_ += machine_.signal_latency;
    if (is_message(step.kind)) complete = start_message(step);
  }

  double copy_seconds(const Step& step) const {
    const CopyCost cost = copy_cost(plan_, step, machine_);
    const double share = machine_.node_copy_bandwidth / sharers_;
    return machine_.copy_latency + cost.traffic / std::min(cost.cap, share);
  }

  double start_message(const Step& step) {
    const bool same_node = plan_.topology.same_node(plan_.rank, step.peer);
    double bandwidth = message_bandwidth(same_node, machine_);
    if (!same_node) bandwidth /= sharers_;
    double& lane_free = step.kind == StepKind::send ? outgoing_free_ : incoming_free_;
    lane_free = std::max(lane_free, now_) + static_cast<double>(expected_bytes(step)) / bandwidth;
    return lane_free + message_latency(same_node, machine_);
  }

  const Plan& plan_;
  const Machine& machine_;
  double sharers_;
  std::vector<double> complete_;  // of messages: when
  double now_ = 0;
  double outgoing_free_ = 0;
  double incoming_free_ = 0;
};

constexpr int most_ranks_run = 64;  // by events; beyond, a sample of as many is priced

// What leaves its rank: read by or written to a peer of the node, or sent.
std::int64_t leaving_bytes(const Traffic& traffic) {
  return traffic.node_bytes + traffic.network_bytes;
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
    const Traffic moved = traffic(plans.back());
    prediction.total_bytes += leaving_bytes(moved);
    prediction.total_messages += moved.messages;
  }
  choose_slowest(prediction, plans, run_events(plans, machine));
  prediction.ranks_priced = ranks;
  return prediction;
}

// One plan is kept at a time: the plans of a sample may be large.
Prediction simulate_sample(const Planner& planner, Plan first, const Machine& machine) {
  Prediction prediction;
  const RankSample sample = sample_ranks(first, most_ranks_run);
  double bytes = 0, messages = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const int rank = sample.ranks[i];
    const Plan plan = rank == 0 ? std::exchange(first, Plan()) : planner(rank);
    const Traffic moved = traffic(plan);
    bytes += sample.weights[i] * static_cast<double>(leaving_bytes(moved));
    messages += sample.weights[i] * static_cast<double>(moved.messages);
    const double seconds = price(plan, machine);
    if (seconds > prediction.seconds || i == 0) choose_slowest(prediction, {plan}, {seconds});
  }
  prediction.total_bytes = std::llround(bytes);
  prediction.total_messages = std::llround(messages);
  prediction.ranks_priced = static_cast<int>(sample.size());
  return prediction;
}

}  // namespace

double price(const Plan& plan, const Machine& machine) {
  return Pricing(plan, machine).seconds();
}

Prediction simulate(const Planner& planner, int ranks, const Machine& machine) {
  check(static_cast<bool>(planner), "simulate needs a planner");
  check(ranks >= 1, "simulate needs at least one rank, not {}", ranks);
  Plan first = planner(0);
  const int planned = first.topology.ranks();
  check(planned == ranks, "the plans are for {} ranks, not {}", planned, ranks);
  return ranks <= most_ranks_run ? simulate_all(planner, ranks, machine)
                                 : simulate_sample(planner, std::move(first), machine);
}

}  // namespace partita
