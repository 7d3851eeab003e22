// Arrays in every kind of memory and order of elements that a caller may pass.
#pragma once

#include <optional>
#include <partita/array.hpp>
#include <partita/memory.hpp>
#include <vector>

#include "context/context_state.hpp"

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

/// Symmetric memory behind a wrapped array.
struct WrappedSymmetric {
  SymmetricMemory memory;
  Array array;
};

/// The context's arrays with elements `apart` times as far from each other as in a dense part: no
/// plan knows such strides. Collective.
inline WrappedSymmetric spread(const Context& context, const Layout& layout, Dtype dtype,
                               std::int64_t apart) {
  WrappedSymmetric result;
  const Shape extents = layout.local_shape(context.rank());
  Strides strides = dense_strides(extents);
  for (std::int64_t& stride : strides) stride *= apart;
  result.memory = SymmetricMemory::allocate(context, apart * layout.largest_local_size() * size_of(dtype));
  const View view{result.memory.data(), dtype, extents, strides, context.state()->default_space()};
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
                {.residency = heap ? Residency::heap : Residency::ordinary,
                 .order = columns ? Order::column_major : Order::row_major,
                 .space = space})};
}

}  // namespace partita::testing
