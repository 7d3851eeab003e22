#include "array/pieces.hpp"

#include <numeric>

namespace partita::arrays {

std::vector<int> slowest_first(const View& view) {
  std::vector<int> order(static_cast<std::size_t>(view.extents.size()));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::ranges::greater(), [&](int d) { return std::abs(view.strides[d]); });
  return order;
}

View piece_of(const View& view, const Extents& lower, const Extents& extents) {
  View piece = view;
  piece.extents = extents;
  std::int64_t offset = 0;
  for (int d = 0; d < lower.size(); ++d) offset += lower[d] * view.strides[d];
  piece.data = static_cast<char*>(view.data) + offset * size_of(view.dtype);
  return piece;
}

View HostPiece::make(const View& like) {
  const std::int64_t bytes = bytes_of(like);
  if (bytes > bytes_) {
    memory_ = std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(bytes));
    bytes_ = bytes;
  }
  View here = dense_at(memory_.get(), like, MemorySpace::host);
  const std::vector<int> order = slowest_first(like);
  std::int64_t stride = 1;
  for (auto d = order.rbegin(); d != order.rend(); ++d) {
    here.strides[*d] = stride;
    stride *= like.extents[*d];
  }
  return here;
}

}  // namespace partita::arrays
