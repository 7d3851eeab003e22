// Sums, products, extrema, means and norms of arrays: whole, or over some axes.
//
// Every element counts once, regardless of replicas. A partial array is an ArgumentError: redistribute it
// first.
//
// Dtype of the result:
//
//   array              sum, product, dot   min, max   mean   norm   any, all
//   bool, signed       i64                 same       f64    f64    bool
//   unsigned           u64                 same       f64    f64    bool
//   f16, bf16, f32     f32                 same       f32    f32    bool
//   f64                f64                 f64        f64    f64    bool
//   c64                c64                 -          c64    f32    bool
//   c128               c128                -          c128   f64    bool
//
// Floating-point numbers are summed in f64 (complex ones in c128) and rounded once at the end; in f64 itself
// sums are pairwise. Sums of integers wrap around. The order of summation depends only on shape, layout and
// memory, and the ranks' results are combined in rank order: the bits are the same on every rank and in every
// run. With another layout the last digits may differ. min and max propagate NaN; NaN is true. The norm is
// sqrt(sum |x|^2); if squares would overflow or underflow, it is computed again with scaled elements, as in
// BLAS's nrm2. For an empty array the sum is 0, the product 1, the norm 0, any false and all true; min, max
// and mean are ArgumentErrors.
//
// All functions are collective over the array's context and block until the result is available, also on
// devices. They run after the work on `stream` (if unset, on the context's own). A stream for host memory, or
// one that is being captured, is an UnsupportedError. Errors, the same on every rank: ArgumentError (a
// partial array, an invalid axis, a reduction that is not defined for the dtype), DisagreementError,
// MemoryError.
#pragma once

#include <initializer_list>
#include <optional>
#include <partita/array.hpp>
#include <partita/scalar.hpp>
#include <partita/stream.hpp>
#include <string_view>
#include <vector>

