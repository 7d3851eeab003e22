#include "redistribute/problem.hpp"

#include <fmt/format.h>

#include "base/check.hpp"
#include "base/option_text.hpp"

namespace partita::redistribution {

namespace {

void check_ranks(const Operand& source, const Operand& destination, const Topology& topology, int rank) {
  check(source.layout.ranks() == topology.ranks() && destination.layout.ranks() == topology.ranks(),
        "cannot redistribute {} into {}: both must be laid out over the {} ranks of the group",
        source.layout.to_string(), destination.layout.to_string(), topology.ranks());
  check(rank >= 0 && rank < topology.ranks(), "rank {} is not one of the {} ranks", rank, topology.ranks());
}

void check_shapes(const Operand& source, const Operand& destination, const Operand& permuted,
                  const std::vector<int>& axes) {
  check(source.layout.shape() == permuted.layout.shape(),
        "cannot redistribute an array of shape {} into one of shape {}{}", to_string(source.layout.shape()),
        to_string(destination.layout.shape()),
        axes.empty() ? std::string() : fmt::format(" with axes ({})", fmt::join(axes, ",")));
}

void check_reduction(const Operand& operand, const char* role) {
  const std::optional<Partial> partial = operand.layout.partial();
  if (!partial) return;
  check(is_defined(partial->reduction, operand.dtype), "the {} is a partial {}, which is not defined for {}",
        role, name(partial->reduction), name(operand.dtype));
}

}  // namespace

std::vector<int> inverse_axes(const std::vector<int>& axes, int dimensions) {
  std::vector<int> inverse(static_cast<std::size_t>(dimensions), -1);
  const auto count = static_cast<int>(axes.size());
  check(axes.empty() || count == dimensions, "axes ({}) name {} dimensions, but the array has {}",
        fmt::join(axes, ","), count, dimensions);
  for (int i = 0; i < dimensions; ++i) {
    const int axis = axes.empty() ? i : axes[static_cast<std::size_t>(i)];
    check(axis >= 0 && axis < dimensions && inverse[static_cast<std::size_t>(axis)] < 0,
          "axes ({}) are not a permutation of 0 .. {}", fmt::join(axes, ","), dimensions - 1);
    inverse[static_cast<std::size_t>(axis)] = i;
  }
  return inverse;
}

Problem make_problem(const Operand& source, const Operand& destination, const Topology& topology, int rank,
                     const RedistributeOptions& options) {
  check_ranks(source, destination, topology, rank);
  check(source.dtype == destination.dtype, "cannot redistribute {} into {}: the dtypes must be the same",
        name(source.dtype), name(destination.dtype));
  check(options.staging_bytes >= 0, "staging_bytes must not be negative, but is {}", options.staging_bytes);
  check<UnsupportedError>(source.space == destination.space,
                          "source and destination of a plan must both be in host memory or both in device "
                          "memory, but the source is "
                          "{} and the destination is {}",
                          source.to_string(), destination.to_string());
  const int dimensions = destination.layout.dimensions();
  const std::vector<int> inverse = inverse_axes(options.axes, dimensions);
  // dim i of the destination is dim axes[i] of the source => dim d of the source is dim inverse[d].
  const Operand permuted = options.axes.empty() ? destination : destination.permuted(inverse);
  check_shapes(source, destination, permuted, options.axes);
  check_reduction(source, "source");
  check_reduction(destination, "destination");
  const bool same_layout = source.layout.equivalent(permuted.layout);
  const bool accumulates = source.layout.partial() && !same_layout;
  return {source, permuted, topology, rank, options, same_layout, accumulates};
}

std::vector<Fact> facts(const Operand& source, const Operand& destination,
                        const RedistributeOptions& options) {
  OptionText text;
  for_each_option(options, text);
  return {{"source", source.to_string()}, {"destination", destination.to_string()}, {"options", text.text()}};
}

}  // namespace partita::redistribution
