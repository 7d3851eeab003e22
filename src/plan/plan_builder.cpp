#include "plan/plan_builder.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "plan/work.hpp"

namespace partita::planning {
namespace {

Step step_of(StepKind kind, int peer) {
  Step step;
  step.kind = kind;
  step.peer = peer;
  return step;
}

Step move_step(StepKind kind, int owner, Region region, const Place& from, const Place& to,
               std::vector<int> after) {
  Step step = step_of(kind, owner);
  step.region = std::move(region);
  step.from = from;
  step.to = to;
  step.after = std::move(after);
  return step;
}

Step message_step(StepKind kind, int peer, const Place& place, std::int64_t bytes, std::int64_t round) {
  Step step = step_of(kind, peer);
  (kind == StepKind::send ? step.from : step.to) = place;
  step.bytes = bytes;
  step.round = round;
  return step;
}

}  // namespace

PlanBuilder::PlanBuilder(Plan& plan) : plan_(plan) {
  for (const Step& step : plan.steps) {
    if (step.kind != StepKind::wait) continue;
    std::int64_t& most = waited_[{step.peer, step.channel}];
    most = std::max(most, step.count);
  }
}

// --- buffers

int PlanBuilder::add(Buffer buffer) {
  plan_.buffers.push_back(std::move(buffer));
  return static_cast<int>(plan_.buffers.size()) - 1;
}

int PlanBuilder::add_operand(std::string name, const Operand& operand) {
  return add({std::move(name), BufferKind::operand, operand, 0});
}

int PlanBuilder::add_array(std::string name, const Operand& operand, BufferKind kind) {
  const std::int64_t elements = kind == BufferKind::shared ? operand.layout.largest_local_size()
                                                           : operand.layout.local_size(plan_.rank);
  return add({std::move(name), kind, operand, elements * size_of(operand.dtype)});
}

int PlanBuilder::add_view(int buffer, const Operand& operand) {
  return add({"view", BufferKind::shared, operand, 0, {}, buffer});
}

int PlanBuilder::add_scratch(std::string name, BufferKind kind, std::int64_t bytes,
                             std::optional<Dtype> dtype) {
  return add({std::move(name), kind, {}, bytes, dtype});
}

int PlanBuilder::add_or_share(const Buffer& wanted) {
  auto& buffers = plan_.buffers;
  const auto found = std::ranges::find_if(buffers, [&](const Buffer& buffer) {
    return buffer.kind == wanted.kind && buffer.name == wanted.name && buffer.dtype == wanted.dtype &&
           !buffer.operand;
  });
  if (found == buffers.end()) return add(wanted);
  found->bytes = std::max(found->bytes, wanted.bytes);
  return static_cast<int>(found - buffers.begin());
}

// --- steps

int PlanBuilder::push(Step step) {
  plan_.steps.push_back(std::move(step));
  return static_cast<int>(plan_.steps.size()) - 1;
}

int PlanBuilder::copy(int owner, Region region, const Place& from, const Place& to, std::vector<int> after) {
  return push(move_step(StepKind::copy, owner, std::move(region), from, to, std::move(after)));
}

int PlanBuilder::accumulate(int owner, Reduction reduction, Region region, const Place& from, const Place& to,
                            std::vector<int> after) {
  Step step = move_step(StepKind::accumulate, owner, std::move(region), from, to, std::move(after));
  step.reduction = reduction;
  return push(std::move(step));
}

int PlanBuilder::fill(Reduction identity_of, Region region, const Place& to) {
  Step step = move_step(StepKind::fill, plan_.rank, std::move(region), to, to, {});
  step.reduction = identity_of;
  return push(std::move(step));
}

int PlanBuilder::compute(Work work, std::vector<int> after) {
  Step step = step_of(StepKind::compute, plan_.rank);
  step.work = static_cast<int>(plan_.works.size());
  step.after = std::move(after);
  plan_.works.push_back(std::move(work));
  return push(std::move(step));
}

int PlanBuilder::signal(int peer, Channel channel) {
  Step step = step_of(StepKind::signal, peer);
  step.channel = static_cast<int>(channel);
  return push(std::move(step));
}

int PlanBuilder::wait_for(int peer, Channel channel, std::int64_t signals) {
  return wait(peer, channel, waited_[{peer, static_cast<int>(channel)}] + signals);
}

int PlanBuilder::wait(int peer, Channel channel, std::int64_t number) {
  Step step = step_of(StepKind::wait, peer);
  step.channel = static_cast<int>(channel);
  step.count = number;
  std::int64_t& most = waited_[{peer, step.channel}];
  most = std::max(most, number);
  return push(std::move(step));
}

int PlanBuilder::send(int peer, const Place& from, std::int64_t bytes, std::int64_t round) {
  return push(message_step(StepKind::send, peer, from, bytes, round));
}

int PlanBuilder::receive(int peer, const Place& to, std::int64_t bytes, std::int64_t round) {
  return push(message_step(StepKind::receive, peer, to, bytes, round));
}

int PlanBuilder::send_sized(int peer, const Place& from, std::int64_t most, std::int64_t expected,
                            const Place& size) {
  Step step = message_step(StepKind::send, peer, from, most, -1);
  step.to = size;
  step.expected_bytes = expected;
  return push(std::move(step));
}

int PlanBuilder::receive_sized(int peer, const Place& to, std::int64_t most, std::int64_t expected,
                               const Place& size) {
  Step step = message_step(StepKind::receive, peer, to, most, -1);
  step.from = size;
  step.expected_bytes = expected;
  return push(std::move(step));
}

void PlanBuilder::finish(std::vector<int> messages) {
  if (messages.empty()) return;
  Step step;
  step.kind = StepKind::finish;
  step.after = std::move(messages);
  push(std::move(step));
}

// --- other plans

void PlanBuilder::append(Plan part, std::span<const int> buffers, const std::function<void(int)>& before) {
  const std::map<Counter, std::int64_t> counted = waited_;
  const auto first_work = static_cast<int>(plan_.works.size());
  const std::int64_t first_round = new_rounds();
  const auto renumber = [&](Place& place) { place.buffer = buffers[static_cast<std::size_t>(place.buffer)]; };
  for (Work& work : part.works) {
    for_each_part(work, [&](Part& used, Use) { renumber(used.place); });
    plan_.works.push_back(std::move(work));
  }
  std::vector<int> number;  // in `plan`, of each step of `part`
  number.reserve(part.steps.size());
  plan_.steps.reserve(plan_.steps.size() + part.steps.size());
  for (Step& step : part.steps) {
    if (before) before(static_cast<int>(number.size()));
    renumber(step.from);
    renumber(step.to);
    for (int& message : step.after) message = number[static_cast<std::size_t>(message)];
    if (step.work >= 0) step.work += first_work;
    if (step.round >= 0) {
      invariant(step.round < most_rounds, "a plan that contains appended plans cannot be appended");
      step.round += first_round;
    }
    if (step.kind == StepKind::wait) {
      const Counter counter{step.peer, step.channel};
      if (const auto found = counted.find(counter); found != counted.end()) step.count += found->second;
      std::int64_t& most = waited_[counter];
      most = std::max(most, step.count);
    }
    number.push_back(push(std::move(step)));
  }
}

void PlanBuilder::append(Plan part, int from, int to, const std::function<void(int)>& before) {
  std::vector<int> buffers{from, to};
  for (std::size_t i = 2; i < part.buffers.size(); ++i) buffers.push_back(add_or_share(part.buffers[i]));
  append(std::move(part), buffers, before);
}

}  // namespace partita::planning
