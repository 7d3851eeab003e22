#include "distribution/dimensions.hpp"

#include <algorithm>

#include "base/contains.hpp"
#include "distribution/boxes.hpp"

namespace partita::distribution {
namespace {

/// The rule of the array with one more dimension, which it cuts nowhere.
struct WithDimension {
  int position;

  Distribution operator()(const Slab& rule) const {
    return Slab(rule.axis + (rule.axis >= position ? 1 : 0));
  }
  Distribution operator()(const Box& rule) const {
    std::vector<Box::Bounds> boxes;
    for (const Box::Bounds& box : rule.boxes) {
      boxes.push_back({with_dimension(box.lower, position, 0), with_dimension(box.upper, position, 1)});
    }
    return Box(std::move(boxes));
  }
  ProcessGrid grid(const ProcessGrid& grid) const {
    const Extents extents = with_dimension(grid.extents(), position, 1);
    const Extents first = with_dimension(grid.first(), position, 0);
    if (grid.ranks().empty()) return {extents, grid.order(), first};
    return ProcessGrid::of_ranks(extents, grid.ranks(), first);
  }
  Distribution operator()(const BlockCyclic& rule) const {
    return BlockCyclic(grid(rule.grid), with_dimension(rule.block, position, 1));
  }
  Distribution operator()(const BlockNonCyclic& rule) const {
    return BlockNonCyclic(grid(rule.grid), rule.block.empty() && rule.grid.dimensions() > 0
                                               ? rule.block
                                               : with_dimension(rule.block, position, 1));
  }
  Distribution operator()(const Replicated& rule) const { return rule; }
  Distribution operator()(const Partitioned& rule) const {
    Partitioned result = rule;
    result.spec.dimensions.insert(result.spec.dimensions.begin() + position, std::vector<std::string>());
    return result;
  }
};

/// The rule of the array without `axes`, where it cuts none of them; nothing elsewhere.
struct WithoutDimensions {
  std::span<const int> axes;
  bool kept;
  const Shape& shape;  // that the rule is bound to
  using Result = std::optional<Distribution>;

  Extents left_of(const Extents& extents, std::int64_t value) const {
    return without_dimensions(extents, axes, kept ? std::optional(value) : std::nullopt);
  }
  Result operator()(const Slab& rule) const {
    if (contains(axes, rule.axis)) return std::nullopt;
    const auto before = std::ranges::count_if(axes, [&](int axis) { return axis < rule.axis; });
    return Slab(rule.axis - (kept ? 0 : static_cast<int>(before)));
  }
  bool cuts(const Box::Bounds& box) const {
    return std::ranges::any_of(axes,
                               [&](int axis) { return box.upper[axis] - box.lower[axis] < shape[axis]; });
  }
  Result operator()(const Box& rule) const {
    const int dimensions = left_of(shape, 1).size();
    if (volume(shape) == 0 || dimensions == 0) return std::nullopt;
    std::vector<Box::Bounds> boxes;
    for (const Box::Bounds& box : rule.boxes) {
      if (is_empty(box)) {
        boxes.push_back(empty_box(dimensions));
      } else {
        if (cuts(box)) return std::nullopt;
        boxes.push_back({left_of(box.lower, 0), left_of(box.upper, 1)});
      }
    }
    return Box(std::move(boxes));
  }
  std::optional<ProcessGrid> grid(const ProcessGrid& grid) const {
    const bool cut = std::ranges::any_of(axes, [&](int axis) { return grid.extents()[axis] > 1; });
    if (cut) return std::nullopt;
    const Extents extents = left_of(grid.extents(), 1), first = left_of(grid.first(), 0);
    if (grid.ranks().empty()) return ProcessGrid(extents, grid.order(), first);
    return ProcessGrid::of_ranks(extents, grid.ranks(), first);
  }
  Result operator()(const BlockCyclic& rule) const {
    const std::optional<ProcessGrid> left = grid(rule.grid);
    if (!left) return std::nullopt;
    return BlockCyclic(*left, left_of(rule.block, 1));
  }
  Result operator()(const BlockNonCyclic& rule) const {
    const std::optional<ProcessGrid> left = grid(rule.grid);
    if (!left) return std::nullopt;
    return BlockNonCyclic(*left, rule.block.empty() ? rule.block : left_of(rule.block, 1));
  }
  Result operator()(const Replicated& rule) const { return rule; }
  Result operator()(const Partitioned& rule) const {
    Partitioned result = rule;
    result.spec.dimensions.clear();
    for (std::size_t d = 0; d < rule.spec.dimensions.size(); ++d) {
      const std::vector<std::string>& names = rule.spec.dimensions[d];
      const bool goes = contains(axes, static_cast<int>(d));
      if (goes && !names.empty()) return std::nullopt;
      if (!goes || kept) result.spec.dimensions.push_back(names);
    }
    return result;
  }
};

/// The rule bound to an array `whole`, for those ranks and in that window in which `model` has its own.
Layout bound_like(const Layout& model, const Distribution& rule, const Shape& whole, const Index& origin,
                  const Shape& shape) {
  const std::span<const int> members = model.members();
  const int inner = members.empty() ? model.ranks() : static_cast<int>(members.size());
  Layout result(rule, whole, inner);
  if (!members.empty()) result = result.embedded(members, model.ranks());
  return whole == shape ? result : result.window(origin, shape);
}

}  // namespace

Extents with_dimension(const Extents& extents, int position, std::int64_t value) {
  Extents result;
  for (int d = 0; d <= extents.size(); ++d) {
    if (d == position) result.push_back(value);
    if (d < extents.size()) result.push_back(extents[d]);
  }
  return result;
}

Extents without_dimensions(const Extents& extents, std::span<const int> axes,
                           std::optional<std::int64_t> kept) {
  Extents result;
  for (int d = 0; d < extents.size(); ++d) {
    if (!contains(axes, d)) {
      result.push_back(extents[d]);
    } else if (kept) {
      result.push_back(*kept);
    }
  }
  return result;
}

Layout with_dimension(const Layout& layout, int position) {
  const Distribution rule = std::visit(WithDimension{position}, layout.distribution().rule());
  return bound_like(layout, rule, with_dimension(layout.whole_shape(), position, 1),
                    with_dimension(layout.origin(), position, 0),
                    with_dimension(layout.shape(), position, 1));
}

std::optional<Layout> without_dimensions(const Layout& layout, std::span<const int> axes, bool kept) {
  const WithoutDimensions left{axes, kept, layout.whole_shape()};
  const std::optional<Distribution> rule = std::visit(left, layout.distribution().rule());
  if (!rule) return std::nullopt;
  return bound_like(layout, *rule, left.left_of(layout.whole_shape(), 1), left.left_of(layout.origin(), 0),
                    left.left_of(layout.shape(), 1));
}

}  // namespace partita::distribution
