// Many elements reduced to few on a device, with the rules of kernels/host/fold.cpp: groups of threads reduce
// their elements in shared memory; if few elements are kept, many groups reduce a part each, and a second
// kernel reduces those. Which thread takes what depends on the counts alone: the same bits in every run.
#include "kernels/cuda/arithmetic.cuh"
#include "kernels/cuda/fold_lines.hpp"
#include "kernels/cuda/reduce.cuh"

namespace partita::kernels::cuda {
namespace {

enum Part { to, a, b };

/// Booleans and integers.
template <class J>
__device__ J load_integer(Dtype dtype, const void* from, std::int64_t at) {
  switch (dtype) {
    case Dtype::boolean:
      return static_cast<const std::uint8_t*>(from)[at] != 0 ? 1 : 0;
    case Dtype::i8:
      return static_cast<J>(static_cast<const std::int8_t*>(from)[at]);
    case Dtype::u8:
      return static_cast<J>(static_cast<const std::uint8_t*>(from)[at]);
    case Dtype::i16:
      return static_cast<J>(static_cast<const std::int16_t*>(from)[at]);
    case Dtype::u16:
      return static_cast<J>(static_cast<const std::uint16_t*>(from)[at]);
    case Dtype::i32:
      return static_cast<J>(static_cast<const std::int32_t*>(from)[at]);
    case Dtype::u32:
      return static_cast<J>(static_cast<const std::uint32_t*>(from)[at]);
    case Dtype::i64:
      return static_cast<J>(static_cast<const std::int64_t*>(from)[at]);
    default:
      return static_cast<J>(static_cast<const std::uint64_t*>(from)[at]);
  }
}

__device__ double load_real(Dtype dtype, const void* from, std::int64_t at) {
  switch (dtype) {
    case Dtype::f16:
      return __half2float(static_cast<const __half*>(from)[at]);
    case Dtype::bf16:
      return __bfloat162float(static_cast<const __nv_bfloat16*>(from)[at]);
    case Dtype::f32:
      return static_cast<const float*>(from)[at];
    case Dtype::f64:
      return static_cast<const double*>(from)[at];
    default:
      return load_integer<double>(dtype, from, at);
  }
}

__device__ Complex<double> load_complex(Dtype dtype, const void* from, std::int64_t at) {
  if (dtype == Dtype::c128) return static_cast<const Complex<double>*>(from)[at];
  const Complex<float> value = static_cast<const Complex<float>*>(from)[at];
  return {value.real, value.imaginary};
}

__device__ bool is_complex_number(Dtype dtype) {
  return dtype == Dtype::c64 || dtype == Dtype::c128;
}

__device__ bool is_true(Dtype dtype, const void* from, std::int64_t at) {
  if (is_complex_number(dtype)) {
    const Complex<double> value = load_complex(dtype, from, at);
    return value.real != 0 || value.imaginary != 0;
  }
  return dtype < Dtype::f16 ? load_integer<std::uint64_t>(dtype, from, at) != 0
                            : load_real(dtype, from, at) != 0;
}

template <class J>
__device__ J load_number(Dtype dtype, const void* from, std::int64_t at) {
  if constexpr (std::is_integral_v<J>) {
    return load_integer<J>(dtype, from, at);
  } else if constexpr (std::is_floating_point_v<J>) {
    return load_real(dtype, from, at);
  } else {
    return load_complex(dtype, from, at);
  }
}

template <class J>
__device__ J folded_number(const Fold& what, const std::int64_t (&at)[3]) {
  if constexpr (std::is_same_v<J, std::uint64_t>) {
    if (what.folded == Folded::truth) return is_true(what.dtype, what.data[a], at[a]) ? 1 : 0;
  }
  if constexpr (std::is_same_v<J, double>) {
    if (what.folded == Folded::square && is_complex_number(what.dtype)) {
      const Complex<double> value = load_complex(what.dtype, what.data[a], at[a]);
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

/// What is kept is distributed over groups of `lanes` threads; each reduces one of `chunks` parts of it.
struct FoldDeal {
  std::int64_t kept = 1, over = 1;
  std::int64_t chunks = 1, chunk = 1;  // how many parts, and elements of one
  unsigned lanes = 1;
  void* partial = nullptr;  // results of [kept][chunks]; null: straight to where they belong
};

template <class J>
__global__ void fold_elements(const __grid_constant__ Fold what, const __grid_constant__ FoldDeal deal) {
  __shared__ alignas(16) unsigned char memory[threads_per_block * sizeof(J)];
  J* const shared = reinterpret_cast<J*>(memory);
  const J identity = *reinterpret_cast<const J*>(what.identity);
  const unsigned lane = threadIdx.x % deal.lanes;
  const std::int64_t groups = blockDim.x / deal.lanes, tasks = deal.kept * deal.chunks;
  for (std::int64_t first = blockIdx.x * groups; first < tasks; first += gridDim.x * groups) {
    const std::int64_t task = first + threadIdx.x / deal.lanes;
    const std::int64_t chunk = task / deal.kept, kept = task - chunk * deal.kept;
    std::int64_t at[3] = {};
    J sum = identity;
    if (task < tasks) {
      move_to(what.kept, tasks <= narrow_numbers, kept, at);
      const std::int64_t begin = chunk * deal.chunk;
      const std::int64_t end = begin + deal.chunk < deal.over ? begin + deal.chunk : deal.over;
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

std::int64_t stride_of(const ElementLoops& loops, int part) {
  return loops.loops == 0 ? 0 : std::abs(loops.strides[loops.loops - 1][part]);
}

std::int64_t rounded_up(std::int64_t x, std::int64_t y) {
  return (x + y - 1) / y;
}

constexpr std::int64_t most_partials = fold_scratch_bytes / 16;

/// Adjacent threads take adjacent elements, whether these are kept or reduced.
FoldDeal deal_of(const Fold& what) {
  constexpr std::int64_t least_work = 16;  // of a thread
  FoldDeal deal;
  deal.kept = elements_of(what.kept);
  deal.over = elements_of(what.over);
  const bool columns = deal.kept >= 32 && stride_of(what.kept, a) < stride_of(what.over, a);
  while (!columns && deal.lanes < threads_per_block && deal.lanes < deal.over) deal.lanes *= 2;
  const std::int64_t wanted_threads = std::int64_t{4} * most_blocks * threads_per_block / 8;
  const std::int64_t wanted = rounded_up(wanted_threads, deal.kept * deal.lanes);
  const std::int64_t useful = std::max<std::int64_t>(deal.over / (least_work * deal.lanes), 1);
  const std::int64_t room = std::max<std::int64_t>(most_partials / deal.kept, 1);
  deal.chunks = std::min({wanted, useful, room});
  deal.chunk = std::max<std::int64_t>(rounded_up(deal.over, deal.chunks), 1);
  return deal;
}

template <class J>
int start(const Fold& what, const FoldDeal& deal, cudaStream_t stream) {
  const std::int64_t groups = threads_per_block / deal.lanes;
  const auto blocks = static_cast<unsigned>(
      std::clamp<std::int64_t>(rounded_up(deal.kept * deal.chunks, groups), 1, 4 * most_blocks));
  fold_elements<J><<<blocks, threads_per_block, 0, stream>>>(what, deal);
  return cudaGetLastError();
}

/// The partial results as elements to join.
Fold second_of(const Fold& what, const FoldDeal& deal) {
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
  FoldDeal deal = deal_of(what);
  if (deal.chunks == 1) return start<J>(what, deal, stream);
  deal.partial = scratch;
  const int result = start<J>(what, deal, stream);
  if (result != cudaSuccess) return result;
  const Fold second = second_of(what, deal);
  FoldDeal last;
  last.kept = deal.kept;
  last.over = last.chunk = deal.chunks;
  while (last.lanes < threads_per_block && last.lanes < last.over) last.lanes *= 2;
  return start<J>(second, last, stream);
}

// --- what becomes of that

template <class J>
__device__ void store_finished(const Finish& what, std::int64_t at, J value) {
  void* const result = what.data[to];
  if constexpr (std::is_integral_v<J>) {
    switch (what.result) {
      case Dtype::boolean:
        static_cast<std::uint8_t*>(result)[at] = value != 0;
        return;
      case Dtype::i8:
      case Dtype::u8:
        static_cast<std::uint8_t*>(result)[at] = static_cast<std::uint8_t>(value);
        return;
      case Dtype::i16:
      case Dtype::u16:
        static_cast<std::uint16_t*>(result)[at] = static_cast<std::uint16_t>(value);
        return;
      case Dtype::i32:
      case Dtype::u32:
        static_cast<std::uint32_t*>(result)[at] = static_cast<std::uint32_t>(value);
        return;
      default:
        static_cast<J*>(result)[at] = value;
        return;
    }
  } else if constexpr (std::is_floating_point_v<J>) {
    switch (what.result) {
      case Dtype::f16:
        static_cast<__half*>(result)[at] = __float2half_rn(static_cast<float>(value));
        return;
      case Dtype::bf16:
        static_cast<__nv_bfloat16*>(result)[at] = __float2bfloat16_rn(static_cast<float>(value));
        return;
      case Dtype::f32:
        static_cast<float*>(result)[at] = static_cast<float>(value);
        return;
      default:
        static_cast<double*>(result)[at] = value;
        return;
    }
  } else if (what.result == Dtype::c64) {
    static_cast<Complex<float>*>(result)[at] = {static_cast<float>(value.real),
                                                static_cast<float>(value.imaginary)};
  } else {
    static_cast<J*>(result)[at] = value;
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
    store_finished(what, at[to], value);
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
