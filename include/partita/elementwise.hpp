// Sums, differences, products and quotients of arrays, element by element.
//
// Shapes follow NumPy's rule of broadcasting: dimensions are counted from the last one, and an operand of
// fewer dimensions, or of extent 1 along some, is the same along those. Nothing moves between ranks: every
// rank needs of each operand what its own part of the result reads. That is so where
//   - the layouts are equal or equivalent,
//   - the operand is Replicated, or whole on every rank along the dimensions in which they differ,
//   - an operand with broadcast dimensions is laid out as the result along the others: a row of n numbers of
//     the layout mesh:x=2,y=2:y (or Replicated) and a matrix of mesh:x=2,y=2:x,y.
// Anything else is an ArgumentError that names both layouts: `redistribute` one of them. Both operands and
// the result have one dtype (`Array::astype`, else an ArgumentError) and lie in one kind of memory; a number
// beside an array takes the array's dtype, as `Scalar::write` allows.
//
// Arithmetic is that of the dtype: integers wrap around; a quotient of integers is cut towards zero, a
// division by zero gives 0, of floating and complex numbers what IEEE says. f16 and bf16 are computed in f32
// and rounded. Of booleans a sum is "or" and a product "and"; differences and quotients are ArgumentErrors.
// A partial array has no values yet: ArgumentError.
//
// What works in place or into a destination is local: no rank waits for another, and bad arguments throw the
// same ArgumentError on every rank that passes them. Replicas are all computed. Views of any strides are
// fine. An operand may be the destination itself but not overlap it otherwise. In device memory the work is
// enqueued on `stream` (<partita/stream.hpp>; if unset, the context's own), and the call returns; it may be
// captured. In host memory a stream is an UnsupportedError.
#pragma once

#include <optional>
#include <partita/array.hpp>
#include <partita/scalar.hpp>
#include <partita/stream.hpp>

namespace partita {

/// An operand: an array, or one number for all elements. Holds a share of the array.
class PARTITA_API ArrayOrScalar {
 public:
  /// Made implicitly, of either.
  ArrayOrScalar(Array array)  // NOLINT: implicit by design
      : is_array_(true), array_(std::move(array)) {}
  template <class T>
  requires std::is_constructible_v<Scalar, T> ArrayOrScalar(T number)
      : scalar_(number) {}  // NOLINT: implicit by design

  bool is_array() const { return is_array_; }       ///< or else a number
  const Array& array() const { return array_; }     ///< invalid where it is a number
  const Scalar& scalar() const { return scalar_; }  ///< 0 where it is an array

 private:
  bool is_array_ = false;
  Array array_;
  Scalar scalar_ = 0;
};

/// array = factor array
PARTITA_API void scale(Array& array, const Scalar& factor, std::optional<Stream> stream = {});

/// y = alpha x + y; x may be broadcast.
PARTITA_API void axpy(const Scalar& alpha, const Array& x, Array& y, std::optional<Stream> stream = {});

/// destination = a + b, and so on. At least one of them is an array, else ArgumentError.
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

/// A new array on the symmetric heap. It has the layout of the operand that has the result's shape; where
/// both have it, of the first one whose layout the other suits; where none has it, it is Replicated. On a
/// device it is computed in the context's own stream. Collective and blocking, as `empty`: errors are the
/// same on every rank.
PARTITA_API Array operator+(const Array& a, const ArrayOrScalar& b);
PARTITA_API Array operator-(const Array& a, const ArrayOrScalar& b);
PARTITA_API Array operator*(const Array& a, const ArrayOrScalar& b);
PARTITA_API Array operator/(const Array& a, const ArrayOrScalar& b);
PARTITA_API Array operator+(const Scalar& a, const Array& b);
PARTITA_API Array operator-(const Scalar& a, const Array& b);
PARTITA_API Array operator*(const Scalar& a, const Array& b);
PARTITA_API Array operator/(const Scalar& a, const Array& b);

}  // namespace partita
