// One block of the language model on GPUs, forwards and backwards in bf16.
#pragma once

#include "benchmarks/benchmark.hpp"

namespace partita::benchmarks {

/// And its products alone; the softmax of attention by products, and a copy of the bytes that it
/// reads and writes.
std::vector<Case> transformer_cases();

}  // namespace partita::benchmarks
