// Elements of one dtype to elements of another on a device, a thread an element or a square of them a block,
// with the rules of kernels/host/convert.cpp. The dtypes are looked at as it runs: all threads go the same
// way, and memory is what they wait for.
#include "base/number_rules.hpp"
#include "kernels/cuda/rows.cuh"
#include "kernels/cuda/stored.cuh"

namespace partita::kernels::cuda {
namespace {

/// A value between its dtypes, exact.
struct Number {
  enum class Kind : std::uint8_t { signed_integer, unsigned_integer, real, complex } kind;
  std::int64_t integer;  // of either kind: its bits
  double real, imaginary;

  __device__ bool is_integer() const {
    return kind == Kind::signed_integer || kind == Kind::unsigned_integer;
  }
  template <class Real>
  __device__ Real as() const {
    if (kind == Kind::signed_integer) return static_cast<Real>(integer);
    if (kind == Kind::unsigned_integer) return static_cast<Real>(static_cast<std::uint64_t>(integer));
    return static_cast<Real>(real);
  }
};

template <class T>
__device__ Number number_of(T value) {
  if constexpr (std::is_same_v<T, Boolean>) {  // any byte but 0 is true
    return {Number::Kind::unsigned_integer, value.byte != 0 ? 1 : 0, 0, 0};
  } else if constexpr (std::is_integral_v<T>) {
    const auto kind = std::is_signed_v<T> ? Number::Kind::signed_integer : Number::Kind::unsigned_integer;
    return {kind, static_cast<std::int64_t>(value), 0, 0};
  } else if constexpr (is_complex_number<T>) {
    return {Number::Kind::complex, 0, static_cast<double>(value.real), static_cast<double>(value.imaginary)};
  } else {
    return {Number::Kind::real, 0, static_cast<double>(widened(value)), 0};
  }
}

__device__ Number load_number(Dtype dtype, const char* place) {
  Number number;
  with_any_stored(dtype, [&](auto stored) {
    number = number_of(*reinterpret_cast<const decltype(stored)*>(place));
    return 0;
  });
  return number;
}

template <class T>
__device__ T stored_as(const Number& number) {
  const bool is_signed = number.kind == Number::Kind::signed_integer;
  const auto whole = static_cast<unsigned long long>(number.integer);
  if constexpr (std::is_same_v<T, Boolean>) {
    return {static_cast<std::uint8_t>(number.integer != 0 || number.real != 0 || number.imaginary != 0)};
  } else if constexpr (std::is_integral_v<T>) {
    return number.is_integer() ? static_cast<T>(number.integer) : cut_off<T>(number.real);
  } else if constexpr (std::is_same_v<T, __half>) {
    return is_signed             ? __ll2half_rn(number.integer)
           : number.is_integer() ? __ull2half_rn(whole)
                                 : __double2half(number.real);
  } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    return is_signed             ? __ll2bfloat16_rn(number.integer)
           : number.is_integer() ? __ull2bfloat16_rn(whole)
                                 : __double2bfloat16(number.real);
  } else if constexpr (is_float8<T>) {  // integers that a double does not hold are beyond the range anyway
    constexpr auto kind = std::is_same_v<T, __nv_fp8_e4m3> ? __NV_E4M3 : __NV_E5M2;
    T result;
    result.__x = __nv_cvt_double_to_fp8(number.as<double>(), __NV_NOSAT, kind);
    return result;
  } else if constexpr (is_complex_number<T>) {
    using Real = decltype(T::real);
    return {number.as<Real>(), static_cast<Real>(number.imaginary)};
  } else {
    return number.as<T>();
  }
}

__device__ void store_number(Dtype dtype, char* place, const Number& number) {
  with_any_stored(dtype, [&](auto stored) {
    using T = decltype(stored);
    *reinterpret_cast<T*>(place) = stored_as<T>(number);
    return 0;
  });
}

/// `Index` is 32 bits wide where all elements can be numbered so.
template <class Index>
__global__ void convert_elements(const __grid_constant__ Nest nest, Index elements, Dtype from_dtype,
                                 Dtype to_dtype, const char* from, char* to) {
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; i < elements; i += step) {
    const RowOffsets at = row_offsets(nest, i);
    store_number(to_dtype, to + at.to, load_number(from_dtype, from + at.from));
  }
}

/// Elements that are adjacent along one loop in the source and along another one in the destination, in
/// squares through shared memory, so that both sides are read and written by adjacent threads.
struct Turned {
  static constexpr int side = 32, rows_at_once = threads_per_block / side, most_bytes = 16;
  Nest outer = {};
  std::int64_t along_source = 1, along_destination = 1;  // how many elements
  std::int64_t source_step = 0, destination_step = 0;    // bytes, on the side where they are not adjacent
  std::int64_t columns = 1, tiles = 1;                   // squares along the destination's loop, and all
};

__device__ void copy_item(const char* from, char* to, int bytes) {
  switch (bytes) {
    case 1:
      *to = *from;
      return;
    case 2:
      *reinterpret_cast<std::uint16_t*>(to) = *reinterpret_cast<const std::uint16_t*>(from);
      return;
    case 4:
      *reinterpret_cast<std::uint32_t*>(to) = *reinterpret_cast<const std::uint32_t*>(from);
      return;
    case 8:
      *reinterpret_cast<std::uint64_t*>(to) = *reinterpret_cast<const std::uint64_t*>(from);
      return;
    default:
      copy_item(from, to, 8);
      copy_item(from + 8, to + 8, 8);
  }
}

