// Functions and comparisons by the names that callers use.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <partita/array_reductions.hpp>
#include <partita/astype.hpp>
#include <partita/collectives.hpp>
#include <partita/elements.hpp>
#include <partita/functions.hpp>
#include <partita/redistribute.hpp>

#include "arithmetic/joining.hpp"
#include "base/check.hpp"
#include "base/element_at.hpp"
#include "base/visit_dtype.hpp"

namespace partita {
namespace {

using arithmetic::join;
using arithmetic::joined;
using arithmetic::Joining;
using kernels::Arithmetic;

constexpr Arithmetic unary_operations[] = {Arithmetic::negative,
                                           Arithmetic::absolute,
                                           Arithmetic::square_root,
                                           Arithmetic::exponential,
                                           Arithmetic::logarithm,
                                           Arithmetic::sine,
                                           Arithmetic::cosine,
                                           Arithmetic::hyperbolic_tangent,
                                           Arithmetic::floor,
                                           Arithmetic::ceiling,
                                           Arithmetic::rounding,
                                           Arithmetic::tangent,
                                           Arithmetic::arc_sine,
                                           Arithmetic::arc_cosine,
                                           Arithmetic::arc_tangent,
                                           Arithmetic::hyperbolic_sine,
                                           Arithmetic::hyperbolic_cosine,
                                           Arithmetic::logarithm_to_2,
                                           Arithmetic::logarithm_to_10,
                                           Arithmetic::logarithm_of_one_more,
                                           Arithmetic::exponential_less_one};
// `greater` and `greater_equal` are these with operands exchanged.
constexpr Arithmetic binary_operations[] = {
    Arithmetic::minimum,       Arithmetic::maximum,    Arithmetic::power,          Arithmetic::equal,
    Arithmetic::not_equal,     Arithmetic::less,       Arithmetic::less_equal,     Arithmetic::less,
    Arithmetic::less_equal,    Arithmetic::hypotenuse, Arithmetic::arc_tangent_of, Arithmetic::remainder,
    Arithmetic::floored_divide};

/// Throws ArgumentError if there is no such function.
template <class Function, std::size_t count>
Arithmetic operation_of(Function function, const Arithmetic (&operations)[count]) {
  const auto number = static_cast<std::size_t>(function);
  check(number < count, "apply: {} is not the number of a function", number);
  return operations[number];
}

/// Calls `run` with the operation of (a, b).
template <class Run>
decltype(auto) with_unary(Unary function, const Array& a, const Run& run) {
  if (function == Unary::abs && a.valid() && is_complex(a.dtype())) {
    const ArrayOrScalar x = real(a), y = imag(a);
    return run(Joining{"abs", Arithmetic::hypotenuse, x, y});
  }
  const ArrayOrScalar x = a;
  return run(Joining{name(function), operation_of(function, unary_operations), x, x});
}

Joining binary(Binary function, const ArrayOrScalar& a, const ArrayOrScalar& b) {
  const bool exchanged = function == Binary::greater || function == Binary::greater_equal;
  return {name(function), operation_of(function, binary_operations), exchanged ? b : a, exchanged ? a : b};
}

using Loops = std::vector<detail::LocalLoops::Loop>;
constexpr std::size_t searched_together = 256;  // without a branch, so by vectors

/// The place among `count` elements of the first one that matches; `count`: none does.
template <class T, class Matches>
std::size_t first_match(const T* elements, std::size_t count, std::int64_t stride, const Matches& matches) {
  const auto matches_at = [&](std::size_t i) {
    return matches(element_at(elements + static_cast<std::int64_t>(i) * stride));
  };
  for (std::size_t first = 0; first < count; first += searched_together) {
    const std::size_t last = std::min(count, first + searched_together);
    bool found = false;
    for (std::size_t i = first; i < last; ++i) found |= matches_at(i);
    for (std::size_t i = first; found && i < last; ++i) {
      if (matches_at(i)) return i;
    }
  }
  return count;
}

/// `index`: of the first element that matches, if one does. `loops`: by dimension, from `depth` on.
template <class T, class Matches>
bool find_first(const Loops& loops, std::size_t depth, const T* elements, const Matches& matches,
                Index& index) {
  if (depth == loops.size()) return matches(element_at(elements));  // of no dimensions
  const detail::LocalLoops::Loop& loop = loops[depth];
  std::int64_t& global = index[loop.dimension];
  if (depth + 1 == loops.size()) {
    const std::size_t place = first_match(elements, loop.indices.size(), loop.stride, matches);
    if (place < loop.indices.size()) global = loop.indices[place];
    return place < loop.indices.size();
  }
  for (const std::int64_t i : loop.indices) {
    global = i;
    if (find_first(loops, depth + 1, elements, matches, index)) return true;
    elements += loop.stride;
  }
  return false;
}

/// The index of this rank's first element in row-major order that is equal to `wanted`, or the first NaN if
/// it is one. The array is in host memory.
std::optional<Index> local_place_of(const Array& array, const Scalar& wanted, bool is_nan) {
  detail::LocalLoops local = detail::local_loops(array);
  if (local.empty) return std::nullopt;
  std::ranges::sort(local.loops, {}, &detail::LocalLoops::Loop::dimension);
  Index index = array.shape();
  return visit_dtype(array.dtype(), [&](auto tag) -> std::optional<Index> {
    using T = typename decltype(tag)::type;
    const auto* const elements = static_cast<const T*>(array.local().data);
    if constexpr (is_small_float_type<T>) {
      const auto number = wanted.as<float>();
      const auto matches = [&](T x) { return is_nan ? to_float(x) != to_float(x) : to_float(x) == number; };
      if (find_first(local.loops, 0, elements, matches, index)) return index;
    } else {
      const auto number = wanted.as<T>();
      const auto matches = [&](T x) { return is_nan ? x != x : x == number; };
      if (find_first(local.loops, 0, elements, matches, index)) return index;
    }
    return std::nullopt;
  });
}

Index place_of_extremum(const Array& array, ArrayReduction reduction) {
  const Scalar extremum = reduce(array, reduction);
  const bool is_number = is_integer(extremum.dtype()) || extremum.dtype() == Dtype::boolean;
  const bool is_nan = !is_number && std::isnan(extremum.as<double>());
  std::optional<Index> mine;
  if (array.local().space == MemorySpace::host) {
    mine = local_place_of(array, extremum, is_nan);
  } else {  // one byte per element is copied
    const Array mask = is_nan ? not_equal(array, array) : equal(array, extremum);
    mine = local_place_of(clone(mask, {.space = MemorySpace::host}), true, false);
  }
  const Shape& shape = array.shape();
  const Strides strides = dense_strides(shape);
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  if (mine) {
    first = 0;
    for (int d = 0; d < shape.size(); ++d) first += (*mine)[d] * strides[d];
  }
  first = all_reduce(array.context(), first, {.reduction = Reduction::min});
  Index index = shape;
  for (int d = 0; d < shape.size(); ++d) index[d] = first / strides[d] % shape[d];
  return index;
}

}  // namespace

Array apply(Unary function, const Array& a) {
  return with_unary(function, a, [](const Joining& joining) { return joined(joining); });
}
void apply(Unary function, const Array& a, Array& destination, std::optional<Stream> stream) {
  with_unary(function, a, [&](const Joining& joining) { join(joining, destination, stream); });
}
Array apply(Binary function, const ArrayOrScalar& a, const ArrayOrScalar& b) {
  return joined(binary(function, a, b));
}
void apply(Binary function, const ArrayOrScalar& a, const ArrayOrScalar& b, Array& destination,
           std::optional<Stream> stream) {
  join(binary(function, a, b), destination, stream);
}

Array where(const Array& condition, const ArrayOrScalar& a, const ArrayOrScalar& b) {
  return arithmetic::selected("where", condition, a, b);
}
void where(const Array& condition, const ArrayOrScalar& a, const ArrayOrScalar& b, Array& destination,
           std::optional<Stream> stream) {
  arithmetic::select("where", condition, a, b, destination, stream);
}

Array conj(const Array& array) {
  Array result = clone(array);
  if (!is_complex(result.dtype())) return result;
  Array part = imag(result);
  apply(Unary::negative, part, part);
  return result;
}

bool allclose(const Array& a, const Array& b, double relative, double absolute) {
  check(a.shape() == b.shape(), "allclose: the shapes differ: {} and {}", to_string(a.shape()),
        to_string(b.shape()));
  const Dtype dtype = is_complex(a.dtype()) || is_complex(b.dtype()) ? Dtype::c128 : Dtype::f64;
  const Array x = astype(a, dtype), y = astype(redistribute(b, a.layout()), dtype);
  const Array distance = abs(x - y), limit = abs(y) * relative + absolute;
  const Array near = (distance <= limit) * (distance < std::numeric_limits<double>::infinity());
  return all(near + equal(x, y));
}

Index argmax(const Array& array) {
  return place_of_extremum(array, ArrayReduction::max);
}
Index argmin(const Array& array) {
  return place_of_extremum(array, ArrayReduction::min);
}

}  // namespace partita
