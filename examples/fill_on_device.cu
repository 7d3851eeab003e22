// An array in GPU memory is filled by the program's own kernel. nvcc -std=c++20; CMake before 3.26 does
// not know that flag: set CMAKE_CUDA20_STANDARD_COMPILE_OPTION to it.
#include <iostream>
#include <partita/partita.hpp>

namespace pt = partita;

/// The rank's part: its element (i, j) is that of the array's row rows[i] and column columns[j].
__global__ void fill(double* part, const std::int64_t* rows, const std::int64_t* columns, std::int64_t count,
                     std::int64_t width, std::int64_t row_stride, std::int64_t column_stride) {
  const std::int64_t number = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (number >= count) return;
  const std::int64_t i = number / width, j = number % width;
  part[i * row_stride + j * column_stride] = 1000.0 * rows[i] + columns[j];
}

namespace {

/// The global indices of the rank's part along an axis, in memory of the device.
std::int64_t* indices_on_device(const pt::Array& a, int axis, cudaStream_t stream) {
  const std::vector<std::int64_t> indices = pt::local_indices(a, axis);
  const std::size_t bytes = indices.size() * sizeof(std::int64_t);
  void* memory = nullptr;
  cudaMallocAsync(&memory, bytes, stream);
  cudaMemcpyAsync(memory, indices.data(), bytes, cudaMemcpyHostToDevice, stream);
  return static_cast<std::int64_t*>(memory);
}

}  // namespace

int main() {
  const pt::Context context = pt::initialize({.device = pt::Device::any()});
  if (context.device().kind != pt::Device::Kind::cuda) {
    pt::rank_zero(context, [] { std::cout << "there is no device here\n"; });
    return 0;
  }
  pt::Array a =
      pt::empty(context, {3000, 700}, pt::BlockCyclic({context.size(), 1}, {64, 64}), pt::Dtype::f64);
  cudaSetDevice(context.device().index);
  const auto stream = static_cast<cudaStream_t>(context.stream().handle);  // what comes next comes behind it
  if (const std::int64_t count = a.local_size(); count > 0) {
    std::int64_t *const rows = indices_on_device(a, 0, stream), *const columns =
                                                                    indices_on_device(a, 1, stream);
    fill<<<static_cast<unsigned>((count + 255) / 256), 256, 0, stream>>>(
        a.data<double>(), rows, columns, count, a.local_shape()[1], a.local().strides[0],
        a.local().strides[1]);
    cudaFreeAsync(rows, stream);
    cudaFreeAsync(columns, stream);
  }
  pt::Array expected = pt::empty(context, a.layout(), pt::Dtype::f64);
  pt::fill(expected, [](const pt::Index& i) { return 1000.0 * i[0] + static_cast<double>(i[1]); });
  const bool same = pt::compare(a, expected).equal && cudaGetLastError() == cudaSuccess;
  pt::rank_zero(context, [&] { std::cout << (same ? "filled on the device\n" : "filled wrongly\n"); });
  return same ? 0 : 1;
}