__global__ void convert_turned(const __grid_constant__ Turned what, Dtype from_dtype, Dtype to_dtype,
                               int from_bytes, int to_bytes, const char* from, char* to) {
  __shared__ alignas(Turned::most_bytes) char square[Turned::side * (Turned::side + 1) * Turned::most_bytes];
  const int lane = static_cast<int>(threadIdx.x) % Turned::side,
            first = static_cast<int>(threadIdx.x) / Turned::side;
  const std::int64_t rows = (what.along_source + Turned::side - 1) / Turned::side;
  for (std::int64_t tile = blockIdx.x; tile < what.tiles; tile += gridDim.x) {
    const std::int64_t of_outer = tile / what.columns / rows;
    const std::int64_t i = (tile / what.columns - of_outer * rows) * Turned::side;
    const std::int64_t j = (tile % what.columns) * Turned::side;
    const RowOffsets at = row_offsets(what.outer, of_outer);
    for (int row = first; row < Turned::side; row += Turned::rows_at_once) {
      if (i + lane >= what.along_source || j + row >= what.along_destination) continue;
      const char* const place = from + at.from + (i + lane) * from_bytes + (j + row) * what.source_step;
      store_number(to_dtype, square + (row * (Turned::side + 1) + lane) * to_bytes,
                   load_number(from_dtype, place));
    }
    __syncthreads();
    for (int row = first; row < Turned::side; row += Turned::rows_at_once) {
      if (i + row >= what.along_source || j + lane >= what.along_destination) continue;
      copy_item(square + (lane * (Turned::side + 1) + row) * to_bytes,
                to + at.to + (i + row) * what.destination_step + (j + lane) * to_bytes, to_bytes);
    }
    __syncthreads();
  }
}

/// Tiles: 0 where the elements are not adjacent along two loops, of which none is short.
Turned turned(const Nest& nest, int from_bytes, int to_bytes) {
  Turned result;
  result.tiles = 0;
  const int last = nest.loops - 1;
  if (last < 1 || nest.to_strides[last] != to_bytes || nest.from_strides[last] == from_bytes) return result;
  int other = 0;
  while (other < last && nest.from_strides[other] != from_bytes) ++other;
  if (other == last || nest.counts[other] < Turned::side / 2 || nest.counts[last] < Turned::side / 2)
    return result;
  result.along_source = nest.counts[other];
  result.along_destination = nest.counts[last];
  result.source_step = nest.from_strides[last];
  result.destination_step = nest.to_strides[other];
  for (int loop = 0; loop < last; ++loop) {
    if (loop == other) continue;
    result.outer.counts[result.outer.loops] = nest.counts[loop];
    result.outer.from_strides[result.outer.loops] = nest.from_strides[loop];
    result.outer.to_strides[result.outer.loops++] = nest.to_strides[loop];
  }
  result.columns = (result.along_destination + Turned::side - 1) / Turned::side;
  result.tiles =
      rows_of(result.outer) * result.columns * ((result.along_source + Turned::side - 1) / Turned::side);
  return result;
}

}  // namespace

int launch_convert(const Nest& nest, Dtype from_dtype, Dtype to_dtype, const void* from, void* to,
                   void* stream) {
  const Turned squares =
      turned(nest, static_cast<int>(size_of(from_dtype)), static_cast<int>(size_of(to_dtype)));
  if (squares.tiles > 0) {
    const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(squares.tiles, 4 * most_blocks));
    convert_turned<<<blocks, threads_per_block, 0, static_cast<cudaStream_t>(stream)>>>(
        squares, from_dtype, to_dtype, static_cast<int>(size_of(from_dtype)),
        static_cast<int>(size_of(to_dtype)), static_cast<const char*>(from), static_cast<char*>(to));
    return cudaGetLastError();
  }
  const std::int64_t elements = rows_of(nest);
  const std::int64_t wanted = (elements + threads_per_block - 1) / threads_per_block;
  const auto blocks = static_cast<unsigned>(std::clamp<std::int64_t>(wanted, 1, 4 * most_blocks));
  auto* const queue = static_cast<cudaStream_t>(stream);
  const auto* const source = static_cast<const char*>(from);
  auto* const destination = static_cast<char*>(to);
  if (elements <= std::int64_t{1} << 31) {
    convert_elements<std::uint32_t><<<blocks, threads_per_block, 0, queue>>>(
        nest, static_cast<std::uint32_t>(elements), from_dtype, to_dtype, source, destination);
  } else {
    convert_elements<std::uint64_t><<<blocks, threads_per_block, 0, queue>>>(
        nest, static_cast<std::uint64_t>(elements), from_dtype, to_dtype, source, destination);
  }
  return cudaGetLastError();
}

int load_convert_kernel() {
  return load(convert_elements<std::uint32_t>, convert_elements<std::uint64_t>, convert_turned);
}

}  // namespace partita::kernels::cuda
