#include <algorithm>
#include <map>

#include "base/check.hpp"
#include "plan/cost.hpp"
#include "plan/describe.hpp"
#include "plan/verify/problem.hpp"

namespace partita::symbolic {
namespace {

void check_rank(const Problem& problem, int rank) {
  check<Fault>(rank >= 0 && rank < problem.ranks(), "there is no rank {}", rank);
}

void check_axis_order(const Extents& axis_order, int dimensions) {
  Extents sorted = axis_order;
  std::sort(sorted.begin(), sorted.end());
  bool fits = sorted.size() == dimensions;
  for (int i = 0; fits && i < dimensions; ++i) fits = sorted[i] == i;
  check<Fault>(fits, "the axis order {} of scratch is not one of {} dimensions", to_string(axis_order),
               dimensions);
}

void check_place(const Problem& problem, const Place& place, bool is_region) {
  const std::vector<Buffer>& buffers = problem.plan(0).buffers;
  check<Fault>(place.buffer >= 0 && static_cast<std::size_t>(place.buffer) < buffers.size(),
               "there is no buffer {}", place.buffer);
  check_rank(problem, place.rank);
  if (problem.buffer(place.buffer).operand) {
    check<Fault>(is_region, "messages move scratch, not operands");
    return;
  }
  check<Fault>(place.offset >= 0 && place.offset % problem.item() == 0,
               "the offset {} is not a multiple of the {} bytes of an element", place.offset, problem.item());
  if (is_region) check_axis_order(place.axis_order, problem.shape().size());
}

void check_message(const Problem& problem, const Step& step, int rank) {
  const Place& place = step.kind == StepKind::send ? step.from : step.to;
  check_rank(problem, step.peer);
  check_place(problem, place, false);
  check<Fault>(place.rank == rank, "a message moves memory of its own rank only");
  check<Fault>(step.bytes > 0 && step.bytes % problem.item() == 0,
               "{} bytes are not a positive multiple of the {} bytes of an element", step.bytes,
               problem.item());
}

void check_counter(const Problem& problem, const Step& step) {
  check_rank(problem, step.peer);
  check<Fault>(step.channel >= 0 && step.channel < channel_count, "there is no channel {}", step.channel);
}

void check_after(const Plan& plan, const Step& step, int number) {
  for (const int message : step.after) {
    check<Fault>(
        message >= 0 && message < number && is_message(plan.steps[static_cast<std::size_t>(message)].kind),
        "step {} is not an earlier message", message);
  }
}

void check_step(const Problem& problem, const Step& step, int rank) {
  if (is_copy(step.kind)) {
    check<Fault>(step.region.sets.size() == static_cast<std::size_t>(problem.shape().size()),
                 "a region of {} dimensions in an array of {}", step.region.sets.size(),
                 problem.shape().size());
    check_place(problem, step.to, true);
    if (step.kind != StepKind::fill) check_place(problem, step.from, true);
  }
  if (is_message(step.kind)) check_message(problem, step, rank);
  if (step.kind == StepKind::signal || step.kind == StepKind::wait) check_counter(problem, step);
}

void check_plan(const Problem& problem, int rank, Faults& faults) {
  const Plan& plan = problem.plan(rank);
  if (plan.rank != rank) {
    faults.add(fmt::format("the plan of rank {} says that it is of rank {}", rank, plan.rank));
  }
  if (plan.hash() != problem.plan(0).hash()) {
    faults.add(fmt::format(
        "ranks 0 and {} differ in operation, identity, method, buffers or topology of their plans", rank));
  }
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    try {
      check_step(problem, plan.steps[i], rank);
      check_after(plan, plan.steps[i], static_cast<int>(i));
    } catch (const Fault& fault) {
      faults.add(
          fmt::format("rank {}, step {} ({}): {}", rank, i, describe(plan, plan.steps[i]), fault.what()));
    }
  }
}

/// A round goes as one group: it must be whole before anything waits for a part of it, and groups come in
/// order.
void check_order_of_rounds(const Plan& plan, Faults& faults) {
  std::int64_t last = -1;    // that has begun
  std::int64_t closed = -1;  // that something has waited for
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    const bool signals = step.kind == StepKind::signal || step.kind == StepKind::wait;
    if (plan.grouped && (signals || (is_message(step.kind) && step.round < 0))) {
      faults.add(
          fmt::format("rank {}, step {} ({}): no part of a group", plan.rank, i, describe(plan, step)));
    }
    for (const int message : step.after) {
      closed = std::max(closed, plan.steps[static_cast<std::size_t>(message)].round);
    }
    if (!is_message(step.kind) || step.round < 0) continue;
    if (step.round < last || step.round <= closed) {
      faults.add(fmt::format("rank {}, step {} ({}): it is of round {}, but round {} has {}", plan.rank, i,
                             describe(plan, step), step.round, step.round < last ? last : closed,
                             step.round < last ? "begun" : "been waited for"));
    }
    last = std::max(last, step.round);
  }
}

/// Both ends of a message name the same round, or groups would wait for one another.
void check_rounds(const Problem& problem, Faults& faults) {
  std::map<std::pair<int, int>, std::vector<std::int64_t>> sent, received;  // by sender and receiver
  for (int rank = 0; rank < problem.ranks(); ++rank) {
    check_order_of_rounds(problem.plan(rank), faults);
    for (const Step& step : problem.plan(rank).steps) {
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

void check_structure(const Problem& problem, Faults& faults) {
  for (int rank = 0; rank < problem.ranks() && !faults.full(); ++rank) check_plan(problem, rank, faults);
  check_rounds(problem, faults);
}

}  // namespace partita::symbolic
