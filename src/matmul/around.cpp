#include "matmul/around.hpp"

#include <algorithm>
#include <utility>

#include "redistribute/staging.hpp"

namespace partita::multiplication {
namespace {

constexpr std::int64_t little_staging = std::int64_t{1} << 20;
constexpr std::int64_t least_staging = 256;  // of each rank of a node: a cache line in four slots

/// Every rank holds a contribution to all elements.
Layout contributions(const Shape& shape, int ranks) {
  PartitionSpec spec;
  spec.dimensions.resize(static_cast<std::size_t>(shape.size()));
  spec.partial_axes = {"rank"};
  spec.partial_reduction = Reduction::sum;
  return Layout(Partitioned{Mesh({{"rank", ranks}}), spec}, shape, ranks);
}

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

Operand gradient_of_a_rank(const Problem& problem) {
  return Operand::of(contributions(problem.gradient->layout.shape(), problem.ranks()), problem.compute,
                     Order::row_major, Residency::heap);
}

Operand gradient_summed(const Problem& problem) {
  Operand wide = in_scratch(*problem.gradient, problem.gradient->layout);
  wide.dtype = problem.compute;
  return wide;
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

std::int64_t array_bytes(const Operand& operand) {
  return operand.layout.largest_local_size() * size_of(operand.dtype);
}

}  // namespace partita::multiplication
