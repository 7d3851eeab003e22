// Functions and comparisons by the names that callers use.
#include <limits>
#include <partita/array_reductions.hpp>
#include <partita/astype.hpp>
#include <partita/functions.hpp>
#include <partita/redistribute.hpp>

#include "arithmetic/joining.hpp"
#include "base/check.hpp"
#include "runtime/checks/public_call.hpp"

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
  const runtime::PublicCall call("allclose");
  check(a.shape() == b.shape(), "allclose: the shapes differ: {} and {}", to_string(a.shape()),
        to_string(b.shape()));
  const Dtype dtype = is_complex(a.dtype()) || is_complex(b.dtype()) ? Dtype::c128 : Dtype::f64;
  const Array x = astype(a, dtype), y = astype(redistribute(b, a.layout()), dtype);
  const Array distance = abs(x - y), limit = abs(y) * relative + absolute;
  const Array near = (distance <= limit) * (distance < std::numeric_limits<double>::infinity());
  return all(near + equal(x, y));
}

}  // namespace partita
