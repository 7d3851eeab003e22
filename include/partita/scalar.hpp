// A number with its dtype.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <partita/dtype.hpp>
#include <partita/export.hpp>
#include <partita/half.hpp>
#include <string>
#include <type_traits>

namespace partita {

/// A number with its dtype: the result of reductions of whole arrays, and an argument of elementwise
/// operations. Converted from any C++ number that has a dtype. A value; thread-safe for reading.
class PARTITA_API Scalar {
 public:
  /// Implicit conversion; the dtype is that of T.
  template <class T>
  requires(std::is_arithmetic_v<T> || detail::is_small_float<T> ||
           detail::is_one_of<T, std::complex<float>, std::complex<double>>)
      Scalar(T value)  // NOLINT: implicit by design
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
  /// Writes the number as one element of `dtype`, rounded to nearest, ties to even. Throws ArgumentError for
  /// conversions that lose more than digits: complex to real, floating-point to integer, an integer out of
  /// range, a number to boolean.
  void write(Dtype dtype, void* element) const;

  std::string to_string() const;  ///< "2.5 (f64)"

  friend bool operator==(const Scalar&, const Scalar&) = default;  ///< compares the dtype, too

 private:
  Scalar() = default;

  Dtype dtype_ = Dtype::f64;
  std::int64_t integer_ = 0;     // of an integer or boolean; u64 by its bits
  std::complex<double> number_;  // of the others
};

}  // namespace partita
