#include <algorithm>
#include <partita/machine.hpp>
#include <vector>

#include "base/check.hpp"
#include "plan/cost.hpp"
#include "plan/work.hpp"

namespace partita {
namespace {

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
    lane_free = std::max(lane_free, now_) + static_cast<double>(step.bytes) / bandwidth;
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

}  // namespace

double price(const Plan& plan, const Machine& machine) {
  return Pricing(plan, machine).seconds();
}

}  // namespace partita
