// Redistribution between GPUs, compared with NCCL's all-to-all and with pushes by the copy engine.
#pragma once

#include "benchmarks/benchmark.hpp"

namespace partita::benchmarks {

/// None in a build without CUDA.
std::vector<Case> cuda_redistribute_cases();

}  // namespace partita::benchmarks
