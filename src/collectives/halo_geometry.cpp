#include "collectives/halo_geometry.hpp"

#include <algorithm>
#include <functional>

#include "base/check.hpp"

namespace partita::collective {
namespace {

Extents widths(const Extents& given, const Extents& otherwise, int dimensions, const char* what) {
  const Extents result = given.empty() ? otherwise : given;
  check(result.size() == dimensions, "halo: {} widths {} for an array of {} dimensions", what,
        to_string(result), dimensions);
  for (const std::int64_t width : result) check(width >= 0, "halo: a width of {}", width);
  return result;
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

/// The part of a rank, and the same with its ghost cells: from `lower` to `upper` in global indices, which go
/// below 0 and beyond the extents there.
Box::Bounds extended(const Halos& halos, Box::Bounds box) {
  for (int d = 0; d < box.lower.size(); ++d) {
    box.lower[d] -= halos.lower[d];
    box.upper[d] += halos.upper[d];
  }
  return box;
}

/// Calls `visit(shift)` for all shifts, by whole turns round the periodic dimensions, by which `part` meets
/// `wanted`; in one order for everybody.
void for_each_image(const Halos& halos, const Box::Bounds& part, const Box::Bounds& wanted,
                    const std::function<void(const Extents&)>& visit) {
  const int dimensions = part.lower.size();
  Extents shift = Extents::filled(dimensions, 0);
  const std::function<void(int)> along = [&](int d) {
    if (d == dimensions) return visit(shift);
    const std::int64_t extent = halos.layout.shape()[d];
    const bool turns = halos.periodic[static_cast<std::size_t>(d)];
    // part.upper + k extent > wanted.lower  and  part.lower + k extent < wanted.upper
    const std::int64_t first = turns ? floor_divide(wanted.lower[d] - part.upper[d], extent) + 1 : 0;
    const std::int64_t last = turns ? -floor_divide(part.lower[d] - wanted.upper[d], extent) - 1 : 0;
    for (std::int64_t k = first; k <= last; ++k) {
      shift[d] = k * extent;
      if (part.upper[d] + shift[d] <= wanted.lower[d] || part.lower[d] + shift[d] >= wanted.upper[d])
        continue;
      along(d + 1);
    }
  };
  along(0);
}

/// Whether `giver` is the one of the holders of its part from which `taker` takes it.
bool gives(const Halos& halos, const Topology& topology, int giver, int taker) {
  if (!halos.layout.is_replicated()) return true;
  for (const Layout::Cell& cell : halos.layout.cells(halos.layout.region(giver))) {
    const std::vector<int>& holders = cell.contributions.front();
    if (std::find(holders.begin(), holders.end(), giver) == holders.end()) continue;
    return Layout::choose_replica(holders, taker, topology) == giver;
  }
  return false;
}

/// What `giver` gives `taker`, as two regions: of the giver's part and of the taker's extended part.
void for_each_piece(const Halos& halos, const Topology& topology, int giver, int taker,
                    const std::function<void(Region, Region)>& visit) {
  const auto part = box_of(halos.layout, giver);
  const auto own = box_of(halos.layout, taker);
  if (!part || !own) return;
  const Box::Bounds wanted = extended(halos, *own);
  bool meet = false;
  for_each_image(halos, *part, wanted, [&](const Extents&) { meet = true; });
  if (!meet || !gives(halos, topology, giver, taker)) return;
  for_each_image(halos, *part, wanted, [&](const Extents& shift) {
    if (giver == taker && shift == Extents::filled(shift.size(), 0)) return;  // the part itself
    Region there{{IndexSet::range(giver, giver + 1)}};
    Region here{{IndexSet::range(taker, taker + 1)}};
    for (int d = 0; d < shift.size(); ++d) {
      const std::int64_t first = std::max(part->lower[d] + shift[d], wanted.lower[d]);
      const std::int64_t last = std::min(part->upper[d] + shift[d], wanted.upper[d]);
      const std::int64_t corner = part->lower[d] + shift[d];
      there.sets.push_back(IndexSet::range(first - corner, last - corner));
      here.sets.push_back(IndexSet::range(first - wanted.lower[d], last - wanted.lower[d]));
    }
    visit(std::move(there), std::move(here));
  });
}

Shape largest(const Halos& halos, const std::function<Shape(int)>& shape_of) {
  Shape result = Extents::filled(halos.layout.dimensions(), 0);
  for (int rank = 0; rank < halos.layout.ranks(); ++rank) {
    const Shape shape = shape_of(rank);
    for (int d = 0; d < shape.size(); ++d) result[d] = std::max(result[d], shape[d]);
  }
  return result;
}

}  // namespace

Halos make_halos(const Layout& layout, const HaloOptions& options) {
  const int dimensions = layout.dimensions();
  check(dimensions < max_dimensions, "halo: an array of {} dimensions; at most {} are supported", dimensions,
        max_dimensions - 1);
  check(!layout.partial(), "halo: the array ({}) is partial: reduce it first", layout.to_string());
  const Extents lower = widths(options.lower, Extents::filled(dimensions, 0), dimensions, "lower");
  const Extents upper = widths(options.upper, lower, dimensions, "upper");
  for (int d = 0; d < dimensions; ++d) {
    std::int64_t extended = layout.shape()[d];
    const bool beyond = __builtin_add_overflow(extended, lower[d], &extended) ||
                        __builtin_add_overflow(extended, upper[d], &extended);
    check(!beyond, "halo: widths {} and {} make dimension {} of {} longer than 2^63 - 1", lower[d], upper[d],
          d, to_string(layout.shape()));
  }
  std::vector<bool> periodic =
      options.periodic.empty() ? std::vector<bool>(static_cast<std::size_t>(dimensions)) : options.periodic;
  check(periodic.size() == static_cast<std::size_t>(dimensions),
        "halo: {} flags of periodic dimensions for an array of {}", periodic.size(), dimensions);
  for (int rank = 0; rank < layout.ranks(); ++rank) (void)box_of(layout, rank);
  return {layout, lower, upper, std::move(periodic)};
}

std::optional<Box::Bounds> box_of(const Layout& layout, int rank) {
  const Region region = layout.region(rank);
  if (region.empty()) return std::nullopt;
  Box::Bounds box;
  for (const IndexSet& set : region.sets) {
    check(set.is_range(),
          "halo: the part of rank {} is {}, which is not a box ({}); redistribute the array first", rank,
          to_string(region), layout.to_string());
    box.lower.push_back(set.front());
    box.upper.push_back(set.back() + 1);
  }
  return box;
}

Shape extended_shape(const Halos& halos, int rank) {
  const auto box = box_of(halos.layout, rank);
  Shape shape = halos.layout.local_shape(rank);
  if (!box) return Extents::filled(halos.layout.dimensions(), 0);
  for (int d = 0; d < shape.size(); ++d) shape[d] += halos.lower[d] + halos.upper[d];
  return shape;
}

View interior_of(const Halos& halos, const View& extended, int rank) {
  View view = extended;
  view.extents = halos.layout.local_shape(rank);
  if (extended.data == nullptr || volume(view.extents) == 0) return view;
  check(extended.strides.size() == view.extents.size(),
        "halo: an extended part of {} strides, but {} dimensions", extended.strides.size(),
        view.extents.size());
  std::int64_t offset = 0;
  for (int d = 0; d < view.extents.size(); ++d) offset += halos.lower[d] * extended.strides[d];
  view.data = static_cast<char*>(extended.data) + offset * size_of(extended.dtype);
  return view;
}

Shape largest_part(const Halos& halos) {
  return largest(halos, [&](int rank) { return halos.layout.local_shape(rank); });
}

Shape largest_extended(const Halos& halos) {
  return largest(halos, [&](int rank) { return extended_shape(halos, rank); });
}

// What was taken in the exchange is given back in its adjoint: the same pieces in the same order.
ExchangedPieces halo_pieces(const Halos& halos, const Topology& topology, int rank, HaloWay way) {
  ExchangedPieces moves;
  for (int peer = 0; peer < topology.ranks(); ++peer) {
    for_each_piece(halos, topology, rank, peer, [&](Region there, const Region& /*here*/) {
      moves.given.push_back({peer, std::move(there)});
    });
    for_each_piece(halos, topology, peer, rank, [&](const Region& /*there*/, Region here) {
      moves.taken.push_back({peer, std::move(here)});
    });
  }
  if (way == HaloWay::accumulate) {
    std::swap(moves.given, moves.taken);
    moves.join = Reduction::sum;
  }
  return moves;
}

}  // namespace partita::collective
