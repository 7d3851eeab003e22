#include "plan/lanes.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "plan/channels.hpp"
#include "plan/work.hpp"

namespace partita::planning {
namespace {

bool pushes(const Plan& plan, const Step& step) {
  const auto channel = static_cast<Channel>(step.channel);
  switch (step.kind) {
    case StepKind::copy:
    case StepKind::accumulate:
    case StepKind::fill:
      return step.to.rank != plan.rank;
    case StepKind::signal:
      return channel == Channel::written;
    case StepKind::wait:
      return channel == Channel::grant;
    case StepKind::compute:
      return bytes_written_to_peers(plan, work_of(plan, step)) > 0;
    default:
      return false;
  }
}

using Buffers = std::pair<int, int>;  // from, to

Buffers buffers_of(const Step& step) {
  return {step.from.buffer, step.to.buffer};
}

}  // namespace

std::vector<int> lanes_of(const Plan& plan) {
  std::vector<int> lanes(plan.steps.size(), in_order);
  if (plan.works.empty()) return lanes;
  std::ranges::transform(plan.steps, lanes.begin(),
                         [&](const Step& step) { return pushes(plan, step) ? pushing : in_order; });
  std::set<Buffers> changing_hands;
  for (const Step& step : plan.steps) {
    if (step.kind == StepKind::copy && step.to.rank != plan.rank) changing_hands.insert(buffers_of(step));
  }
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const Step& step = plan.steps[i];
    const bool inside =
        step.kind == StepKind::copy && step.from.rank == plan.rank && step.to.rank == plan.rank;
    if (inside && changing_hands.contains(buffers_of(step))) lanes[i] = keeping;
  }
  return lanes;
}

}  // namespace partita::planning
