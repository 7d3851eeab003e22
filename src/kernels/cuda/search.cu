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

/// Threads of a block whose shared memory leaves room for few blocks.
constexpr int most_threads = 1024;

/// Sorted elements of which some separate blocks of `step` others: a tree of 2^levels - 1 of them, level
/// after level, so that what the threads of a warp read of a level is in different banks.
struct Tree {
  int levels = 0;
  std::int64_t step = 0;
};

/// `T`: of the values, which are compared as elements of S are.
template <class T, class S>
__global__ void __launch_bounds__(most_threads)
    search_elements(const __grid_constant__ SearchPass what, const __grid_constant__ Tree tree) {
  extern __shared__ std::uint64_t memory[];
  using W = typename Plain<S>::type;
  auto* const near = reinterpret_cast<S*>(memory);
  const auto* const sorted = static_cast<const S*>(what.sorted);
  const auto* const values = static_cast<const T*>(what.values);
  const std::int64_t count = what.sorted_count;
  const int nodes = 1 << tree.levels;
  for (int node = 1 + static_cast<int>(threadIdx.x); node < nodes; node += static_cast<int>(blockDim.x)) {
    const int level = 31 - __clz(node);
    const std::int64_t blocks = std::int64_t{2 * (node - (1 << level)) + 1} << (tree.levels - level - 1);
    const std::int64_t past = blocks * tree.step;  // the last one of the blocks before this node's right side
    near[node] = sorted[(past < count ? past : count) - 1];
  }
  __syncthreads();
  const bool after = what.after && what.contained == nullptr;
  const auto place_of = [&](W x) {
    const auto is_before = [&](S one) {
      return after ? !comes_before(x, plain(one)) : comes_before(plain(one), x);
    };
    int node = 1;
    for (int level = 0; level < tree.levels; ++level) node = 2 * node + (is_before(near[node]) ? 1 : 0);
    const std::int64_t begin = (node - nodes) * tree.step, left = count - begin;
    if (left <= 0) return count;
    const bool is_last = node == 2 * nodes - 1;
    const std::int64_t length = is_last || left < tree.step - 1 ? left : tree.step - 1;
    return begin + first_not(sorted + begin, length, is_before);
  };
  const auto step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  auto i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  T next{};
  if (i < what.count) next = values[i];
  for (; i < what.count; i += step) {
    const W x = static_cast<W>(plain(next));
    if (i + step < what.count) next = values[i + step];
    const std::int64_t place = place_of(x);
    if (what.places != nullptr) what.places[i] = place;
    if (what.contained != nullptr) what.contained[i] = place < count && plain(sorted[place]) == x;
  }
}

/// Where bins end, and what a number's place among them would be if they were of one width. `W`: of numbers.
template <class W, class Edge>
struct Bins {
  /// Of a place that is looked at before it counts.
  using Guess = std::conditional_t<std::is_same_v<W, float>, float, double>;
  const Edge* edges;  // null: numbers are their bins
  std::int64_t count;
  int reach;  // of guesses
  Edge lowest, highest;
  Guess first, per_unit;

  __device__ explicit Bins(const Edge* from, std::int64_t many)
      : edges(from),
        count(many),
        reach(static_cast<int>(many < (1 << 30) ? many : 1 << 30)),
        lowest(0),
        highest(0),
        first(0),
        per_unit(0) {
    if (from == nullptr) return;
    lowest = from[0];
    highest = from[many];
    const auto begin = static_cast<double>(lowest);
    first = static_cast<Guess>(begin);
    per_unit = static_cast<Guess>(static_cast<double>(many) / (static_cast<double>(highest) - begin));
  }

  /// Below 0: in none.
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
    if (!(lowest <= x && x <= highest)) return -1;
    const Guess guess = (static_cast<Guess>(element) - first) * per_unit;
    const int least = guess > 0 ? static_cast<int>(guess < static_cast<Guess>(reach) ? guess : reach) : 0;
    const std::int64_t at = least < reach ? least : reach - 1;
    if (has(at, x)) return at;
    const std::int64_t beside = x < edges[at] ? at - 1 : at + 1;
    if (beside >= 0 && beside < count && has(beside, x)) return beside;
    const std::int64_t bin = first_not(edges, count + 1, [&](Edge one) { return !(x < one); }) - 1;
    return bin < count ? bin : count - 1;
  }

  __device__ bool has(std::int64_t bin, Edge x) const { return edges[bin] <= x && x < edges[bin + 1]; }
};

/// What a block shares: edges first, since they are of eight bytes, then its counters.
struct Near {
  bool edges = false, counters = false;
  std::size_t bytes = 0;
};

using Whole = unsigned long long;

