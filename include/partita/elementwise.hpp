// Elementwise sums, differences, products and quotients of arrays.
//
// Shapes are broadcast as in NumPy: dimensions are counted from the last one, and missing dimensions or those
// of extent 1 are repeated. Nothing is communicated: each rank must own the elements of each operand that its
// part of the result requires. This holds if
// - the layouts are equal or equivalent,
// - the operand is Replicated, or whole on every rank along the dimensions in which the layouts differ,
// - an operand with broadcast dimensions has the layout of the result along the others: a row of n numbers
//   with the layout mesh:x=2,y=2:y (or Replicated) and a matrix with mesh:x=2,y=2:x,y.
// Otherwise an ArgumentError names both layouts: `redistribute` one of them. Operands and result must have
// the same dtype (otherwise ArgumentError: use `astype`) and the same memory space; a number takes the
// array's dtype, as `Scalar::write` allows.
//
// Arithmetic is that of the dtype: integers wrap around; integer quotients are truncated, and integer
// division by zero gives 0; floating-point and complex division follows IEEE 754. f16 and bf16 are computed
// in f32 and rounded. For booleans a sum is "or" and a product "and"; differences and quotients are
// ArgumentErrors. A partial array is an ArgumentError: redistribute it first.
//
// Functions that write to an existing array are local: no rank waits for another, and invalid arguments throw
// the same ArgumentError on every rank that passes them. All replicas are computed. Any strides are
// supported. An operand may be the destination itself, but must not overlap it otherwise. In device memory
// the work is enqueued on `stream` (<partita/stream.hpp>; if unset, the context's own), and the call returns;
// it may be captured. A stream for host memory is an UnsupportedError.
#pragma once

#include <optional>
#include <partita/array.hpp>
#include <partita/scalar.hpp>
#include <partita/stream.hpp>

namespace partita {

/// An array, or one number for all elements. Keeps the array alive.
class PARTITA_API ArrayOrScalar {
 public:
  /// Implicit conversions.
  ArrayOrScalar(Array array)  // NOLINT: implicit by design
      : is_array_(true), array_(std::move(array)) {}
  template <class T>
  requires std::is_constructible_v<Scalar, T> ArrayOrScalar(T number)
      : scalar_(number) {}  // NOLINT: implicit by design

  bool is_array() const { return is_array_; }       ///< false for a number
  const Array& array() const { return array_; }     ///< empty for a number
  const Scalar& scalar() const { return scalar_; }  ///< 0 for an array

 private:
  bool is_array_ = false;
  Array array_;
  Scalar scalar_ = 0;
};

/// array = factor array
PARTITA_API void scale(Array& array, const Scalar& factor, std::optional<Stream> stream = {});

/// y = alpha x + y; x may be broadcast.
PARTITA_API void axpy(const Scalar& alpha, const Array& x, Array& y, std::optional<Stream> stream = {});

/// destination = a + b, and so on. At least one operand must be an array, otherwise ArgumentError.
PARTITA_API void add(const ArrayOrScalar& a, const ArrayOrScalar& b, Array& destination,
                     std::optional<Stream> stream = {});
PARTITA_API void subtract(const ArrayOrScalar& a, const ArrayOrScalar& b, Array& destination,
                          std::optional<Stream> stream = {});
PARTITA_API void multiply(const ArrayOrScalar& a, const ArrayOrScalar& b, Array& destination,
                          std::optional<Stream> stream = {});
PARTITA_API void divide(const ArrayOrScalar& a, const ArrayOrScalar& b, Array& destination,
                        std::optional<Stream> stream = {});

/// array = array + other, and so on. Local.
PARTITA_API Array& operator+=(Array& array, const ArrayOrScalar& other);
PARTITA_API Array& operator-=(Array& array, const ArrayOrScalar& other);
PARTITA_API Array& operator*=(Array& array, const ArrayOrScalar& other);
PARTITA_API Array& operator/=(Array& array, const ArrayOrScalar& other);

/// A new array on the symmetric heap. Its layout is that of the operand with the result's shape; if both have
/// it, that of the first operand whose layout suits the other; if none has it, Replicated. On a device it is
/// computed on the context's own stream. Collective and blocking, as `empty`: errors are the same on every
/// rank.
PARTITA_API Array operator+(const Array& a, const ArrayOrScalar& b);
PARTITA_API Array operator-(const Array& a, const ArrayOrScalar& b);
PARTITA_API Array operator*(const Array& a, const ArrayOrScalar& b);
PARTITA_API Array operator/(const Array& a, const ArrayOrScalar& b);
PARTITA_API Array operator+(const Scalar& a, const Array& b);
PARTITA_API Array operator-(const Scalar& a, const Array& b);
PARTITA_API Array operator*(const Scalar& a, const Array& b);
PARTITA_API Array operator/(const Scalar& a, const Array& b);

}  // namespace partita
