// Parts with ghost cells against the definition: cell i of the extended part is element lower + i of the
// array, indices going round where they are periodic.
#pragma once

#include <optional>
#include <random>

#include "support/models/collectives_model.hpp"

namespace partita::testing {

inline Number element(Dtype dtype, const Index& index) {
  return known(dtype, 0, index);
}

inline Index plus(Index index, const Index& offset) {
  for (int d = 0; d < index.size(); ++d) index[d] += offset[d];
  return index;
}

/// Of the rank's part, which is a box.
inline Index corner_of(const Layout& layout, int rank) {
  return layout.to_global(rank, Extents::filled(layout.dimensions(), 0));
}

inline void write_array(const Array& array) {
  const View& local = array.local();
  if (volume(local.extents) == 0) return;
  const Index corner = corner_of(array.layout(), array.context().rank());
  for_each_index(local.extents, [&](const Index& index) {
    std::int64_t offset = 0;
    for (int d = 0; d < index.size(); ++d) offset += index[d] * local.strides[d];
    write_number(local.dtype, static_cast<std::byte*>(local.data) + offset * size_of(local.dtype),
                 element(local.dtype, plus(index, corner)));
  });
}

inline HaloOptions random_widths(std::mt19937& random, int dimensions) {
  HaloOptions options;
  for (int d = 0; d < dimensions; ++d) {
    options.lower.push_back(static_cast<std::int64_t>(random() % 5));
    options.upper.push_back(static_cast<std::int64_t>(random() % 7));
    options.periodic.push_back(random() % 2 == 0);
  }
  return options;
}

/// The global index of a cell of the extended part of the rank whose part begins at `corner`; nothing outside
/// of the array.
inline std::optional<Index> global_of(const Layout& layout, const Index& corner, const HaloOptions& options,
                                      Index cell) {
  for (int d = 0; d < cell.size(); ++d) {
    const std::int64_t extent = layout.shape()[d];
    cell[d] += corner[d] - options.lower[d];
    if (options.periodic[static_cast<std::size_t>(d)]) cell[d] = (cell[d] % extent + extent) % extent;
    if (cell[d] < 0 || cell[d] >= extent) return std::nullopt;
  }
  return cell;
}

inline std::int64_t wrong_cells(Block& extended, const Layout& layout, int rank, const HaloOptions& options) {
  extended.download();
  if (volume(extended.view().extents) == 0) return 0;
  std::int64_t wrong = 0;
  const Dtype dtype = extended.view().dtype;
  const Index corner = corner_of(layout, rank);
  std::array<std::byte, 16> expected{};
  for_each_index(extended.view().extents, [&](const Index& cell) {
    const auto global = global_of(layout, corner, options, cell);
    expected.fill(std::byte{0xa5});  // left alone
    if (global) write_number(dtype, expected.data(), element(dtype, *global));
    wrong += std::memcmp(expected.data(), extended.at(cell), static_cast<std::size_t>(size_of(dtype))) != 0;
  });
  return wrong;
}

}  // namespace partita::testing
