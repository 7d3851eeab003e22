#include "kernels/host/copy_kernels.hpp"

#include <vector>

namespace partita {

std::span<const CopyKernels* const> available_copy_kernels() {
  static const std::vector<const CopyKernels*> tables = [] {
    const auto fast = x86_copy_kernels();
    std::vector<const CopyKernels*> all(fast.begin(), fast.end());
    all.push_back(&portable_copy_kernels);
    return all;
  }();
  return tables;
}

const CopyKernels& copy_kernels() {
  static const CopyKernels& fastest = *available_copy_kernels().front();
  return fastest;
}

}  // namespace partita
