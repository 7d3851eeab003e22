#include "distribution/arrangement.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "distribution/partition_spec.hpp"

namespace partita::distribution {

struct Arrangement::Binding {
  const Distribution& distribution;
  const Shape& shape;
  int ranks;

  void refuse_dimensions(int dimensions) const {
    check(dimensions == shape.size(), "{} has {} dimensions; the array {} has {}", distribution.to_string(),
          dimensions, to_string(shape), shape.size());
  }
  void refuse_block(const Extents& block) const {
    refuse_dimensions(block.size());
    for (const std::int64_t extent : block) {
      check(extent >= 1, "{} has a block extent of {}; it must be at least 1", distribution.to_string(),
            extent);
    }
  }
  void refuse_processes(int processes) const {
    check(processes <= ranks, "{} needs {} ranks; there are {}", distribution.to_string(), processes, ranks);
  }
};

namespace {

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
  const Binding binding{distribution, shape, ranks};
  std::visit([&](const auto& rule) { result.arrange(rule, binding); }, distribution.rule());
  result.finish();
  return result;
}

void Arrangement::arrange(const Slab& rule, const Binding& binding) {
  const Shape& shape = binding.shape;
  check(rule.axis >= 0 && rule.axis < shape.size(),
        "slab:{} distributes axis {}, but the array {} has {} dimensions", rule.axis, rule.axis,
        to_string(shape), shape.size());
  dimensions_[static_cast<std::size_t>(rule.axis)] = {Cut::balanced(shape[rule.axis], binding.ranks),
                                                      {{binding.ranks, 1}}};
}

void Arrangement::arrange(const Box&, const Binding& binding) {
  invariant(false, "{} has no process grid", binding.distribution.to_string());
}

void Arrangement::arrange(const BlockCyclic& rule, const Binding& binding) {
  binding.refuse_dimensions(rule.grid.dimensions());
  binding.refuse_block(rule.block);
  binding.refuse_processes(rule.grid.rank_bound());
  place(rule.grid);
  for (int i = 0; i < binding.shape.size(); ++i) {
    dimensions_[static_cast<std::size_t>(i)].cut =
        Cut::cyclic(binding.shape[i], rule.grid.extents()[i], rule.block[i], rule.grid.first()[i]);
  }
}

void Arrangement::arrange(const BlockNonCyclic& rule, const Binding& binding) {
  binding.refuse_dimensions(rule.grid.dimensions());
  if (!rule.block.empty()) binding.refuse_block(rule.block);
  binding.refuse_processes(rule.grid.rank_bound());
  place(rule.grid);
  for (int i = 0; i < binding.shape.size(); ++i) {
    const std::int64_t extent = binding.shape[i];
    const std::int64_t parts = rule.grid.extents()[i];
    Cut cut = Cut::ceil(extent, parts, rule.grid.first()[i]);
    if (!rule.block.empty()) {
      check(rule.block[i] >= cut.block, "{}: {} blocks of {} do not cover the extent {} of dimension {}",
            binding.distribution.to_string(), parts, rule.block[i], extent, i);
      cut = Cut::blocks(extent, parts, rule.block[i], cut.first);
    }
    dimensions_[static_cast<std::size_t>(i)].cut = cut;
  }
}

void Arrangement::arrange(const Replicated&, const Binding& binding) {
  replicated_.push_back({binding.ranks, 1});
}

void Arrangement::arrange(const Partitioned& rule, const Binding& binding) {
  const ResolvedSpec spec = resolve(rule.spec, rule.mesh);
  binding.refuse_dimensions(static_cast<int>(spec.dimensions.size()));
  binding.refuse_processes(rule.mesh.rank_bound());
  ranks_ = rule.mesh.ranks();
  std::vector<GridAxis> axes;  // the last one fastest
  std::int64_t stride = rule.mesh.size();
  for (const Mesh::Axis& axis : rule.mesh.axes()) {
    stride /= axis.size;
    axes.push_back({axis.size, stride});
  }
  for (const int i : spec.partial) partial_.push_back(axes[static_cast<std::size_t>(i)]);
  for (const int i : spec.replicated) replicated_.push_back(axes[static_cast<std::size_t>(i)]);
  for (int i = 0; i < binding.shape.size(); ++i) {
    Dimension& dimension = dimensions_[static_cast<std::size_t>(i)];
    for (const int k : spec.dimensions[static_cast<std::size_t>(i)])
      dimension.axes.push_back(axes[static_cast<std::size_t>(k)]);
    const std::int64_t parts = product(dimension.axes);
    const bool ceil = rule.spec.uneven == Uneven::ceil;
    dimension.cut = ceil ? Cut::ceil(binding.shape[i], parts) : Cut::balanced(binding.shape[i], parts);
  }
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

void Arrangement::look_through(const Index& lower, const Shape& shape) {
  for (int i = 0; i < shape.size(); ++i) {
    Cut& cut = dimensions_[static_cast<std::size_t>(i)].cut;
    cut = cut.window(lower[i], shape[i]);
  }
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
