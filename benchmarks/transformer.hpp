// One block of the language model on GPUs, forwards and backwards in bf16.
#pragma once

#include "benchmarks/benchmark.hpp"

namespace partita::benchmarks {

/// Beside its products alone, and the softmax of attention by products beside a copy of the bytes that it
/// reads and writes.
std::vector<Case> transformer_cases();

}  // namespace partita::benchmarks
