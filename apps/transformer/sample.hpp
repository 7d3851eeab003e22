// Text that the model writes.
#pragma once

#include <string>

#include "transformer/model.hpp"

namespace transformer {

struct SampleOptions {
  std::string prompt = "\n";  ///< not empty
  std::int64_t length = 200;  ///< bytes to write
  double temperature = 0.8;   ///< 0: always the likeliest byte
  std::uint64_t seed = 1;
};

/// What follows the prompt, byte by byte. The same on every rank; up to rounding also on any mesh. Each byte
/// costs a pass over the whole context: nothing is kept of the last one. Collective, blocking. Throws
/// ArgumentError: no prompt, a negative temperature.
std::string sample(Execution& execution, const Model& model, const SampleOptions& options);

}  // namespace transformer
