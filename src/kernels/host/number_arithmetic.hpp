// Products of numbers, element by element.
#pragma once

#include <cstdint>
#include <span>

namespace partita::kernels {

/// x[j] *= y[j]; both are real and imaginary parts in turn. They must not overlap.
void multiply_complex(double* x, const double* y, std::int64_t count);
void multiply_complex(float* x, const float* y, std::int64_t count);

struct ScaleLoop {
  std::int64_t count = 1;
  std::int64_t stride = 0;  ///< in elements
};

/// x *= factor for every element of the nest, in any order of the loops; fast where the innermost one is
/// contiguous. An element is `reals` neighbouring numbers. Loops with negative strides are fine.
template <class Real>
void scale(std::span<const ScaleLoop> loops, int reals, Real factor, Real* first);

extern template void scale(std::span<const ScaleLoop> loops, int reals, float factor, float* first);
extern template void scale(std::span<const ScaleLoop> loops, int reals, double factor, double* first);

}  // namespace partita::kernels
