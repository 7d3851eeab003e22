// to[...] = reduce(to[...], from[...]) on a device, with the rules of kernels/host/accumulate.cpp.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

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

/// Integers wrap around. A NaN on either side wins.
template <Operation operation, class T>
__device__ T reduce(T a, T b) {
  if constexpr (operation == Operation::sum) {
    return static_cast<T>(a + b);
  } else if constexpr (operation == Operation::min) {
    return a < b || a != a ? a : b;
  } else if constexpr (operation == Operation::max) {
    return a > b || a != a ? a : b;
  } else if constexpr (operation == Operation::product) {
    // Numbers of 16 bits would be multiplied as signed ones of 32.
    using Wide = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
    return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b));
  } else if constexpr (operation == Operation::logical_and) {
    return static_cast<T>(a != 0 && b != 0);
  } else if constexpr (operation == Operation::logical_or) {
    return static_cast<T>(a != 0 || b != 0);
  } else if constexpr (operation == Operation::logical_xor) {
    return static_cast<T>((a != 0) != (b != 0));
  } else if constexpr (operation == Operation::bit_and) {
    return static_cast<T>(a & b);
  } else if constexpr (operation == Operation::bit_or) {
    return static_cast<T>(a | b);
  } else {
    return static_cast<T>(a ^ b);
  }
}

template <Operation operation>
__device__ Boolean reduce(Boolean a, Boolean b) {
  return {reduce<operation>(a.byte, b.byte)};
}

template <Operation operation>
__device__ __half reduce(__half a, __half b) {
  return __float2half_rn(reduce<operation>(__half2float(a), __half2float(b)));
}

template <Operation operation>
__device__ __nv_bfloat16 reduce(__nv_bfloat16 a, __nv_bfloat16 b) {
  return __float2bfloat16_rn(reduce<operation>(__bfloat162float(a), __bfloat162float(b)));
}

/// Never fused with the addition behind it: the same numbers as on the host.
__device__ float rounded_product(float a, float b) {
  return __fmul_rn(a, b);
}

__device__ double rounded_product(double a, double b) {
  return __dmul_rn(a, b);
}

template <Operation operation, class Real>
__device__ Complex<Real> reduce(Complex<Real> a, Complex<Real> b) {
  if constexpr (operation == Operation::sum) {
    return {a.real + b.real, a.imaginary + b.imaginary};
  } else {
    return {rounded_product(a.real, b.real) - rounded_product(a.imaginary, b.imaginary),
            rounded_product(a.real, b.imaginary) + rounded_product(a.imaginary, b.real)};
  }
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

template <class T, Operation operation>
int load_rows() {
  return load(accumulate_rows<T, operation>);
}

/// Null: the operation is not defined for the elements.
struct Kernel {
  int (*start)(const Nest&, const void*, void*, cudaStream_t) = nullptr;
  int (*load)() = nullptr;
};

template <class T, Operation operation>
Kernel kernel() {
  return {start<T, operation>, load_rows<T, operation>};
}

/// What takes no notice of an integer's sign.
template <class Unsigned>
Kernel kernel_of_bits(Operation operation) {
  switch (operation) {
    case Operation::sum:
      return kernel<Unsigned, Operation::sum>();
    case Operation::product:
      return kernel<Unsigned, Operation::product>();
    case Operation::logical_and:
      return kernel<Unsigned, Operation::logical_and>();
    case Operation::logical_or:
      return kernel<Unsigned, Operation::logical_or>();
    case Operation::logical_xor:
      return kernel<Unsigned, Operation::logical_xor>();
    case Operation::bit_and:
      return kernel<Unsigned, Operation::bit_and>();
    case Operation::bit_or:
      return kernel<Unsigned, Operation::bit_or>();
    case Operation::bit_xor:
      return kernel<Unsigned, Operation::bit_xor>();
    default:
      return {};
  }
}

template <class T>
Kernel kernel_of_integers(Operation operation) {
  if (operation == Operation::min) return kernel<T, Operation::min>();
  if (operation == Operation::max) return kernel<T, Operation::max>();
  return kernel_of_bits<std::make_unsigned_t<T>>(operation);
}

template <class T>
Kernel kernel_of_floats(Operation operation) {
  switch (operation) {
    case Operation::sum:
      return kernel<T, Operation::sum>();
    case Operation::min:
      return kernel<T, Operation::min>();
    case Operation::max:
      return kernel<T, Operation::max>();
    case Operation::product:
      return kernel<T, Operation::product>();
    default:
      return {};
  }
}

template <class Real>
Kernel kernel_of_complex(Operation operation) {
  if (operation == Operation::sum) return kernel<Complex<Real>, Operation::sum>();
  if (operation == Operation::product) return kernel<Complex<Real>, Operation::product>();
  return {};
}

/// The sum of booleans is "or", their product "and".
Kernel kernel_of_booleans(Operation operation) {
  switch (operation) {
    case Operation::sum:
    case Operation::max:
    case Operation::logical_or:
    case Operation::bit_or:
      return kernel<Boolean, Operation::logical_or>();
    case Operation::logical_xor:
    case Operation::bit_xor:
      return kernel<Boolean, Operation::logical_xor>();
    default:
      return kernel<Boolean, Operation::logical_and>();
  }
}

Kernel kernel_of(Element element, Operation operation) {
  switch (element) {
    case Element::boolean:
      return kernel_of_booleans(operation);
    case Element::i8:
      return kernel_of_integers<std::int8_t>(operation);
    case Element::u8:
      return kernel_of_integers<std::uint8_t>(operation);
    case Element::i16:
      return kernel_of_integers<std::int16_t>(operation);
    case Element::u16:
      return kernel_of_integers<std::uint16_t>(operation);
    case Element::i32:
      return kernel_of_integers<std::int32_t>(operation);
    case Element::u32:
      return kernel_of_integers<std::uint32_t>(operation);
    case Element::i64:
      return kernel_of_integers<std::int64_t>(operation);
    case Element::u64:
      return kernel_of_integers<std::uint64_t>(operation);
    case Element::f16:
      return kernel_of_floats<__half>(operation);
    case Element::bf16:
      return kernel_of_floats<__nv_bfloat16>(operation);
    case Element::f32:
      return kernel_of_floats<float>(operation);
    case Element::f64:
      return kernel_of_floats<double>(operation);
    case Element::c64:
      return kernel_of_complex<float>(operation);
    case Element::c128:
      return kernel_of_complex<double>(operation);
  }
  return {};
}

}  // namespace

int launch_accumulate(const Nest& nest, Element element, Operation operation, const void* from, void* to,
                      void* stream) {
  const Kernel kernel = kernel_of(element, operation);
  if (kernel.start == nullptr) return cudaErrorInvalidValue;
  return kernel.start(nest, from, to, static_cast<cudaStream_t>(stream));
}

int load_accumulate_kernels() {
  for (int element = 0; element <= static_cast<int>(Element::c128); ++element) {
    for (int operation = 0; operation <= static_cast<int>(Operation::bit_xor); ++operation) {
      const Kernel kernel = kernel_of(static_cast<Element>(element), static_cast<Operation>(operation));
      const int result = kernel.load == nullptr ? cudaSuccess : kernel.load();
      if (result != cudaSuccess) return result;
    }
  }
  return cudaSuccess;
}

}  // namespace partita::cuda
