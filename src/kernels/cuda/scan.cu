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

/// Elements as numbers of T; of signed ones, too, since they wrap around.
template <class T>
struct Widen {
  template <class From>
  __host__ __device__ T operator()(From element) const {
    return static_cast<T>(element);
  }
  __host__ __device__ T operator()(Boolean element) const { return element.byte != 0 ? 1 : 0; }
};

/// As CUB's functions: with a null `memory`, only the bytes. `Source`: iterators of T.
template <class T, class Source>
cudaError_t scan(const Scan& what, Source from, void* memory, std::size_t& bytes, cudaStream_t stream) {
  auto* const to = static_cast<T*>(what.to);
  const Join join{what.product};
  if (what.lines == 1)
    return cub::DeviceScan::InclusiveScan(memory, bytes, from, to, join, what.length, stream);
  const auto lines =
      thrust::make_transform_iterator(thrust::make_counting_iterator(std::int64_t{0}), LineOf{what.length});
  return cub::DeviceScan::InclusiveScanByKey(memory, bytes, lines, from, to, join, what.lines * what.length,
                                             ::cuda::std::equal_to<>{}, stream);
}

template <class T, class From>
cudaError_t scan_widened(const Scan& what, void* memory, std::size_t& bytes, cudaStream_t stream) {
  const auto from = thrust::make_transform_iterator(static_cast<const From*>(what.from), Widen<T>{});
  return scan<T>(what, from, memory, bytes, stream);
}

/// In the type in which elements are joined: integers wrap around, so that their sign is no matter.
cudaError_t scan(const Scan& what, void* memory, std::size_t& bytes, cudaStream_t stream) {
  if (what.from_dtype != what.dtype) {
    if (what.from_dtype == Dtype::f32) return scan_widened<double, float>(what, memory, bytes, stream);
    if (what.from_dtype == Dtype::u32)
      return scan_widened<std::uint64_t, std::uint32_t>(what, memory, bytes, stream);
    if (what.from_dtype == Dtype::i32)
      return scan_widened<std::uint64_t, std::int32_t>(what, memory, bytes, stream);
    return scan_widened<std::uint64_t, Boolean>(what, memory, bytes, stream);
  }
  const auto of = [&](auto one) {
    using T = decltype(one);
    return scan<T>(what, static_cast<const T*>(what.from), memory, bytes, stream);
  };
  if (what.dtype == Dtype::f32) return of(float());
  if (what.dtype == Dtype::f64) return of(double());
  if (what.dtype == Dtype::c64) return of(Complex<float>());
  if (what.dtype == Dtype::c128) return of(Complex<double>());
  return static_cast<cudaError_t>(with_unsigned(what.dtype, of));
}

}  // namespace

int find_scan_scratch(const Scan& what, std::int64_t& bytes) {
  std::size_t found = 0;
  const cudaError_t error = scan(what, nullptr, found, nullptr);
  bytes = static_cast<std::int64_t>(found);
  return error;
}

int load_scan_kernels() {
  const auto load = [](Dtype from, Dtype to) -> int {
    for (const std::int64_t lines : {1, 2}) {
      std::int64_t bytes = 0;
      const int error = find_scan_scratch({to, from, false, lines, 1 << 20, nullptr, nullptr}, bytes);
      if (error != 0) return error;
    }
    return 0;
  };
  for (const Dtype dtype :
       {Dtype::u8, Dtype::u16, Dtype::u32, Dtype::u64, Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128}) {
    if (const int error = load(dtype, dtype); error != 0) return error;
  }
  for (const Dtype from : {Dtype::f32, Dtype::u32, Dtype::i32, Dtype::boolean}) {
    const Dtype to = from == Dtype::f32 ? Dtype::f64 : from == Dtype::u32 ? Dtype::u64 : Dtype::i64;
    if (const int error = load(from, to); error != 0) return error;
  }
  return 0;
}

int launch_scan(const Scan& what, void* scratch, void* stream) {
  std::size_t bytes = 0;
  if (const cudaError_t error = scan(what, nullptr, bytes, nullptr); error != cudaSuccess) return error;
  return scan(what, scratch, bytes, static_cast<cudaStream_t>(stream));
}

}  // namespace partita::kernels::cuda
