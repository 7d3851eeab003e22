#include "matmul/plan.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <tuple>

#include "base/check.hpp"
#include "base/option_text.hpp"
#include "base/round.hpp"
#include "matmul/choose/memory_limit.hpp"
#include "matmul/emit/assembly.hpp"
#include "matmul/roles.hpp"
#include "plan/moves.hpp"
#include "plan/work.hpp"

namespace partita::multiplication {
namespace {

std::string text(const std::optional<Operand>& operand) {
  return operand ? operand->to_string() : "none";
}

ProductPlan within_limit(const Problem& problem) {
  try {
    return Assembly(problem).finish();
  } catch (const LimitRefusal& refusal) {
    throw ArgumentError(
        fmt::format("{}; at least {} bytes are required", refusal.text(), enough_memory(problem)));
  }
}

/// One after the other: most multiplies have none.
std::string text_of_scales(const MatmulOperands& operands) {
  std::string result;
  for (const auto* scale : {&operands.epilogue.scale_a, &operands.epilogue.scale_b,
                            &operands.epilogue.scale_d, &operands.epilogue.amax_d}) {
    result += *scale ? (*scale)->to_string() + "; " : "none; ";
  }
  return result;
}

}  // namespace

std::vector<Fact> facts(const MatmulOperands& operands, const MatmulOptions& options, bool in_place) {
  OptionText option_text;
  for_each_option(options, in_place, option_text);
  return {{"A", operands.a.to_string()},
          {"B", operands.b.to_string()},
          {"C", text(operands.c)},
          {"D", operands.d.to_string()},
          {"the bias", text(operands.epilogue.bias)},
          {"the auxiliary array", text(operands.epilogue.auxiliary)},
          {"the gradient", text(operands.epilogue.gradient)},
          {"the scales of A, B, D and the amax", text_of_scales(operands)},
          {"options", option_text.text()}};
}

}  // namespace partita::multiplication

namespace partita {

multiplication::ProductPlan multiplication::plan_product(const MatmulOperands& operands,
                                                         const Topology& topology, int rank,
                                                         const MatmulOptions& options, const Machine& machine,
                                                         bool in_place, const std::optional<Groups>& groups) {
  Problem problem = make_problem(operands, topology, rank, options, machine, in_place);
  if (problem.on_device() && topology.node_count() > 1 && options.memory_limit == 0) problem.groups = groups;
  if (problem.grouped()) problem.topology = Topology::regular(topology.ranks(), 1);
  ProductPlan planned = within_limit(problem);
  Plan& plan = planned.plan;
  plan.grouped = problem.grouped();
  plan.topology = topology;
  plan.identity = facts(operands, options, in_place);
  if (plan.grouped) plan.reason += "; messages in rounds, each one group of sends and receives";
  plan.reason += host_copies_text(operands, options);
  return planned;
}

Plan plan_matmul(const MatmulOperands& operands, const Topology& topology, int rank,
                 const MatmulOptions& options, const Machine& machine, bool in_place) {
  return multiplication::plan_product(operands, topology, rank, options, machine, in_place, {}).plan;
}

namespace {

/// What of this rank's memory a step reads or writes.
template <class Visit>
void for_each_own_part(const Plan& plan, const Step& step, const Visit& visit) {
  const auto own = [&](const Part& part, planning::Use use) {
    if (part.place.rank == plan.rank) visit(part, use);
  };
  if (step.kind == StepKind::compute) return planning::for_each_part(planning::work_of(plan, step), own);
  if (step.kind != StepKind::copy && step.kind != StepKind::accumulate) return;
  own({step.region, step.from}, planning::Use::read);
  own({step.region, step.to}, planning::Use::written);
}

bool is_shared_scratch(const Plan& plan, const Place& place) {
  const Buffer& buffer = planning::buffer_of(plan, place);
  return buffer.kind == BufferKind::shared && !buffer.operand;
}

/// What neighbours have put into this rank's scratch, where it writes nothing itself. Counted once, however
/// often it is read.
std::int64_t put_by_neighbours(const Plan& plan) {
  std::set<int> own;
  std::set<std::tuple<int, std::int64_t, std::string>> seen;
  std::int64_t elements = 0;
  for (const Step& step : plan.steps) {
    for_each_own_part(plan, step, [&](const Part& part, planning::Use use) {
      if (use != planning::Use::read) own.insert(part.place.buffer);
    });
  }
  for (const Step& step : plan.steps) {
    for_each_own_part(plan, step, [&](const Part& part, planning::Use use) {
      const Place& place = part.place;
      if (use != planning::Use::read || own.contains(place.buffer) || !is_shared_scratch(plan, place)) return;
      if (seen.emplace(place.buffer, place.offset, to_string(part.region)).second)
        elements += part.region.size();
    });
  }
  return elements;
}

bool is_panel(const Plan& plan, const Place& place) {
  return planning::buffer_of(plan, place).filled_beside;
}

/// What neighbours have put into this rank's panels: what is read of them but for what it has copied itself.
std::int64_t put_into_panels(const Plan& plan) {
  std::map<int, std::vector<Region>> read;  // by buffer; none within another
  std::int64_t elements = 0;
  const auto holds = [](const Region& all, const Region& region) {
    return intersect(all, region).size() == region.size();
  };
  for (const Step& step : plan.steps) {
    for_each_own_part(plan, step, [&](const Part& part, planning::Use use) {
      if (!is_panel(plan, part.place)) return;
      if (use != planning::Use::read) elements -= part.region.size();
      std::vector<Region>& regions = read[part.place.buffer];
      if (use != planning::Use::read ||
          std::ranges::any_of(regions, [&](const Region& one) { return holds(one, part.region); }))
        return;
      std::erase_if(regions, [&](const Region& one) { return holds(part.region, one); });
      regions.push_back(part.region);
    });
  }
  for (const auto& [buffer, regions] : read) {
    for (const Region& region : regions) elements += region.size();
  }
  return elements;
}

/// Elements that come in from other ranks. What works read in place again and again is counted once.
std::int64_t incoming(const Plan& plan) {
  std::int64_t elements = put_by_neighbours(plan) + put_into_panels(plan);
  for (const Step& step : plan.steps) {
    if (step.kind == StepKind::copy || step.kind == StepKind::accumulate) {
      const bool leaves =
          step.to.rank != plan.rank && (is_shared_scratch(plan, step.to) || is_panel(plan, step.to));
      const bool crosses = step.from.rank != plan.rank || step.to.rank != plan.rank;
      if (crosses && !leaves) elements += step.region.size();
    } else if (step.kind == StepKind::receive) {
      elements += step.bytes / size_of(planning::dtype_at(plan, step.to));
    }
  }
  for (const Part& part : planning::parts_read_from_peers(plan)) elements += part.region.size();
  return elements;
}

}  // namespace

MatmulVolume matmul_volume(const Plan& plan) {
  MatmulVolume result;
  result.received = incoming(plan);
  const bool known = !plan.buffers.empty() && plan.buffers.front().operand;
  const std::int64_t item = known ? size_of(plan.buffers.front().operand->dtype) : 1;
  result.scratch = ceil_divide(planning::scratch_bytes(plan), item);
  return result;
}

}  // namespace partita
