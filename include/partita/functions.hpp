// Elementwise functions, comparisons and selection.
//
// Broadcasting, layouts, numbers as operands, memory and streams are those of <partita/elementwise.hpp>:
// nothing is communicated, and operands must have the same dtype (otherwise ArgumentError: use `astype`).
// Functions that return an array make a new one, as `a + b` does: collective and blocking. `apply` with a
// destination writes to an existing array and is local; the destination may be an operand itself.
//
// Dtypes: the result has that of the operands, comparisons give booleans, and `abs` of complex numbers gives
// real ones. f16 and bf16 are computed in f32 and rounded. Functions that are not defined for a dtype throw
// ArgumentError: `sqrt`, `exp`, `log`, `sin`, `cos`, `tanh`, `pow` for integers (use `astype`), order,
// `floor` and what follows it for complex numbers, all of them but comparisons for booleans, all of them for
// FP8. NaN and infinity follow IEEE 754; `minimum` and `maximum` propagate NaN. Integers wrap around: `abs`
// and `negative` of the smallest one are that number. Host and device may differ in the last digits. In
// device memory `sqrt`, `exp`, `log`, `sin`, `cos`, `tanh` and `pow` of complex numbers are an
// UnsupportedError: compute them on a copy in host memory, `clone(a, {.space = MemorySpace::host})`.
//
// Functions of your own: <partita/transform.hpp>.
#pragma once

#include <partita/elementwise.hpp>
#include <partita/names.hpp>

