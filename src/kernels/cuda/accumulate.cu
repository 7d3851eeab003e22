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

/// The wanted one of `operations`.
template <class T, Operation... operations>
Kernel kernel_among(Operation wanted) {
  Kernel found;
  ((wanted == operations ? void(found = kernel<T, operations>()) : void()), ...);
  return found;
}

template <class T>
Kernel kernel_of_integers(Operation operation) {
  const Kernel ordering = kernel_among<T, Operation::min, Operation::max>(operation);
  if (ordering.start != nullptr) return ordering;
  // The others take no notice of an integer's sign.
  return kernel_among<std::make_unsigned_t<T>, Operation::sum, Operation::product, Operation::logical_and,
                      Operation::logical_or, Operation::logical_xor, Operation::bit_and, Operation::bit_or,
                      Operation::bit_xor>(operation);
}

template <class T>
Kernel kernel_of_floats(Operation operation) {
  return kernel_among<T, Operation::sum, Operation::min, Operation::max, Operation::product>(operation);
}

template <class Real>
Kernel kernel_of_complex(Operation operation) {
  return kernel_among<Complex<Real>, Operation::sum, Operation::product>(operation);
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
  constexpr Kernel (*of_elements[])(Operation) = {kernel_of_booleans,
                                                  kernel_of_integers<std::int8_t>,
                                                  kernel_of_integers<std::uint8_t>,
                                                  kernel_of_integers<std::int16_t>,
                                                  kernel_of_integers<std::uint16_t>,
                                                  kernel_of_integers<std::int32_t>,
                                                  kernel_of_integers<std::uint32_t>,
                                                  kernel_of_integers<std::int64_t>,
                                                  kernel_of_integers<std::uint64_t>,
                                                  kernel_of_floats<__half>,
                                                  kernel_of_floats<__nv_bfloat16>,
                                                  kernel_of_floats<float>,
                                                  kernel_of_floats<double>,
                                                  kernel_of_complex<float>,
                                                  kernel_of_complex<double>};
  return of_elements[static_cast<int>(element)](operation);
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
