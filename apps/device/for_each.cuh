// What a program's cuda_*.cu instantiates for its bodies.
#pragma once

#include <algorithm>

#include "device/for_each.hpp"

namespace on_device::cuda {

template <class Body>
__global__ void __launch_bounds__(256) call_each(const __grid_constant__ Body body, std::int64_t count) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) body(i);
}

template <class Body>
void for_each(const Body& body, std::int64_t count, void* stream) {
  constexpr unsigned threads = 256;
  const auto blocks = static_cast<unsigned>((count + threads - 1) / threads);
  call_each<<<blocks, threads, 0, static_cast<cudaStream_t>(stream)>>>(body, count);
}

/// A row of blocks for each plane, whose cells are numbered in 32 bits: division is several times cheaper.
template <class Body>
__global__ void __launch_bounds__(256)
    call_each_cell(const __grid_constant__ Body body, std::int64_t planes, unsigned cells, unsigned columns) {
  const unsigned cell = blockIdx.x * blockDim.x + threadIdx.x, row = cell / columns;
  if (cell >= cells) return;
  for (std::int64_t plane = blockIdx.y; plane < planes; plane += gridDim.y)
    body(plane, std::int64_t{row}, std::int64_t{cell - row * columns});
}

template <class Body>
void for_each_cell(const Body& body, const std::array<std::int64_t, 3>& extents, void* stream) {
  constexpr std::int64_t threads = 256, most_blocks = 65535;
  const std::int64_t cells = extents[1] * extents[2];
  const dim3 blocks(static_cast<unsigned>((cells + threads - 1) / threads),
                    static_cast<unsigned>(std::min(extents[0], most_blocks)));
  call_each_cell<<<blocks, threads, 0, static_cast<cudaStream_t>(stream)>>>(
      body, extents[0], static_cast<unsigned>(cells), static_cast<unsigned>(extents[2]));
}

template <class Body>
__global__ void __launch_bounds__(Body::threads) call_each_group(const __grid_constant__ Body body) {
  __shared__ typename Body::Shared shared;
  const auto thread = static_cast<int>(threadIdx.x);
  body.begin(shared, blockIdx.x, thread);
  __syncthreads();
  body.middle(shared, blockIdx.x, thread);
  __syncthreads();
  body.end(shared, blockIdx.x, thread);
}

template <class Body>
void for_each_group(const Body& body, std::int64_t groups, void* stream) {
  call_each_group<<<static_cast<unsigned>(groups), Body::threads, 0, static_cast<cudaStream_t>(stream)>>>(
      body);
}

}  // namespace on_device::cuda
