#include "distribution/arrangement.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "distribution/partition_spec.hpp"

namespace partita::distribution {
namespace {

void refuse_dimensions(const Distribution& distribution, int dimensions, const Shape& shape) {
  check(dimensions == shape.size(), "{} has {} dimensions; the array {} has {}", distribution.to_string(),
        dimensions, to_string(shape), shape.size());
}

void refuse_block(const Distribution& distribution, const Extents& block, const Shape& shape) {
  refuse_dimensions(distribution, block.size(), shape);
  for (const std::int64_t extent : block)
    check(extent >= 1, "{} has a block extent of {}; it must be at least 1", distribution.to_string(),
          extent);
}

void refuse_processes(const Distribution& distribution, int processes, int ranks) {
  check(processes <= ranks, "{} needs {} ranks; there are {}", distribution.to_string(), processes, ranks);
}

Cut non_cyclic(const Distribution& distribution, const BlockNonCyclic& rule, int i, std::int64_t extent) {
  const std::int64_t parts = rule.grid.extents()[i];
  const std::int64_t first = rule.grid.first()[i];
  if (rule.block.empty()) return Cut::ceil(extent, parts, first);
  const std::int64_t needed = extent / parts + (extent % parts != 0 ? 1 : 0);
  check(rule.block[i] >= needed, "{}: {} blocks of {} do not reach the extent {} of dimension {}",
        distribution.to_string(), parts, rule.block[i], extent, i);
  return Cut::blocks(extent, parts, rule.block[i], first);
}

/// All sums of coordinate * stride; the last axis fastest.
std::vector<std::int64_t> all_steps(const std::vector<GridAxis>& axes) {
  std::vector<std::int64_t> steps{0};
  for (const GridAxis& axis : axes) {
    std::vector<std::int64_t> next;
    for (const std::int64_t step : steps) {
      for (std::int64_t i = 0; i < axis.size; ++i) next.push_back(step + i * axis.stride);
    }
    steps = std::move(next);
  }
  return steps;
}

std::int64_t product(const std::vector<GridAxis>& axes) {
  std::int64_t size = 1;
  for (const GridAxis& axis : axes) size *= axis.size;
  return size;
}

}  // namespace

Arrangement Arrangement::of(const Distribution& distribution, const Shape& shape, int ranks) {
  Arrangement result;
  for (const std::int64_t extent : shape) result.dimensions_.push_back({Cut::balanced(extent, 1), {}});
  if (const auto* slab = distribution.as<Slab>()) {
    check(slab->axis >= 0 && slab->axis < shape.size(), "{} cuts axis {}; the array {} has {} dimensions",
          distribution.to_string(), slab->axis, to_string(shape), shape.size());
    result.dimensions_[static_cast<std::size_t>(slab->axis)] = {Cut::balanced(shape[slab->axis], ranks),
                                                                {{ranks, 1}}};
  } else if (const auto* cyclic = distribution.as<BlockCyclic>()) {
    refuse_dimensions(distribution, cyclic->grid.dimensions(), shape);
    refuse_block(distribution, cyclic->block, shape);
    refuse_processes(distribution, cyclic->grid.rank_bound(), ranks);
    result.place(cyclic->grid);
    for (int i = 0; i < shape.size(); ++i) {
      result.dimensions_[static_cast<std::size_t>(i)].cut =
          Cut::cyclic(shape[i], cyclic->grid.extents()[i], cyclic->block[i], cyclic->grid.first()[i]);
    }
  } else if (const auto* blocks = distribution.as<BlockNonCyclic>()) {
    refuse_dimensions(distribution, blocks->grid.dimensions(), shape);
    if (!blocks->block.empty()) refuse_block(distribution, blocks->block, shape);
    refuse_processes(distribution, blocks->grid.rank_bound(), ranks);
    result.place(blocks->grid);
    for (int i = 0; i < shape.size(); ++i)
      result.dimensions_[static_cast<std::size_t>(i)].cut = non_cyclic(distribution, *blocks, i, shape[i]);
  } else if (const auto* partitioned = distribution.as<Partitioned>()) {
    const ResolvedSpec spec = resolve(partitioned->spec, partitioned->mesh);
    refuse_dimensions(distribution, static_cast<int>(spec.dimensions.size()), shape);
    refuse_processes(distribution, partitioned->mesh.size(), ranks);
    std::vector<GridAxis> axes;
    std::int64_t stride = partitioned->mesh.size();
    for (const Mesh::Axis& axis : partitioned->mesh.axes()) {
      stride /= axis.size;
      axes.push_back({axis.size, stride});
    }
    const auto axis = [&](int i) { return axes[static_cast<std::size_t>(i)]; };
    for (const int i : spec.partial) result.partial_.push_back(axis(i));
    for (const int i : spec.replicated) result.replicated_.push_back(axis(i));
    for (int i = 0; i < shape.size(); ++i) {
      Dimension& dimension = result.dimensions_[static_cast<std::size_t>(i)];
      for (const int k : spec.dimensions[static_cast<std::size_t>(i)]) dimension.axes.push_back(axis(k));
      const std::int64_t parts = product(dimension.axes);
      const bool ceil = partitioned->spec.uneven == Uneven::ceil;
      dimension.cut = ceil ? Cut::ceil(shape[i], parts) : Cut::balanced(shape[i], parts);
    }
  } else {
    result.replicated_.push_back({ranks, 1});
  }
  result.finish();
  return result;
}

/// Dimension i is cut along dimension i of the grid.
void Arrangement::place(const ProcessGrid& grid) {
  const Strides strides = dense_strides(grid.extents(), grid.order());
  for (int i = 0; i < grid.dimensions(); ++i)
    dimensions_[static_cast<std::size_t>(i)].axes = {{grid.extents()[i], strides[i]}};
  ranks_ = grid.ranks();
}

void Arrangement::finish() {
  size_ = product(partial_) * product(replicated_);
  for (const Dimension& dimension : dimensions_) size_ *= product(dimension.axes);
  contribution_steps_ = all_steps(partial_);
  replica_steps_ = all_steps(replicated_);
  if (ranks_.empty()) return;
  numbers_.assign(static_cast<std::size_t>(*std::max_element(ranks_.begin(), ranks_.end())) + 1, -1);
  for (std::size_t i = 0; i < ranks_.size(); ++i)
    numbers_[static_cast<std::size_t>(ranks_[i])] = static_cast<std::int64_t>(i);
}

void Arrangement::embed(std::span<const int> members) {
  std::vector<int> ranks;
  for (std::int64_t i = 0; i < size_; ++i) ranks.push_back(members[static_cast<std::size_t>(rank(i))]);
  ranks_ = std::move(ranks);
  finish();
}

std::int64_t Arrangement::number(int rank) const {
  if (ranks_.empty()) return rank < size_ ? rank : -1;
  return static_cast<std::size_t>(rank) < numbers_.size() ? numbers_[static_cast<std::size_t>(rank)] : -1;
}

int Arrangement::rank(std::int64_t number) const {
  return ranks_.empty() ? static_cast<int>(number) : ranks_[static_cast<std::size_t>(number)];
}

std::optional<Extents> Arrangement::coordinates(int rank) const {
  const std::int64_t process = number(rank);
  if (process < 0) return std::nullopt;
  Extents result;
  for (const Dimension& dimension : dimensions_) {
    std::int64_t coordinate = 0;
    for (const GridAxis& axis : dimension.axes)
      coordinate = coordinate * axis.size + process / axis.stride % axis.size;
    result.push_back(coordinate);
  }
  return result;
}

std::int64_t Arrangement::step(int dimension, std::int64_t coordinate) const {
  const auto& axes = dimensions_[static_cast<std::size_t>(dimension)].axes;
  std::int64_t step = 0;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    step += coordinate % axis->size * axis->stride;
    coordinate /= axis->size;
  }
  return step;
}

std::vector<std::vector<int>> Arrangement::holders(std::int64_t number) const {
  std::vector<std::vector<int>> result;
  for (const std::int64_t contribution : contribution_steps_) {
    auto& replicas = result.emplace_back();
    for (const std::int64_t replica : replica_steps_)
      replicas.push_back(rank(number + contribution + replica));
    std::sort(replicas.begin(), replicas.end());
  }
  return result;
}

std::vector<int> Arrangement::replicas_of(int rank) const {
  std::int64_t base = number(rank);
  for (const GridAxis& axis : replicated_) base -= base / axis.stride % axis.size * axis.stride;
  std::vector<int> result;
  for (const std::int64_t replica : replica_steps_) result.push_back(this->rank(base + replica));
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace partita::distribution
