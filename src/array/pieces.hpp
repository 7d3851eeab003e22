// Parts of arrays piece by piece, so that the host needs little memory to look at those of a device, or to
// make them: new memory of the host costs more time than what is done in it.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <partita/view.hpp>
#include <vector>

#include "array/transfer.hpp"

namespace partita::arrays {

/// Of what crosses the bus at once.
inline constexpr std::int64_t piece_bytes = std::int64_t{16} << 20;

/// The dimensions, slowest in memory first.
std::vector<int> slowest_first(const View& view);

/// Of `view` the elements from `lower` on.
View piece_of(const View& view, const Extents& lower, const Extents& extents);

/// Calls `body(lower, extents)` for boxes of up to `bytes` (or of one element) that partition the view, in
/// memory order; the elements of each box are contiguous if the view is dense.
template <class Body>
void for_each_piece(const View& view, std::int64_t bytes, Body&& body) {
  if (volume(view.extents) == 0) return;
  const std::vector<int> order = slowest_first(view);
  Extents extents = view.extents;  // of a piece, at most
  std::int64_t piece = bytes_of(view);
  for (const int d : order) {
    const std::int64_t slice = piece / extents[d];
    extents[d] = std::clamp<std::int64_t>(bytes / slice, 1, extents[d]);
    piece = slice * extents[d];
  }
  Extents lower = Extents::filled(extents.size(), 0);
  for (bool more = true; more;) {
    Extents here = extents;
    for (int d = 0; d < here.size(); ++d) here[d] = std::min(here[d], view.extents[d] - lower[d]);
    body(lower, here);
    more = false;
    for (auto d = order.rbegin(); d != order.rend() && !more; ++d) {
      lower[*d] += extents[*d];
      more = lower[*d] < view.extents[*d];
      if (!more) lower[*d] = 0;
    }
  }
}

/// Host memory for one piece after the other.
class HostPiece {
 public:
  /// The piece itself where it is in host memory; else a copy, until the next one is brought or made.
  View bring(ContextState& context, const View& piece) {
    if (piece.space == MemorySpace::host) return piece;
    const View here = make(piece);
    copy_view(context, piece, here);
    return here;
  }
  /// One like it, with undefined contents, dense in the same order.
  View make(const View& like);

 private:
  std::unique_ptr<char[]> memory_;
  std::int64_t bytes_ = 0;
};

}  // namespace partita::arrays
