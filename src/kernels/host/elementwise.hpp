// Elementwise operations of two parts into a third.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/dtype.hpp>
#include <vector>

namespace partita::kernels {

enum class Arithmetic : std::uint8_t { add, subtract, multiply, divide, axpy };

/// Whether the operation is defined for the dtype: differences and quotients are not for booleans.
bool is_defined(Arithmetic operation, Dtype dtype);

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
  Dtype dtype = Dtype::f64;
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
