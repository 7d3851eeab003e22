// Walking over the elements of a local part, or of a piece of it.
#pragma once

#include <cstdint>
#include <partita/array.hpp>
#include <vector>

#include "distribution/local_indices.hpp"

namespace partita::arrays {

/// Calls `body(number, element)` for every element of a piece of the rank's part, where `number` is the
/// element's row-major number in the whole array; `lower` is where the piece begins in the part.
template <class T, class Body>
void for_each_element(const View& piece, const Extents& lower, const Layout& layout, int rank, Body&& body) {
  const int dimensions = layout.dimensions();
  if (volume(piece.extents) == 0) return;
  const Strides global = dense_strides(layout.shape());
  const Region held = layout.region(rank);
  // numbers[d][i]: what position i along dimension d adds to the row-major number.
  std::vector<std::vector<std::int64_t>> numbers(static_cast<std::size_t>(dimensions));
  for (int d = 0; d < dimensions; ++d) {
    auto& table = numbers[static_cast<std::size_t>(d)];
    table = distribution::local_indices(held, d, lower[d], piece.extents[d]);
    for (std::int64_t& index : table) index *= global[d];
  }
  auto* base = static_cast<T*>(piece.data);
  Extents at = Extents::filled(dimensions, 0);
  const int last = dimensions - 1;
  for (bool more = true; more;) {
    std::int64_t number = 0;
    T* row = base;
    for (int d = 0; d < last; ++d) {
      number += numbers[static_cast<std::size_t>(d)][static_cast<std::size_t>(at[d])];
      row += at[d] * piece.strides[d];
    }
    if (last < 0) {
      body(number, *row);
      return;
    }
    const auto& table = numbers[static_cast<std::size_t>(last)];
    for (std::int64_t i = 0; i < piece.extents[last]; ++i) {
      body(number + table[static_cast<std::size_t>(i)], row[i * piece.strides[last]]);
    }
    more = false;
    for (int d = last - 1; d >= 0 && !more; --d) {
      more = ++at[d] < piece.extents[d];
      if (!more) at[d] = 0;
    }
  }
}

/// The same for all of the part.
template <class T, class Body>
void for_each_element(const View& local, const Layout& layout, int rank, Body&& body) {
  for_each_element<T>(local, Extents::filled(layout.dimensions(), 0), layout, rank, body);
}

/// Whether the rank is the first of the ranks that hold its part: so that a sum over ranks counts each
/// element once.
bool is_first_holder(const Layout& layout, int rank);

}  // namespace partita::arrays
