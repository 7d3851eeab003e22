// Causal softmax: a block a row, which is read where it is seen and written whole.
#include "transformer/cuda_common.cuh"
#include "transformer/kernel_forms.hpp"

namespace transformer::cuda {
namespace pt = partita;
namespace {

__device__ float exponential(float x) {
  return __expf(x);
}
__device__ double exponential(double x) {
  return exp(x);
}

/// Calls f(first number of a pack, how many of it are seen); the block's threads share the row.
template <int N, class F>
__device__ void for_each_seen(std::int64_t seen, F f) {
  for (std::int64_t j = threadIdx.x * N; j < seen; j += blockDim.x * N)
    f(j, seen - j < N ? static_cast<int>(seen - j) : N);
}

/// Zeros behind the packs with something seen.
template <int N, class T>
__device__ void clear_unseen(T* row, std::int64_t seen, std::int64_t keys) {
  const std::int64_t begin = (seen + N - 1) / N * N;
  for (std::int64_t j = begin + threadIdx.x * N; j < keys; j += blockDim.x * N) store<N>(row + j, {});
}

/// Each thread keeps its P packs, of lines that are no longer than a block with so many holds.
template <int N, int P, class T>
__global__ void softmax_short_rows(T* scores, std::int64_t keys) {
  using W = Wide<T>;
  const std::int64_t number = blockIdx.x, seen = number % keys + 1;
  T* const row = scores + number * keys;
  Pack<W, N> packs[P];
  W most = -INFINITY;
#pragma unroll
  for (int p = 0; p < P; ++p) {
    const std::int64_t j = (static_cast<std::int64_t>(p) * blockDim.x + threadIdx.x) * N;
    if (j < seen) packs[p] = load<N>(row + j);
#pragma unroll
    for (int i = 0; i < N; ++i) {
      packs[p].items[i] = j + i < seen ? packs[p].items[i] : W(-INFINITY);
      most = packs[p].items[i] > most ? packs[p].items[i] : most;
    }
  }
  most = most_over_block(most);
  W sum = 0;
#pragma unroll
  for (int p = 0; p < P; ++p) {
#pragma unroll
    for (int i = 0; i < N; ++i) sum += packs[p].items[i] = exponential(packs[p].items[i] - most);
  }
  const W inverse = 1 / sum_over_block(sum);
#pragma unroll
  for (int p = 0; p < P; ++p) {
    const std::int64_t j = (static_cast<std::int64_t>(p) * blockDim.x + threadIdx.x) * N;
#pragma unroll
    for (int i = 0; i < N; ++i) packs[p].items[i] *= inverse;
    if (j < keys) store<N>(row + j, packs[p]);
  }
}

/// Lines of any length, read twice. In the first sweep a thread has its largest number, and its sum as if
/// that were the largest of all.
template <int N, class T>
__global__ void softmax_rows(T* scores, std::int64_t keys) {
  using W = Wide<T>;
  const std::int64_t number = blockIdx.x, seen = number % keys + 1;
  T* const row = scores + number * keys;
  W most = -INFINITY, sum = 0;
  for_each_seen<N>(seen, [&](std::int64_t j, int count) {
    const auto pack = load<N>(row + j);
    for (int i = 0; i < count; ++i) {
      const W larger = pack.items[i] > most ? pack.items[i] : most;
      if (larger > most) sum *= exponential(most - larger);
      most = larger;
      sum += exponential(pack.items[i] - most);
    }
  });
  const W all = most_over_block(most);
  sum = sum_over_block(sum > 0 ? sum * exponential(most - all) : sum);
  const W inverse = 1 / sum;
  for_each_seen<N>(seen, [&](std::int64_t j, int count) {
    auto pack = load<N>(row + j);
#pragma unroll
    for (int i = 0; i < N; ++i) pack.items[i] = i < count ? exponential(pack.items[i] - all) * inverse : W(0);
    store<N>(row + j, pack);
  });
  clear_unseen<N>(row, seen, keys);
}

template <int N, class T>
__global__ void softmax_rows_backward(const T* probabilities, T* gradient, std::int64_t keys) {
  using W = Wide<T>;
  const std::int64_t number = blockIdx.x, seen = number % keys + 1;
  const T* const p = probabilities + number * keys;
  T* const g = gradient + number * keys;
  W sum = 0;
  for_each_seen<N>(seen, [&](std::int64_t j, int count) {
    const auto ps = load<N>(p + j), gs = load<N>(g + j);
#pragma unroll
    for (int i = 0; i < N; ++i) sum += i < count ? ps.items[i] * gs.items[i] : W(0);
  });
  sum = sum_over_block(sum);
  for_each_seen<N>(seen, [&](std::int64_t j, int count) {
    const auto ps = load<N>(p + j);
    auto gs = load<N>(g + j);
#pragma unroll
    for (int i = 0; i < N; ++i) gs.items[i] = i < count ? ps.items[i] * (gs.items[i] - sum) : W(0);
    store<N>(g + j, gs);
  });
  clear_unseen<N>(g, seen, keys);
}

struct Rows {
  explicit Rows(const pt::View& view)
      : keys(view.extents[view.extents.size() - 1]), count(keys > 0 ? pt::volume(view.extents) / keys : 0) {}
  std::int64_t keys, count;
};

}  // namespace

void causal_softmax(const pt::View& scores, void* stream) {
  const Rows rows(scores);
  if (rows.count == 0) return;
  with_packs(scores.dtype, rows.keys, [&]<class T, int N>(T, std::integral_constant<int, N>) {
    const unsigned threads = threads_for(rows.keys / N);
    const std::int64_t packs = (rows.keys + threads * N - 1) / (threads * N);
    const auto start = [&](auto* kernel) {
      kernel<<<static_cast<unsigned>(rows.count), threads, 0, static_cast<cudaStream_t>(stream)>>>(
          data<T>(scores), rows.keys);
    };
    if (packs <= 1) return start(softmax_short_rows<N, 1, T>);
    if (packs <= 2) return start(softmax_short_rows<N, 2, T>);
    if (packs <= 4) return start(softmax_short_rows<N, 4, T>);
    start(softmax_rows<N, T>);
  });
}

void causal_softmax_backward(const pt::View& probabilities, const pt::View& gradient, void* stream) {
  const Rows rows(gradient);
  if (rows.count == 0) return;
  with_packs(gradient.dtype, rows.keys, [&]<class T, int N>(T, std::integral_constant<int, N>) {
    softmax_rows_backward<N>
        <<<static_cast<unsigned>(rows.count), threads_for(rows.keys / N), 0,
           static_cast<cudaStream_t>(stream)>>>(data<T>(probabilities), data<T>(gradient), rows.keys);
  });
}

}  // namespace transformer::cuda
