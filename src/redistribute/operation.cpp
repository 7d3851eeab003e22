#include "redistribute/operation.hpp"

#include <utility>

#include "array/device_mirror.hpp"
#include "redistribute/packets.hpp"
#include "redistribute/problem.hpp"
#include "redistribute/rounds.hpp"

namespace partita::redistribution {

Redistribution::Redistribution(ContextState& context, const Operand& source,
                               std::function<Operand()> destination, const RedistributeOptions& options)
    : Operation(context, "redistribute"),
      given_source_(source),
      given_destination_(std::move(destination)),
      options_(options) {}

std::vector<Fact> Redistribution::prepare() {
  // What it refers to lives only as long as the call.
  const Operand target = std::exchange(given_destination_, nullptr)();
  std::vector<int> axes;
  if (!options_.axes.empty()) axes = inverse_axes(options_.axes, target.layout.dimensions());
  set_uses({{.name = "the source", .operand = given_source_},
            {.name = "the destination", .operand = target, .read = false, .written = true, .axes = axes}},
           std::exchange(options_.stream, std::nullopt));
  return facts(given_source_, target, options_);
}

Operand Redistribution::from() const {
  return arrays::as_planned(source(), destination().space);
}

Operand Redistribution::to() const {
  return arrays::as_planned(destination(), source().space);
}

RedistributeOptions Redistribution::planned_options() const {
  RedistributeOptions options = options_;
  const bool may = grouped() && options.method == RedistributeMethod::automatic;
  if (may && fits_rounds(make_problem(from(), to(), context().topology(space()), context().rank(), options)))
    options.method = RedistributeMethod::grouped;
  return options;
}

execution::Planned Redistribution::plan_of(int rank) const {
  Plan plan = plan_redistribute(from(), to(), context().topology(space()), rank, planned_options());
  plan.identity = facts(source(), destination(), options_);  // as the caller sees them
  return {std::move(plan)};
}

std::optional<execution::Planned> Redistribution::plan_in_packets(int rank) const {
  auto planned =
      redistribution::plan_in_packets(from(), to(), context().topology(space()), rank, planned_options());
  if (!planned) return std::nullopt;
  planned->plan.identity = facts(source(), destination(), options_);
  return execution::Planned{std::move(planned->plan), {}, planned->exchange};
}

}  // namespace partita::redistribution
