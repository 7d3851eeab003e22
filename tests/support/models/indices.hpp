// The indices of a region, one by one.
#pragma once

#include <partita/layout.hpp>

namespace partita::testing {

template <class Visit>
void for_each_index(const Region& region, Visit visit) {
  if (region.empty()) return;
  const Shape shape = region.shape();
  const std::int64_t size = volume(shape);
  for (std::int64_t i = 0; i < size; ++i) {
    Index at = shape;
    std::int64_t rest = i;
    for (int d = shape.size() - 1; d >= 0; rest /= shape[d--]) {
      at[d] = region.sets[static_cast<std::size_t>(d)].at(rest % shape[d]);
    }
    visit(at);
  }
}

}  // namespace partita::testing
