#include "fft/storable.hpp"

#include <algorithm>
#include <utility>

#include "base/round.hpp"
#include "fft/layouts.hpp"

namespace partita::fourier {
namespace {

constexpr int most_ranks = 16;  // lines are cut into so many pieces at most

/// Every rank owns a box.
bool is_of_boxes(const Layout& layout) {
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    const Region region = layout.region(rank);
    if (!region.empty() && !std::ranges::all_of(region.sets, &IndexSet::is_range)) return false;
  }
  return true;
}

/// Of the cells of a layout in a region: those that are cut alike along all axes but one hold whole lines
/// along that. (Boxes may be stacked as bricks.)
bool cuts_lines_alike(const Layout& layout, const Region& region, int axis) {
  if (region.empty()) return true;
  const auto number = static_cast<std::size_t>(axis);
  std::vector<std::pair<Region, std::int64_t>> lines;  // and how much of each is held
  for (Layout::Cell& cell : layout.cells(region)) {
    const std::int64_t held = cell.region.sets[number].size();
    cell.region.sets[number] = region.sets[number];
    const auto known = std::ranges::find(lines, cell.region, &std::pair<Region, std::int64_t>::first);
    if (known == lines.end()) {
      lines.emplace_back(std::move(cell.region), held);
    } else {
      known->second += held;
    }
  }
  return std::ranges::all_of(lines,
                             [&](const auto& one) { return one.second == region.sets[number].size(); });
}

/// On every rank.
bool cuts_lines_alike(const Layout& to, const Layout& from, int axis) {
  for (int rank = 0; rank < from.ranks(); ++rank) {
    if (!cuts_lines_alike(to, from.region(rank), axis)) return false;
  }
  return true;
}

bool is_complex_kind(TransformKind kind) {
  return kind == TransformKind::complex_forward || kind == TransformKind::complex_backward;
}

/// A power of two of complex numbers.
bool is_of_kernel(const Problem& problem, const Stage& stage, int axis) {
  const std::int64_t length = stage.after.shape()[axis];
  return axis != problem.halved_axis() && length >= 2 && (length & (length - 1)) == 0 &&
         length <= TransformInto::longest;
}

}  // namespace

int fastest_axis(const Problem& problem) {
  const Extents& order = problem.input.axis_order;
  return static_cast<int>(order[order.size() - 1]);
}

bool is_of_kernel(const Problem& problem, const Stage& stage) {
  return is_complex_kind(problem.kind) && stage.axes.size() == 1 &&
         is_of_kernel(problem, stage, stage.axes.front());
}

std::optional<int> stored_axis(const Problem& problem, const Stage& stage, const Layout& to) {
  const bool makes_reals = problem.doubles && changes_dtype(problem, stage);
  if (!problem.on_device() || !is_complex_kind(problem.kind) || makes_reals || same(stage.after, to))
    return std::nullopt;
  if (!on_one_node(problem.topology) || problem.topology.ranks() > most_ranks) return std::nullopt;
  if (!is_plain(to) || !is_plain(stage.after) || !is_of_boxes(to) || !is_of_boxes(stage.after)) {
    return std::nullopt;
  }
  for (const std::int64_t axis : problem.input.axis_order) {  // slowest first
    const auto number = static_cast<int>(axis);
    if (!contains(stage.axes, axis) || !is_of_kernel(problem, stage, number)) continue;
    if (cuts_lines_alike(to, stage.after, number)) return number;
  }
  return std::nullopt;
}

std::optional<int> axis_before_in_planes(const Problem& problem, const Stage& stage, int stored) {
  // Rows of reals shorter than this have too little to do a tile (docs/performance.md).
  constexpr std::int64_t fewest_planes = 8, shortest_reals = 2048;  // bytes
  const int row = fastest_axis(problem);
  if (stage.axes.size() != 2 || row == stored || !contains(stage.axes, row)) return std::nullopt;
  const Shape& shape = stage.after.shape();
  const std::int64_t length = stage.before.shape()[row];
  const bool halves = problem.halves && row == problem.halved_axis();
  const bool known =
      halves ? length * size_of(problem.input.dtype) >= shortest_reals : is_of_kernel(problem, stage, row);
  if (!known || !is_of_kernel(problem, stage, stored)) return std::nullopt;
  if (shape[stored] != length || length > TransformInto::longest_of_first) return std::nullopt;
  const std::int64_t planes = stage.after.largest_local_size() / (shape[row] * length);
  return planes >= fewest_planes ? std::optional(row) : std::nullopt;
}

redistribution::Parts leaving_parts_of(const Problem& problem, const Stage& stage, bool by_stores,
                                       const Layout& to) {
  const Dtype dtype = dtype_between(problem);
  redistribution::Parts parts = parts_of(problem, stage.after, dtype, stage.axes, to);
  // Stores are launches of the same kernels as transforms, which long parts fill better; engines copy short
  // ones as well.
  constexpr std::int64_t least_bytes = std::int64_t{32} << 20, fewest = 2;
  const std::int64_t bytes = stage.after.largest_local_size() * size_of(dtype);
  if (by_stores) parts.count = std::min(parts.count, static_cast<int>(std::max(bytes / least_bytes, fewest)));
  return parts;
}

int parts_beside_stores(const Problem& problem, const Stage& stage, int stored, const Layout& to) {
  constexpr int planes = 8;
  if (axis_before_in_planes(problem, stage, stored)) return planes;
  return leaving_parts_of(problem, stage, true, to).count;
}

bool stores_whole_words(const Problem& problem, const Stage& stage, const Layout& to) {
  constexpr std::int64_t word = 16;
  const int fastest = fastest_axis(problem);
  const auto whole = [&](const Layout& layout) {
    for (int rank = 0; rank < layout.ranks(); ++rank) {
      if (layout.local_shape(rank)[fastest] * size_of(problem.dtype) % word != 0) return false;
    }
    return true;
  };
  return whole(stage.after) && whole(to);
}

Layout with_room_in_rows(const Problem& problem, const Layout& layout, Dtype dtype) {
  constexpr std::int64_t sector = 32, tile = 128;  // bytes: of links and memory; of the kernel's rows
  const int axis = fastest_axis(problem);
  const std::int64_t extent = layout.shape()[axis], item = size_of(dtype);
  if (extent * item % sector == 0 || !whole_axes(layout)[static_cast<std::size_t>(axis)]) return layout;
  const std::int64_t roomy = round_up(extent, tile / item);
  return stretches(layout, axis, roomy) ? with_extent(layout, axis, roomy) : layout;
}

Dtype dtype_between(const Problem& problem) {
  return problem.halves ? problem.dtype : problem.input.dtype;
}

}  // namespace partita::fourier
