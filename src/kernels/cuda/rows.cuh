// How the kernels walk over a nest: groups of threads take rows in turn.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>

#include "kernels/cuda/launch.hpp"

namespace partita::kernels::cuda {

constexpr int threads_per_block = 256;
/// Enough stores to keep a link busy from a few multiprocessors, and all of memory from many.
constexpr unsigned most_blocks = 1056;

inline std::int64_t rows_of(const Nest& nest) {
  std::int64_t rows = 1;
  for (int i = 0; i < nest.loops; ++i) rows *= nest.counts[i];
  return rows;
}

/// How a nest is distributed: a group of `lanes` threads takes a segment of a row in turn. Few long rows are
/// cut into segments, so that there is work for the whole device.
struct Deal {
  std::int64_t units = 0;  // of a row
  std::int64_t segment_units = 0;
  std::uint32_t segments = 1;  // of a row
  std::int64_t tasks = 0;      // rows times segments
};

inline Deal deal_of(std::int64_t rows, std::int64_t units) {
  constexpr std::int64_t least_segment = 4 * threads_per_block;
  Deal deal;
  deal.units = units;
  const std::int64_t wanted = rows > 0 ? (4 * most_blocks + rows - 1) / rows : 1;
  deal.segment_units = std::max(least_segment, (deal.units + wanted - 1) / wanted);
  deal.segments = static_cast<std::uint32_t>((deal.units + deal.segment_units - 1) / deal.segment_units);
  deal.segments = std::max<std::uint32_t>(deal.segments, 1);
  deal.tasks = rows * deal.segments;
  return deal;
}

inline Deal deal_of(const Nest& nest, std::int64_t unit_bytes) {
  return deal_of(rows_of(nest), nest.row_bytes / unit_bytes);
}

struct Shape {
  unsigned blocks = 0;
  unsigned lanes = 1;  // threads that share a segment
};

inline Shape shape_of(std::int64_t tasks, std::int64_t units_per_task) {
  Shape shape;
  while (shape.lanes < threads_per_block && shape.lanes < units_per_task) shape.lanes *= 2;
  const std::int64_t tasks_per_block = threads_per_block / shape.lanes;
  const std::int64_t blocks = (tasks + tasks_per_block - 1) / tasks_per_block;
  shape.blocks =
      static_cast<unsigned>(std::min<std::int64_t>(std::max<std::int64_t>(blocks, 1), most_blocks));
  return shape;
}

inline Shape shape_of(const Deal& deal) {
  return shape_of(deal.tasks, std::min(deal.units, deal.segment_units));
}

/// Threads that share a segment, of which each has `elements` or more: neighbouring ones for a warp.
inline unsigned lanes_of(const Deal& deal, std::int64_t elements) {
  constexpr std::int64_t warp = 32;
  const std::int64_t units = std::min(deal.units, deal.segment_units);
  return shape_of(deal.tasks, std::max(std::min(units, warp), units / elements)).lanes;
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

/// Calls `body(row, first, end, step)` for every segment of this thread's group: its units are first,
/// first + step, ... below end.
template <class Number, class Body>
__device__ void for_each_segment(const Deal& deal, unsigned lanes, Body&& body) {
  const unsigned lane = threadIdx.x % lanes;
  const Number groups = static_cast<Number>(blockDim.x / lanes);
  const Number tasks = static_cast<Number>(deal.tasks);
  for (Number task = blockIdx.x * groups + threadIdx.x / lanes; task < tasks; task += gridDim.x * groups) {
    const Number row = deal.segments == 1 ? task : task / deal.segments;
    const std::int64_t begin = static_cast<std::int64_t>(task - row * deal.segments) * deal.segment_units;
    const std::int64_t end =
        begin + deal.segment_units < deal.units ? begin + deal.segment_units : deal.units;
    body(row, begin + lane, end, lanes);
  }
}

/// Likewise, `body(offsets, first, end, step)`.
template <class Number, class Body>
__device__ void for_each_segment(const Nest& nest, const Deal& deal, unsigned lanes, Body&& body) {
  for_each_segment<Number>(
      deal, lanes, [&](Number row, std::int64_t first, std::int64_t end, unsigned step) {
        body(row_offsets(nest, row), first, end, step);
      });
}

/// Into the current device. The first error, if there is one.
template <class... Kernels>
int load(Kernels... kernels) {
  cudaFuncAttributes attributes;
  int result = cudaSuccess;
  ((result = result != cudaSuccess ? result : int{cudaFuncGetAttributes(&attributes, kernels)}), ...);
  return result;
}

template <class Kernel, std::size_t count>
int load_each(const Kernel (&kernels)[count]) {
  for (const Kernel kernel : kernels) {
    const int result = load(kernel);
    if (result != cudaSuccess) return result;
  }
  return cudaSuccess;
}

}  // namespace partita::kernels::cuda
