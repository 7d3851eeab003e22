#include "array/elements.hpp"

#include <vector>

#include "array/array_state.hpp"
#include "array/pieces.hpp"
#include "distribution/local_indices.hpp"

namespace partita::arrays {

void for_each_row(const View& piece, const Extents& lower, const Layout& layout, int rank,
                  const RowBody& body) {
  if (volume(piece.extents) == 0) return;
  const Strides global = dense_strides(layout.shape());
  const Region held = layout.region(rank);
  const std::int64_t item = size_of(piece.dtype);
  const int last = layout.dimensions() - 1;
  // numbers[d][i]: what position i along dimension d adds to the row-major number; a scalar has one element.
  std::vector<std::vector<std::int64_t>> numbers;
  for (int d = 0; d <= last; ++d) {
    auto& table = numbers.emplace_back(distribution::local_indices(held, d, lower[d], piece.extents[d]));
    for (std::int64_t& index : table) index *= global[d];
  }
  if (last < 0) numbers.push_back({0});
  Extents at = Extents::filled(std::max(last, 0), 0);
  for (bool more = true; more;) {
    ElementRow row{0, numbers.back(), static_cast<char*>(piece.data),
                   last < 0 ? 0 : piece.strides[last] * item};
    for (int d = 0; d < last; ++d) {
      row.number += numbers[static_cast<std::size_t>(d)][static_cast<std::size_t>(at[d])];
      row.first += at[d] * piece.strides[d] * item;
    }
    body(row);
    more = false;
    for (int d = last - 1; d >= 0 && !more; --d) {
      more = ++at[d] < piece.extents[d];
      if (!more) at[d] = 0;
    }
  }
}

void for_each_row(const View& local, const Layout& layout, int rank, const RowBody& body) {
  for_each_row(local, Extents::filled(layout.dimensions(), 0), layout, rank, body);
}

void fill_rows(Array& array, const RowBody& body) {
  const View& local = array.local();
  ContextState& context = *array.context_state();
  if (local.space != MemorySpace::device) return for_each_row(local, array.layout(), context.rank(), body);
  context.require_usable_here("fill");
  HostPiece memory;
  for_each_piece(local, piece_bytes, [&](const Extents& lower, const Extents& extents) {
    const View there = piece_of(local, lower, extents), here = memory.make(there);
    for_each_row(here, lower, array.layout(), context.rank(), body);
    copy_view(context, here, there);
  });
}

}  // namespace partita::arrays
