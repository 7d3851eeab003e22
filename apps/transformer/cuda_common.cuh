// What the kernels share: types, loads as wide as a column allows, sums over a block.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <partita/error.hpp>
#include <partita/view.hpp>
#include <type_traits>

namespace transformer::cuda {

/// In which numbers of a type are computed.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, __nv_bfloat16>, float, T>;

template <class T>
__device__ Wide<T> widen(T value) {
  if constexpr (std::is_same_v<T, __nv_bfloat16>)
    return __bfloat162float(value);
  else
    return value;
}
template <class T>
__device__ T narrow(Wide<T> value) {
  if constexpr (std::is_same_v<T, __nv_bfloat16>)
    return __float2bfloat16(value);
  else
    return value;
}

/// Numbers side by side that go with one access.
template <class T, int N>
struct alignas(sizeof(T) * N) Pack {
  T items[N];
};
template <int N, class T>
__device__ Pack<Wide<T>, N> load(const T* from) {
  const auto pack = *reinterpret_cast<const Pack<T, N>*>(from);
  Pack<Wide<T>, N> wide;
#pragma unroll
  for (int i = 0; i < N; ++i) wide.items[i] = widen(pack.items[i]);
  return wide;
}
template <int N, class T>
__device__ void store(T* to, const Pack<Wide<T>, N>& wide) {
  Pack<T, N> pack;
#pragma unroll
  for (int i = 0; i < N; ++i) pack.items[i] = narrow<T>(wide.items[i]);
  *reinterpret_cast<Pack<T, N>*>(to) = pack;
}

/// The same on all threads of a block, of whole warps: the values reduced in a fixed order.
template <class T, class Join>
__device__ T over_block(T value, T nothing, Join join) {
  __shared__ T warps[32];
  for (int lane = 16; lane > 0; lane /= 2) value = join(value, __shfl_xor_sync(~0u, value, lane));
  __syncthreads();  // those of the last call have been read
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  T all = nothing;
  for (unsigned warp = 0; warp < blockDim.x / 32; ++warp) all = join(all, warps[warp]);
  return all;
}
template <class T>
__device__ T sum_over_block(T value) {
  return over_block(value, T(0), [](T a, T b) { return a + b; });
}
template <class T>
__device__ T most_over_block(T value) {
  return over_block(value, value, [](T a, T b) { return a > b ? a : b; });
}

/// Calls f(T()) with the type of the dtype.
template <class F>
void with_type(partita::Dtype dtype, F&& f) {
  if (dtype == partita::Dtype::bf16) return f(__nv_bfloat16());
  if (dtype == partita::Dtype::f32) return f(float());
  if (dtype == partita::Dtype::f64) return f(double());
  throw partita::UnsupportedError("transformer: no kernels for " + std::string(partita::name(dtype)));
}

/// Calls f(T(), N) with as many numbers (a constant) as an access of 16 bytes takes where lines of `size`
/// begin at multiples of that, else 1.
template <class F>
void with_packs(partita::Dtype dtype, std::int64_t size, F&& f) {
  with_type(dtype, [&]<class T>(T zero) {
    constexpr int most = 16 / sizeof(T);
    if (size % most == 0) return f(zero, std::integral_constant<int, most>());
    f(zero, std::integral_constant<int, 1>());
  });
}

template <class T>
T* data(const partita::View& view) {
  return static_cast<T*>(view.data);
}

/// Threads of a block that reads a line of so many packs: whole warps.
inline unsigned threads_for(std::int64_t packs) {
  const std::int64_t wanted = (packs + 31) / 32 * 32;
  return static_cast<unsigned>(wanted < 32 ? 32 : wanted > 256 ? 256 : wanted);
}
/// Of a grid whose threads go on until all is done.
inline unsigned blocks_for(std::int64_t elements) {
  const std::int64_t wanted = (elements + 255) / 256, most = 132 * 16;
  return static_cast<unsigned>(wanted < most ? wanted : most);
}

}  // namespace transformer::cuda
