#include "benchmarks/cuda_linalg.hpp"

namespace partita::benchmarks {

std::vector<Case> cuda_linalg_cases() {
  return {};
}

}  // namespace partita::benchmarks
