#include "execute/device/fused_exchange.hpp"

#include <algorithm>
#include <array>

#include "plan/channels.hpp"
#include "plan/moves.hpp"

namespace partita::execution {
namespace {

bool is_flag(const Step& step) {
  return step.kind == StepKind::signal || step.kind == StepKind::wait;
}

bool is_operand(const Plan& plan, const Place& place) {
  return planning::buffer_of(plan, place).kind == BufferKind::operand;
}

bool is_own_shared(const Plan& plan, const Place& place) {
  return place.rank == plan.rank && planning::buffer_of(plan, place).kind == BufferKind::shared;
}

bool is_pack(const Plan& plan, const Step& step) {
  return step.kind == StepKind::copy && is_own_shared(plan, step.to) && is_operand(plan, step.from) &&
         step.from.rank == plan.rank;
}

/// A place that steps of kinds other than copies and flags never touch.
bool is_move(const Plan& plan, const Step& step) {
  return step.kind == StepKind::copy && is_operand(plan, step.to) &&
         planning::buffer_of(plan, step.from).kind != BufferKind::scratch;
}

bool is_known(const Plan& plan, const Step& step) {
  // A second signal of a kind says that something is done again.
  if (step.kind == StepKind::wait) return step.count == 1;
  return is_flag(step) || is_pack(plan, step) || is_move(plan, step);
}

/// A place that is used again has been read in between.
bool packs_twice(const Plan& plan, const FusedExchange& fused) {
  std::vector<std::array<std::int64_t, 3>> ranges;  // buffer, first byte, behind the last
  for (const std::size_t i : fused.packs) {
    const Step& step = plan.steps[i];
    ranges.push_back({step.to.buffer, step.to.offset, step.to.offset + planning::moved_bytes(plan, step)});
  }
  std::ranges::sort(ranges);
  const auto meet = [](const auto& a, const auto& b) { return a[0] == b[0] && b[1] < a[2]; };
  return std::ranges::adjacent_find(ranges, meet) != ranges.end();
}

/// Of moves. Packs come before them.
bool reads_what_is_written(const Plan& plan, const FusedExchange& fused) {
  std::vector<bool> written(plan.buffers.size(), false);
  for (const std::size_t i : fused.copies) written[static_cast<std::size_t>(plan.steps[i].to.buffer)] = true;
  return std::ranges::any_of(fused.copies, [&](std::size_t i) {
    return written[static_cast<std::size_t>(plan.steps[i].from.buffer)];
  });
}

}  // namespace

std::optional<FusedExchange> FusedExchange::of(const Plan& plan) {
  FusedExchange fused;
  bool ending = false;  // what a peer has done is waited for; what comes behind may need it
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    if (!is_known(plan, step)) return std::nullopt;
    if (is_flag(step)) {
      ending = ending || (step.kind == StepKind::wait && !planning::opens(step.channel));
      (planning::opens(step.channel) ? fused.early : fused.late).push_back(i);
    } else {
      if (ending) return std::nullopt;
      (is_pack(plan, step) ? fused.packs : fused.copies).push_back(i);
    }
  }
  if (packs_twice(plan, fused) || reads_what_is_written(plan, fused)) return std::nullopt;
  for (Steps* const flags : {&fused.early, &fused.late}) {
    std::stable_partition(flags->begin(), flags->end(),
                          [&](std::size_t i) { return plan.steps[i].kind == StepKind::signal; });
  }
  return fused;
}

}  // namespace partita::execution