namespace partita {

/// The reductions of arrays.
enum class ArrayReduction : std::uint8_t { sum, product, min, max, mean, norm, any, all };

PARTITA_API std::string_view name(ArrayReduction reduction);  ///< "sum", ...

/// One or several axes of an array: `0`, `{0, 2}`. Converted implicitly; checked when used.
struct Axes {
  std::vector<int> list;  ///< counted from 0
  /// Implicit conversions.
  Axes(int axis) : list{axis} {}                          // NOLINT: implicit by design
  Axes(std::initializer_list<int> axes) : list(axes) {}   // NOLINT: implicit by design
  Axes(std::vector<int> axes) : list(std::move(axes)) {}  // NOLINT: implicit by design
};

/// Options of reductions over axes.
struct ReduceAxesOptions {
  /// The reduction runs after the work on this stream; if unset, on the context's own.
  std::optional<Stream> stream = {};
  bool keep_dimensions = false;  ///< keep reduced axes, with extent 1
  /// Distribution of the result. If unset: that of the array without the reduced axes, if these are not
  /// distributed. On a mesh, or a rule that can be written as one (Slab, one block per process), ranks along
  /// the mesh axes of reduced dimensions hold replicas. In all other cases: Replicated.
  std::optional<Distribution> distribution = {};
  std::optional<int> root = {};           ///< if set: only this rank gets the result, as a whole
  Residency residency = Residency::heap;  ///< memory of the result
};

/// Reduces all elements; every rank gets the result.
PARTITA_API Scalar reduce(const Array& array, ArrayReduction reduction, std::optional<Stream> stream = {});
/// Reduces along `axes` (at least one, each once). Returns a new array in the memory space of the source, on
/// the symmetric heap unless the options say otherwise. The plan and the memory for partial results are
/// cached in the context.
PARTITA_API Array reduce(const Array& array, ArrayReduction reduction, const Axes& axes,
                         const ReduceAxesOptions& options = {}, SourcePlace where = SourcePlace::current());

/// The layout of that array where the options name neither a distribution nor a root. Throws ArgumentError
/// for a partial layout and for wrong axes. Not collective. Thread-safe.
PARTITA_API Layout reduced_layout(const Layout& layout, const Axes& axes, bool keep_dimensions = false);

/// Sum of a[i] b[i], or of conj(a[i]) b[i] if `conjugated`. Both arrays must have the same dtype and
/// equivalent layouts; the ArgumentError otherwise names both layouts and suggests `redistribute`.
PARTITA_API Scalar inner_product(const Array& a, const Array& b, bool conjugated,
                                 std::optional<Stream> stream = {});

// --- by name: `sum<double>(x)` reduces all elements, `sum(x, {0})` along an axis. T: the C++ type of the
// result, see Scalar::as

/// Sum of a[i] b[i].
template <class T = Scalar>
T dot(const Array& a, const Array& b, std::optional<Stream> stream = {}) {
  return inner_product(a, b, false, stream).as<T>();
}
/// Sum of conj(a[i]) b[i], as NumPy's vdot and BLAS's dotc.
template <class T = Scalar>
T vdot(const Array& a, const Array& b, std::optional<Stream> stream = {}) {
  return inner_product(a, b, true, stream).as<T>();
}

template <class T = Scalar>
T sum(const Array& array, std::optional<Stream> stream = {}) {
  return reduce(array, ArrayReduction::sum, stream).as<T>();
}
inline Array sum(const Array& array, const Axes& axes, const ReduceAxesOptions& options = {},
                 SourcePlace where = SourcePlace::current()) {
  return reduce(array, ArrayReduction::sum, axes, options, where);
}

template <class T = Scalar>
T product(const Array& array, std::optional<Stream> stream = {}) {
  return reduce(array, ArrayReduction::product, stream).as<T>();
}
inline Array product(const Array& array, const Axes& axes, const ReduceAxesOptions& options = {},
                     SourcePlace where = SourcePlace::current()) {
  return reduce(array, ArrayReduction::product, axes, options, where);
}

template <class T = Scalar>
T min(const Array& array, std::optional<Stream> stream = {}) {
  return reduce(array, ArrayReduction::min, stream).as<T>();
}
inline Array min(const Array& array, const Axes& axes, const ReduceAxesOptions& options = {},
                 SourcePlace where = SourcePlace::current()) {
  return reduce(array, ArrayReduction::min, axes, options, where);
}

template <class T = Scalar>
T max(const Array& array, std::optional<Stream> stream = {}) {
  return reduce(array, ArrayReduction::max, stream).as<T>();
}
inline Array max(const Array& array, const Axes& axes, const ReduceAxesOptions& options = {},
                 SourcePlace where = SourcePlace::current()) {
  return reduce(array, ArrayReduction::max, axes, options, where);
}

template <class T = Scalar>
T mean(const Array& array, std::optional<Stream> stream = {}) {
  return reduce(array, ArrayReduction::mean, stream).as<T>();
}
inline Array mean(const Array& array, const Axes& axes, const ReduceAxesOptions& options = {},
                  SourcePlace where = SourcePlace::current()) {
  return reduce(array, ArrayReduction::mean, axes, options, where);
}

template <class T = double>
T norm(const Array& array, std::optional<Stream> stream = {}) {
  return reduce(array, ArrayReduction::norm, stream).as<T>();
}
inline Array norm(const Array& array, const Axes& axes, const ReduceAxesOptions& options = {},
                  SourcePlace where = SourcePlace::current()) {
  return reduce(array, ArrayReduction::norm, axes, options, where);
}

template <class T = bool>
T any(const Array& array, std::optional<Stream> stream = {}) {
  return reduce(array, ArrayReduction::any, stream).as<T>();
}
inline Array any(const Array& array, const Axes& axes, const ReduceAxesOptions& options = {},
                 SourcePlace where = SourcePlace::current()) {
  return reduce(array, ArrayReduction::any, axes, options, where);
}

template <class T = bool>
T all(const Array& array, std::optional<Stream> stream = {}) {
  return reduce(array, ArrayReduction::all, stream).as<T>();
}
inline Array all(const Array& array, const Axes& axes, const ReduceAxesOptions& options = {},
                 SourcePlace where = SourcePlace::current()) {
  return reduce(array, ArrayReduction::all, axes, options, where);
}

}  // namespace partita
