// Functions and comparisons by the names that callers use.
#include <iterator>
#include <limits>
#include <partita/array_reductions.hpp>
#include <partita/astype.hpp>
#include <partita/functions.hpp>
#include <partita/redistribute.hpp>

#include "arithmetic/joining.hpp"
#include "base/check.hpp"
#include "context/context_state.hpp"
#include "runtime/checks/agree.hpp"
#include "runtime/checks/public_call.hpp"

namespace partita {
namespace {

using arithmetic::join;
using arithmetic::joined;
using arithmetic::Joining;
using kernels::Arithmetic;

// `greater` and `greater_equal` are these with operands exchanged.
constexpr Arithmetic binary_operations[] = {
    Arithmetic::minimum,       Arithmetic::maximum,    Arithmetic::power,          Arithmetic::equal,
    Arithmetic::not_equal,     Arithmetic::less,       Arithmetic::less_equal,     Arithmetic::less,
    Arithmetic::less_equal,    Arithmetic::hypotenuse, Arithmetic::arc_tangent_of, Arithmetic::remainder,
    Arithmetic::floored_divide};

/// Throws ArgumentError if there is no such function.
template <class Function>
std::size_t number_of(Function function) {
  const auto number = static_cast<std::size_t>(function);
  check(number < std::size(OptionWords<Function>::words), "apply: {} is not the number of a function",
        number);
  return number;
}

// Kernels have them in the same order.
constexpr auto first_unary = static_cast<std::size_t>(Arithmetic::negative);
static_assert(first_unary + std::size(OptionWords<Unary>::words) ==
              static_cast<std::size_t>(Arithmetic::equal));

/// Calls `run` with the operation of (a, b).
template <class Run>
decltype(auto) with_unary(Unary function, const Array& a, const Run& run) {
  if (function == Unary::abs && a.valid() && is_complex(a.dtype())) {
    const ArrayOrScalar x = real(a), y = imag(a);
    return run(Joining{"abs", Arithmetic::hypotenuse, x, y});
  }
  const ArrayOrScalar x = a;
  return run(Joining{name(function), static_cast<Arithmetic>(first_unary + number_of(function)), x, x});
}

Joining binary(Binary function, const ArrayOrScalar& a, const ArrayOrScalar& b) {
  const bool exchanged = function == Binary::greater || function == Binary::greater_equal;
  return {name(function), binary_operations[number_of(function)], exchanged ? b : a, exchanged ? a : b};
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
  check(a.valid() && b.valid(), "allclose: an array is an empty Array");
  runtime::check_or_tell_all(*a.context_state(), "allclose", [&] {
    check(a.shape() == b.shape(), "allclose: the shapes differ: {} and {}", to_string(a.shape()),
          to_string(b.shape()));
  });
  const Dtype dtype = is_complex(a.dtype()) || is_complex(b.dtype()) ? Dtype::c128 : Dtype::f64;
  const Array x = astype(a, dtype), y = astype(redistribute(b, a.layout()), dtype);
  const Array distance = abs(x - y), limit = abs(y) * relative + absolute;
  const Array near = (distance <= limit) * (distance < std::numeric_limits<double>::infinity());
  return all(near + equal(x, y));
}

}  // namespace partita
