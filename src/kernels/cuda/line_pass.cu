// A thread an element, or some of a row; see line_pass.hpp.
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
__global__ void multiply_by_roots(const __grid_constant__ TwiddlePass pass, const __grid_constant__ Deal deal,
                                  unsigned lanes) {
  for_each_segment<std::uint64_t>(
      deal, lanes, [&](std::uint64_t row, std::int64_t first, std::int64_t end, unsigned step) {
        twiddle_row<Real>(pass, static_cast<std::int64_t>(row), first, end, step);
      });
}

}  // namespace

int launch_line_pass(const LinePass& pass, void* stream) {
  const std::int64_t elements = pass.positions * pass.lines;
  const auto kernel = pass.single ? pass_over_lines<float> : pass_over_lines<double>;
  kernel<<<blocks_for(elements), threads_per_block, 0, static_cast<cudaStream_t>(stream)>>>(pass, elements);
  return cudaGetLastError();
}

int launch_twiddle(const TwiddlePass& pass, void* stream) {
  const Deal deal = deal_of(rows_of(pass), row_length(pass));
  const unsigned lanes = lanes_of(deal, twiddled_together);
  const auto kernel = pass.single ? multiply_by_roots<float> : multiply_by_roots<double>;
  kernel<<<blocks_for(deal.tasks * lanes), threads_per_block, 0, static_cast<cudaStream_t>(stream)>>>(
      pass, deal, lanes);
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
