// Products of complex numbers, element by element.
#pragma once

#include <cstdint>

namespace partita {

/// x[j] *= y[j]; both are real and imaginary parts in turn. They must not overlap.
void multiply_complex(double* x, const double* y, std::int64_t count);
void multiply_complex(float* x, const float* y, std::int64_t count);

}  // namespace partita
