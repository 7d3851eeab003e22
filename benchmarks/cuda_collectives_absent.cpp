#include "benchmarks/cuda_collectives.hpp"

namespace partita::benchmarks {

std::vector<Case> cuda_collectives_cases() {
  return {};
}

}  // namespace partita::benchmarks
