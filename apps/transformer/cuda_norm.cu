// Layer norm: a block a token, and for what is summed over tokens a block some features.
#include "transformer/cuda_common.cuh"
#include "transformer/kernel_forms.hpp"

namespace transformer::cuda {
namespace pt = partita;
namespace {

/// The block's threads go over a line in packs of N.
template <int N, class F>
__device__ void for_each_pack(std::int64_t size, F f) {
  for (std::int64_t i = threadIdx.x * N; i < size; i += blockDim.x * N) f(i);
}

template <int N, class T>
__device__ Moments<Wide<T>> moments_of_line(const T* x, std::int64_t n) {
  using W = Wide<T>;
  W sum = 0;
  for_each_pack<N>(n, [&](std::int64_t i) {
    const auto xs = load<N>(x + i);
    for (const W value : xs.items) sum += value;
  });
  const W mean = sum_over_block(sum) / static_cast<W>(n);
  W squares = 0;
  for_each_pack<N>(n, [&](std::int64_t i) {
    const auto xs = load<N>(x + i);
    for (const W value : xs.items) squares += (value - mean) * (value - mean);
  });
  return moments_of(mean, sum_over_block(squares) / static_cast<W>(n));
}

template <int N, class T>
__global__ void normalize(const T* x, const T* gain, T* y, std::int64_t n) {
  x += blockIdx.x * n;
  y += blockIdx.x * n;
  const Moments<Wide<T>> of = moments_of_line<N>(x, n);
  for_each_pack<N>(n, [&](std::int64_t i) {
    const auto from = load<N>(x + i), gains = load<N>(gain + i), biases = load<N>(gain + n + i);
    Pack<Wide<T>, N> to;
    for (int j = 0; j < N; ++j) to.items[j] = normed(from.items[j], of, gains.items[j], biases.items[j]);
    store<N>(y + i, to);
  });
}

/// dx += the gradient of x, and the token's moments for `sum_norms`.
template <int N, class T>
__global__ void normalize_backward(const T* x, const T* gain, const T* dy, T* dx, Wide<T>* moments,
                                   std::int64_t n) {
  using W = Wide<T>;
  x += blockIdx.x * n;
  dy += blockIdx.x * n;
  dx += blockIdx.x * n;
  const Moments<W> of = moments_of_line<N>(x, n);
  W sum = 0, along = 0;
  for_each_pack<N>(n, [&](std::int64_t i) {
    const auto xs = load<N>(x + i), gains = load<N>(gain + i), dys = load<N>(dy + i);
    for (int j = 0; j < N; ++j) {
      const W g = (1 + gains.items[j]) * dys.items[j];
      sum += g;
      along += g * (xs.items[j] - of.mean) * of.scale;
    }
  });
  sum = sum_over_block(sum) / static_cast<W>(n);
  along = sum_over_block(along) / static_cast<W>(n);
  for_each_pack<N>(n, [&](std::int64_t i) {
    const auto xs = load<N>(x + i), gains = load<N>(gain + i), dys = load<N>(dy + i);
    auto to = load<N>(dx + i);
    for (int j = 0; j < N; ++j)
      to.items[j] += norm_gradient(xs.items[j], of, gains.items[j], dys.items[j], sum, along);
    store<N>(dx + i, to);
  });
  if (threadIdx.x != 0) return;
  moments[2 * blockIdx.x] = of.mean;
  moments[2 * blockIdx.x + 1] = of.scale;
}

constexpr int lanes = 8, rows = 32;  // of a block of `sum_norms`: packs of features, and tokens at once

/// Of the tokens of this chunk (blockIdx.y): sums[chunk][0][i] = the sum of dy[i] xhat[i], sums[chunk][1][i]
/// = that of dy[i]; each in a fixed order.
template <int N, class T>
__global__ void sum_norms(const T* x, const T* dy, const Wide<T>* moments, Wide<T>* sums, std::int64_t n,
                          std::int64_t tokens) {
  using W = Wide<T>;
  __shared__ W parts[2][rows][lanes * N];
  const std::int64_t feature = (static_cast<std::int64_t>(blockIdx.x) * lanes + threadIdx.x) * N;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.y) * rows;
  W gains[N] = {}, biases[N] = {};
  if (feature < n) {
#pragma unroll 4
    for (std::int64_t token = blockIdx.y * rows + threadIdx.y; token < tokens; token += step) {
      const W mean = moments[2 * token], scale = moments[2 * token + 1];
      const auto xs = load<N>(x + token * n + feature), dys = load<N>(dy + token * n + feature);
      for (int j = 0; j < N; ++j) {
        gains[j] += dys.items[j] * (xs.items[j] - mean) * scale;
        biases[j] += dys.items[j];
      }
    }
  }
  for (int j = 0; j < N; ++j) {
    parts[0][threadIdx.y][threadIdx.x * N + j] = gains[j];
    parts[1][threadIdx.y][threadIdx.x * N + j] = biases[j];
  }
  __syncthreads();
  const unsigned number = threadIdx.y * lanes + threadIdx.x, which = number / (lanes * N),
                 at = number % (lanes * N);
  const std::int64_t own = static_cast<std::int64_t>(blockIdx.x) * lanes * N + at;
  if (which > 1 || own >= n) return;
  W sum = 0;
  for (int row = 0; row < rows; ++row) sum += parts[which][row][at];
  sums[(2 * blockIdx.y + which) * n + own] = sum;
}

/// to[i] = the sum over chunks, in their order.
template <class W>
__global__ void sum_chunks(const W* sums, int chunks, W* to, std::int64_t size) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= size) return;
  W sum = 0;
  for (int chunk = 0; chunk < chunks; ++chunk) sum += sums[chunk * size + i];
  to[i] = sum;
}

}  // namespace

