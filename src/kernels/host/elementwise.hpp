// Elementwise operations of two parts into a third.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/dtype.hpp>
#include <vector>

#include "base/element_functions.hpp"

namespace partita::kernels {

using partita::Arithmetic, partita::Folded, partita::Randomness;

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
