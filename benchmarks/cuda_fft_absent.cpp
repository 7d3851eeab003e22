#include "benchmarks/cuda_fft.hpp"

namespace partita::benchmarks {

std::vector<Case> cuda_fft_cases() {
  return {};
}

}  // namespace partita::benchmarks
