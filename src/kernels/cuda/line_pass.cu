// A thread an element; see line_pass.hpp.
#include "kernels/cuda/arithmetic.cuh"
#include "kernels/cuda/line_pass.hpp"

namespace partita::kernels::cuda {
namespace {

template <class Real>
__global__ void pass_over_lines(const __grid_constant__ LinePass pass, std::int64_t elements) {
  const auto step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (auto i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < elements; i += step)
    write_element<Real>(pass, i);
}

template <class Real>
__global__ void multiply_by_roots(const __grid_constant__ TwiddlePass pass, std::int64_t elements) {
  const auto step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (auto i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < elements; i += step)
    twiddle_element<Real>(pass, i);
}

}  // namespace

int launch_line_pass(const LinePass& pass, void* stream) {
  const std::int64_t elements = pass.positions * pass.lines;
  const auto kernel = pass.single ? pass_over_lines<float> : pass_over_lines<double>;
  kernel<<<blocks_for(elements), threads_per_block, 0, static_cast<cudaStream_t>(stream)>>>(pass, elements);
  return cudaGetLastError();
}

int launch_twiddle(const TwiddlePass& pass, void* stream) {
  const std::int64_t elements = elements_of(pass.loops);
  const auto kernel = pass.single ? multiply_by_roots<float> : multiply_by_roots<double>;
  kernel<<<blocks_for(elements), threads_per_block, 0, static_cast<cudaStream_t>(stream)>>>(pass, elements);
  return cudaGetLastError();
}

int load_line_kernels() {
  for (const auto kernel : {pass_over_lines<float>, pass_over_lines<double>}) {
    const int result = load(kernel);
    if (result != cudaSuccess) return result;
  }
  for (const auto kernel : {multiply_by_roots<float>, multiply_by_roots<double>}) {
    const int result = load(kernel);
    if (result != cudaSuccess) return result;
  }
  return cudaSuccess;
}

}  // namespace partita::kernels::cuda
