// Matrix multiply on GPUs, compared with cuBLASLt and NCCL one after the other.
#pragma once

#include "benchmarks/benchmark.hpp"

namespace partita::benchmarks {

/// None in a build without CUDA.
std::vector<Case> cuda_matmul_cases();
/// What comes after the sums, on one GPU.
std::vector<Case> cuda_epilogue_cases();

}  // namespace partita::benchmarks
