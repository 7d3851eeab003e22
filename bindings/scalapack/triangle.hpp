// One triangle of a matrix, of which the other one must not be touched.
#pragma once

#include <cstdint>
#include <partita/array.hpp>
#include <vector>

namespace partita::scalapack {

/// The elements of a set, increasing.
inline std::vector<std::int64_t> elements_of(const IndexSet& set) {
  std::vector<std::int64_t> elements(static_cast<std::size_t>(set.size()));
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = set.at(static_cast<std::int64_t>(i));
  return elements;
}

/// element(to, from, on_diagonal) for each local element on and below the diagonal of a matrix. `from` has
/// the same layout. For the triangle above pass both matrices transposed.
template <class T, class Element>
void along_lower_triangle(const Array& from, const Array& to, Element&& element) {
  const View& source = from.local();
  const View& target = to.local();
  if (volume(target.extents) == 0) return;
  const Region region = to.layout().region(to.context().rank());
  const IndexSet &row_set = region.sets[0], &column_set = region.sets[1];
  const auto rows = elements_of(row_set), columns = elements_of(column_set);
  const auto visit = [&](std::int64_t i, std::int64_t j) {
    element(static_cast<T*>(target.data)[i * target.strides[0] + j * target.strides[1]],
            static_cast<const T*>(source.data)[i * source.strides[0] + j * source.strides[1]],
            rows[static_cast<std::size_t>(i)] == columns[static_cast<std::size_t>(j)]);
  };
  // Along the memory of `to`.
  if (target.strides[0] == 1) {
    for (std::int64_t j = 0; j < column_set.size(); ++j) {
      const std::int64_t first = row_set.position(columns[static_cast<std::size_t>(j)]);
      for (std::int64_t i = first; i < row_set.size(); ++i) visit(i, j);
    }
    return;
  }
  for (std::int64_t i = 0; i < row_set.size(); ++i) {
    const std::int64_t end = column_set.position(rows[static_cast<std::size_t>(i)] + 1);
    for (std::int64_t j = 0; j < end; ++j) visit(i, j);
  }
}

}  // namespace partita::scalapack
