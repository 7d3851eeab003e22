// Factorizations on GPUs, next to cuSOLVER's on one GPU.
#pragma once

#include "benchmarks/benchmark.hpp"

namespace partita::benchmarks {

/// Empty where the benchmarks are built without CUDA.
std::vector<Case> cuda_linalg_cases();

}  // namespace partita::benchmarks
