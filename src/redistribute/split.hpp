// Cutting a region into pieces that fit a staging slot. Both ends of a transfer cut in the same way.
#pragma once

#include <cstdint>
#include <partita/layout.hpp>
#include <vector>

namespace partita::redistribution {

/// A grid of at most so many positions along each dimension.
struct Tiling {
  Extents tile;    ///< largest extent of a piece
  Extents pieces;  ///< number of pieces along each dimension
};

/// Tiles of at most `most` elements. Dimensions are cut in the order of `packed_order`, slowest first, so
/// that a piece is read in long runs; where the other side has another fastest dimension (a transposition),
/// that one and the packed order's own are cut last and to about equal lengths, so that runs stay long on
/// both sides. A function of extents only, hence the same at both ends of a transfer.
Tiling tiling(const Extents& shape, std::int64_t most, const Extents& packed_order,
              const Extents& other_order);

/// The pieces of the region, slowest dimension of `packed_order` outermost; none if it is empty.
std::vector<Region> split(const Region& region, std::int64_t most, const Extents& packed_order,
                          const Extents& other_order);

/// The elements of the set at positions [first, last).
IndexSet slice(const IndexSet& set, std::int64_t first, std::int64_t last);

}  // namespace partita::redistribution
