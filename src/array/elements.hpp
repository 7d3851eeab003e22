// Walking over the elements of a local part.
#pragma once

#include <cstdint>
#include <partita/array.hpp>
#include <vector>

namespace partita::arrays {

/// Calls `body(number, element)` for every element of the rank's part, where `number` is the element's
/// row-major number in the whole array and `element` points to it.
template <class T, class Body>
void for_each_element(const View& local, const Layout& layout, int rank, Body&& body) {
  const int dimensions = layout.dimensions();
  if (volume(local.extents) == 0) return;
  const Strides global = dense_strides(layout.shape());
  // numbers[d][i]: what position i along dimension d adds to the row-major number.
  std::vector<std::vector<std::int64_t>> numbers(static_cast<std::size_t>(dimensions));
  for (int d = 0; d < dimensions; ++d) {
    auto& table = numbers[static_cast<std::size_t>(d)];
    table = local_indices(layout, d, rank);
    for (std::int64_t& index : table) index *= global[d];
  }
  auto* base = static_cast<T*>(local.data);
  Extents at = Extents::filled(dimensions, 0);
  const int last = dimensions - 1;
  for (bool more = true; more;) {
    std::int64_t number = 0;
    T* row = base;
    for (int d = 0; d < last; ++d) {
      number += numbers[static_cast<std::size_t>(d)][static_cast<std::size_t>(at[d])];
      row += at[d] * local.strides[d];
    }
    if (last < 0) {
      body(number, *row);
      return;
    }
    const auto& table = numbers[static_cast<std::size_t>(last)];
    for (std::int64_t i = 0; i < local.extents[last]; ++i) {
      body(number + table[static_cast<std::size_t>(i)], row[i * local.strides[last]]);
    }
    more = false;
    for (int d = last - 1; d >= 0 && !more; --d) {
      more = ++at[d] < local.extents[d];
      if (!more) at[d] = 0;
    }
  }
}

/// Whether the rank is the first of the ranks that hold its part: so that a sum over ranks counts each
/// element once.
bool is_first_holder(const Layout& layout, int rank);

}  // namespace partita::arrays
