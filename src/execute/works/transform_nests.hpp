// A transform of a region as strided lines and batches.
#pragma once

#include <vector>

#include "execute/works/bound_work.hpp"
#include "execute/works/transform_passes.hpp"

namespace partita::execution {

/// Lines and batch, and where they begin: bytes from the start of the buffer on either side. Strides are in
/// elements of the side.
struct PlacedTransform {
  std::int64_t from = 0;
  std::int64_t to = 0;
  TransformNest nest;
};

/// Along a transformed axis the elements of a line lie at even distances in memory. The other dimensions are
/// batch: each is cut into stretches along which both parts move evenly, and every combination of one stretch
/// a dimension is one nest. None of an empty region. Throws ArgumentError where parts, dtypes and kind do not
/// belong together, UnsupportedError for lines that lie unevenly.
std::vector<PlacedTransform> transform_nests(const Transform& work, const WorkBinding& binding);

}  // namespace partita::execution
