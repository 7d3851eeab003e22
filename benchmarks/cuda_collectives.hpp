// Collectives between GPUs, beside NCCL's and pushes by the copy engine.
#pragma once

#include "benchmarks/benchmark.hpp"

namespace partita::benchmarks {

/// None in a build without CUDA.
std::vector<Case> cuda_collectives_cases();

}  // namespace partita::benchmarks
