// What a program's cuda_*.cu instantiates for its bodies.
#pragma once

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

}  // namespace on_device::cuda
