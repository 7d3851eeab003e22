// Random layouts, and who owns what in them by the plainest possible loops: independent of the library's
// sets.
#pragma once

#include <algorithm>
#include <functional>
#include <partita/layout.hpp>
#include <random>

namespace partita::model {

class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}
  std::int64_t operator()(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  int small(int low, int high) { return static_cast<int>((*this)(low, high)); }
  template <class T>
  void shuffle(std::vector<T>& list) {
    std::shuffle(list.begin(), list.end(), engine_);
  }

 private:
  std::mt19937 engine_;
};

inline bool contains(const Region& region, const Index& index) {
  if (region.sets.size() != static_cast<std::size_t>(index.size())) return false;
  for (int i = 0; i < index.size(); ++i) {
    if (!region.sets[static_cast<std::size_t>(i)].contains(index[i])) return false;
  }
  return true;
}

/// 1 to 5 dimensions of 0 to 40, primes among them, of a volume that loops can walk.
inline Shape random_shape(Draw& draw, std::int64_t most = 900) {
  for (;;) {
    Shape shape;
    const int dimensions = draw.small(1, 5);
    const std::int64_t limit =
        std::array<std::int64_t, 6>{0, 40, 40, 13, 8, 5}[static_cast<std::size_t>(dimensions)];
    for (int i = 0; i < dimensions; ++i) shape.push_back(draw(draw(0, 15) == 0 ? 0 : 1, limit));
    if (volume(shape) <= most) return shape;
  }
}

inline void for_each_index(const Shape& shape, const std::function<void(const Index&)>& visit) {
  const std::int64_t count = volume(shape);
  const Strides strides = dense_strides(shape);
  for (std::int64_t i = 0; i < count; ++i) {
    Index index = shape;
    for (int k = 0; k < shape.size(); ++k) index[k] = i / strides[k] % shape[k];
    visit(index);
  }
}

inline ProcessGrid random_grid(Draw& draw, int dimensions, int most) {
  Extents extents;
  Extents first;
  std::int64_t size = 1;
  for (int i = 0; i < dimensions; ++i) {
    extents.push_back(draw(1, std::min<std::int64_t>(4, most / size)));
    first.push_back(draw(0, 2) == 0 ? draw(0, extents[i] - 1) : 0);
    size *= extents[i];
  }
  const std::int64_t order = draw(0, 2);
  if (order < 2) return ProcessGrid(extents, order == 0 ? Order::row_major : Order::column_major, first);
  std::vector<int> ranks;
  for (int rank = 0; rank < most; ++rank) ranks.push_back(rank);
  draw.shuffle(ranks);
  ranks.resize(static_cast<std::size_t>(size));
  return ProcessGrid::of_ranks(extents, ranks, first);
}

/// Splits the array at random places into at most `ranks` boxes, some of them empty, in random order.
inline Box random_boxes(Draw& draw, const Shape& shape, int ranks) {
  std::vector<Box::Bounds> boxes{{Extents::filled(shape.size(), 0), shape}};
  while (static_cast<int>(boxes.size()) < ranks && draw(0, 7) != 0) {
    const auto which = static_cast<std::size_t>(draw(0, std::ssize(boxes) - 1));
    const int axis = draw.small(0, shape.size() - 1);
    Box::Bounds upper = boxes[which];
    const std::int64_t cut = draw(upper.lower[axis], upper.upper[axis]);
    boxes[which].upper[axis] = upper.lower[axis] = cut;
    boxes.push_back(upper);
  }
  draw.shuffle(boxes);
  return Box(boxes);
}

/// So many of the ranks, in any order.
inline std::vector<int> random_ranks(Draw& draw, int count, int ranks) {
  std::vector<int> all(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) all[static_cast<std::size_t>(rank)] = rank;
  draw.shuffle(all);
  all.resize(static_cast<std::size_t>(count));
  return all;
}

inline Partitioned random_partitioned(Draw& draw, int dimensions, int ranks) {
  std::vector<Mesh::Axis> axes;
  PartitionSpec spec;
  spec.dimensions.resize(static_cast<std::size_t>(dimensions));
  spec.uneven = draw(0, 1) == 0 ? Uneven::ceil : Uneven::balanced;
  spec.partial_reduction = Reduction::max;
  for (int size = 1, i = 0; i < 3; ++i) {
    axes.push_back({"a" + std::to_string(i), draw.small(1, std::min(4, ranks / size))});
    size *= axes.back().size;
  }
  for (const Mesh::Axis& axis : axes) {
    const std::int64_t where = draw(-2, dimensions - 1);
    if (where == -1) spec.partial_axes.push_back(axis.name);
    if (where < 0) continue;
    auto& names = spec.dimensions[static_cast<std::size_t>(where)];
    names.insert(names.begin() + draw(0, std::ssize(names)), axis.name);
  }
  Mesh mesh(axes);
  if (draw(0, 2) == 0) mesh = Mesh(axes, random_ranks(draw, mesh.size(), ranks));
  return {mesh, spec};
}

