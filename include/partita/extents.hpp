// A short list of 64-bit integers: a shape, an index, or strides. Never more than `max_dimensions` of them.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <partita/export.hpp>
#include <partita/language.hpp>
#include <partita/names.hpp>
#include <ranges>
#include <span>
#include <string>

namespace partita {

inline constexpr int max_dimensions = 8;  ///< of arrays

namespace detail {
[[noreturn]] PARTITA_API void refuse_extent(std::uint64_t value);
[[noreturn]] PARTITA_API void refuse_dimension(int dimension, int dimensions);

/// One of the integers, of whatever type it came: `std::size_t` is as good as `int`.
struct Extent {
  std::int64_t value;

  template <std::integral T>
  constexpr Extent(T given) : value(static_cast<std::int64_t>(given)) {
    static_assert(sizeof(T) <= sizeof(value));
    if constexpr (std::unsigned_integral<T> && sizeof(T) == sizeof(value)) {
      if (value < 0) refuse_extent(given);
    }
  }
};
}  // namespace detail

/// A value of at most 8 integers, without allocation. `{}` is the shape of a scalar. Made of integers of any
/// types; ArgumentError for one beyond 2^63 - 1. Not thread-safe for writing; reading from several threads is
/// fine.
class PARTITA_API Extents {
 public:
  Extents() = default;
  Extents(std::initializer_list<detail::Extent> values);   ///< throws ArgumentError beyond 8 values
  explicit Extents(std::span<const std::int64_t> values);  ///< likewise
  /// Likewise, of a vector of `std::size_t` and the like.
  template <std::ranges::input_range Values>
  requires std::integral<std::ranges::range_value_t<Values>> &&
      (!std::convertible_to<const Values&, std::span<const std::int64_t>>)explicit Extents(
          const Values& values) {
    for (const auto value : values) push_back(detail::Extent(value).value);
  }
  static Extents filled(int dimensions, std::int64_t value);  ///< `dimensions` times `value`

  int size() const { return size_; }         ///< the number of dimensions
  bool empty() const { return size_ == 0; }  ///< no dimensions: a scalar
  /// Throws ArgumentError where there is no dimension `i`, in every build.
  std::int64_t operator[](int i) const { return values_[place(i)]; }
  std::int64_t& operator[](int i) { return values_[place(i)]; }
  std::int64_t at(int i) const { return values_[place(i)]; }  ///< the same as operator[]
  std::int64_t& at(int i) { return values_[place(i)]; }       ///< the same as operator[]
  /// For loops over the integers.
  const std::int64_t* begin() const { return values_.data(); }
  const std::int64_t* end() const { return values_.data() + size_; }
  std::int64_t* begin() { return values_.data(); }
  std::int64_t* end() { return values_.data() + size_; }
  void push_back(std::int64_t value);  ///< throws ArgumentError beyond 8 values

  /// As many dimensions, and the same integers.
  friend bool operator==(const Extents& a, const Extents& b) {
    if (a.size_ != b.size_) return false;
    for (int i = 0; i < a.size_; ++i) {
      if (a[i] != b[i]) return false;
    }
    return true;
  }

 private:
  std::size_t place(int i) const {
    if (i < 0 || i >= size_) [[unlikely]] {
      detail::refuse_dimension(i, size_);
    }
    return static_cast<std::size_t>(i);
  }

  std::array<std::int64_t, max_dimensions> values_{};
  int size_ = 0;
};

using Shape = Extents;    ///< number of elements along each dimension, none negative
using Index = Extents;    ///< one element's position
using Strides = Extents;  ///< step in elements (not bytes) along each dimension

/// Product of the extents; 1 for a scalar. Throws ArgumentError on a negative extent or beyond 2^63 - 1.
PARTITA_API std::int64_t volume(const Extents& shape);

/// How the elements of a local part lie in memory.
enum class Order : std::uint8_t {
  row_major,     ///< last index fastest, as in C
  column_major,  ///< first index fastest, as in Fortran
};
template <>
struct OptionWords<Order> {
  static constexpr std::string_view what = "order";
  static constexpr std::string_view words[]{"row-major", "column-major"};
};

/// Strides, in elements, of a dense array.
PARTITA_API Strides dense_strides(const Extents& shape, Order order = Order::row_major);

/// "197x233x189"; "scalar" for none.
PARTITA_API std::string to_string(const Extents& extents);
/// Writes that.
PARTITA_API std::ostream& operator<<(std::ostream& stream, const Extents& extents);

}  // namespace partita
