// A block of threads as what transforms tiles of lines (line_tiles.hpp), and how many of them find room.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>

#include "kernels/cuda/line_tiles.hpp"
#include "kernels/cuda/rows.cuh"

namespace partita::kernels::cuda {

/// The threads of a block: each for itself.
template <class Value, int n, LineAccess access>
struct BlockTeam {
  using Thread = LineThread<Value, n, access>;
  Thread thread;
  typename Thread::Values values;

  template <class Work>
  __device__ void for_each(const Work& work) {
    work(thread, values);
  }
  __device__ void meet() { __syncthreads(); }
};

/// So many blocks of it that a multiprocessor's shared memory, of which each takes so many bytes, suffices
/// (and 64 registers a thread and more).
template <int n>
constexpr int blocks_at_once(std::size_t shared_bytes) {
  const int by_memory = 220 * 1024 / static_cast<int>(shared_bytes);
  constexpr int by_registers = 65536 / (LineFactors<n>::threads * (LineFactors<n>::first == 16 ? 128 : 64));
  return std::clamp(std::min(by_memory, by_registers), 1, 16);
}

/// Of a tile's values.
template <class Value, int n>
constexpr std::int64_t tile_bytes() {
  return std::int64_t{n} * LineFactors<n>::columns * sizeof(Value);
}

inline int multiprocessors_of_current_device(int& count) {
  int device = 0;
  if (const cudaError_t error = cudaGetDevice(&device); error != cudaSuccess) return error;
  return cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
}

/// Loads a kernel whose blocks share so many bytes. Where blocks may not have so many, starting it is refused.
template <class Kernel>
int load_with_shared_bytes(Kernel kernel, std::size_t shared_bytes) {
  if (const int result = load(kernel); result != cudaSuccess) return result;
  const cudaError_t refused = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                   static_cast<int>(shared_bytes));
  if (refused == cudaErrorInvalidValue) return (void)cudaGetLastError(), cudaSuccess;
  return refused;
}

/// Whether blocks of the current device may share so many bytes.
inline bool may_share(std::size_t bytes) {
  int device = 0, most = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return false;
  if (cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) != cudaSuccess)
    return false;
  return static_cast<int>(bytes) <= most;
}

/// Which kernel.
template <class AnyValue, int n>
struct KindOfLines {
  using Value = AnyValue;
  static constexpr int length = n;
};

/// visit(KindOfLines) for lines of that length and precision.
template <std::int64_t longest, class Visit>
int with_lines(std::int64_t length, bool single, const Visit& visit) {
  return with_length<longest>(length, [&](auto known) {
    constexpr int n = decltype(known)::value;
    return single ? visit(KindOfLines<TwoSingles, n>()) : visit(KindOfLines<OneDouble, n>());
  });
}

/// For all of them; the first result that is not 0, if there is one.
template <std::int64_t longest, class Visit>
int for_all_lines(const Visit& visit) {
  for (std::int64_t length = 2; length <= longest; length *= 2) {
    for (const bool single : {true, false}) {
      if (const int result = with_lines<longest>(length, single, visit); result != 0) return result;
    }
  }
  return 0;
}

}  // namespace partita::kernels::cuda
