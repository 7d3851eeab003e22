// Whether boxes tile an array.
#pragma once

#include <partita/distribution.hpp>
#include <partita/extents.hpp>
#include <span>

namespace partita::distribution {

/// The box holds no element.
bool is_empty(const Box::Bounds& box);
/// One such box.
inline Box::Bounds empty_box(int dimensions) {
  return {Extents::filled(dimensions, 0), Extents::filled(dimensions, 0)};
}

/// Throws ArgumentError unless the boxes partition the array. The text names the ranks, and an index of the
/// gap or of the overlap. Cost: a sweep along one axis.
void refuse_no_tiling(std::span<const Box::Bounds> boxes, const Shape& shape);

}  // namespace partita::distribution
