// Activations on dense runs.
#pragma once

#include <cstdint>
#include <partita/work.hpp>

namespace partita::kernels {

/// values[i] = activation(values[i]); drelu and dgelu multiply by the derivative at auxiliary[i], which the
/// others do not read. T: float or double. NaN passes. gelu is accurate to a few units in the last place of
/// the larger of |x| and |gelu(x)|. Thread-safe.
template <class T>
void activate(Activation activation, T* values, const T* auxiliary, std::int64_t count);

}  // namespace partita::kernels
