// What kernels of the host and of devices compute of elements.
#pragma once

#include <cstdint>

namespace partita {

/// Functions of one number, in the order of `Unary`, as ONE(name, function): the function is that of C, of
/// C++ and of CUDA. These are of complex numbers, too.
#define PARTITA_CONTINUOUS_FUNCTIONS(ONE) \
  ONE(square_root, sqrt)                  \
  ONE(exponential, exp)                   \
  ONE(logarithm, log)                     \
  ONE(sine, sin)                          \
  ONE(cosine, cos)                        \
  ONE(hyperbolic_tangent, tanh)
/// Of real numbers; `rounding` takes halves to even.
#define PARTITA_REAL_FUNCTIONS(ONE) \
  ONE(floor, floor)                 \
  ONE(ceiling, ceil)                \
  ONE(rounding, rint)               \
  ONE(tangent, tan)                 \
  ONE(arc_sine, asin)               \
  ONE(arc_cosine, acos)             \
  ONE(arc_tangent, atan)            \
  ONE(hyperbolic_sine, sinh)        \
  ONE(hyperbolic_cosine, cosh)      \
  ONE(logarithm_to_2, log2)         \
  ONE(logarithm_to_10, log10)       \
  ONE(logarithm_of_one_more, log1p) \
  ONE(exponential_less_one, expm1)

#define PARTITA_NAME(name, function) name,
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
  copy,            ///< of a, as all up to `equal`; b is a, too
  negative,        ///< what `Unary` has begins here
  absolute,        ///< of real numbers
  PARTITA_CONTINUOUS_FUNCTIONS(PARTITA_NAME) PARTITA_REAL_FUNCTIONS(PARTITA_NAME)  //
  equal,  ///< `to` is boolean, as of all up to `less_equal`
  not_equal,
  less,
  less_equal,
  select  ///< a is boolean: to = b where it is true
};
#undef PARTITA_NAME

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
