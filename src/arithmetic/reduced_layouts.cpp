#include "arithmetic/reduced_layouts.hpp"

#include <algorithm>
#include <optional>

#include "base/check.hpp"
#include "collectives/layouts.hpp"

namespace partita::arithmetic {
namespace {

/// `extents` without the reduced axes, or with `kept` there.
Extents less(const Extents& extents, const ReducedAxes& reduced, std::int64_t kept) {
  Extents result;
  for (int d = 0; d < extents.size(); ++d) {
    if (!reduced.contains(d)) {
      result.push_back(extents[d]);
    } else if (reduced.keep_dimensions) {
      result.push_back(kept);
    }
  }
  return result;
}

ProcessGrid less(const ProcessGrid& grid, const ReducedAxes& reduced) {
  const Extents extents = less(grid.extents(), reduced, 1), first = less(grid.first(), reduced, 0);
  return grid.ranks().empty() ? ProcessGrid(extents, grid.order(), first)
                              : ProcessGrid::of_ranks(extents, grid.ranks(), first);
}

Box less(const Box& whole, const ReducedAxes& reduced) {
  std::vector<Box::Bounds> boxes;
  for (const Box::Bounds& box : whole.boxes) {
    bool empty = false;
    for (int d = 0; d < box.lower.size(); ++d) empty = empty || box.upper[d] <= box.lower[d];
    Box::Bounds part{less(box.lower, reduced, 0), less(box.upper, reduced, empty ? 0 : 1)};
    if (empty) part.upper = part.lower;
    boxes.push_back(part);
  }
  return Box(std::move(boxes));
}

/// The rule without the reduced axes, if it says anything without them.
std::optional<Distribution> less(const Distribution& rule, const ReducedAxes& reduced) {
  if (const auto* slab = rule.as<Slab>()) {
    if (reduced.contains(slab->axis)) return std::nullopt;
    const auto before = [&](int axis) { return axis < slab->axis; };
    const auto gone = std::count_if(reduced.axes.begin(), reduced.axes.end(), before);
    return Slab(reduced.keep_dimensions ? slab->axis : slab->axis - static_cast<int>(gone));
  }
  if (const auto* cyclic = rule.as<BlockCyclic>())
    return BlockCyclic(less(cyclic->grid, reduced), less(cyclic->block, reduced, 1));
  if (const auto* blocks = rule.as<BlockNonCyclic>()) {
    const Extents block = blocks->block.empty() ? Extents() : less(blocks->block, reduced, 1);
    return BlockNonCyclic(less(blocks->grid, reduced), block);
  }
  if (const auto* box = rule.as<Box>()) return less(*box, reduced);
  if (rule.as<Replicated>() != nullptr) return rule;
  return std::nullopt;
}

/// Whether each rank has in `left` what it has in `whole` without the reduced axes, which are whole there.
bool is_left_of(const Layout& left, const Layout& whole, const ReducedAxes& reduced) {
  for (int rank = 0; rank < whole.ranks(); ++rank) {
    const Region part = whole.region(rank);
    if (part.empty()) {
      if (left.local_size(rank) != 0) return false;
      continue;
    }
    Region kept;
    for (int d = 0; d < whole.dimensions(); ++d) {
      const IndexSet& set = part.sets[static_cast<std::size_t>(d)];
      if (!reduced.contains(d)) {
        kept.sets.push_back(set);
      } else {
        if (set.size() != whole.shape()[d]) return false;
        if (reduced.keep_dimensions) kept.sets.push_back(IndexSet::range(0, 1));
      }
    }
    if (!(left.region(rank) == kept)) return false;
  }
  return true;
}

/// Nothing is left for the ranks to join.
std::optional<Layout> whole_on_each_rank(const Layout& layout, const ReducedAxes& reduced) {
  if (volume(layout.shape()) == 0) return std::nullopt;
  try {
    const std::optional<Distribution> rule = less(layout.distribution(), reduced);
    if (!rule) return std::nullopt;
    Layout left(*rule, reduced.shape(layout.shape()), layout.ranks());
    if (is_left_of(left, layout, reduced)) return left;
  } catch (const ArgumentError&) {  // the rule does not fit what is left
  }
  return std::nullopt;
}

/// As over a mesh, where it can be written so. What has cut reduced dimensions then holds contributions.
std::optional<ReducedLayouts> over_mesh(const Layout& layout, const ReducedAxes& reduced) {
  std::optional<Partitioned> rule;
  try {
    const Layout written = layout.as(DistributionKind::partitioned);
    if (!written.members().empty() || !(written.whole_shape() == written.shape())) return std::nullopt;
    rule = *written.distribution().as<Partitioned>();
  } catch (const ArgumentError&) {
    return std::nullopt;
  }
  PartitionSpec spec;
  spec.uneven = rule->spec.uneven;
  spec.partial_reduction = reduced.reduction;
  for (std::size_t d = 0; d < rule->spec.dimensions.size(); ++d) {
    const std::vector<std::string>& names = rule->spec.dimensions[d];
    if (!reduced.contains(static_cast<int>(d))) {
      spec.dimensions.push_back(names);
      continue;
    }
    if (reduced.keep_dimensions) spec.dimensions.emplace_back();
    std::ranges::copy(names, std::back_inserter(spec.partial_axes));
  }
  PartitionSpec left = spec;
  left.partial_axes.clear();
  const Shape shape = reduced.shape(layout.shape());
  return ReducedLayouts{{Partitioned{rule->mesh, spec}, shape, layout.ranks()},
                        false,
                        {Partitioned{rule->mesh, left}, shape, layout.ranks()}};
}

}  // namespace

bool ReducedAxes::contains(int dimension) const {
  return std::ranges::find(axes, dimension) != axes.end();
}

std::vector<int> ReducedAxes::kept(int dimensions) const {
  std::vector<int> result;
  for (int d = 0; d < dimensions; ++d) {
    if (!contains(d)) result.push_back(d);
  }
  return result;
}

Shape ReducedAxes::shape(const Shape& whole) const {
  return less(whole, *this, 1);
}

ReducedLayouts reduced_layouts(const Layout& layout, const ReducedAxes& reduced) {
  if (const auto left = whole_on_each_rank(layout, reduced)) return {*left, false, *left};
  if (auto mesh = over_mesh(layout, reduced)) return *mesh;
  const Shape shape = reduced.shape(layout.shape());
  return {collective::contributions(shape, reduced.reduction, layout.ranks()), true,
          collective::everywhere(shape, layout.ranks())};
}

}  // namespace partita::arithmetic
