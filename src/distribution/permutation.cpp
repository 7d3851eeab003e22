#include "distribution/permutation.hpp"

#include <fmt/format.h>

#include <array>

#include "base/check.hpp"

namespace partita::distribution {

void refuse_no_permutation(std::span<const int> axes, int dimensions) {
  std::array<bool, max_dimensions> seen{};
  bool valid = static_cast<int>(axes.size()) == dimensions;
  for (const int axis : axes) {
    valid = valid && axis >= 0 && axis < dimensions && !seen[static_cast<std::size_t>(axis)];
    if (valid) seen[static_cast<std::size_t>(axis)] = true;
  }
  check(valid, "({}) is no permutation of {} dimensions", fmt::join(axes, ","), dimensions);
}

Extents permuted(const Extents& extents, std::span<const int> axes) {
  refuse_no_permutation(axes, extents.size());
  Extents result;
  for (const int axis : axes) result.push_back(extents[axis]);
  return result;
}

}  // namespace partita::distribution
