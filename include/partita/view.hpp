// Views: non-owning typed references to memory.
#pragma once

#include <cstddef>
#include <partita/dtype.hpp>
#include <partita/extents.hpp>
#include <partita/names.hpp>
#include <span>
#include <type_traits>
#include <utility>

namespace partita {

/// The memory of the host or of a device.
enum class MemorySpace : std::uint8_t { host, device };
template <>
struct OptionWords<MemorySpace> {
  static constexpr std::string_view what = "space";
  static constexpr std::string_view words[]{"host", "device"};
};

/// A pointer with dtype, extents and strides. Owns nothing and is cheap to copy. Device memory must belong to
/// the context's device, otherwise ArgumentError wherever it is passed. `data` may be null only if there are
/// no elements. Strides are in elements and may be negative or, for reading, zero; for writing, distinct
/// indices must have distinct addresses.
struct View {
  void* data = nullptr;                   ///< address of the element at index 0
  Dtype dtype = Dtype::f64;               ///< dtype of the elements
  Shape extents = {};                     ///< number of elements along each dimension
  Strides strides = {};                   ///< in elements, one per dimension
  MemorySpace space = MemorySpace::host;  ///< memory space of `data`
  int device = -1;                        ///< index of the device; -1: the context's
  bool read_only = false;                 ///< const memory: calls that write to it throw ArgumentError

  /// A dense view of host memory.
  static View dense(void* data, Dtype dtype, const Shape& extents, Order order = Order::row_major) {
    return {data, dtype, extents, dense_strides(extents, order)};
  }
};

namespace detail {
/// Contiguous elements: std::vector, std::array, std::span, C arrays.
template <class T>
concept Elements = requires(T&& memory) {
  std::span(std::forward<T>(memory));
};

template <class T>
View view_of(T* data, const Shape& extents, Order order) {
  using Element = std::remove_const_t<T>;
  View view = View::dense(const_cast<Element*>(data), dtype_of<Element>(), extents, order);
  view.read_only = std::is_const_v<T>;
  return view;
}

PARTITA_API void require_volume(const Shape& extents, std::size_t elements);
}  // namespace detail

/// A one-dimensional View of a contiguous C++ container, with the dtype of its elements: `view(numbers)`.
/// Owns nothing. A view of const memory is read-only: it may be the source of a collective or a copy, and an
/// array that wraps it can only be read.
template <detail::Elements Memory>
View view(Memory&& memory) {
  const std::span elements(std::forward<Memory>(memory));
  return detail::view_of(elements.data(), {static_cast<std::int64_t>(elements.size())}, Order::row_major);
}
/// As above, as a dense array of these extents. Throws ArgumentError if their volume is not the number of
/// elements.
template <detail::Elements Memory>
View view(Memory&& memory, const Shape& extents, Order order = Order::row_major) {
  const std::span elements(std::forward<Memory>(memory));
  detail::require_volume(extents, elements.size());
  return detail::view_of(elements.data(), extents, order);
}
/// A View without dimensions of one number.
template <class T>
requires(!detail::Elements<T&>) View view(T& number) {
  return detail::view_of(&number, {}, Order::row_major);
}

}  // namespace partita
