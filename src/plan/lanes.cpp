#include "plan/lanes.hpp"

#include <algorithm>

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

}  // namespace

std::vector<int> lanes_of(const Plan& plan) {
  std::vector<int> lanes(plan.steps.size(), in_order);
  if (plan.works.empty()) return lanes;
  std::ranges::transform(plan.steps, lanes.begin(),
                         [&](const Step& step) { return pushes(plan, step) ? pushing : in_order; });
  return lanes;
}

}  // namespace partita::planning
