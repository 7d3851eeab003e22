// Arrays in every kind of memory and order of elements that a caller may pass.
#pragma once

#include <optional>
#include <partita/array.hpp>
#include <vector>

namespace partita::testing {

/// Memory of a test's own behind a wrapped array.
struct Wrapped {
  std::vector<char> memory;
  Array array;
};

/// A strided part: every second element along the last dimension, dimensions otherwise dense.
inline Wrapped strided(const Context& context, const Layout& layout, Dtype dtype) {
  Wrapped result;
  const Shape extents = layout.local_shape(context.rank());
  Strides strides = dense_strides(extents);
  for (std::int64_t& stride : strides) stride *= 2;
  result.memory.resize(static_cast<std::size_t>(2 * volume(extents) * size_of(dtype) + 16));
  const View view{result.memory.data(), dtype, extents, strides, MemorySpace::host};
  result.array = wrap(context, view, layout);
  return result;
}

/// 0: heap, row-major; 1: ordinary, row-major; 2: ordinary, column-major; 3: strided (on the host); 4: heap,
/// column-major.
inline Wrapped make_array(const Context& context, const Layout& layout, Dtype dtype, int memory,
                          std::optional<MemorySpace> space = {}) {
  if (memory == 3) return strided(context, layout, dtype);
  const bool heap = memory == 0 || memory == 4;
  const bool columns = memory == 2 || memory == 4;
  return {{},
          empty(context, layout, dtype,
                {heap ? Residency::heap : Residency::ordinary,
                 columns ? Order::column_major : Order::row_major, space})};
}

}  // namespace partita::testing
