// Redistribution between GPUs, beside NCCL's all-to-all and pushes by the copy engine.
#pragma once

#include "benchmarks/benchmark.hpp"

namespace partita::benchmarks {

/// None in a build without CUDA.
std::vector<Case> cuda_redistribute_cases();

}  // namespace partita::benchmarks
