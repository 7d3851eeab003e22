#include "plan/lanes.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "plan/channels.hpp"
#include "plan/cost.hpp"
#include "plan/moves.hpp"
#include "plan/work.hpp"

namespace partita::planning {
namespace {

bool is_on(const Step& step, Channel channel) {
  return static_cast<Channel>(step.channel) == channel;
}

bool pushes(const Plan& plan, const Step& step) {
  switch (step.kind) {
    case StepKind::copy:
    case StepKind::accumulate:
    case StepKind::fill:
      return step.to.rank != plan.rank;
    case StepKind::wait:
      return is_on(step, Channel::grant);
    case StepKind::compute:
      return bytes_written_to_peers(plan, work_of(plan, step)) > 0;
    default:
      return false;
  }
}

bool factorizes(const Plan& plan, const Step& step) {
  return step.kind == StepKind::compute && std::holds_alternative<FactorPanel>(work_of(plan, step));
}

bool stores(const Plan& plan, const Step& step) {
  return step.kind == StepKind::compute && std::holds_alternative<TransformInto>(work_of(plan, step));
}

/// What is put into peers' memory is stored by transforms, or copied in such short pieces that the signal of
/// one would keep the next one waiting for a good part of its time. Beside longer ones nothing is gained
/// (docs/performance.md).
bool signals_apart(const Plan& plan) {
  constexpr std::int64_t long_copy = std::int64_t{16} << 20;
  return std::ranges::all_of(plan.steps, [&](const Step& step) {
    const bool waits = step.kind == StepKind::wait;
    return waits || !pushes(plan, step) || stores(plan, step) ||
           (step.kind == StepKind::copy && moved_bytes(plan, step) < long_copy);
  });
}

bool lends(const Plan& plan, const Step& step) {
  return step.kind == StepKind::copy && step.to.rank == plan.rank &&
         buffer_of(plan, step.to).kind == BufferKind::shared &&
         buffer_of(plan, step.from).kind == BufferKind::operand;
}

bool stays(const Plan& plan, const Step& step) {
  return step.kind == StepKind::copy && step.from.rank == plan.rank && step.to.rank == plan.rank;
}

/// Of a plan that fills slots of a ring again while peers read the others: each is filled between the wait
/// for its reader and the signal that it is full. What is accumulated keeps its order.
std::vector<int> lanes_of_ring(const Plan& plan) {
  const std::size_t count = plan.steps.size();
  std::vector<int> lanes(count, in_order);
  const auto is = [&](std::size_t i, StepKind kind, Channel channel) {
    return i < count && plan.steps[i].kind == kind && is_on(plan.steps[i], channel);
  };
  bool again = false, reduces = false;
  for (std::size_t i = 0; i < count; ++i) {
    if (is_message(plan.steps[i].kind)) return std::vector<int>(count, in_order);
    reduces = reduces || plan.steps[i].kind == StepKind::accumulate;
    if (!lends(plan, plan.steps[i])) continue;
    lanes[i] = pushing;
    if (is(i + 1, StepKind::signal, Channel::ready)) lanes[i + 1] = pushing;
    if (i == 0 || !is(i - 1, StepKind::wait, Channel::done)) continue;
    lanes[i - 1] = pushing;
    again = true;
  }
  if (!again) return std::vector<int>(count, in_order);
  for (std::size_t i = 0; i < count && !reduces; ++i) {
    if (lanes[i] == in_order && stays(plan, plan.steps[i])) lanes[i] = keeping;
  }
  return lanes;
}

using Buffers = std::pair<int, int>;  // from, to

Buffers buffers_of(const Step& step) {
  return {step.from.buffer, step.to.buffer};
}

}  // namespace

std::vector<int> lanes_of(const Plan& plan) {
  if (plan.works.empty()) return lanes_of_ring(plan);
  std::vector<int> lanes(plan.steps.size(), in_order);
  const bool has_others = plan.works.size() > 1;  // with which a panel runs concurrently
  const int of_signals = signals_apart(plan) ? signalling : pushing;
  std::ranges::transform(plan.steps, lanes.begin(), [&](const Step& step) -> int {
    if (step.kind == StepKind::signal && is_on(step, Channel::written)) return of_signals;
    if (has_others && factorizes(plan, step)) return pushing;
    return pushes(plan, step) ? pushing : in_order;
  });
  std::set<Buffers> changing_hands;
  for (const Step& step : plan.steps) {
    if (step.kind == StepKind::copy && step.to.rank != plan.rank) changing_hands.insert(buffers_of(step));
  }
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const Step& step = plan.steps[i];
    if (stays(plan, step) && changing_hands.contains(buffers_of(step))) lanes[i] = keeping;
  }
  return lanes;
}

}  // namespace partita::planning
