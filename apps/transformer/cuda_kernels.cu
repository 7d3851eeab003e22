// Tokens, the loss, and Adam.
#include "transformer/cuda_common.cuh"
#include "transformer/kernel_forms.hpp"
#include "transformer/settings.hpp"

namespace transformer::cuda {
namespace pt = partita;
namespace {

/// A block a column.
template <class T>
__global__ void mark(const std::uint8_t* tokens, std::int64_t first, std::int64_t sequence, T* columns,
                     std::int64_t n) {
  const std::int64_t token = tokens[blockIdx.x], place = vocabulary + (first + blockIdx.x) % sequence;
  T* const column = columns + blockIdx.x * n;
  for (std::int64_t i = threadIdx.x; i < n; i += blockDim.x)
    column[i] = narrow<T>(i == token || i == place ? 1 : 0);
}

/// A block a column.
template <class T>
__global__ void compare(T* logits, const std::uint8_t* targets, double scale, double* losses,
                        std::int64_t n) {
  using W = Wide<T>;
  T* const column = logits + blockIdx.x * n;
  W most = widen(column[threadIdx.x % n]);
  for (std::int64_t i = threadIdx.x; i < n; i += blockDim.x) most = max(most, widen(column[i]));
  most = most_over_block(most);
  double sum = 0;
  for (std::int64_t i = threadIdx.x; i < n; i += blockDim.x)
    sum += static_cast<double>(exp(widen(column[i]) - most));
  sum = sum_over_block(sum);
  const std::int64_t target = targets[blockIdx.x];
  if (threadIdx.x == 0) losses[blockIdx.x] = log(sum) - static_cast<double>(widen(column[target]) - most);
  __syncthreads();  // it has been read
  const W factor = static_cast<W>(scale / sum);
  for (std::int64_t i = threadIdx.x; i < n; i += blockDim.x)
    column[i] = narrow<T>(exp(widen(column[i]) - most) * factor - (i == target ? static_cast<W>(scale) : 0));
}

/// One block, always in the same order.
__global__ void add_up(const double* terms, std::int64_t n, double factor, double* sum) {
  double own = 0;
  for (std::int64_t i = threadIdx.x; i < n; i += blockDim.x) own += terms[i];
  own = sum_over_block(own);
  if (threadIdx.x == 0) *sum = factor * own;
}

/// Where `rounded` is null nothing is rounded.
template <int N, class R, class W>
__global__ void step_adam(W* master, const W* gradient, W* first, W* second, R* rounded,
                          const AdamFactors<W> factors, std::int64_t packs) {
  const auto step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < packs;
       i += step) {
    auto weights = load<N>(master + i * N), means = load<N>(first + i * N), squares = load<N>(second + i * N);
    const auto gradients = load<N>(gradient + i * N);
#pragma unroll
    for (int j = 0; j < N; ++j)
      adam_step(weights.items[j], gradients.items[j], means.items[j], squares.items[j], factors);
    store<N>(master + i * N, weights);
    store<N>(first + i * N, means);
    store<N>(second + i * N, squares);
    if (rounded == nullptr) continue;
#pragma unroll
    for (int j = 0; j < N; ++j) rounded[i * N + j] = narrow<R>(static_cast<Wide<R>>(weights.items[j]));
  }
}

template <class T>
__global__ void round_all(const Wide<T>* from, T* to, std::int64_t n) {
  const auto step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
    to[i] = narrow<T>(from[i]);
}

}  // namespace

void one_hot(const pt::View& tokens, std::int64_t first, std::int64_t sequence, const pt::View& columns,
             void* stream) {
  const std::int64_t n = columns.extents[0], count = columns.extents[1];
  if (count == 0) return;
  with_type(columns.dtype, [&]<class T>(T) {
    mark<<<static_cast<unsigned>(count), threads_for(n), 0, static_cast<cudaStream_t>(stream)>>>(
        data<std::uint8_t>(tokens), first, sequence, data<T>(columns), n);
  });
}

void cross_entropy(const pt::View& logits, const pt::View& targets, double scale, const pt::View& losses,
                   void* stream) {
  const std::int64_t n = logits.extents[0], count = logits.extents[1];
  if (count == 0) return;
  with_type(logits.dtype, [&]<class T>(T) {
    compare<<<static_cast<unsigned>(count), threads_for(n), 0, static_cast<cudaStream_t>(stream)>>>(
        data<T>(logits), data<std::uint8_t>(targets), scale, data<double>(losses), n);
  });
}

void sum_up(const pt::View& terms, double factor, const pt::View& sum, void* stream) {
  add_up<<<1, 1024, 0, static_cast<cudaStream_t>(stream)>>>(data<double>(terms), terms.extents[0], factor,
                                                            data<double>(sum));
}

void adam(const AdamParts& parts, const AdamRates& rates, void* stream) {
  const std::int64_t n = pt::volume(parts.master.extents);
  if (n == 0) return;
  with_packs(parts.master.dtype, n, [&]<class W, int N>(W, std::integral_constant<int, N>) {
    if constexpr (std::is_same_v<W, Wide<W>>) {
      const auto step = [&]<class R>(R* rounded) {
        step_adam<N><<<blocks_for(n / N), 256, 0, static_cast<cudaStream_t>(stream)>>>(
            data<W>(parts.master), data<W>(parts.gradient), data<W>(parts.first), data<W>(parts.second),
            rounded, AdamFactors<W>(rates), n / N);
      };
      parts.rounded.dtype == pt::Dtype::bf16 ? step(data<__nv_bfloat16>(parts.rounded))
                                             : step(data<W>(parts.rounded));
    }
  });
}

void round_to(const pt::View& from, const pt::View& to, void* stream) {
  const std::int64_t n = pt::volume(to.extents);
  if (n == 0) return;
  with_type(to.dtype, [&]<class T>(T) {
    round_all<<<blocks_for(n), 256, 0, static_cast<cudaStream_t>(stream)>>>(data<Wide<T>>(from), data<T>(to),
                                                                            n);
  });
}

}  // namespace transformer::cuda
