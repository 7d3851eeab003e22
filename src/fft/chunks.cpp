#include "fft/chunks.hpp"

#include <algorithm>

#include "base/round.hpp"
#include "redistribute/split.hpp"

namespace partita::fourier {
namespace {

// About equal parts of about `most`, whole cache lines of elements where the dimension is the fastest.
std::int64_t block_of(std::int64_t extent, std::int64_t most, std::int64_t grain) {
  if (extent <= most) return extent;
  const std::int64_t parts = std::max<std::int64_t>(1, (extent + most / 2) / most);
  return std::min(extent, round_up(ceil_divide(extent, parts), grain));
}

std::vector<IndexSet> slices(const IndexSet& set, std::int64_t block) {
  std::vector<IndexSet> result;
  for (std::int64_t first = 0; first < set.size(); first += block) {
    result.push_back(redistribution::slice(set, first, std::min(set.size(), first + block)));
  }
  return result;
}

// Maximal runs of neighbouring positions in `set` that the elements of `part` fill.
std::vector<IndexSet> runs_in(const IndexSet& part, const IndexSet& set) {
  const std::int64_t reach = set.position(part.back()) - set.position(part.front()) + 1;
  if (reach == part.size()) return {part};
  std::vector<IndexSet> result;
  for (const Interval& interval : part.intervals()) {
    for (std::int64_t i = 0; i < interval.count; ++i) {
      const std::int64_t first = interval.first + i * interval.period;
      result.push_back(IndexSet::range(first, first + interval.length));
    }
  }
  return result;
}

std::vector<IndexSet> singles(const IndexSet& set) {
  std::vector<IndexSet> result;
  for (std::int64_t i = 0; i < set.size(); ++i) {
    result.push_back(IndexSet::range(set.at(i), set.at(i) + 1));
  }
  return result;
}

}  // namespace

std::vector<Region> chunks(const Region& region, const std::vector<int>& axes, const Extents& axis_order,
                           std::int64_t elements, std::int64_t shortest) {
  if (region.empty()) return {};
  std::int64_t budget = elements;
  for (const int axis : axes)
    budget /= std::max<std::int64_t>(1, region.sets[static_cast<std::size_t>(axis)].size());
  std::int64_t least = shortest;
  std::vector<Region> result{region};
  for (int i = axis_order.size() - 1; i >= 0; --i) {
    const auto axis = static_cast<std::size_t>(axis_order[i]);
    if (std::find(axes.begin(), axes.end(), static_cast<int>(axis)) != axes.end()) continue;
    const std::int64_t extent = region.sets[axis].size();
    const std::int64_t block = block_of(extent, std::max(budget, least), std::min(extent, least));
    budget = std::max<std::int64_t>(1, budget / block);
    least = 1;
    std::vector<Region> finer;
    for (const IndexSet& set : slices(region.sets[axis], block)) {
      for (const Region& piece : result) {
        finer.push_back(piece);
        finer.back().sets[axis] = set;
      }
    }
    result = std::move(finer);
  }
  return result;
}

std::vector<Run> packed_runs(const Region& part, const Region& chunk, const Extents& axis_order) {
  const int dimensions = axis_order.size();
  int cut = dimensions - 1;  // the fastest dimension that `part` does not fill
  while (cut > 0) {
    const auto axis = static_cast<std::size_t>(axis_order[cut]);
    if (part.sets[axis].size() != chunk.sets[axis].size()) break;
    --cut;
  }
  std::vector<Run> result{{part, 0}};
  for (int i = 0; i <= cut; ++i) {
    const auto axis = static_cast<std::size_t>(axis_order[i]);
    const IndexSet& whole = chunk.sets[axis];
    const std::vector<IndexSet> sets = i == cut ? runs_in(part.sets[axis], whole) : singles(part.sets[axis]);
    std::int64_t stride = 1;
    for (int j = i + 1; j < dimensions; ++j)
      stride *= chunk.sets[static_cast<std::size_t>(axis_order[j])].size();
    std::vector<Run> finer;
    for (const Run& run : result) {
      for (const IndexSet& set : sets) {
        finer.push_back({run.region, run.position + stride * whole.position(set.front())});
        finer.back().region.sets[axis] = set;
      }
    }
    result = std::move(finer);
  }
  return result;
}

}  // namespace partita::fourier
