// How kernels that wait for peers come to know that the host has given up.
#pragma once

#include <cstdint>

namespace partita::kernels::cuda {

/// Looking costs as much as looking at what is waited for.
constexpr unsigned turns_between_looks = 1024;

__device__ inline bool is_given_up(const std::uint64_t* given_up) {
  std::uint64_t value;
  asm volatile("ld.volatile.global.u64 %0, [%1];" : "=l"(value) : "l"(given_up) : "memory");
  return value != 0;
}

}  // namespace partita::kernels::cuda
