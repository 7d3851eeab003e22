// to[...] = reduce(to[...], from[...]) on a device, with the rules of kernels/host/accumulate.cpp.
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/rows.cuh"

namespace partita::cuda {
namespace {

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
