// Pseudo-random elements on a device, a thread an element. Compiled without contraction: the bits of the
// host.
#include "base/random_numbers.hpp"
#include "kernels/cuda/arithmetic.cuh"
#include "kernels/cuda/random_launch.hpp"
#include "kernels/cuda/reduce.cuh"

namespace partita::kernels::cuda {
namespace {

enum Part { to, number };

template <class T>
struct RealOf {
  using type = void;
};
template <class Real>
struct RealOf<Complex<Real>> {
  using type = Real;
};

template <class T>
__device__ T element_of(Randomness kind, std::uint64_t bits) {
  using Real = typename RealOf<T>::type;
  if constexpr (std::is_integral_v<T>) {
    return uniform_element<T>(bits);
  } else if constexpr (std::is_void_v<Real>) {
    return kind == Randomness::normal ? normal_element<T>(bits) : uniform_element<T>(bits);
  } else {
    const auto parts = kind == Randomness::normal ? normal_parts<Real>(bits) : uniform_parts<Real>(bits);
    return {parts.first, parts.second};
  }
}

template <class T>
__global__ void generate_elements(const __grid_constant__ RandomElements what, std::int64_t elements) {
  const std::uint64_t seed = scramble(what.seed);
  const auto step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (auto i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < elements; i += step) {
    std::int64_t at[3] = {};
    move_to(what.loops, elements <= narrow_numbers, i, at);
    const auto own = static_cast<std::uint64_t>(what.first + at[number]);
    static_cast<T*>(what.data)[at[to]] = element_of<T>(what.kind, mix(seed, own));
  }
}

using Kernel = void (*)(RandomElements, std::int64_t);

constexpr Kernel of_dtypes[] = {
    generate_elements<bool>,          generate_elements<std::int8_t>,    generate_elements<std::uint8_t>,
    generate_elements<std::int16_t>,  generate_elements<std::uint16_t>,  generate_elements<std::int32_t>,
    generate_elements<std::uint32_t>, generate_elements<std::int64_t>,   generate_elements<std::uint64_t>,
    generate_elements<Float16>,       generate_elements<BFloat16>,       generate_elements<float>,
    generate_elements<double>,        generate_elements<Complex<float>>, generate_elements<Complex<double>>,
    generate_elements<Float8E4M3>,    generate_elements<Float8E5M2>};

}  // namespace

int launch_random(const RandomElements& what, void* stream) {
  const std::int64_t elements = elements_of(what.loops);
  const Kernel kernel = of_dtypes[static_cast<int>(what.dtype)];
  kernel<<<blocks_for(elements), threads_per_block, 0, static_cast<cudaStream_t>(stream)>>>(what, elements);
  return cudaGetLastError();
}

int load_random_kernels() {
  return load_each(of_dtypes);
}

}  // namespace partita::kernels::cuda
