#include "collectives/layouts.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/check.hpp"

namespace partita::collective {

Layout contributions(const Shape& shape, Reduction reduction, int ranks) {
  if (ranks == 1) return everywhere(shape, 1);
  PartitionSpec spec;
  spec.dimensions.resize(static_cast<std::size_t>(shape.size()));
  spec.partial_axes = {"r"};
  spec.partial_reduction = reduction;
  return {Partitioned{Mesh({{"r", ranks}}), spec}, shape, ranks};
}

Layout everywhere(const Shape& shape, int ranks) {
  return {Replicated{}, shape, ranks};
}

Layout at_root(const Shape& shape, int root, int ranks) {
  return everywhere(shape, 1).embedded(std::vector<int>{root}, ranks);
}

Layout beside_root(const Shape& shape, int root, int ranks) {
  std::vector<int> others;
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank != root) others.push_back(rank);
  }
  return everywhere(shape, ranks - 1).embedded(others, ranks);
}

Layout parts(const Shape& shape, std::span<const std::int64_t> counts, int ranks) {
  if (counts.empty()) return {Slab(0), shape, ranks};
  std::vector<Box::Bounds> boxes;
  std::int64_t first = 0;
  for (const std::int64_t count : counts) {
    Box::Bounds box{Extents::filled(shape.size(), 0), shape};
    box.lower[0] = first;
    box.upper[0] = first += count;
    boxes.push_back(box);
  }
  return {Box(std::move(boxes)), shape, ranks};
}

Layout slices(const Shape& shape, int ranks) {
  if (shape.empty()) return at_root(shape, 0, ranks);
  return {Slab(longest(shape)), shape, ranks};
}

Layout by_rank(const Shape& shape, int ranks) {
  return {Slab(0), with_first(ranks, shape), ranks};
}

Shape with_first(std::int64_t first, const Shape& shape) {
  check(shape.size() < max_dimensions, "views of {} dimensions; at most {} are supported", shape.size(),
        max_dimensions - 1);
  Shape result{first};
  for (const std::int64_t extent : shape) result.push_back(extent);
  return result;
}

int longest(const Shape& shape) {
  return static_cast<int>(std::max_element(shape.begin(), shape.end()) - shape.begin());
}

}  // namespace partita::collective
