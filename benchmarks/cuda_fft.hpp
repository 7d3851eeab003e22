// Transforms on GPUs, compared with cuFFT and NCCL one after the other.
#pragma once

#include "benchmarks/benchmark.hpp"

namespace partita::benchmarks {

/// None in a build without CUDA.
std::vector<Case> cuda_fft_cases();

}  // namespace partita::benchmarks