namespace partita {

/// The functions of one operand.
enum class Unary : std::uint8_t {
  negative,
  abs,
  sqrt,
  exp,
  log,
  sin,
  cos,
  tanh,
  floor,
  ceil,
  round,  ///< to the nearest integer, halves to even
  tan,    ///< of floating-point numbers, as all below
  asin,
  acos,
  atan,
  sinh,
  cosh,
  log2,
  log10,
  log1p,  ///< log(1 + x)
  expm1,  ///< exp(x) - 1
};
template <>
struct OptionWords<Unary> {
  static constexpr std::string_view what = "elementwise function";
  static constexpr std::string_view words[]{"negative", "abs",   "sqrt", "exp",   "log",   "sin",   "cos",
                                            "tanh",     "floor", "ceil", "round", "tan",   "asin",  "acos",
                                            "atan",     "sinh",  "cosh", "log2",  "log10", "log1p", "expm1"};
};

/// The functions of two operands, besides sums, differences, products and quotients.
enum class Binary : std::uint8_t {
  minimum,
  maximum,
  pow,            ///< a to the power of b
  equal,          ///< boolean, as those below
  not_equal,      ///< true for NaN
  less,           ///< a < b
  less_equal,     ///< a <= b
  greater,        ///< a > b
  greater_equal,  ///< a >= b
  hypot,          ///< sqrt(a^2 + b^2) of floating-point numbers
  atan2,          ///< the angle of the point (b, a), of floating-point numbers
  remainder,      ///< a - b floor(a / b): of the sign of b; 0 for integers if b is 0
  floor_divide,   ///< floor(a / b); 0 for integers if b is 0
};
template <>
struct OptionWords<Binary> {
  static constexpr std::string_view what = "elementwise function";
  static constexpr std::string_view words[]{
      "minimum", "maximum",       "pow",   "equal", "not_equal", "less",        "less_equal",
      "greater", "greater_equal", "hypot", "atan2", "remainder", "floor_divide"};
};

/// f of each element.
PARTITA_API Array apply(Unary function, const Array& a);
PARTITA_API void apply(Unary function, const Array& a, Array& destination, std::optional<Stream> stream = {});
PARTITA_API Array apply(Binary function, const ArrayOrScalar& a, const ArrayOrScalar& b);
/// The destination of a comparison is an array of booleans.
PARTITA_API void apply(Binary function, const ArrayOrScalar& a, const ArrayOrScalar& b, Array& destination,
                       std::optional<Stream> stream = {});

/// -a, as `apply(Unary::negative, a)`.
inline Array operator-(const Array& a) {
  return apply(Unary::negative, a);
}
/// Absolute values; real for complex numbers.
inline Array abs(const Array& a) {
  return apply(Unary::abs, a);
}
/// Square roots.
inline Array sqrt(const Array& a) {
  return apply(Unary::sqrt, a);
}
/// Exponentials.
inline Array exp(const Array& a) {
  return apply(Unary::exp, a);
}
/// Natural logarithms.
inline Array log(const Array& a) {
  return apply(Unary::log, a);
}
/// Sines of angles in radians.
inline Array sin(const Array& a) {
  return apply(Unary::sin, a);
}
/// Cosines of angles in radians.
inline Array cos(const Array& a) {
  return apply(Unary::cos, a);
}
/// Hyperbolic tangents.
inline Array tanh(const Array& a) {
  return apply(Unary::tanh, a);
}
/// The largest integers that are not larger.
inline Array floor(const Array& a) {
  return apply(Unary::floor, a);
}
/// The smallest integers that are not smaller.
inline Array ceil(const Array& a) {
  return apply(Unary::ceil, a);
}

/// The smaller of two elements; NaN if one is NaN.
inline Array minimum(const ArrayOrScalar& a, const ArrayOrScalar& b) {
  return apply(Binary::minimum, a, b);
}
/// The larger of two elements; NaN if one is NaN.
inline Array maximum(const ArrayOrScalar& a, const ArrayOrScalar& b) {
  return apply(Binary::maximum, a, b);
}
/// a to the power of b.
inline Array pow(const ArrayOrScalar& a, const ArrayOrScalar& b) {
  return apply(Binary::pow, a, b);
}
/// The numbers limited to [lower, upper]. NaN is kept.
inline Array clip(const Array& a, const ArrayOrScalar& lower, const ArrayOrScalar& upper) {
  Array result = maximum(a, lower);
  apply(Binary::minimum, result, upper, result);
  return result;
}

// --- comparisons: arrays of booleans. There is no operator==: see <partita/array.hpp>

inline Array equal(const ArrayOrScalar& a, const ArrayOrScalar& b) {
  return apply(Binary::equal, a, b);
}
inline Array not_equal(const ArrayOrScalar& a, const ArrayOrScalar& b) {
  return apply(Binary::not_equal, a, b);
}
inline Array operator<(const Array& a, const ArrayOrScalar& b) {
  return apply(Binary::less, a, b);
}
inline Array operator<=(const Array& a, const ArrayOrScalar& b) {
  return apply(Binary::less_equal, a, b);
}
inline Array operator>(const Array& a, const ArrayOrScalar& b) {
  return apply(Binary::greater, a, b);
}
inline Array operator>=(const Array& a, const ArrayOrScalar& b) {
  return apply(Binary::greater_equal, a, b);
}
inline Array operator<(const Scalar& a, const Array& b) {
  return apply(Binary::less, a, b);
}
inline Array operator<=(const Scalar& a, const Array& b) {
  return apply(Binary::less_equal, a, b);
}
inline Array operator>(const Scalar& a, const Array& b) {
  return apply(Binary::greater, a, b);
}
inline Array operator>=(const Scalar& a, const Array& b) {
  return apply(Binary::greater_equal, a, b);
}

/// a where the condition, an array of booleans, is true, b elsewhere. All three are broadcast. Two numbers
/// must have one dtype, or b must be representable in that of a.
PARTITA_API Array where(const Array& condition, const ArrayOrScalar& a, const ArrayOrScalar& b);
/// The same into an existing array; local, as `apply`. The destination may be `b`, but must not overlap the
/// condition and `a`.
PARTITA_API void where(const Array& condition, const ArrayOrScalar& a, const ArrayOrScalar& b,
                       Array& destination, std::optional<Stream> stream = {});

/// The elements converted to the dtype of an existing array as by `astype`; local. The layouts must be
/// equivalent, and the arrays must not overlap.
PARTITA_API void convert(const Array& source, Array& destination, std::optional<Stream> stream = {});

/// The elements of this rank's part as one sequence in row-major order, sorted, into the part of an array
/// with as many elements: NaN are the largest. `order`, of i64: where they were; equal elements keep their
/// order; with it the destination may be an empty Array, which gives only the order. All parts must be dense
/// and row-major, and not overlap. Not for complex numbers and FP8 (UnsupportedError). Local; it takes device
/// memory of twice the size of the elements, and of 8 bytes each for an order.
PARTITA_API void sort_part(const Array& source, Array& destination, bool descending = false,
                           std::optional<Stream> stream = {});
PARTITA_API void sort_part(const Array& source, Array& destination, Array& order, bool descending = false,
                           std::optional<Stream> stream = {});

/// A new array with undefined contents for the results of such calls: in ordinary memory, row-major, on the
/// context and in the memory space of `model`. Local; it may be an operand of collective calls if all ranks
/// have made it alike. Device memory is given again when the array has been dropped, for work that follows in
/// `stream` (if unset, the context's own): complete what other streams do with it first. UnsupportedError in
/// a stream that is being captured; MemoryError.
PARTITA_API Array empty_beside(const Array& model, const Layout& layout, Dtype dtype,
                               std::optional<Stream> stream = {});

/// Whether |a - b| <= absolute + relative |b| for all elements, with infinities equal to themselves and NaN
/// to nothing. Arrays of the same shape in any distributions and dtypes. The same result on every rank.
/// Collective, blocking.
PARTITA_API bool allclose(const Array& a, const Array& b, double relative = 1e-5, double absolute = 1e-8);

/// The global index of the largest or smallest element; the first one in row-major order if there are
/// several, and of the first NaN if there is one. Collective, blocking; ArgumentError as for `max`.
PARTITA_API Index argmax(const Array& array);
PARTITA_API Index argmin(const Array& array);

// --- complex numbers

/// The real or imaginary parts as a view of the same memory, in ordinary memory and not dense, as
/// `Array::window`; a real array is its own real part, and has no imaginary part (ArgumentError). Local; must
/// be called alike on all ranks.
PARTITA_API Array real(const Array& array);
PARTITA_API Array imag(const Array& array);
/// The conjugate numbers, a new array; a copy of a real array. Collective, blocking.
PARTITA_API Array conj(const Array& array);

/// The matrix with rows and columns exchanged (all dimensions in reverse order), as a view of the same
/// memory: `Array::permuted`.
inline Array transpose(const Array& array) {
  return array.transposed();
}

}  // namespace partita
