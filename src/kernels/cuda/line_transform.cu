// Blocks that stay until all tiles are done; see line_tiles.hpp.
#include <cuda_runtime.h>

#include <algorithm>
#include <type_traits>

#include "kernels/cuda/line_tiles.hpp"
#include "kernels/cuda/rows.cuh"

namespace partita::kernels::cuda {
namespace {

/// The threads of a block: each for itself.
template <class Value, int n, bool whole>
struct BlockTeam {
  using Thread = LineThread<Value, n, whole>;
  Thread thread;
  typename Thread::Values values;

  template <class Work>
  __device__ void for_each(const Work& work) {
    work(thread, values);
  }
  __device__ void meet() { __syncthreads(); }
};

/// So many blocks of it that a multiprocessor's shared memory (and 64 registers a thread and more) suffices.
template <class Value, int n>
constexpr int blocks_at_once() {
  constexpr int by_memory = 220 * 1024 / static_cast<int>(sizeof(LineShared<Value, n>));
  constexpr int by_registers = 65536 / (LineFactors<n>::threads * (LineFactors<n>::first == 16 ? 128 : 64));
  return std::clamp(std::min(by_memory, by_registers), 1, 16);
}

template <class Value, int n, bool whole>
__global__ void __launch_bounds__(LineFactors<n>::threads, blocks_at_once<Value, n>())
    transform_lines(const __grid_constant__ LineTransform what, std::int64_t tiles, WideAccess wide) {
  extern __shared__ __align__(16) char memory[];
  auto& shared = *reinterpret_cast<LineShared<Value, n>*>(memory);
  BlockTeam<Value, n, whole> team{{what, shared, static_cast<int>(threadIdx.x), wide}, {}};
  transform_tiles<n>(team, blockIdx.x, gridDim.x, tiles);
}

template <class Value, int n>
int launch(const LineTransform& what, cudaStream_t stream) {
  int device = 0, multiprocessors = 0;
  if (const cudaError_t error = cudaGetDevice(&device); error != cudaSuccess) return error;
  const cudaError_t error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (error != cudaSuccess) return error;
  const std::int64_t tiles = tiles_of<Value, n>(what);
  const std::int64_t room = static_cast<std::int64_t>(multiprocessors) * blocks_at_once<Value, n>();
  constexpr std::int64_t tile_bytes = std::int64_t{n} * LineFactors<n>::columns * sizeof(Value);
  if (tiles == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>(blocks_of_lines(what, tiles, tile_bytes, room, multiprocessors));
  const WideAccess wide = wide_access(what);
  auto* const kernel = wide.whole ? transform_lines<Value, n, true> : transform_lines<Value, n, false>;
  kernel<<<blocks, LineFactors<n>::threads, sizeof(LineShared<Value, n>), stream>>>(what, tiles, wide);
  return cudaGetLastError();
}

/// Where blocks may not have so much shared memory, starting it is refused.
template <class Value, int n, bool whole>
int load_one() {
  const int result = load(transform_lines<Value, n, whole>);
  if (result != cudaSuccess) return result;
  const cudaError_t refused =
      cudaFuncSetAttribute(transform_lines<Value, n, whole>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           static_cast<int>(sizeof(LineShared<Value, n>)));
  if (refused == cudaErrorInvalidValue) return (void)cudaGetLastError(), cudaSuccess;
  return refused;
}

template <class Value, int n>
int load_both() {
  const int whole = load_one<Value, n, true>();
  return whole != cudaSuccess ? whole : load_one<Value, n, false>();
}

struct LoadAll {
  template <int n>
  int operator()(std::integral_constant<int, n> /*length*/) const {
    const int single = load_both<TwoSingles, n>();
    return single != cudaSuccess ? single : load_both<OneDouble, n>();
  }
};

/// Calls visit(n), a constant, for the n that `length` is; 2 for none.
template <class Visit>
int with_length(std::int64_t length, const Visit& visit) {
  switch (length) {
    case 4:
      return visit(std::integral_constant<int, 4>());
    case 8:
      return visit(std::integral_constant<int, 8>());
    case 16:
      return visit(std::integral_constant<int, 16>());
    case 32:
      return visit(std::integral_constant<int, 32>());
    case 64:
      return visit(std::integral_constant<int, 64>());
    case 128:
      return visit(std::integral_constant<int, 128>());
    case 256:
      return visit(std::integral_constant<int, 256>());
    case 512:
      return visit(std::integral_constant<int, 512>());
    case 1024:
      return visit(std::integral_constant<int, 1024>());
    case 2048:
      return visit(std::integral_constant<int, 2048>());
    default:
      return visit(std::integral_constant<int, 2>());
  }
}

}  // namespace

int launch_line_transform(const LineTransform& what, void* stream) {
  if (!transforms_lines_of(what.length)) return cudaErrorInvalidValue;
  return with_length(what.length, [&](auto length) {
    constexpr int n = decltype(length)::value;
    auto* const native = static_cast<cudaStream_t>(stream);
    return what.single ? launch<TwoSingles, n>(what, native) : launch<OneDouble, n>(what, native);
  });
}

bool has_line_transform(std::int64_t length, bool single) {
  int device = 0, most = 0;
  if (!transforms_lines_of(length) || cudaGetDevice(&device) != cudaSuccess) return false;
  if (cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) != cudaSuccess)
    return false;
  const int wanted = with_length(length, [&](auto known) {
    constexpr int n = decltype(known)::value;
    return static_cast<int>(single ? sizeof(LineShared<TwoSingles, n>) : sizeof(LineShared<OneDouble, n>));
  });
  return wanted <= most;
}

int load_line_transform_kernels() {
  for (std::int64_t length = 2; length <= LineTransform::longest; length *= 2) {
    const int result = with_length(length, LoadAll());
    if (result != cudaSuccess) return result;
  }
  return cudaSuccess;
}

}  // namespace partita::kernels::cuda
