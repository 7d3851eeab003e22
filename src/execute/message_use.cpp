#include "execute/message_use.hpp"

#include <algorithm>
#include <array>

#include "plan/cost.hpp"
#include "plan/moves.hpp"

namespace partita::execution {
namespace {

using MessageSide = MessageUse::Side;
using Ranges = std::vector<planning::MemoryRange>;

Ranges those_of(const std::vector<bool>& buffers, const Ranges& ranges) {
  Ranges found;
  std::ranges::copy_if(ranges, std::back_inserter(found), [&](const planning::MemoryRange& range) {
    return buffers[static_cast<std::size_t>(range.buffer)];
  });
  return found;
}

}  // namespace

MessageUse find_message_use(const Plan& plan, std::span<const planning::Touched> touched) {
  MessageUse use{std::vector<MessageSide>(plan.steps.size(), MessageSide::none)};
  if (std::ranges::none_of(plan.steps, [](const Step& step) { return planning::is_message(step.kind); }))
    return use;
  std::array<planning::LastTouch, 2> sides;  // out, in
  const auto number = [&](std::size_t step) {
    return std::size_t{use.sides[step] == MessageSide::out ? 0U : 1U};
  };
  const std::vector<bool> of_messages = message_buffers(plan);
  std::vector<Ranges> ranges(plan.steps.size());
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const StepKind kind = plan.steps[i].kind;
    if (kind == StepKind::compute) continue;
    if (planning::is_message(kind)) use.largest = std::max(use.largest, plan.steps[i].bytes);
    ranges[i] = those_of(of_messages, touched[i].written);
    const bool writes = !ranges[i].empty();
    std::ranges::copy(those_of(of_messages, touched[i].read), std::back_inserter(ranges[i]));
    if (ranges[i].empty()) continue;
    const bool goes_out = kind == StepKind::send || (writes && kind != StepKind::receive);
    use.sides[i] = goes_out ? MessageSide::out : MessageSide::in;
    for (const planning::MemoryRange& range : ranges[i])
      sides.at(number(i)).touch(range, static_cast<int>(i));
  }
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const auto is_of_others = [&](const planning::MemoryRange& range) {
      return sides.at(1 - number(i)).last(range) >= 0;
    };
    if (std::ranges::any_of(ranges[i], is_of_others)) use.apart = false;
  }
  return use;
}

std::vector<bool> message_buffers(const Plan& plan) {
  std::vector<bool> result(plan.buffers.size(), false);
  for (const Step& step : plan.steps) {
    if (!planning::is_message(step.kind)) continue;
    const Place& place = step.kind == StepKind::send ? step.from : step.to;
    if (planning::is_private(plan, place))
      result[static_cast<std::size_t>(planning::memory_of(plan, place))] = true;
  }
  return result;
}

std::vector<int> peers_of(const Plan& plan, StepKind kind) {
  std::vector<int> peers;
  for (const Step& step : plan.steps) {
    if (step.kind == kind) peers.push_back(step.peer);
  }
  std::sort(peers.begin(), peers.end());
  peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
  return peers;
}

}  // namespace partita::execution
