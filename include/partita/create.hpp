// Arrays with initial values. `empty` and `zeros` with a dtype are in <partita/array.hpp>.
//
// All functions are collective and blocking, with the errors of `empty`; the ranks also compare the values.
// The elements are complete when the call returns, for any stream. In a partial distribution every
// contribution gets the values.
#pragma once

#include <optional>
#include <partita/array.hpp>
#include <partita/dtype_constants.hpp>
#include <partita/error.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita {

namespace detail {
PARTITA_API Array full(const Context& context, const Shape& shape, const Distribution& distribution,
                       Dtype dtype, const void* value, const ArrayOptions& options, SourcePlace where);
/// start, stop and step have the type `number`: std::int64_t, std::uint64_t or double. `counted`: the dtype
/// in which the number of elements is computed: f32, or `number`.
PARTITA_API Array arange(const Context& context, Dtype number, Dtype counted, const void* start,
                         const void* stop, const void* step, const Distribution& distribution, Dtype dtype,
                         const ArrayOptions& options, SourcePlace where);

/// The type in which ranges are computed.
template <class T>
using RangeNumber =
    std::conditional_t<std::is_floating_point_v<T>, double,
                       std::conditional_t<std::is_unsigned_v<T>, std::uint64_t, std::int64_t>>;

template <class T>
concept InRange = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

/// The common type of the arguments of a range; std::int64_t for a mix of signed and unsigned integers, so
/// that no value changes.
template <class... T>
using RangeType = std::conditional_t<(std::is_integral_v<T> && ...) &&
                                         !((std::is_signed_v<T> && ...) || (std::is_unsigned_v<T> && ...)),
                                     std::int64_t, std::common_type_t<T...>>;

template <class To, class From>
To range_number(From value) {
  if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) {
    if (!std::in_range<To>(value)) throw ArgumentError("arange: a number is beyond 2^63 - 1");
  }
  return static_cast<To>(value);
}
}  // namespace detail

/// An array filled with `value`; its type determines the dtype.
template <class T>
Array full(const Context& context, const Shape& shape, const Distribution& distribution, T value,
           const ArrayOptions& options = {}, SourcePlace where = SourcePlace::current()) {
  return detail::full(context, shape, distribution, dtype_of<T>(), &value, options, where);
}

/// `zeros` and `empty` with the dtype of T: `zeros<double>(context, {3, 3}, Slab(0))`.
template <class T>
Array zeros(const Context& context, const Shape& shape, const Distribution& distribution,
            const ArrayOptions& options = {}, SourcePlace where = SourcePlace::current()) {
  return zeros(context, shape, distribution, dtype_of<T>(), options, where);
}
template <class T>
Array empty(const Context& context, const Shape& shape, const Distribution& distribution,
            const ArrayOptions& options = {}, SourcePlace where = SourcePlace::current()) {
  return empty(context, shape, distribution, dtype_of<T>(), options, where);
}

/// An array of ones; true for booleans.
PARTITA_API Array ones(const Context& context, const Shape& shape, const Distribution& distribution,
                       Dtype dtype = Dtype::f64, const ArrayOptions& options = {},
                       SourcePlace where = SourcePlace::current());

/// A new array with the layout, dtype, memory order and memory space of `array`, on the symmetric heap: with
/// zeros, or undefined contents.
PARTITA_API Array zeros_like(const Array& array, SourcePlace where = SourcePlace::current());
PARTITA_API Array empty_like(const Array& array, SourcePlace where = SourcePlace::current());

/// `count` numbers in one dimension with equal distances, from `start` to `stop`, both included: start + i
/// (stop - start) / (count - 1), computed in f64; with one number, `start`. ArgumentError: a negative count,
/// a dtype other than f16, bf16, f32 and f64.
PARTITA_API Array linspace(const Context& context, double start, double stop, std::int64_t count,
                           const Distribution& distribution, Dtype dtype = Dtype::f64,
                           const ArrayOptions& options = {}, SourcePlace where = SourcePlace::current());

/// `empty` and `fill_random` in one call: floating-point numbers uniform in [-1, 1).
PARTITA_API Array random(const Context& context, const Shape& shape, const Distribution& distribution,
                         std::uint64_t seed = 0, Dtype dtype = Dtype::f64, const ArrayOptions& options = {},
                         SourcePlace where = SourcePlace::current());

/// The arrays one after the other along `axis`: same dtypes, and same extents along the other axes. The
/// result has the distribution of the first array, unless one is given. Collective, blocking. ArgumentError,
/// the same on every rank: no arrays, extents that differ, a partial array, a distribution that does not fit
/// the result (the first array's boxes).
PARTITA_API Array concatenate(const std::vector<Array>& arrays, int axis,
                              const std::optional<Distribution>& distribution = {},
                              SourcePlace where = SourcePlace::current());

/// The numbers start, start + step, ... below `stop` (above it for a negative step), in one dimension. The
/// dtype is that of T, an integer or floating-point type. As in NumPy, the number of elements is ceil((stop -
/// start) / step), computed in T for floating-point types; element i is start + i step, computed in f64.
/// ArgumentError: a step of 0, NaN or infinity.
template <detail::InRange T>
Array arange(const Context& context, T start, T stop, T step, const Distribution& distribution,
             const ArrayOptions& options = {}, SourcePlace where = SourcePlace::current()) {
  using Number = detail::RangeNumber<T>;
  const Number first = static_cast<Number>(start), last = static_cast<Number>(stop),
               by = static_cast<Number>(step);
  constexpr Dtype counted = std::is_same_v<T, float> ? Dtype::f32 : dtype_of<Number>();
  return detail::arange(context, dtype_of<Number>(), counted, &first, &last, &by, distribution, dtype_of<T>(),
                        options, where);
}
/// As above, with arguments of several types: the dtype is that of their common type, and i64 for a mix of
/// signed and unsigned integers (`arange(context, 0, v.size(), 1, Slab(0))`), where a value beyond 2^63 - 1
/// is an ArgumentError.
template <detail::InRange Start, detail::InRange Stop, detail::InRange Step>
Array arange(const Context& context, Start start, Stop stop, Step step, const Distribution& distribution,
             const ArrayOptions& options = {}, SourcePlace where = SourcePlace::current()) {
  using T = detail::RangeType<Start, Stop, Step>;
  return arange<T>(context, detail::range_number<T>(start), detail::range_number<T>(stop),
                   detail::range_number<T>(step), distribution, options, where);
}
/// start, start + 1, ... below `stop`; mixed types as above.
template <detail::InRange Start, detail::InRange Stop>
Array arange(const Context& context, Start start, Stop stop, const Distribution& distribution,
             const ArrayOptions& options = {}, SourcePlace where = SourcePlace::current()) {
  using T = detail::RangeType<Start, Stop>;
  return arange<T>(context, detail::range_number<T>(start), detail::range_number<T>(stop), T(1), distribution,
                   options, where);
}
/// 0, 1, ... below `stop`.
template <detail::InRange T>
Array arange(const Context& context, T stop, const Distribution& distribution,
             const ArrayOptions& options = {}, SourcePlace where = SourcePlace::current()) {
  return arange(context, T(0), stop, T(1), distribution, options, where);
}

/// A matrix of rows x columns: 1 where column = row + diagonal, 0 elsewhere.
PARTITA_API Array eye(const Context& context, std::int64_t rows, std::int64_t columns,
                      const Distribution& distribution, Dtype dtype, std::int64_t diagonal = 0,
                      const ArrayOptions& options = {}, SourcePlace where = SourcePlace::current());

}  // namespace partita
