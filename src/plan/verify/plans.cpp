#include "plan/verify/plans.hpp"

#include <limits>
#include <map>

#include "base/check.hpp"
#include "plan/cost.hpp"
#include "plan/describe.hpp"

namespace partita::verification {
namespace {

void check_rank(const Plans& plans, int rank) {
  check<Fault>(rank >= 0 && rank < plans.ranks(), "there is no rank {}", rank);
}

void check_axis_order(const Extents& axis_order, int dimensions) {
  Extents sorted = axis_order;
  std::sort(sorted.begin(), sorted.end());
  bool fits = sorted.size() == dimensions;
  for (int i = 0; fits && i < dimensions; ++i) fits = sorted[i] == i;
  check<Fault>(fits, "the axis order {} of scratch is not one of {} dimensions", to_string(axis_order),
               dimensions);
}

void check_place(const Plans& plans, const Place& place, const Region* region) {
  check<Fault>(place.buffer >= 0 && static_cast<std::size_t>(place.buffer) < plans.plan(0).buffers.size(),
               "there is no buffer {}", place.buffer);
  check_rank(plans, place.rank);
  if (const std::optional<Operand>& operand = plans.buffer(place.buffer).operand) {
    check<Fault>(region != nullptr, "messages move scratch, not operands");
    check<Fault>(region->sets.size() == static_cast<std::size_t>(operand->layout.dimensions()),
                 "a region of {} dimensions in an array of {}", region->sets.size(),
                 operand->layout.dimensions());
    return;
  }
  const std::int64_t item = plans.item(place.buffer);
  check<Fault>(place.offset >= 0 && place.offset % item == 0,
               "the offset {} is not a multiple of the {} bytes of an element", place.offset, item);
  if (region != nullptr) check_axis_order(place.axis_order, static_cast<int>(region->sets.size()));
}

void check_message(const Plans& plans, const Step& step, int rank) {
  const Place& place = step.kind == StepKind::send ? step.from : step.to;
  check_rank(plans, step.peer);
  check_place(plans, place, nullptr);
  check<Fault>(place.rank == rank, "a message can only use the memory of the rank that sends or receives it");
  const std::int64_t item = plans.item(place.buffer);
  check<Fault>(step.bytes > 0 && step.bytes % item == 0,
               "{} bytes are not a positive multiple of the {} bytes of an element", step.bytes, item);
}

void check_counter(const Plans& plans, const Step& step) {
  check_rank(plans, step.peer);
  check<Fault>(step.channel >= 0 && step.channel < channel_count, "there is no channel {}", step.channel);
}

void check_after(const Plan& plan, const Step& step, int number) {
  for (const int message : step.after) {
    check<Fault>(message >= 0 && message < number &&
                     planning::is_message(plan.steps[static_cast<std::size_t>(message)].kind),
                 "step {} is not an earlier message", message);
  }
}

void check_step(const Plans& plans, const Step& step, int rank) {
  if (planning::is_copy(step.kind)) {
    check_place(plans, step.to, &step.region);
    if (step.kind != StepKind::fill) check_place(plans, step.from, &step.region);
  }
  if (step.kind == StepKind::compute) {
    planning::for_each_part(planning::work_of(plans.plan(rank), step), [&](const Part& part, planning::Use) {
      check_place(plans, part.place, &part.region);
    });
  }
  if (planning::is_message(step.kind)) check_message(plans, step, rank);
  if (step.kind == StepKind::signal || step.kind == StepKind::wait) check_counter(plans, step);
}

void check_plan(const Plans& plans, int rank, Faults& faults) {
  const Plan& plan = plans.plan(rank);
  if (plan.rank != rank) {
    faults.add(fmt::format("the plan of rank {} is one of rank {}", rank, plan.rank));
  }
  if (plan.hash() != plans.plan(0).hash()) {
    faults.add(fmt::format(
        "ranks 0 and {} differ in operation, identity, method, buffers or topology of their plans", rank));
  }
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    try {
      check_step(plans, plan.steps[i], rank);
      check_after(plan, plan.steps[i], static_cast<int>(i));
    } catch (const Fault& fault) {
      faults.add(fmt::format("{}: {}", label(plan, rank, i), fault.what()));
    }
  }
}

/// A round is sent as one group: it must be whole before anything waits for a part of it, and groups come in
/// order.
void check_order_of_rounds(const Plan& plan, Faults& faults) {
  std::int64_t last = -1;    // that has begun
  std::int64_t closed = -1;  // that something has waited for
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    const bool signals = step.kind == StepKind::signal || step.kind == StepKind::wait;
    if (plan.grouped && (signals || (planning::is_message(step.kind) && step.round < 0))) {
      faults.add(label(plan, plan.rank, i) + ": no part of a group");
    }
    for (const int message : step.after) {
      closed = std::max(closed, plan.steps[static_cast<std::size_t>(message)].round);
    }
    if (!planning::is_message(step.kind) || step.round < 0) continue;
    if (step.round < last || step.round <= closed) {
      faults.add(fmt::format("{}: it is of round {}, but round {} has {}", label(plan, plan.rank, i),
                             step.round, step.round < last ? last : closed,
                             step.round < last ? "begun" : "been waited for"));
    }
    last = std::max(last, step.round);
  }
}

