// Collectives between GPUs, compared with NCCL's and with pushes by the copy engine.
#pragma once

#include "benchmarks/benchmark.hpp"

namespace partita::benchmarks {

/// None in a build without CUDA.
std::vector<Case> cuda_collectives_cases();

}  // namespace partita::benchmarks
