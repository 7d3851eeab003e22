// Sums, products, extrema, means and norms of arrays: whole, or over some axes.
//
// Layouts are taken into account: every element counts once, regardless of replicas. A partial array has
// no values yet: ArgumentError that names `redistribute`.
//
// Dtype of the result:
//
//   of                 sum, product, dot   min, max   mean   norm   any, all
//   bool, signed       i64                 as it is   f64    f64    bool
//   unsigned           u64                 as it is   f64    f64    bool
//   f16, bf16, f32     f32                 as it is   f32    f32    bool
//   f64                f64                 f64        f64    f64    bool
//   c64                c64                 -          c64    f32    bool
//   c128               c128                -          c128   f64    bool
//
// Floating-point numbers are summed in f64 (complex ones in c128) and rounded once at the end; in f64 itself
// sums are pairwise. Sums of integers wrap around. The order is fixed by shape, layout and memory, and the
// ranks' results are combined in rank order: the same bits on every rank and in every run. Another layout is
// another order, and may differ in the last digits. min and max of a NaN and anything are NaN; a NaN is true.
// A norm is sqrt(sum |x|^2). Squares neither overflow nor underflow: if they would, the norm is computed
// again with scaled elements, as in BLAS's nrm2. Without elements the sum is 0, the product 1, the norm 0,
// any false and all true; min, max and mean are ArgumentErrors.
//
// All are collective over the array's context and block until the result is available, also on devices. They
// follow the work on `stream` (if unset, on the context's own); in host memory a stream is an
// UnsupportedError, as is one that is being captured. Errors, the same on every rank: ArgumentError (a
// partial array, an invalid axis, not defined for the dtype), DisagreementError, MemoryError, and those of
// all collective calls.
#pragma once

#include <initializer_list>
#include <optional>
#include <partita/array.hpp>
#include <partita/scalar.hpp>
#include <partita/stream.hpp>
#include <string_view>
#include <vector>

namespace partita {

/// What a reduction computes.
enum class ArrayReduction : std::uint8_t { sum, product, min, max, mean, norm, any, all };

PARTITA_API std::string_view name(ArrayReduction reduction);  ///< "sum", ...

/// One axis of an array, or several: `0`, `{0, 2}`. Converted implicitly; checked when used.
struct Axes {
  std::vector<int> list;  ///< counted from 0
  /// Made implicitly.
  Axes(int axis) : list{axis} {}                          // NOLINT: implicit by design
  Axes(std::initializer_list<int> axes) : list(axes) {}   // NOLINT: implicit by design
  Axes(std::vector<int> axes) : list(std::move(axes)) {}  // NOLINT: implicit by design
};

/// The distribution and memory of the result of a reduction over axes.
struct ReduceAxesOptions {
  /// The reduction follows the work on it; if unset, that on the context's own. See above.
  std::optional<Stream> stream = {};
  bool keep_dimensions = false;  ///< reduced axes stay, with extent 1
  /// Of the result. If unset: that of the array without the reduced axes, if
  /// these are not distributed. On a mesh (or what can be written as one: Slab, one block per process) ranks
  /// along a mesh axis of reduced dimensions hold replicas. In all other cases: Replicated.
  std::optional<Distribution> distribution = {};
  std::optional<int> root = {};           ///< the whole result is on this rank only
  Residency residency = Residency::heap;  ///< of the result
};

/// Over all elements, on every rank.
PARTITA_API Scalar reduce(const Array& array, ArrayReduction reduction, std::optional<Stream> stream = {});
/// Over the elements along `axes` (at least one, each once): a new array in the source's memory space, on the
/// symmetric heap unless the options say otherwise. The plan, with memory for partial results, is
/// cached in the context.
PARTITA_API Array reduce(const Array& array, ArrayReduction reduction, const Axes& axes,
                         const ReduceAxesOptions& options = {}, SourcePlace where = SourcePlace::current());

/// sum of a[i] b[i], or of conj(a[i]) b[i]. Both arrays have one dtype and equal or equivalent layouts: else
/// an ArgumentError that names both and `redistribute`.
PARTITA_API Scalar inner_product(const Array& a, const Array& b, bool conjugated,
                                 std::optional<Stream> stream = {});

// --- by name: `sum<double>(x)` of all elements, `sum(x, {0})` along an axis. T: what the number is wanted
// as; see Scalar::as

/// sum of a[i] b[i]
template <class T = Scalar>
T dot(const Array& a, const Array& b, std::optional<Stream> stream = {}) {
  return inner_product(a, b, false, stream).as<T>();
}
/// sum of conj(a[i]) b[i]: the inner product of complex vectors, NumPy's vdot and BLAS's dotc.
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
