// A number with its dtype.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <partita/dtype.hpp>
#include <partita/export.hpp>
#include <partita/half.hpp>
#include <string>
#include <type_traits>

namespace partita {

namespace detail {
/// The C++ types of numbers with a dtype.
template <class T>
inline constexpr bool is_number =
    std::is_arithmetic_v<T> || is_small_float<T> || is_one_of<T, std::complex<float>, std::complex<double>>;
}  // namespace detail

/// A number with its dtype: the result of reductions of whole arrays, and an argument of elementwise
/// operations. Converted from any C++ number that has a dtype. A value; thread-safe for reading.
class PARTITA_API Scalar {
 public:
  /// Implicit conversion; the dtype is that of T.
  template <class T>
  requires detail::is_number<T> Scalar(T value)  // NOLINT: implicit by design
      : Scalar(of(dtype_of<T>(), &value)) {}
  /// From one element of the dtype.
  static Scalar of(Dtype dtype, const void* element);

  Dtype dtype() const { return dtype_; }  ///< the dtype in which it was computed

  /// The number as a T: `total.as<double>()`. Throws ArgumentError as `write`.
  template <class T>
  T as() const {
    if constexpr (std::is_same_v<T, Scalar>) {
      return *this;
    } else {
      T value{};
      write(dtype_of<T>(), &value);
      return value;
    }
  }
  /// Implicit conversion, as `as`: `double total = sum(array)`. Not to bool.
  template <class T>
  requires(detail::is_number<T> && !std::is_same_v<T, bool>) operator T()
      const {  // NOLINT: implicit by design
    return as<T>();
  }
  /// Writes the number as one element of `dtype`, rounded to nearest, ties to even. Throws ArgumentError for
  /// conversions that lose more than digits: complex to real, floating-point to integer, an integer out of
  /// range, a number to boolean.
  void write(Dtype dtype, void* element) const;

  std::string to_string() const;  ///< "2.5 (f64)"

  /// Writes the number without its dtype: "2.5".
  friend PARTITA_API std::ostream& operator<<(std::ostream& stream, const Scalar& scalar);
  friend bool operator==(const Scalar&, const Scalar&) = default;  ///< compares the dtype, too
  /// Whether the value is the number, in any dtype: `sum(counts) == 3`.
  template <class T>
  requires detail::is_number<T>
  friend bool operator==(const Scalar& a, T b) { return a.has_value_of(b); }

 private:
  Scalar() = default;
  bool has_value_of(const Scalar& other) const;
  std::string number_text() const;

  Dtype dtype_ = Dtype::f64;
  std::int64_t integer_ = 0;     // of an integer or boolean; u64 by its bits
  std::complex<double> number_;  // of the others
};

}  // namespace partita
