#include "plan/sample.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "base/check.hpp"

namespace partita::planning {
namespace {

constexpr int least_planned = 16;
constexpr std::int64_t most_steps = 1'000'000;  // of all plans of a sample

// The extents of a grid, slowest first, and the rank of each process in row-major order; if empty: its
// number.
struct Axes {
  std::vector<std::int64_t> extents;
  std::vector<int> ranks;
};

Axes axes_of(const ProcessGrid& grid) {
  Axes axes{{grid.extents().begin(), grid.extents().end()}, grid.ranks()};
  const bool listed = !axes.ranks.empty();
  if (!listed && grid.order() == Order::column_major) std::reverse(axes.extents.begin(), axes.extents.end());
  return axes;
}

Axes axes_of(const Layout& layout) {
  const Distribution& rule = layout.distribution();
  if (const auto* cyclic = rule.as<BlockCyclic>()) return axes_of(cyclic->grid);
  if (const auto* blocks = rule.as<BlockNonCyclic>()) return axes_of(blocks->grid);
  Axes axes;
  if (const auto* partitioned = rule.as<Partitioned>()) {
    for (const Mesh::Axis& axis : partitioned->mesh.axes()) axes.extents.push_back(axis.size);
    axes.ranks = partitioned->mesh.ranks();
  } else {
    axes.extents = {layout.members().empty() ? layout.ranks() : std::ssize(layout.members())};
  }
  return axes;
}

Axes axes_of(const Topology& topology) {
  const std::int64_t nodes = topology.node_count(), per_node = topology.ranks() / nodes;
  if (nodes * per_node != topology.ranks()) return {{topology.ranks()}, {}};
  return {{nodes, per_node}, {}};
}

// Opposite corners follow each other: the first two are the first and the last process.
std::vector<int> corners(const Axes& axes, std::span<const int> members) {
  const auto count = std::int64_t{1} << std::min<std::size_t>(axes.extents.size(), 10);
  std::vector<int> result;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t upper = i % 2 == 0 ? i / 2 : count - 1 - i / 2;  // a bit per axis
    std::int64_t process = 0, axis = 0;
    for (const std::int64_t extent : axes.extents) {
      process = process * extent + ((upper >> axis++) % 2 == 0 ? 0 : extent - 1);
    }
    int rank = static_cast<int>(process);
    if (!axes.ranks.empty()) rank = axes.ranks[static_cast<std::size_t>(rank)];
    result.push_back(members.empty() ? rank : members[static_cast<std::size_t>(rank)]);
  }
  return result;
}

std::vector<int> distinct_corners(const Topology& topology, std::span<const Layout> layouts, int most) {
  std::vector<int> result;
  const auto add = [&](const std::vector<int>& ranks) {
    for (const int rank : ranks) {
      const bool is_new = std::find(result.begin(), result.end(), rank) == result.end();
      if (is_new && std::ssize(result) < most) result.push_back(rank);
    }
  };
  for (const Layout& layout : layouts) add(corners(axes_of(layout), layout.members()));
  add(corners(axes_of(topology), {}));
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace

RankSample sample_ranks(const Topology& topology, std::span<const Layout> layouts, int most) {
  check(most >= 1, "a sample of {} ranks is empty", most);
  std::vector<int> all(static_cast<std::size_t>(topology.ranks()));
  std::iota(all.begin(), all.end(), 0);
  if (topology.ranks() <= most) return {all, std::vector<double>(all.size(), 1.0)};
  const std::vector<int> certain = distinct_corners(topology, layouts, most / 2);
  std::vector<int> others;
  std::set_difference(all.begin(), all.end(), certain.begin(), certain.end(), std::back_inserter(others));

  std::vector<double> weight(all.size());
  for (const int rank : certain) weight[static_cast<std::size_t>(rank)] = 1;
  const std::int64_t intervals = most - std::ssize(certain);
  // Multiples of the golden ratio: no number of intervals divides them evenly.
  constexpr double golden = 0.6180339887498949;
  for (std::int64_t i = 0; i < intervals; ++i) {
    const std::int64_t begin = i * std::ssize(others) / intervals;
    const std::int64_t length = (i + 1) * std::ssize(others) / intervals - begin;
    const double position = 0.5 + golden * static_cast<double>(i);
    const double within = (position - std::floor(position)) * static_cast<double>(length);
    const int rank = others[static_cast<std::size_t>(begin + static_cast<std::int64_t>(within))];
    weight[static_cast<std::size_t>(rank)] = static_cast<double>(length);
  }
  RankSample sample;
  for (const int rank : all) {
    const double represented = weight[static_cast<std::size_t>(rank)];
    if (represented == 0) continue;
    sample.ranks.push_back(rank);
    sample.weights.push_back(represented);
  }
  return sample;
}

RankSample sample_ranks(const Plan& plan, int most) {
  const std::int64_t affordable = most_steps / std::max<std::int64_t>(1, std::ssize(plan.steps));
  const std::int64_t count = std::clamp<std::int64_t>(affordable, std::min(least_planned, most), most);
  std::vector<Layout> layouts;
  for (const Buffer& buffer : plan.buffers) {
    if (buffer.kind == BufferKind::operand && buffer.operand) layouts.push_back(buffer.operand->layout);
  }
  return sample_ranks(plan.topology, layouts, static_cast<int>(count));
}

}  // namespace partita::planning
