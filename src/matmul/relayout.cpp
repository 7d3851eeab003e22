#include "matmul/relayout.hpp"

#include <algorithm>
#include <utility>

#include "redistribute/staging.hpp"

namespace partita::multiplication {
namespace {

constexpr std::int64_t little_staging = std::int64_t{1} << 20;
constexpr std::int64_t least_staging = 256;  // of each rank of a node: a cache line in four slots

}  // namespace

Operand in_scratch(const Operand& operand, Layout layout) {
  Operand result = operand;
  result.layout = std::move(layout);
  result.dense = true;
  result.residency = Residency::heap;
  return result;
}

bool lies_as(const Operand& operand, const Layout& layout) {
  return operand.layout == layout || operand.layout.equivalent(layout);
}

Layout slabs(const Layout& layout, int first) {
  int axis = first;
  for (int i = first; i < layout.dimensions(); ++i) {
    if (layout.shape()[i] > layout.shape()[axis]) axis = i;
  }
  return Layout(Slab(axis), layout.shape(), layout.ranks());
}

RedistributeOptions redistribution_within(const Problem& problem) {
  RedistributeOptions options;
  if (problem.options.memory_limit == 0) return options;
  options.staging_bytes = std::max(little_staging, least_staging * problem.ranks());
  return options;
}

std::int64_t staging_bytes(const Problem& problem, const Operand& from, const Operand& to) {
  const redistribution::Problem posed =
      redistribution::make_problem(from, to, problem.topology, problem.rank, redistribution_within(problem));
  const redistribution::Staging staging =
      redistribution::choose_staging(posed, redistribution::choose_method(posed));
  return staging.shared_bytes + staging.private_bytes;
}

}  // namespace partita::multiplication
