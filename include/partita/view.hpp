// A typed window on memory that somebody else owns.
#pragma once

#include <cstddef>
#include <partita/dtype.hpp>
#include <partita/extents.hpp>
#include <partita/names.hpp>
#include <span>
#include <type_traits>
#include <utility>

namespace partita {

/// Whose memory it is.
enum class MemorySpace : std::uint8_t { host, device };
template <>
struct OptionWords<MemorySpace> {
  static constexpr std::string_view what = "space";
  static constexpr std::string_view words[]{"host", "device"};
};

/// A pointer with dtype, extents and strides. Owns nothing; as cheap to copy as a pointer. Device memory is
/// that of the context's device; what names another one is an ArgumentError wherever it is passed.
/// `data` may be null only where the extents hold no element. Strides are in elements and may be negative or
/// zero for reading; for writing, distinct indices must lie at distinct addresses.
struct View {
  void* data = nullptr;                   ///< of the element at index 0
  Dtype dtype = Dtype::f64;               ///< of the elements
  Shape extents = {};                     ///< how many along each dimension
  Strides strides = {};                   ///< as many
  MemorySpace space = MemorySpace::host;  ///< which `data` is an address of
  int device = -1;                        ///< of device memory: its device's index; -1: the context's
  bool read_only = false;  ///< of const memory: a call that would write to it throws ArgumentError

  /// A dense view.
  static View dense(void* data, Dtype dtype, const Shape& extents, Order order = Order::row_major) {
    return {data, dtype, extents, dense_strides(extents, order)};
  }
};

namespace detail {
/// std::vector, std::array, std::span, arrays of C: elements one behind the other, that outlive the call.
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

/// Memory of C++ as a View of one dimension, the dtype that of its elements: `view(numbers)`. Owns nothing.
/// A view of const memory is read-only: it may be the source of a collective or of a copy, and an array that
/// wraps it may only be read.
template <detail::Elements Memory>
View view(Memory&& memory) {
  const std::span elements(std::forward<Memory>(memory));
  return detail::view_of(elements.data(), {static_cast<std::int64_t>(elements.size())}, Order::row_major);
}
/// The same as a dense array of these extents. Throws ArgumentError where they do not hold as many elements.
template <detail::Elements Memory>
View view(Memory&& memory, const Shape& extents, Order order = Order::row_major) {
  const std::span elements(std::forward<Memory>(memory));
  detail::require_volume(extents, elements.size());
  return detail::view_of(elements.data(), extents, order);
}
/// One number as a View without dimensions.
template <class T>
requires(!detail::Elements<T&>) View view(T& number) {
  return detail::view_of(&number, {}, Order::row_major);
}

}  // namespace partita
