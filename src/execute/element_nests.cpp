#include "execute/element_nests.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/check.hpp"

namespace partita::execution {
namespace {

using Loop = devices::ElementNest::Loop;

bool goes_on(const Loop& outer, const Loop& inner) {
  for (std::size_t x = 0; x < devices::ElementNest::parts; ++x) {
    if (outer.strides[x] != inner.count * inner.strides[x]) return false;
  }
  return true;
}

/// Loops of one iteration go, others are ordered, and become one where they go on in all parts.
void simplify(devices::ElementNest& nest, std::size_t leader) {
  std::erase_if(nest.loops, [](const Loop& loop) { return loop.count == 1; });
  std::ranges::stable_sort(nest.loops, [&](const Loop& a, const Loop& b) {
    return std::abs(a.strides[leader]) > std::abs(b.strides[leader]);
  });
  for (std::size_t l = nest.loops.size(); l-- > 1;) {
    Loop& inner = nest.loops[l];
    if (!goes_on(nest.loops[l - 1], inner)) continue;
    inner.count *= nest.loops[l - 1].count;
    nest.loops.erase(nest.loops.begin() + static_cast<std::ptrdiff_t>(l) - 1);
  }
  check<UnsupportedError>(nest.loops.size() <= devices::ElementNest::most_loops,
                          "a pass of {} loops; devices support up to {}", nest.loops.size(),
                          devices::ElementNest::most_loops);
}

}  // namespace

std::vector<devices::ElementNest> element_nests(const std::vector<std::vector<PartAxis>>& axes,
                                                const Extents& extents, std::size_t leader) {
  static_assert(devices::ElementNest::parts <= max_parts);
  std::vector<devices::ElementNest> nests(1);
  for (int d = 0; d < extents.size(); ++d) {
    std::vector<devices::ElementNest> next;
    for (const AxisRun& run : axis_runs(axes[static_cast<std::size_t>(d)], extents[d])) {
      for (devices::ElementNest nest : nests) {
        Loop loop{run.count, {}};
        for (std::size_t x = 0; x < devices::ElementNest::parts; ++x) {
          nest.offset[x] += run.offset[x];
          loop.strides[x] = run.step[x];
        }
        nest.loops.push_back(loop);
        next.push_back(std::move(nest));
      }
    }
    nests = std::move(next);
  }
  for (devices::ElementNest& nest : nests) simplify(nest, leader);
  return nests;
}

}  // namespace partita::execution
