// Searches in sorted elements, by one thread each, and counts of elements in bins: a block adds to its own
// counters in shared memory where they find room there, and these to the result.
#include "kernels/cuda/arithmetic.cuh"
#include "kernels/cuda/search_launch.hpp"
#include "kernels/cuda/stored.cuh"

namespace partita::kernels::cuda {
namespace {

/// NaN are the largest numbers.
template <class W>
__device__ bool comes_before(W a, W b) {
  return a < b || (b != b && a == a);
}

/// How many of the sorted elements `is_before` is true for: for all up to one.
template <class T, class IsBefore>
__device__ std::int64_t first_not(const T* sorted, std::int64_t count, const IsBefore& is_before) {
  std::int64_t lower = 0;
  while (count > 0) {
    const std::int64_t half = count / 2;
    if (is_before(sorted[lower + half])) {
      lower += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return lower;
}

template <class T>
__global__ void search_elements(const __grid_constant__ SearchPass what) {
  const auto* const sorted = static_cast<const T*>(what.sorted);
  const auto* const values = static_cast<const T*>(what.values);
  const auto step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (auto i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < what.count; i += step) {
    const auto x = plain(values[i]);
    const bool after = what.after && what.contained == nullptr;
    const std::int64_t place = first_not(sorted, what.sorted_count, [&](T one) {
      return after ? !comes_before(x, plain(one)) : comes_before(plain(one), x);
    });
    if (what.places != nullptr) what.places[i] = place;
    if (what.contained != nullptr) what.contained[i] = place < what.sorted_count && plain(sorted[place]) == x;
  }
}

/// Where bins end, and what a number's place among them would be if they were of one width.
template <class Edge>
struct Bins {
  const Edge* edges;  // null: numbers are their bins
  std::int64_t count;
  double first, per_unit;

  __device__ explicit Bins(const Edge* from, std::int64_t many)
      : edges(from), count(many), first(0), per_unit(0) {
    if (from == nullptr) return;
    first = static_cast<double>(from[0]);
    per_unit = static_cast<double>(many) / (static_cast<double>(from[many]) - first);
  }

  /// Below 0: in none.
  template <class W>
  __device__ std::int64_t bin_of(W element) const {
    if (edges == nullptr) {
      if constexpr (std::is_integral_v<W>) {
        const auto number = static_cast<std::uint64_t>(element);  // of negative ones beyond all counts
        return number < static_cast<std::uint64_t>(count) ? static_cast<std::int64_t>(number) : -1;
      } else {
        return -1;
      }
    }
    const auto x = static_cast<Edge>(element);
    const double guess = (static_cast<double>(element) - first) * per_unit;
    const std::int64_t at = !(guess > 0)                         ? 0
                            : guess < static_cast<double>(count) ? static_cast<std::int64_t>(guess)
                                                                 : count - 1;
    if (edges[at] <= x && x < edges[at + 1]) return at;
    const std::int64_t bin = first_not(edges, count + 1, [&](Edge one) { return !(x < one); }) - 1;
    return bin < count ? bin : x == edges[count] ? count - 1 : -1;
  }
};

/// What the kernel shares: edges first, since they are of eight bytes, then counters of the block.
template <class Counter>
constexpr std::int64_t shared_bytes(const CountPass& what) {
  const std::int64_t edges = what.edges == nullptr ? 0 : (what.bins + 1) * 8;
  return edges + what.bins * static_cast<std::int64_t>(sizeof(Counter));
}

using Whole = unsigned long long;

/// `Sum`: of the result; `Counter`: of a block, which takes fewer than 2^32 elements.
template <class T, class Edge, class Sum, class Counter>
__global__ void __launch_bounds__(threads_per_block)
    count_elements(const __grid_constant__ CountPass what, bool is_shared) {
  constexpr int in_flight = 8;
  extern __shared__ std::uint64_t memory[];
  const auto* edges = static_cast<const Edge*>(what.edges);
  auto* const to = static_cast<Sum*>(what.to);
  auto* counters = reinterpret_cast<Counter*>(memory);
  if (is_shared) {
    if (edges != nullptr) {
      auto* const near = reinterpret_cast<Edge*>(memory);
      for (std::int64_t b = threadIdx.x; b <= what.bins; b += blockDim.x) near[b] = edges[b];
      edges = near;
      counters = reinterpret_cast<Counter*>(near + what.bins + 1);
    }
    for (std::int64_t b = threadIdx.x; b < what.bins; b += blockDim.x) counters[b] = Counter{0};
    __syncthreads();
  }
  const Bins<Edge> bins(edges, what.bins);
  const auto* const from = static_cast<const T*>(what.from);
  const auto add = [&](T element, std::int64_t i) {
    const std::int64_t bin = bins.bin_of(plain(element));
    if (bin < 0) return;
    if (is_shared) {
      atomicAdd(counters + bin, what.weights == nullptr ? Counter{1} : static_cast<Counter>(what.weights[i]));
    } else {
      atomicAdd(to + bin, what.weights == nullptr ? Sum{1} : static_cast<Sum>(what.weights[i]));
    }
  };
  const auto step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  auto i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i + (in_flight - 1) * step < what.count; i += in_flight * step) {
    T loaded[in_flight];
#pragma unroll
    for (int u = 0; u < in_flight; ++u) loaded[u] = from[i + u * step];
#pragma unroll
    for (int u = 0; u < in_flight; ++u) add(loaded[u], i + u * step);
  }
  for (; i < what.count; i += step) add(from[i], i);
  if (!is_shared) return;
  __syncthreads();
  for (std::int64_t b = threadIdx.x; b < what.bins; b += blockDim.x) {
    if (counters[b] != Counter{0}) atomicAdd(to + b, static_cast<Sum>(counters[b]));
  }
}

/// body(T(), Edge()).
template <class Body>
int with_edges(Dtype dtype, Dtype edge_dtype, const Body& body) {
  return with_ordered(dtype, [&](auto element) -> int {
    if constexpr (std::is_integral_v<decltype(plain(element))>) {
      if (edge_dtype == Dtype::i64) return body(element, std::int64_t());
    }
    return body(element, double());
  });
}

template <class T, class Edge, class Sum, class Counter>
int start_count(const CountPass& what, cudaStream_t stream) {
  constexpr std::int64_t most_shared = 48 * 1024;
  const std::int64_t bytes = shared_bytes<Counter>(what);
  const bool is_shared = bytes <= most_shared;
  const unsigned blocks = std::min(blocks_for(what.count), most_blocks);
  count_elements<T, Edge, Sum, Counter>
      <<<blocks, threads_per_block, is_shared ? static_cast<std::size_t>(bytes) : 0, stream>>>(what,
                                                                                               is_shared);
  return cudaGetLastError();
}

}  // namespace

int launch_search(const SearchPass& what, void* stream) {
  return with_ordered(what.dtype, [&](auto element) -> int {
    search_elements<decltype(element)>
        <<<blocks_for(what.count), threads_per_block, 0, static_cast<cudaStream_t>(stream)>>>(what);
    return cudaGetLastError();
  });
}

int launch_count(const CountPass& what, void* stream) {
  auto* const native = static_cast<cudaStream_t>(stream);
  const cudaError_t error = cudaMemsetAsync(what.to, 0, static_cast<std::size_t>(what.bins) * 8, native);
  if (error != cudaSuccess || what.count == 0) return error;
  return with_edges(what.dtype, what.edge_dtype, [&](auto element, auto edge) {
    using T = decltype(element);
    using Edge = decltype(edge);
    return what.weights == nullptr ? start_count<T, Edge, Whole, unsigned>(what, native)
                                   : start_count<T, Edge, double, double>(what, native);
  });
}

int load_search_kernels() {
  for (int dtype = 0; dtype <= static_cast<int>(Dtype::f64); ++dtype) {
    for (const Dtype edges : {Dtype::i64, Dtype::f64}) {
      const int result = with_edges(static_cast<Dtype>(dtype), edges, [](auto element, auto edge) {
        using T = decltype(element);
        using Edge = decltype(edge);
        return load(search_elements<T>, count_elements<T, Edge, Whole, unsigned>,
                    count_elements<T, Edge, double, double>);
      });
      if (result != cudaSuccess) return result;
    }
  }
  return cudaSuccess;
}

}  // namespace partita::kernels::cuda
