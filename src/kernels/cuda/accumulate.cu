// to[...] = reduce(to[...], from[...]) on a device, with the rules of kernels/host/accumulate.cpp.
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/rows.cuh"

namespace partita::kernels::cuda {
namespace {

template <class T, Reduction operation>
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

template <class T, Reduction operation>
int start(const Nest& nest, const void* from, void* to, cudaStream_t stream) {
  const Deal deal = deal_of(nest, sizeof(T));
  const Shape shape = shape_of(deal);
  accumulate_rows<T, operation><<<shape.blocks, threads_per_block, 0, stream>>>(
      nest, deal, shape.lanes, static_cast<const char*>(from), static_cast<char*>(to));
  return cudaGetLastError();
}

template <class T, Reduction operation>
int load_rows() {
  return load(accumulate_rows<T, operation>);
}

/// Null: the operation is not defined for the elements.
struct Kernel {
  int (*start)(const Nest&, const void*, void*, cudaStream_t) = nullptr;
  int (*load)() = nullptr;
};

template <class T, Reduction operation>
Kernel kernel() {
  return {start<T, operation>, load_rows<T, operation>};
}

/// The wanted one of `operations`.
template <class T, Reduction... operations>
Kernel kernel_among(Reduction wanted) {
  Kernel found;
  ((wanted == operations ? void(found = kernel<T, operations>()) : void()), ...);
  return found;
}

template <class T>
Kernel kernel_of_integers(Reduction operation) {
  const Kernel ordering = kernel_among<T, Reduction::min, Reduction::max>(operation);
  if (ordering.start != nullptr) return ordering;
  // The others take no notice of an integer's sign.
  return kernel_among<std::make_unsigned_t<T>, Reduction::sum, Reduction::product, Reduction::logical_and,
                      Reduction::logical_or, Reduction::logical_xor, Reduction::bit_and, Reduction::bit_or,
                      Reduction::bit_xor>(operation);
}

template <class T>
Kernel kernel_of_floats(Reduction operation) {
  return kernel_among<T, Reduction::sum, Reduction::min, Reduction::max, Reduction::product>(operation);
}

template <class Real>
Kernel kernel_of_complex(Reduction operation) {
  return kernel_among<Complex<Real>, Reduction::sum, Reduction::product>(operation);
}

/// The sum of booleans is "or", their product "and".
Kernel kernel_of_booleans(Reduction operation) {
  switch (operation) {
    case Reduction::sum:
    case Reduction::max:
    case Reduction::logical_or:
    case Reduction::bit_or:
      return kernel<Boolean, Reduction::logical_or>();
    case Reduction::logical_xor:
    case Reduction::bit_xor:
      return kernel<Boolean, Reduction::logical_xor>();
    default:
      return kernel<Boolean, Reduction::logical_and>();
  }
}

Kernel kernel_of(Dtype element, Reduction operation) {
  constexpr Kernel (*of_elements[])(Reduction) = {kernel_of_booleans,
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

int launch_accumulate(const Nest& nest, Dtype element, Reduction operation, const void* from, void* to,
                      void* stream) {
  const Kernel kernel = kernel_of(element, operation);
  if (kernel.start == nullptr) return cudaErrorInvalidValue;
  return kernel.start(nest, from, to, static_cast<cudaStream_t>(stream));
}

int load_accumulate_kernels() {
  for (int element = 0; element <= static_cast<int>(Dtype::c128); ++element) {
    for (int operation = 0; operation <= static_cast<int>(Reduction::bit_xor); ++operation) {
      const Kernel kernel = kernel_of(static_cast<Dtype>(element), static_cast<Reduction>(operation));
      const int result = kernel.load == nullptr ? cudaSuccess : kernel.load();
      if (result != cudaSuccess) return result;
    }
  }
  return cudaSuccess;
}

}  // namespace partita::kernels::cuda