/// Both ends of a message name the same round, or groups would wait for one another.
void check_rounds(const Plans& plans, Faults& faults) {
  std::map<std::pair<int, int>, std::vector<std::int64_t>> sent, received;  // by sender and receiver
  for (int rank = 0; rank < plans.ranks(); ++rank) {
    check_order_of_rounds(plans.plan(rank), faults);
    for (const Step& step : plans.plan(rank).steps) {
      if (step.kind == StepKind::send) sent[{rank, step.peer}].push_back(step.round);
      if (step.kind == StepKind::receive) received[{step.peer, rank}].push_back(step.round);
    }
  }
  for (const auto& [pair, rounds] : sent) {
    const auto found = received.find(pair);
    if (found == received.end() || found->second.size() != rounds.size() || found->second == rounds) continue;
    faults.add(
        fmt::format("ranks {} and {} name different rounds of their messages", pair.first, pair.second));
  }
}

}  // namespace

std::string label(const Plan& plan, int rank, std::size_t step) {
  return fmt::format("rank {}, step {} ({})", rank, step, planning::describe(plan, plan.steps[step]));
}

std::int64_t Plans::item(int number) const {
  const auto dtype = [](const Buffer& one) { return one.operand ? one.operand->dtype : one.dtype; };
  if (const auto own = dtype(buffer(number))) return size_of(*own);
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const Buffer& other : plans.front().buffers) {
    if (const auto theirs = dtype(other)) least = std::min(least, size_of(*theirs));
  }
  return least;
}

Plans ask(const Planner& planner, std::span<const int> operands) {
  check(static_cast<bool>(planner), "verify needs a planner");
  Plans plans{{planner(0)}};
  const int ranks = plans.plan(0).topology.ranks();
  for (int rank = 1; rank < ranks; ++rank) plans.plans.push_back(planner(rank));
  const auto buffers = static_cast<int>(plans.plan(0).buffers.size());
  for (const int number : operands) {
    check(number >= 0 && number < buffers && plans.buffer(number).operand.has_value(),
          "buffer {} of the plans is not an operand", number);
    check(plans.buffer(number).operand->layout.ranks() == ranks,
          "the operand {} is not bound to the {} ranks of the plans",
          plans.buffer(number).operand->to_string(), ranks);
  }
  return plans;
}

void check_structure(const Plans& plans, Faults& faults) {
  for (int rank = 0; rank < plans.ranks() && !faults.full(); ++rank) check_plan(plans, rank, faults);
  check_rounds(plans, faults);
}

}  // namespace partita::verification
