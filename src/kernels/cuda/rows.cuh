// How the kernels walk over a nest: groups of threads take rows in turn.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdlib>

#include "kernels/cuda/launch.hpp"

namespace partita::cuda {

constexpr int threads_per_block = 256;
/// Enough stores to keep a link busy from a few multiprocessors, and all of memory from many.
constexpr unsigned most_blocks = 1056;

struct Shape {
  unsigned blocks = 0;
  unsigned lanes = 1;  // threads that share a row
};

inline std::int64_t rows_of(const Nest& nest) {
  std::int64_t rows = 1;
  for (int i = 0; i < nest.loops; ++i) rows *= nest.counts[i];
  return rows;
}

inline Shape shape_of(std::int64_t rows, std::int64_t units_per_row) {
  Shape shape;
  while (shape.lanes < threads_per_block && shape.lanes < units_per_row) shape.lanes *= 2;
  const std::int64_t rows_per_block = threads_per_block / shape.lanes;
  const std::int64_t blocks = (rows + rows_per_block - 1) / rows_per_block;
  shape.blocks = static_cast<unsigned>(std::min<std::int64_t>(blocks, getenv("X_BLOCKS") ? atoi(getenv("X_BLOCKS")) : most_blocks));
  return shape;
}

/// Where a row begins on either side.
struct RowOffsets {
  std::int64_t from = 0;
  std::int64_t to = 0;
};

/// `Number` is 32 bits wide where all rows can be numbered so: division is several times cheaper.
template <class Number>
__device__ RowOffsets row_offsets(const Nest& nest, Number row) {
  RowOffsets offsets;
  for (int i = nest.loops - 1; i >= 0; --i) {
    const Number count = static_cast<Number>(nest.counts[i]);
    const Number whole = row / count;
    const Number at = row - whole * count;
    offsets.from += static_cast<std::int64_t>(at) * nest.from_strides[i];
    offsets.to += static_cast<std::int64_t>(at) * nest.to_strides[i];
    row = whole;
  }
  return offsets;
}

/// Calls `body(offsets, first, step)` for every row of this thread's group: units first, first + step, ...
template <class Number, class Body>
__device__ void for_each_row(const Nest& nest, Number rows, unsigned lanes, Body&& body) {
  const unsigned lane = threadIdx.x % lanes;
  const Number groups = static_cast<Number>(blockDim.x / lanes);
  for (Number row = blockIdx.x * groups + threadIdx.x / lanes; row < rows; row += gridDim.x * groups) {
    body(row_offsets(nest, row), lane, lanes);
  }
}

template <class Kernel>
int load(Kernel kernel) {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, kernel);
}

}  // namespace partita::cuda
