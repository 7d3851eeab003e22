// The ghost cells of a rank and their owners. Pure functions.
#pragma once

#include <optional>
#include <partita/collectives.hpp>

#include "collectives/pairwise_exchange.hpp"

namespace partita::collective {

/// The options, checked against a layout, with nothing left out.
struct Halos {
  Layout layout;
  Extents lower;
  Extents upper;
  std::vector<bool> periodic;
};

/// Throws ArgumentError: a part that is not a box, a partial layout, widths that do not fit.
Halos make_halos(const Layout& layout, const HaloOptions& options);

/// A rank's part, [lower, upper) along each dimension; nothing where it has no elements.
std::optional<Box::Bounds> box_of(const Layout& layout, int rank);

Shape extended_shape(const Halos& halos, int rank);

/// The rank's part inside of its extended part.
View interior_of(const Halos& halos, const View& extended, int rank);

/// The largest extents of any rank's part, and of any extended part: the index spaces of the operands.
Shape largest_part(const Halos& halos);
Shape largest_extended(const Halos& halos);

/// Which way: from parts to extended parts, or back, where what comes is added.
enum class HaloWay : std::uint8_t { exchange, accumulate };

/// What the rank gives and takes. Regions are of arrays [rank, ...]: of parts where it gives, of extended
/// parts where it takes (of the other where it accumulates), each from its own corner on. The rank's part
/// itself is not among them.
ExchangedPieces halo_pieces(const Halos& halos, const Topology& topology, int rank,
                            HaloWay way = HaloWay::exchange);

}  // namespace partita::collective