void layer_norm(const pt::View& x, const pt::View& norms, std::int64_t number, const pt::View& y,
                void* stream) {
  const std::int64_t n = x.extents[0], tokens = x.extents[1];
  if (tokens == 0) return;
  with_packs(x.dtype, n, [&]<class T, int N>(T, std::integral_constant<int, N>) {
    normalize<N><<<static_cast<unsigned>(tokens), threads_for(n / N), 0, static_cast<cudaStream_t>(stream)>>>(
        data<T>(x), data<T>(norms) + number * 2 * n, data<T>(y), n);
  });
}

void layer_norm_backward(const NormGradient& arrays, std::int64_t number, void* stream) {
  const auto in = static_cast<cudaStream_t>(stream);
  const std::int64_t n = arrays.x.extents[0], tokens = arrays.x.extents[1];
  with_packs(arrays.x.dtype, n, [&]<class T, int N>(T, std::integral_constant<int, N>) {
    const T *const x = data<T>(arrays.x), *const dy = data<T>(arrays.dy);
    Wide<T>* const moments = data<Wide<T>>(arrays.moments);
    if (tokens > 0) {
      normalize_backward<N><<<static_cast<unsigned>(tokens), threads_for(n / N), 0, in>>>(
          x, data<T>(arrays.norms) + number * 2 * n, dy, data<T>(arrays.dx), moments, n);
    }
    const std::int64_t blocks = (n + lanes * N - 1) / (lanes * N);
    Wide<T>* const sums = data<Wide<T>>(arrays.sums);
    sum_norms<N><<<dim3(static_cast<unsigned>(blocks), norm_chunks), dim3(lanes, rows), 0, in>>>(
        x, dy, moments, sums, n, tokens);
    sum_chunks<<<static_cast<unsigned>((2 * n + 255) / 256), 256, 0, in>>>(
        sums, norm_chunks, data<Wide<T>>(arrays.gradient) + number * 2 * n, 2 * n);
  });
}

}  // namespace transformer::cuda
