#include "benchmarks/cuda_matmul.hpp"

namespace partita::benchmarks {

std::vector<Case> cuda_matmul_cases() {
  return {};
}

}  // namespace partita::benchmarks