inline Distribution random_distribution(Draw& draw, const Shape& shape, int ranks, DistributionKind kind) {
  if (kind == DistributionKind::slab) return Slab(draw.small(0, shape.size() - 1));
  if (kind == DistributionKind::box) return random_boxes(draw, shape, ranks);
  if (kind == DistributionKind::replicated) return Replicated{};
  if (kind == DistributionKind::partitioned) return random_partitioned(draw, shape.size(), ranks);
  const ProcessGrid grid = random_grid(draw, shape.size(), ranks);
  Extents block;
  for (int i = 0; i < shape.size(); ++i) {
    const std::int64_t parts = grid.extents()[i];
    const std::int64_t needed = std::max<std::int64_t>(1, (shape[i] + parts - 1) / parts);
    const bool cyclic = kind == DistributionKind::block_cyclic;
    block.push_back(cyclic ? draw(1, std::max<std::int64_t>(1, shape[i] / 2 + 1)) : draw(needed, needed + 2));
  }
  if (kind == DistributionKind::block_cyclic) return BlockCyclic(grid, block);
  return draw(0, 1) == 0 ? BlockNonCyclic(grid) : BlockNonCyclic(grid, block);
}

inline Distribution random_distribution(Draw& draw, const Shape& shape, int ranks) {
  return random_distribution(draw, shape, ranks, static_cast<DistributionKind>(draw(0, 5)));
}

/// The part of `extent` that holds `index`, where the first extent mod parts of them get one more.
inline std::int64_t balanced_part(std::int64_t index, std::int64_t extent, std::int64_t parts) {
  std::int64_t end = 0;
  for (std::int64_t part = 0;; ++part) {
    end += extent / parts + (part < extent % parts ? 1 : 0);
    if (index < end) return part;
  }
}

inline std::int64_t ceil_part(std::int64_t index, std::int64_t extent, std::int64_t parts) {
  return index / ((extent + parts - 1) / parts);
}

/// Whether `rank` of the mesh holds the element, and which contribution to it (0 without partial axes).
inline std::optional<std::int64_t> contribution(const Partitioned& rule, const Shape& shape, int rank,
                                                const Index& index) {
  const std::vector<int>& listed = rule.mesh.ranks();
  const bool inside = listed.empty() ? rank < rule.mesh.size()
                                     : std::find(listed.begin(), listed.end(), rank) != listed.end();
  if (!inside) return std::nullopt;
  for (int i = 0; i < shape.size(); ++i) {
    std::int64_t parts = 1;
    std::int64_t mine = 0;
    for (const std::string& name : rule.spec.dimensions[static_cast<std::size_t>(i)]) {
      const int axis = rule.mesh.axis(name);
      const std::int64_t size = rule.mesh.axes()[static_cast<std::size_t>(axis)].size;
      mine = mine * size + rule.mesh.coordinate(rank, axis);
      parts *= size;
    }
    const bool ceil = rule.spec.uneven == Uneven::ceil;
    if ((ceil ? ceil_part : balanced_part)(index[i], shape[i], parts) != mine) return std::nullopt;
  }
  std::int64_t number = 0;
  for (const Mesh::Axis& axis : rule.mesh.axes()) {
    const auto& partial = rule.spec.partial_axes;
    if (std::find(partial.begin(), partial.end(), axis.name) == partial.end()) continue;
    number = number * axis.size + rule.mesh.coordinate(rank, rule.mesh.axis(axis.name));
  }
  return number;
}

/// owners[c]: the ranks that hold the c-th contribution to the element.
using Owners = std::vector<std::vector<int>>;

inline Owners owners(const Distribution& distribution, const Shape& shape, int ranks, const Index& index) {
  if (const auto* slab = distribution.as<Slab>())
    return {{static_cast<int>(balanced_part(index[slab->axis], shape[slab->axis], ranks))}};
  if (const auto* box = distribution.as<Box>()) {
    for (std::size_t rank = 0; rank < box->boxes.size(); ++rank) {
      bool inside = true;
      for (int i = 0; i < shape.size(); ++i)
        inside &= index[i] >= box->boxes[rank].lower[i] && index[i] < box->boxes[rank].upper[i];
      if (inside) return {{static_cast<int>(rank)}};
    }
  }
  Owners result;
  if (const auto* rule = distribution.as<Partitioned>()) {
    for (int rank = 0; rank < ranks; ++rank) {
      const auto number = contribution(*rule, shape, rank, index);
      if (!number) continue;
      if (std::ssize(result) <= *number) result.resize(static_cast<std::size_t>(*number + 1));
      result[static_cast<std::size_t>(*number)].push_back(rank);
    }
    return result;
  }
  if (distribution.as<Replicated>() != nullptr) {
    result.emplace_back();
    for (int rank = 0; rank < ranks; ++rank) result.back().push_back(rank);
    return result;
  }
  const auto* cyclic = distribution.as<BlockCyclic>();
  const auto* blocks = distribution.as<BlockNonCyclic>();
  const ProcessGrid& grid = cyclic != nullptr ? cyclic->grid : blocks->grid;
  Extents coordinates = index;
  for (int i = 0; i < shape.size(); ++i) {
    const std::int64_t parts = grid.extents()[i];
    std::int64_t part = 0;
    if (cyclic != nullptr) part = index[i] / cyclic->block[i];
    if (blocks != nullptr)
      part = blocks->block.empty() ? ceil_part(index[i], shape[i], parts) : index[i] / blocks->block[i];
    coordinates[i] = (part + grid.first()[i]) % parts;
  }
  return {{grid.rank_at(coordinates)}};
}

inline std::vector<int> all(const Owners& owners) {
  std::vector<int> ranks;
  for (const auto& replicas : owners) ranks.insert(ranks.end(), replicas.begin(), replicas.end());
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

}  // namespace partita::model
