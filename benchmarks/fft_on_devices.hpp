// Transforms of other fields than cuda_fft.hpp's on devices.
#pragma once

#include "benchmarks/benchmark.hpp"

namespace partita::benchmarks {

/// Run where there are devices.
std::vector<Case> fft_on_devices_cases();

}  // namespace partita::benchmarks
