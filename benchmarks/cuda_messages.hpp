// Redistribution of a matrix between GPUs that reach each other by messages only. With CUDA only.
#pragma once

#include "benchmarks/benchmark.hpp"

namespace partita::benchmarks {

std::vector<Case> cuda_messages_cases();

}  // namespace partita::benchmarks
