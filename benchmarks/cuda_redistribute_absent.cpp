#include "benchmarks/cuda_redistribute.hpp"

namespace partita::benchmarks {

std::vector<Case> cuda_redistribute_cases() {
  return {};
}

}  // namespace partita::benchmarks
