// What a warp's threads have asked memory for, rows before they need it. On a GPU it comes to shared memory
// by itself (cp.async), so that no registers wait for it.
#pragma once

#include <cstddef>

#include "device/host_device.hpp"

namespace shallow_water {

/// As many numbers as are read and written at once.
template <class T>
struct alignas(16) Several {
  static constexpr int count = 16 / static_cast<int>(sizeof(T));
  T values[16 / sizeof(T)];
  HOST_AND_DEVICE T& operator[](int i) { return values[i]; }
  HOST_AND_DEVICE const T& operator[](int i) const { return values[i]; }
};

/// A ring of rows, of six fields. Each thread has its own numbers there, and reads no other's.
template <class T, std::size_t rows, std::size_t threads>
class Ahead {
 public:
  static constexpr std::size_t fields = 6;

  /// The slot behind this one: `rows` are on their way, and one is read.
  HOST_AND_DEVICE static int after(int slot) { return slot == static_cast<int>(rows) ? 0 : slot + 1; }

  HOST_AND_DEVICE void request(int slot, int field, int thread, const T* from) {
    Several<T>& to = slots_[slot][field][thread];
#if defined(__CUDA_ARCH__)
    const auto there = static_cast<unsigned>(__cvta_generic_to_shared(&to));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(there), "l"(from) : "memory");
#else
    to = *reinterpret_cast<const Several<T>*>(from);
#endif
  }

#if defined(__CUDA_ARCH__)
  /// All that was asked for since the last time belongs together.
  __device__ __forceinline__ void commit() {
    asm volatile("cp.async.commit_group;\n" ::: "memory");
  }
  /// All is there but what was asked for last, of so many rows.
  __device__ __forceinline__ void wait() {
    asm volatile("cp.async.wait_group %0;\n" ::"n"(rows) : "memory");
  }
#else
  void commit() {}
  void wait() {}
#endif
  HOST_AND_DEVICE Several<T> taken(int slot, int field, int thread) const {
    return slots_[slot][field][thread];
  }

 private:
  Several<T> slots_[rows + 1][fields][threads];
};

}  // namespace shallow_water
