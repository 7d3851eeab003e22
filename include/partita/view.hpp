// A typed window on memory that somebody else owns.
#pragma once

#include <cstddef>
#include <partita/dtype.hpp>
#include <partita/extents.hpp>

namespace partita {

enum class MemorySpace : std::uint8_t { host, device };

/// A pointer with dtype, extents and strides. Owns nothing; as cheap to copy as a pointer. Device memory is
/// that of the context's device.
/// `data` may be null only where the extents hold no element. Strides are in elements and may be negative or
/// zero for reading; for writing, distinct indices must lie at distinct addresses.
struct View {
  void* data = nullptr;
  Dtype dtype = Dtype::f64;
  Shape extents = {};
  Strides strides = {};
  MemorySpace space = MemorySpace::host;

  /// A dense view.
  static View dense(void* data, Dtype dtype, const Shape& extents, Order order = Order::row_major) {
    return {data, dtype, extents, dense_strides(extents, order), MemorySpace::host};
  }
};

}  // namespace partita
