// Many elements reduced to few on a device, with the rules of kernels/host/fold.cpp: groups of threads reduce
// their elements in shared memory; if few elements are kept, many groups reduce a part each, and a second
// kernel reduces those. Which thread takes what depends on the counts alone: the same bits in every run.
#include "kernels/cuda/arithmetic.cuh"
#include "kernels/cuda/fold_lines.hpp"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/stored.cuh"

namespace partita::kernels::cuda {
namespace {

enum Part { to, a, b };

/// Integers are reduced as such; real numbers have no complex ones among them.
template <class J, class T>
constexpr bool is_loaded = is_complex_number<J> == is_complex_number<T> &&
                           (!std::is_integral_v<J> || std::is_integral_v<typename Plain<T>::type>);

template <class J, class T>
__device__ J number_of(T stored) {
  if constexpr (!is_loaded<J, T>) {
    return {};
  } else if constexpr (is_complex_number<J>) {
    return {stored.real, stored.imaginary};
  } else {
    return static_cast<J>(plain(stored));
  }
}

template <class J>
__device__ J load_number(Dtype dtype, const void* from, std::int64_t at) {
  J number{};
  with_stored(dtype, [&](auto stored) {
    number = number_of<J>(static_cast<const decltype(stored)*>(from)[at]);
    return 0;
  });
  return number;
}

__device__ bool is_true(Dtype dtype, const void* from, std::int64_t at) {
  return with_stored(
             dtype, [&](auto stored) { return is_set(static_cast<const decltype(stored)*>(from)[at]); }) != 0;
}

template <class J>
__device__ J folded_number(const Fold& what, const std::int64_t (&at)[3]) {
  if constexpr (std::is_same_v<J, std::uint64_t>) {
    if (what.folded == Folded::truth) return is_true(what.dtype, what.data[a], at[a]) ? 1 : 0;
  }
  if constexpr (std::is_same_v<J, double>) {
    if (what.folded == Folded::square && what.dtype >= Dtype::c64) {
      const auto value = load_number<Complex<double>>(what.dtype, what.data[a], at[a]);
      const double real = what.factor * value.real, imaginary = what.factor * value.imaginary;
      return real * real + imaginary * imaginary;
    }
  }
  J value = load_number<J>(what.dtype, what.data[a], at[a]);
  if (what.folded == Folded::square) {
    if constexpr (std::is_same_v<J, double>) value *= what.factor;
    return reduce<Reduction::product>(value, value);
  }
  if (what.folded == Folded::value) return value;
  if constexpr (std::is_same_v<J, Complex<double>>) {
    if (what.folded == Folded::conjugate_product) value.imaginary = -value.imaginary;
  }
  return reduce<Reduction::product>(value, load_number<J>(what.dtype, what.data[b], at[b]));
}

template <class J>
__device__ J joined(Reduction reduction, J x, J y) {
  if (reduction == Reduction::sum) {
    if constexpr (std::is_integral_v<J>) {  // wraps around
      return static_cast<J>(static_cast<std::uint64_t>(x) + static_cast<std::uint64_t>(y));
    } else {
      return reduce<Reduction::sum>(x, y);
    }
  }
  if constexpr (!std::is_same_v<J, Complex<double>>) {
    if (reduction == Reduction::min) return reduce<Reduction::min>(x, y);
    if (reduction == Reduction::max) return reduce<Reduction::max>(x, y);
  }
  return reduce<Reduction::product>(x, y);
}

template <class J>
__global__ void fold_elements(const __grid_constant__ Fold what, const __grid_constant__ ChunkDeal deal) {
  __shared__ alignas(16) unsigned char memory[threads_per_block * sizeof(J)];
  J* const shared = reinterpret_cast<J*>(memory);
  const J identity = *reinterpret_cast<const J*>(what.identity);
  const unsigned lane = threadIdx.x % deal.lanes;
  const std::int64_t groups = blockDim.x / deal.lanes, tasks = deal.tasks();
  for (std::int64_t first = blockIdx.x * groups; first < tasks; first += gridDim.x * groups) {
    const std::int64_t task = first + threadIdx.x / deal.lanes;
    const std::int64_t chunk = task / deal.kept, kept = task - chunk * deal.kept;
    std::int64_t at[3] = {};
    J sum = identity;
    if (task < tasks) {
      move_to(what.kept, tasks <= narrow_numbers, kept, at);
      const std::int64_t begin = chunk * deal.chunk, end = deal.end(begin);
      for (std::int64_t r = begin + lane; r < end; r += deal.lanes) {
        std::int64_t here[3] = {at[0], at[1], at[2]};
        move_to(what.over, deal.over <= narrow_numbers, r, here);
        sum = joined(what.reduction, sum, folded_number<J>(what, here));
      }
    }
    if (deal.lanes > 1) {
      shared[threadIdx.x] = sum;
      for (unsigned half = deal.lanes / 2; half > 0; half /= 2) {
        __syncthreads();
        if (lane < half)
          shared[threadIdx.x] = joined(what.reduction, shared[threadIdx.x], shared[threadIdx.x + half]);
      }
      sum = shared[threadIdx.x];
      __syncthreads();
    }
    if (task >= tasks || lane != 0) continue;
    if (deal.partial != nullptr) {
      static_cast<J*>(deal.partial)[kept * deal.chunks + chunk] = sum;
    } else {
      static_cast<J*>(what.data[to])[at[to]] = sum;
    }
  }
}

/// Adjacent threads take adjacent elements, whether these are kept or reduced.
ChunkDeal deal_of(const Fold& what) {
  ChunkDeal deal;
  deal.kept = elements_of(what.kept);
  deal.over = elements_of(what.over);
  const bool columns = deal.kept >= 32 && stride_of(what.kept, a) < stride_of(what.over, a);
  if (!columns) deal.widen(threads_per_block);
  deal.cut(std::int64_t{4} * most_blocks * threads_per_block / 8, 16);
  return deal;
}

template <class J>
int start(const Fold& what, const ChunkDeal& deal, cudaStream_t stream) {
  fold_elements<J><<<deal.blocks(), threads_per_block, 0, stream>>>(what, deal);
  return cudaGetLastError();
}

/// The partial results as elements to join.
Fold second_of(const Fold& what, const ChunkDeal& deal) {
  Fold second = what;
  second.folded = Folded::value;
  second.dtype = what.joined;
  second.data[a] = deal.partial;
  second.data[b] = nullptr;
  std::int64_t stride = deal.chunks;
  for (int l = second.kept.loops - 1; l >= 0; --l) {
    second.kept.strides[l][a] = stride;
    stride *= second.kept.counts[l];
  }
  second.over = {};
  second.over.loops = 1;
  second.over.counts[0] = deal.chunks;
  second.over.strides[0][a] = 1;
  return second;
}

template <class J>
int fold_in(const Fold& what, void* scratch, cudaStream_t stream) {
  ChunkDeal deal = deal_of(what);
  if (deal.chunks > 1) deal.partial = scratch;
  const int result = start<J>(what, deal, stream);
  return deal.chunks == 1 || result != cudaSuccess ? result
                                                   : start<J>(second_of(what, deal), deal.last(), stream);
}

// --- what becomes of that

template <class T, class J>
__device__ void store_finished(T& result, J value) {
  if constexpr (std::is_same_v<T, Boolean>) {
    if constexpr (std::is_integral_v<J>) result.byte = value != 0;
  } else if constexpr (is_loaded<J, T> && std::is_integral_v<J> == std::is_integral_v<T>) {
    if constexpr (is_complex_number<J>) {
      using Real = decltype(T::real);
      result = {static_cast<Real>(value.real), static_cast<Real>(value.imaginary)};
    } else {
      result = rounded<T>(static_cast<Widened<T>>(value));
    }
  }
}

template <class J>
__global__ void finish_elements(const __grid_constant__ Finish what, std::int64_t elements) {
  const auto step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (auto i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < elements; i += step) {
    std::int64_t at[3] = {};
    move_to(what.loops, elements <= narrow_numbers, i, at);
    J value = static_cast<const J*>(what.data[a])[at[a]];
    if constexpr (std::is_floating_point_v<J>) {
      if (what.replaces) {
        const double before = static_cast<const double*>(what.data[to])[at[to]];
        if (!(before >= what.least && before <= what.most)) continue;
      }
      if (what.root) value = sqrt(value);
      value /= what.divisor;
    } else if constexpr (!std::is_integral_v<J>) {
      value = {value.real / what.divisor, value.imaginary / what.divisor};
    }
    with_stored(what.result, [&](auto stored) {
      store_finished(static_cast<decltype(stored)*>(what.data[to])[at[to]], value);
      return 0;
    });
  }
}

template <class J>
int finish_in(const Finish& what, cudaStream_t stream) {
  const std::int64_t elements = elements_of(what.loops);
  finish_elements<J><<<blocks_for(elements), threads_per_block, 0, stream>>>(what, elements);
  return cudaGetLastError();
}

template <class J>
int load_both() {
  return load(fold_elements<J>, finish_elements<J>);
}

/// body(J()) with the type of the reduction.
template <class Body>
int with_joined(Dtype joined, const Body& body) {
  switch (joined) {
    case Dtype::i64:
      return body(std::int64_t());
    case Dtype::u64:
      return body(std::uint64_t());
    case Dtype::f64:
      return body(double());
    case Dtype::c128:
      return body(Complex<double>());
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace

int launch_fold(const Fold& what, void* scratch, void* stream) {
  if (folds_lines(what)) return launch_fold_lines(what, scratch, stream);
  return with_joined(what.joined, [&](auto zero) {
    return fold_in<decltype(zero)>(what, scratch, static_cast<cudaStream_t>(stream));
  });
}

int launch_finish(const Finish& what, void* stream) {
  return with_joined(what.joined, [&](auto zero) {
    return finish_in<decltype(zero)>(what, static_cast<cudaStream_t>(stream));
  });
}

int load_fold_kernels() {
  for (const Dtype joined : {Dtype::i64, Dtype::u64, Dtype::f64, Dtype::c128}) {
    const int result = with_joined(joined, [](auto zero) { return load_both<decltype(zero)>(); });
    if (result != cudaSuccess) return result;
  }
  return load_fold_lines();
}

}  // namespace partita::kernels::cuda
