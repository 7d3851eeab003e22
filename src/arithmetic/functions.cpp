// Functions and comparisons by the names that callers use.
#include <cmath>
#include <limits>
#include <partita/array_reductions.hpp>
#include <partita/astype.hpp>
#include <partita/collectives.hpp>
#include <partita/elements.hpp>
#include <partita/functions.hpp>
#include <partita/redistribute.hpp>

#include "arithmetic/joining.hpp"
#include "base/check.hpp"

namespace partita {
namespace {

using arithmetic::join;
using arithmetic::joined;
using arithmetic::Joining;
using kernels::Arithmetic;

constexpr Arithmetic unary_operations[] = {
    Arithmetic::negative,  Arithmetic::absolute, Arithmetic::square_root, Arithmetic::exponential,
    Arithmetic::logarithm, Arithmetic::sine,     Arithmetic::cosine,      Arithmetic::hyperbolic_tangent,
    Arithmetic::floor,     Arithmetic::ceiling};
// `greater` and `greater_equal` are these with operands exchanged.
constexpr Arithmetic binary_operations[] = {
    Arithmetic::minimum,    Arithmetic::maximum,   Arithmetic::power,
    Arithmetic::equal,      Arithmetic::not_equal, Arithmetic::less,
    Arithmetic::less_equal, Arithmetic::less,      Arithmetic::less_equal};

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
  const bool exchanged = function >= Binary::greater;
  return {name(function), operation_of(function, binary_operations), exchanged ? b : a, exchanged ? a : b};
}

/// Of the first true element, in row-major order. Collective.
Index first_true(const Array& mask) {
  const Shape& shape = mask.shape();
  const Strides strides = dense_strides(shape);
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  const Array on_host =
      mask.local().space == MemorySpace::host ? mask : clone(mask, {.space = MemorySpace::host});
  for_each_local<bool>(on_host, [&](const Index& index, const bool& is_true) {
    if (!is_true) return;
    std::int64_t number = 0;
    for (int d = 0; d < shape.size(); ++d) number += index[d] * strides[d];
    first = std::min(first, number);
  });
  first = all_reduce(mask.context(), first, {.reduction = Reduction::min});
  Index index = shape;
  for (int d = 0; d < shape.size(); ++d) index[d] = first / strides[d] % shape[d];
  return index;
}

Index place_of_extremum(const Array& array, ArrayReduction reduction) {
  const Scalar extremum = reduce(array, reduction);
  const bool is_number = is_integer(extremum.dtype()) || extremum.dtype() == Dtype::boolean;
  const bool is_nan = !is_number && std::isnan(extremum.as<double>());
  return first_true(is_nan ? not_equal(array, array) : equal(array, extremum));
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
