// What kernels of the host and of devices compute of elements.
#pragma once

#include <cstdint>

namespace partita {

enum class Arithmetic : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  axpy,
  minimum,
  maximum,
  power,
  hypotenuse,      ///< sqrt(a^2 + b^2)
  arc_tangent_of,  ///< the angle of the point (b, a)
  remainder,       ///< a - b floor(a / b): of the sign of b
  floored_divide,  ///< floor(a / b)
  copy,            ///< of a, as all up to `rounding`; b is a, too
  negative,
  absolute,  ///< of real numbers
  square_root,
  exponential,
  logarithm,
  sine,
  cosine,
  hyperbolic_tangent,
  tangent,  ///< of real numbers, as all up to `exponential_less_one`
  arc_sine,
  arc_cosine,
  arc_tangent,
  hyperbolic_sine,
  hyperbolic_cosine,
  logarithm_to_2,
  logarithm_to_10,
  logarithm_of_one_more,
  exponential_less_one,
  floor,
  ceiling,
  rounding,  ///< halves to even
  equal,     ///< `to` is boolean, as of all up to `less_equal`
  not_equal,
  less,
  less_equal,
  select  ///< a is boolean: to = b where it is true
};

/// The function of each element that is reduced.
enum class Folded : std::uint8_t {
  value,
  truth,              ///< 1 where it is not zero, else 0
  square,             ///< |factor a|^2
  product,            ///< a b
  conjugate_product,  ///< conj(a) b
};

enum class Randomness : std::uint8_t { uniform, normal };

/// What an operator of derivatives has for each mode of a spectrum.
enum class Symbol : std::uint8_t { inverse_laplacian, derivative };

}  // namespace partita
