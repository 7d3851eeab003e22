#include "distribution/local_indices.hpp"

#include "base/check.hpp"
#include "distribution/index_set_state.hpp"

namespace partita {
namespace {

std::vector<std::int64_t> indices_of(const IndexSet& set) {
  std::vector<std::int64_t> indices;
  indices.reserve(static_cast<std::size_t>(set.size()));
  const distribution::IndexSetState& state = distribution::IndexSetState::of(set);
  for (const distribution::Segment& segment : state.segments) {
    for (std::int64_t repetition = 0; repetition < segment.count; ++repetition) {
      for (std::size_t run = segment.begin; run < segment.end; ++run) {
        const std::int64_t first = state.intervals[run].first + repetition * segment.period;
        for (std::int64_t i = 0; i < state.intervals[run].length; ++i) indices.push_back(first + i);
      }
    }
  }
  return indices;
}

}  // namespace

std::vector<std::int64_t> local_indices(const Layout& layout, int axis, int rank) {
  check(axis >= 0 && axis < layout.dimensions(), "axis {} of a layout of {} dimensions", axis,
        layout.dimensions());
  return indices_of(layout.region(rank).sets[static_cast<std::size_t>(axis)]);
}

std::vector<std::int64_t> distribution::local_indices(const Region& held, int axis, std::int64_t first,
                                                      std::int64_t count) {
  const IndexSet& set = held.sets[static_cast<std::size_t>(axis)];
  if (count == 0) return {};
  return indices_of(intersect(set, IndexSet::range(set.at(first), set.at(first + count - 1) + 1)));
}

}  // namespace partita
