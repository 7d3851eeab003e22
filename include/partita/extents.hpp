// Shapes, indices and strides: lists of at most `max_dimensions` 64-bit integers.
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
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace partita {

inline constexpr int max_dimensions = 8;  ///< maximum number of dimensions of an array

namespace detail {
[[noreturn]] PARTITA_API void refuse_extent(std::uint64_t value);
[[noreturn]] PARTITA_API void refuse_dimension(int dimension, int dimensions);

/// One integer, converted from any integer type.
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
/// A range of integers; characters and booleans are none.
template <class Range>
concept Integers = requires(const Range& range) {
  range.end();
  requires std::integral<std::remove_cvref_t<decltype(*range.begin())>>;
  requires !std::same_as<std::remove_cvref_t<decltype(*range.begin())>, char>;
  requires !std::same_as<std::remove_cvref_t<decltype(*range.begin())>, bool>;
};
}  // namespace detail

/// At most 8 integers, without allocation. `{}` is the shape of a scalar. A value; converted from any integer
/// types, ArgumentError beyond 2^63 - 1. Thread-safe for reading.
class PARTITA_API Extents {
 public:
  Extents() = default;
  Extents(std::initializer_list<detail::Extent> values);   ///< throws ArgumentError beyond 8 values
  explicit Extents(std::span<const std::int64_t> values);  ///< throws ArgumentError beyond 8 values
  /// Implicit conversion from a range of any integer type, such as std::vector<int>. Throws ArgumentError
  /// beyond 8 values.
  template <class Values>
  requires(!std::same_as<Values, Extents> && detail::Integers<Values>)
      Extents(const Values& values) {  // NOLINT: implicit by design
    for (const auto value : values) push_back(detail::Extent(value).value);
  }
  static Extents filled(int dimensions, std::int64_t value);  ///< `value` repeated `dimensions` times

  int size() const { return size_; }         ///< the number of dimensions
  bool empty() const { return size_ == 0; }  ///< true for a scalar
  /// Throws ArgumentError if i is out of range, in every build.
  std::int64_t operator[](int i) const { return values_[place(i)]; }
  std::int64_t& operator[](int i) { return values_[place(i)]; }
  std::int64_t at(int i) const { return values_[place(i)]; }  ///< the same as operator[]
  std::int64_t& at(int i) { return values_[place(i)]; }       ///< the same as operator[]
  /// Iterators.
  const std::int64_t* begin() const { return values_.data(); }
  const std::int64_t* end() const { return values_.data() + size_; }
  std::int64_t* begin() { return values_.data(); }
  std::int64_t* end() { return values_.data() + size_; }
  void push_back(std::int64_t value);  ///< throws ArgumentError beyond 8 values

  /// Whether the numbers of dimensions and all integers are equal.
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

/// Memory order of a local part.
enum class Order : std::uint8_t {
  row_major,     ///< last index fastest, as in C
  column_major,  ///< first index fastest, as in Fortran
};
template <>
struct OptionWords<Order> {
  static constexpr std::string_view what = "order";
  static constexpr std::string_view words[]{"row-major", "column-major"};
};

/// Strides of a dense array, in elements.
PARTITA_API Strides dense_strides(const Extents& shape, Order order = Order::row_major);

/// Text form: "197x233x189"; "scalar" without dimensions.
PARTITA_API std::string to_string(const Extents& extents);
/// Writes `to_string`.
PARTITA_API std::ostream& operator<<(std::ostream& stream, const Extents& extents);

}  // namespace partita