/// `Sum`: of the result; `Counter`: of a block, which takes fewer than 2^32 elements.
template <class T, class Edge, class Sum, class Counter>
__global__ void __launch_bounds__(most_threads)
    count_elements(const __grid_constant__ CountPass what, const __grid_constant__ Near shared) {
  constexpr int in_flight = 8;
  extern __shared__ std::uint64_t memory[];
  const auto* edges = static_cast<const Edge*>(what.edges);
  auto* const to = static_cast<Sum*>(what.to);
  auto* counters = reinterpret_cast<Counter*>(memory);
  if (shared.edges) {
    auto* const near = reinterpret_cast<Edge*>(memory);
    for (std::int64_t b = threadIdx.x; b <= what.bins; b += blockDim.x) near[b] = edges[b];
    edges = near;
    counters = reinterpret_cast<Counter*>(near + what.bins + 1);
  }
  if (shared.counters) {
    for (std::int64_t b = threadIdx.x; b < what.bins; b += blockDim.x) counters[b] = Counter{0};
  }
  __syncthreads();
  const Bins<typename Plain<T>::type, Edge> bins(edges, what.bins);
  const auto* const from = static_cast<const T*>(what.from);
  const auto add = [&](T element, std::int64_t i) {
    const std::int64_t bin = bins.bin_of(plain(element));
    if (bin < 0) return;
    if (shared.counters) {
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
  if (!shared.counters) return;
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

/// Blocks with so much shared memory, of which two find room on a multiprocessor.
constexpr std::size_t most_near = 100 * 1024;

/// As much of so many bytes of shared memory as a block of this device may have.
std::size_t room_of(std::size_t bytes) {
  int device = 0, most = 48 * 1024;
  (void)cudaGetDevice(&device);
  (void)cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  return std::min(bytes, static_cast<std::size_t>(most));
}

/// More than 48 KiB have to be asked for.
template <class Kernel>
cudaError_t make_room(const Kernel& kernel, std::size_t bytes) {
  if (bytes <= 48 * 1024) return cudaSuccess;
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
}

/// Counters, and edges with them, as far as there is room.
Near near_of(const CountPass& what, std::size_t counter_bytes) {
  const auto bins = static_cast<std::size_t>(what.bins);
  const std::size_t edges = what.edges == nullptr ? 0 : (bins + 1) * 8, counters = bins * counter_bytes;
  const std::size_t room = room_of(most_near);
  if (bins > room || counters > room) return {};
  const bool both = edges > 0 && edges + counters <= room;
  return {both, true, both ? edges + counters : counters};
}

template <class T, class Edge, class Sum, class Counter>
int start_count(const CountPass& what, cudaStream_t stream) {
  const auto kernel = count_elements<T, Edge, Sum, Counter>;
  const Near shared = near_of(what, sizeof(Counter));
  const int threads = shared.bytes > 24 * 1024 ? most_threads : threads_per_block;
  if (const cudaError_t error = make_room(kernel, shared.bytes); error != cudaSuccess) return error;
  const unsigned most = most_blocks * threads_per_block / static_cast<unsigned>(threads);
  kernel<<<std::min(blocks_for(what.count), most), threads, shared.bytes, stream>>>(what, shared);
  return cudaGetLastError();
}

/// body(T(), S()) with the types of values and sorted elements: one type, or these of f64 or i64.
template <class Body>
int with_searched(const SearchPass& what, const Body& body) {
  if (what.value_dtype == what.dtype)
    return with_ordered(what.dtype, [&](auto element) { return body(element, element); });
  return with_edges(what.value_dtype, what.dtype, body);
}

/// All sorted elements, or so many that the rest of a search reads little. Few values are not worth reading
/// them.
Tree tree_of(const SearchPass& what, std::int64_t bytes) {
  constexpr std::int64_t enough_values = std::int64_t{1} << 17;
  Tree tree{0, what.sorted_count + 1};
  if (what.count < enough_values || what.sorted_count == 0) return tree;
  const auto room = static_cast<std::int64_t>(room_of(128 * 1024));
  while ((std::int64_t{1} << tree.levels) <= what.sorted_count &&
         (std::int64_t{2} << tree.levels) * bytes <= room)
    ++tree.levels;
  tree.step = 1;
  while ((tree.step << tree.levels) < what.sorted_count) tree.step *= 2;
  return tree;
}

template <class T, class S>
int start_search(const SearchPass& what, cudaStream_t stream) {
  const auto kernel = search_elements<T, S>;
  const Tree tree = tree_of(what, sizeof(S));
  const std::size_t bytes = tree.levels == 0 ? 0 : sizeof(S) << tree.levels;
  const int threads = tree.levels == 0 ? threads_per_block : most_threads;
  const unsigned most = tree.levels == 0    ? 4 * most_blocks
                        : bytes > most_near ? most_blocks / 8
                                            : most_blocks / 4;
  if (const cudaError_t error = make_room(kernel, bytes); error != cudaSuccess) return error;
  kernel<<<std::min(blocks_for(what.count), most), threads, bytes, stream>>>(what, tree);
  return cudaGetLastError();
}

}  // namespace

int launch_search(const SearchPass& what, void* stream) {
  return with_searched(what, [&](auto value, auto element) {
    return start_search<decltype(value), decltype(element)>(what, static_cast<cudaStream_t>(stream));
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
    const auto values = static_cast<Dtype>(dtype);
    const auto load_search = [](auto value, auto element) {
      return load(search_elements<decltype(value), decltype(element)>);
    };
    const auto load_count = [](auto element, auto edge) {
      using T = decltype(element);
      using Edge = decltype(edge);
      return load(count_elements<T, Edge, Whole, unsigned>, count_elements<T, Edge, double, double>);
    };
    SearchPass pass;
    pass.value_dtype = values;
    for (const Dtype other : {values, Dtype::i64, Dtype::f64}) {
      pass.dtype = other;
      const int error = with_searched(pass, load_search);
      if (error != cudaSuccess) return error;
    }
    for (const Dtype edges : {Dtype::i64, Dtype::f64}) {
      if (const int error = with_edges(values, edges, load_count); error != cudaSuccess) return error;
    }
  }
  return cudaSuccess;
}

}  // namespace partita::kernels::cuda
