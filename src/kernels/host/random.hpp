// Pseudo-random elements, each by its number in the whole array.
#pragma once

#include <cstdint>
#include <partita/dtype.hpp>
#include <vector>

#include "kernels/host/elementwise.hpp"

namespace partita::kernels {

/// The element that `number` numbers gets what base/random_numbers.hpp makes of its bits. Normal numbers are
/// of floating and complex dtypes.
struct RandomPass {
  enum Part : std::size_t { to, number };  ///< of the loops' strides
  Randomness kind = Randomness::uniform;
  Dtype dtype = Dtype::f64;
  std::uint64_t seed = 0;
  void* data = nullptr;
  std::int64_t first = 0;              ///< the number of the first element
  std::vector<ElementwiseLoop> loops;  ///< outermost first; no count is 0
};

/// Thread-safe.
void generate(const RandomPass& pass);

}  // namespace partita::kernels
