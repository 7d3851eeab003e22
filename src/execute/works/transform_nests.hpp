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

/// Along a transformed axis the elements of a line are evenly spaced in memory. The other dimensions are
/// batch dimensions: each is divided into stretches along which both parts have constant strides, and every
/// combination of one stretch per dimension is one nest. None for an empty region. Throws ArgumentError if
/// parts, dtypes and kind do not match, UnsupportedError for lines with uneven spacing.
std::vector<PlacedTransform> transform_nests(const Transform& work, const WorkBinding& binding);

}  // namespace partita::execution
