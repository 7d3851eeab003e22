// Elementwise operations of two parts into a third.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/dtype.hpp>
#include <vector>

namespace partita::kernels {

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

/// Whether the operation is defined for the dtype: differences and quotients are not for booleans, order is
/// not for complex numbers.
bool is_defined(Arithmetic operation, Dtype dtype);
/// Whether the kernels of devices have it, too.
bool is_on_devices(Arithmetic operation, Dtype dtype);
inline bool is_comparison(Arithmetic operation) {
  return operation >= Arithmetic::equal && operation <= Arithmetic::less_equal;
}

/// One loop of a nest; strides are in elements of the parts.
struct ElementwiseLoop {
  std::int64_t count = 1;
  std::array<std::int64_t, 3> strides{};
};

/// to = a op b; axpy: to = number a + b. `number` is one element of the dtype, the value of a part without
/// memory. A part may be `to` itself, element by element.
struct ElementwisePass {
  enum Part : std::size_t { to, a, b };
  Arithmetic operation = Arithmetic::add;
  Dtype dtype = Dtype::f64;  ///< of what is not boolean
  std::array<void*, 3> data{};
  alignas(16) std::array<std::byte, 16> number{};
  std::vector<ElementwiseLoop> loops;  ///< outermost first; no count is 0
};

/// Without loops of one iteration, ordered by the strides of one part, and what can be one loop merged.
std::vector<ElementwiseLoop> simplified(std::vector<ElementwiseLoop> loops, std::size_t part);

/// Integers wrap around and their quotients are cut towards zero; a division by zero gives 0. Halves are
/// computed in f32 and rounded; of booleans a sum is "or" and a product "and". Thread-safe.
void compute(const ElementwisePass& pass);

}  // namespace partita::kernels
