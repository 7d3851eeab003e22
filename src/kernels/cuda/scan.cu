// Sums and products of the elements up to each one, by CUB's scan; of several lines by that of segments,
// whose keys are the numbers of the lines.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_scan.cuh>

#include "kernels/cuda/scan_launch.hpp"
#include "kernels/cuda/stored.cuh"

namespace partita::kernels::cuda {
namespace {

template <class T>
struct Complex {
  T real, imaginary;

  friend __host__ __device__ Complex operator+(const Complex& a, const Complex& b) {
    return {a.real + b.real, a.imaginary + b.imaginary};
  }
  friend __host__ __device__ Complex operator*(const Complex& a, const Complex& b) {
    return {a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
  }
};

struct Join {
  bool product = false;

  template <class T>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return static_cast<T>(product ? a * b : a + b);
  }
};

struct LineOf {
  std::int64_t length = 1;

  __host__ __device__ std::int64_t operator()(std::int64_t element) const { return element / length; }
};

/// As CUB's functions: with a null `memory`, only the bytes.
template <class T>
cudaError_t scan(const Scan& what, void* memory, std::size_t& bytes, cudaStream_t stream) {
  const auto* const from = static_cast<const T*>(what.from);
  auto* const to = static_cast<T*>(what.to);
  const Join join{what.product};
  if (what.lines == 1)
    return cub::DeviceScan::InclusiveScan(memory, bytes, from, to, join, what.length, stream);
  const auto lines =
      thrust::make_transform_iterator(thrust::make_counting_iterator(std::int64_t{0}), LineOf{what.length});
  return cub::DeviceScan::InclusiveScanByKey(memory, bytes, lines, from, to, join, what.lines * what.length,
                                             ::cuda::std::equal_to<>{}, stream);
}

/// body(T()) for the type in which elements are joined: integers wrap around, so that their sign is no
/// matter.
template <class Body>
int with_type(Dtype dtype, const Body& body) {
  if (dtype == Dtype::f32) return body(float());
  if (dtype == Dtype::f64) return body(double());
  if (dtype == Dtype::c64) return body(Complex<float>());
  if (dtype == Dtype::c128) return body(Complex<double>());
  return with_unsigned(dtype, body);
}

}  // namespace

int find_scan_scratch(const Scan& what, std::int64_t& bytes) {
  return with_type(what.dtype, [&](auto one) -> int {
    std::size_t found = 0;
    const cudaError_t error = scan<decltype(one)>(what, nullptr, found, nullptr);
    bytes = static_cast<std::int64_t>(found);
    return error;
  });
}

int load_scan_kernels() {
  for (const Dtype dtype :
       {Dtype::u8, Dtype::u16, Dtype::u32, Dtype::u64, Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128}) {
    for (const std::int64_t lines : {1, 2}) {
      std::int64_t bytes = 0;
      const int error = find_scan_scratch({dtype, false, lines, 1 << 20, nullptr, nullptr}, bytes);
      if (error != 0) return error;
    }
  }
  return 0;
}

int launch_scan(const Scan& what, void* scratch, void* stream) {
  return with_type(what.dtype, [&](auto one) -> int {
    std::size_t bytes = 0;
    if (const cudaError_t error = scan<decltype(one)>(what, nullptr, bytes, nullptr); error != cudaSuccess)
      return error;
    return scan<decltype(one)>(what, scratch, bytes, static_cast<cudaStream_t>(stream));
  });
}

}  // namespace partita::kernels::cuda
