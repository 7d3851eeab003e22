#include "matmul/plan.hpp"

#include <fmt/format.h>

#include <string>

#include "base/check.hpp"
#include "base/option_text.hpp"
#include "matmul/choose/memory_limit.hpp"
#include "matmul/emit/assembly.hpp"
#include "matmul/roles.hpp"

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

}  // namespace partita
