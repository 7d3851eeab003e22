// Cutting a rank's lines into pieces that stay in cache.
#pragma once

#include <partita/layout.hpp>
#include <vector>

namespace partita::fourier {

/// A chunk stays in the second-level cache while it is gathered, transformed and stored.
inline constexpr std::int64_t chunk_bytes = std::int64_t{256} << 10;

/// Pieces of about `elements` elements with whole lines along `axes`. Dimensions are cut in `axis_order`
/// (slowest first), so that runs stay long; along the fastest one that is cut a piece has at least
/// `shortest` positions. None of an empty region.
std::vector<Region> chunks(const Region& region, const std::vector<int>& axes, const Extents& axis_order,
                           std::int64_t elements, std::int64_t shortest);

/// A contiguous part of a packed chunk, and the number of its first element.
struct Run {
  Region region;
  std::int64_t position = 0;
};

/// The parts of a packed chunk (slowest dimension first, as `axis_order` says) that make up `part`, in as few
/// runs as there are.
std::vector<Run> packed_runs(const Region& part, const Region& chunk, const Extents& axis_order);

}  // namespace partita::fourier
