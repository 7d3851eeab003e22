// to[...] = reduce(to[...], from[...]) on a device, with the rules of kernels/host/accumulate.cpp.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "kernels/cuda/rows.cuh"

namespace partita::cuda {
namespace {

struct Boolean {
  std::uint8_t byte;
};

template <class Real>
struct Complex {
  Real real, imaginary;
};

/// Integers wrap around: their sum is taken unsigned. The sum of booleans is "or". A NaN on either side wins.
template <Operation operation, class T>
__device__ T reduce(T a, T b) {
  if constexpr (operation == Operation::sum) {
    return static_cast<T>(a + b);
  } else if constexpr (operation == Operation::min) {
    return a < b || a != a ? a : b;
  } else {
    return a > b || a != a ? a : b;
  }
}

template <Operation operation>
__device__ Boolean reduce(Boolean a, Boolean b) {
  const bool both = a.byte != 0 && b.byte != 0;
  const bool either = a.byte != 0 || b.byte != 0;
  return {static_cast<std::uint8_t>(operation == Operation::min ? both : either)};
}

template <Operation operation>
__device__ __half reduce(__half a, __half b) {
  return __float2half_rn(reduce<operation>(__half2float(a), __half2float(b)));
}

template <Operation operation>
__device__ __nv_bfloat16 reduce(__nv_bfloat16 a, __nv_bfloat16 b) {
  return __float2bfloat16_rn(reduce<operation>(__bfloat162float(a), __bfloat162float(b)));
}

/// Only sums are defined; the others are never asked for.
template <Operation operation, class Real>
__device__ Complex<Real> reduce(Complex<Real> a, Complex<Real> b) {
  return {a.real + b.real, a.imaginary + b.imaginary};
}

template <class T, Operation operation>
__global__ void accumulate_rows(const __grid_constant__ Nest nest, const __grid_constant__ Deal deal,
                                unsigned lanes, const char* from, char* to) {
  for_each_segment<std::uint64_t>(
      nest, deal, lanes, [&](const RowOffsets& row, std::int64_t first, std::int64_t end, unsigned step) {
        const T* const source = reinterpret_cast<const T*>(from + row.from);
        T* const destination = reinterpret_cast<T*>(to + row.to);
        for (std::int64_t i = first; i < end; i += step) {
          destination[i] = reduce<operation>(destination[i], source[i]);
        }
      });
}

template <class T, Operation operation>
int start(const Nest& nest, const void* from, void* to, cudaStream_t stream) {
  const Deal deal = deal_of(nest, sizeof(T));
  const Shape shape = shape_of(deal);
  accumulate_rows<T, operation><<<shape.blocks, threads_per_block, 0, stream>>>(
      nest, deal, shape.lanes, static_cast<const char*>(from), static_cast<char*>(to));
  return cudaGetLastError();
}

using Start = int (*)(const Nest&, const void*, void*, cudaStream_t);

template <class T>
Start start_of(Operation operation) {
  switch (operation) {
    case Operation::sum:
      return start<T, Operation::sum>;
    case Operation::min:
      return start<T, Operation::min>;
    case Operation::max:
      break;
  }
  return start<T, Operation::max>;
}

template <class T>
int load_operations() {
  const int results[] = {load(accumulate_rows<T, Operation::sum>), load(accumulate_rows<T, Operation::min>),
                         load(accumulate_rows<T, Operation::max>)};
  for (const int result : results) {
    if (result != cudaSuccess) return result;
  }
  return cudaSuccess;
}

}  // namespace

int launch_accumulate(const Nest& nest, Element element, Operation operation, const void* from, void* to,
                      void* stream) {
  auto* const queue = static_cast<cudaStream_t>(stream);
  const auto run = [&](Start kernel) { return kernel(nest, from, to, queue); };
  const bool sums = operation == Operation::sum;  // of signed integers as of unsigned ones
  switch (element) {
    case Element::boolean:
      return run(start_of<Boolean>(operation));
    case Element::i8:
      return run(sums ? start_of<std::uint8_t>(operation) : start_of<std::int8_t>(operation));
    case Element::u8:
      return run(start_of<std::uint8_t>(operation));
    case Element::i16:
      return run(sums ? start_of<std::uint16_t>(operation) : start_of<std::int16_t>(operation));
    case Element::u16:
      return run(start_of<std::uint16_t>(operation));
    case Element::i32:
      return run(sums ? start_of<std::uint32_t>(operation) : start_of<std::int32_t>(operation));
    case Element::u32:
      return run(start_of<std::uint32_t>(operation));
    case Element::i64:
      return run(sums ? start_of<std::uint64_t>(operation) : start_of<std::int64_t>(operation));
    case Element::u64:
      return run(start_of<std::uint64_t>(operation));
    case Element::f16:
      return run(start_of<__half>(operation));
    case Element::bf16:
      return run(start_of<__nv_bfloat16>(operation));
    case Element::f32:
      return run(start_of<float>(operation));
    case Element::f64:
      return run(start_of<double>(operation));
    case Element::c64:
      return start<Complex<float>, Operation::sum>(nest, from, to, queue);
    case Element::c128:
      return start<Complex<double>, Operation::sum>(nest, from, to, queue);
  }
  return cudaErrorInvalidValue;
}

int load_accumulate_kernels() {
  const int results[] = {load_operations<Boolean>(),
                         load_operations<std::int8_t>(),
                         load_operations<std::uint8_t>(),
                         load_operations<std::int16_t>(),
                         load_operations<std::uint16_t>(),
                         load_operations<std::int32_t>(),
                         load_operations<std::uint32_t>(),
                         load_operations<std::int64_t>(),
                         load_operations<std::uint64_t>(),
                         load_operations<__half>(),
                         load_operations<__nv_bfloat16>(),
                         load_operations<float>(),
                         load_operations<double>(),
                         load(accumulate_rows<Complex<float>, Operation::sum>),
                         load(accumulate_rows<Complex<double>, Operation::sum>)};
  for (const int result : results) {
    if (result != cudaSuccess) return result;
  }
  return cudaSuccess;
}

}  // namespace partita::cuda
