#include "fft/layouts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "base/round.hpp"
#include "distribution/boxes.hpp"

namespace partita::fourier {
namespace {

// Boxes that reached the old end reach the new one; what is beyond it is cut off. Empty ones stay so.
Distribution stretched(const Box& box, const Shape& old, int axis, std::int64_t extent) {
  std::vector<Box::Bounds> boxes = box.boxes;
  for (Box::Bounds& bounds : boxes) {
    const bool last = bounds.upper[axis] == old[axis] && !distribution::is_empty(bounds);
    bounds.upper[axis] = last ? extent : std::min(bounds.upper[axis], extent);
    bounds.lower[axis] = std::min(bounds.lower[axis], bounds.upper[axis]);
  }
  return Box(std::move(boxes));
}

// Blocks that would no longer reach the end become longer.
Distribution stretched(const BlockNonCyclic& rule, int axis, std::int64_t extent) {
  BlockNonCyclic result = rule;
  if (result.block.empty()) return result;
  const std::int64_t parts = rule.grid.extents()[axis];
  result.block[axis] = std::max(rule.block[axis], ceil_divide(extent, parts));
  return result;
}

Distribution stretched(const Layout& layout, int axis, std::int64_t extent) {
  const Distribution& rule = layout.distribution();
  if (const Box* box = rule.as<Box>()) return stretched(*box, layout.shape(), axis, extent);
  if (const BlockNonCyclic* blocks = rule.as<BlockNonCyclic>()) return stretched(*blocks, axis, extent);
  return rule;
}

bool is_window(const Layout& layout) {
  return !(layout.whole_shape() == layout.shape());
}

}  // namespace

std::vector<bool> whole_axes(const Layout& layout) {
  std::vector<bool> whole(static_cast<std::size_t>(layout.dimensions()), true);
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    const Region region = layout.region(rank);
    if (region.empty()) continue;
    for (std::size_t d = 0; d < whole.size(); ++d) {
      whole[d] = whole[d] && region.sets[d].size() == layout.shape()[static_cast<int>(d)];
    }
  }
  return whole;
}

bool is_plain(const Layout& layout) {
  return !layout.is_replicated() && !layout.partial();
}

bool has_few_runs(const Layout& layout) {
  constexpr std::int64_t few = 8;
  if (volume(layout.shape()) == 0) return true;
  const Region region = layout.region(layout.owner(Extents::filled(layout.dimensions(), 0)));
  return std::all_of(region.sets.begin(), region.sets.end(), [](const IndexSet& set) {
    std::int64_t runs = 0;
    for (const Interval& interval : set.intervals()) runs += interval.count;
    return runs <= few;
  });
}

bool same(const Layout& a, const Layout& b) {
  return a == b || (a.shape() == b.shape() && a.equivalent(b));
}

Layout with_extent(const Layout& layout, int axis, std::int64_t extent) {
  if (layout.shape()[axis] == extent) return layout;
  if (is_window(layout)) return with_extent(layout.as(DistributionKind::box), axis, extent);
  Shape shape = layout.shape();
  shape[axis] = extent;
  const Distribution rule = stretched(layout, axis, extent);
  const std::span<const int> members = layout.members();
  if (members.empty()) return Layout(rule, shape, layout.ranks());
  return Layout(rule, shape, static_cast<int>(members.size())).embedded(members, layout.ranks());
}

bool stretches(const Layout& layout, int axis, std::int64_t extent) {
  if (layout.shape()[axis] == extent) return true;
  const Layout result = with_extent(layout, axis, extent);
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    Region region = layout.region(rank);
    if (!region.empty()) region.sets[static_cast<std::size_t>(axis)] = IndexSet::range(0, extent);
    const Region stretched_region = result.region(rank);
    if (region.empty() ? !stretched_region.empty() : !(stretched_region == region)) return false;
  }
  return true;
}

Layout grid_layout(const Shape& shape, std::span<const int> axes, std::span<const int> grid, int ranks) {
  if (axes.size() == 1) return Layout(Slab(axes.front()), shape, ranks);
  std::vector<Mesh::Axis> mesh;
  PartitionSpec spec;
  spec.uneven = Uneven::balanced;
  spec.dimensions.resize(static_cast<std::size_t>(shape.size()));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    mesh.push_back({fmt::format("p{}", i), grid[i]});
    spec.dimensions[static_cast<std::size_t>(axes[i])].push_back(mesh.back().name);
  }
  return Layout(Partitioned{Mesh(std::move(mesh)), std::move(spec)}, shape, ranks);
}

Layout on_one_rank(const Shape& shape, int ranks) {
  constexpr std::array<int, 1> first{0};
  return Layout(Slab(0), shape, 1).embedded(first, ranks);
}

}  // namespace partita::fourier
