// Flags between devices, as the threads of a launch give and await them.
#pragma once

#include "kernels/cuda/given_up.cuh"
#include "kernels/cuda/launch.hpp"

namespace partita::kernels::cuda {

__device__ inline std::uint64_t value_of(const Flags::One& flag) {
  return flag.count == nullptr ? flag.value : *flag.count + flag.value;
}

__device__ inline void advance(const Flags::One& flag) {
  if (flag.count != nullptr) *flag.count += flag.value;
}

__device__ inline void release(const Flags::One& flag) {
  const std::uint64_t value = value_of(flag);
  asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(flag.address), "l"(value) : "memory");
}

/// Without a fence.
__device__ inline void write(const Flags::One& flag) {
  const std::uint64_t value = value_of(flag);
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(flag.address), "l"(value) : "memory");
}

/// Flag `number`, which only grows.
__device__ inline void await(const Flags& flags, int number) {
  const Flags::One& flag = flags.flags[number];
  const std::uint64_t value = value_of(flag);
  for (unsigned turn = 1;; ++turn) {
    std::uint64_t seen = 0;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(seen) : "l"(flag.address) : "memory");
    if (seen >= value) return;
    if (turn % turns_between_looks == 0 && flags.given_up != nullptr && is_given_up(flags.given_up)) return;
  }
}

/// The last block to come here tells the peers and waits for them. All threads call it once, in the end.
__device__ inline void close(const Flags& late_signals, const Flags& late_waits, const Flags& early_signals,
                             const Flags& early_waits, unsigned* finished_blocks) {
  __threadfence_system();
  __syncthreads();
  const int thread = static_cast<int>(threadIdx.x);
  __shared__ bool last;
  if (thread == 0) last = atomicAdd(finished_blocks, 1U) == gridDim.x * gridDim.y - 1;
  __syncthreads();
  if (!last) return;
  __threadfence_system();
  if (thread == 0) *finished_blocks = 0;
  // No block reads the counts of what came early any more.
  if (thread < early_signals.count) advance(early_signals.flags[thread]);
  if (thread < early_waits.count) advance(early_waits.flags[thread]);
  __syncthreads();
  if (thread < late_signals.count) {
    release(late_signals.flags[thread]);
    advance(late_signals.flags[thread]);
  }
  if (thread < late_waits.count) {
    await(late_waits, thread);
    advance(late_waits.flags[thread]);
  }
}

}  // namespace partita::kernels::cuda
