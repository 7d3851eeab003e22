// Strided copies and fills on a device: any memory that it reaches, in accesses as wide as both sides allow.
#include "kernels/cuda/rows.cuh"

namespace partita::cuda {
namespace {

/// to[...] = from[...], row by row in units of `Unit`.
template <class Unit, class Number>
__global__ void copy_rows(const __grid_constant__ Nest nest, Number rows, unsigned lanes, std::int64_t units,
                          const char* from, char* to) {
  for_each_row(nest, rows, lanes, [&](const RowOffsets& row, unsigned first, unsigned step) {
    const Unit* const source = reinterpret_cast<const Unit*>(from + row.from);
    Unit* const destination = reinterpret_cast<Unit*>(to + row.to);
    std::int64_t i = first;
    // Four loads in flight before the first store.
    for (; i + 3 * step < units; i += 4 * step) {
      const Unit a = source[i];
      const Unit b = source[i + step];
      const Unit c = source[i + 2 * step];
      const Unit d = source[i + 3 * step];
      destination[i] = a;
      destination[i + step] = b;
      destination[i + 2 * step] = c;
      destination[i + 3 * step] = d;
    }
    for (; i < units; i += step) destination[i] = source[i];
  });
}

template <class Unit, class Number>
__global__ void fill_rows(const __grid_constant__ Nest nest, Number rows, unsigned lanes, std::int64_t units,
                          Pattern pattern, char* to) {
  // A unit narrower than the element is one of its parts; rows begin with an element.
  constexpr int parts = static_cast<int>(sizeof(Pattern) / sizeof(Unit));
  for_each_row(nest, rows, lanes, [&](const RowOffsets& row, unsigned first, unsigned step) {
    Unit* const destination = reinterpret_cast<Unit*>(to + row.to);
    for (std::int64_t i = first; i < units; i += step) {
      destination[i] = reinterpret_cast<const Unit*>(&pattern)[i % parts];
    }
  });
}

bool needs_64_bits(std::int64_t rows) {
  return rows >= (std::int64_t{1} << 31);
}

template <class Unit>
int copy_in_units(const Nest& nest, const void* from, void* to, cudaStream_t stream) {
  const std::int64_t rows = rows_of(nest);
  const auto units = static_cast<std::int64_t>(nest.row_bytes / static_cast<std::int64_t>(sizeof(Unit)));
  const Shape shape = shape_of(rows, units);
  const auto* source = static_cast<const char*>(from);
  auto* destination = static_cast<char*>(to);
  if (needs_64_bits(rows)) {
    copy_rows<Unit, std::uint64_t><<<shape.blocks, threads_per_block, 0, stream>>>(
        nest, static_cast<std::uint64_t>(rows), shape.lanes, units, source, destination);
  } else {
    copy_rows<Unit, std::uint32_t><<<shape.blocks, threads_per_block, 0, stream>>>(
        nest, static_cast<std::uint32_t>(rows), shape.lanes, units, source, destination);
  }
  return cudaGetLastError();
}

template <class Unit>
int fill_in_units(const Nest& nest, const Pattern& pattern, void* to, cudaStream_t stream) {
  const std::int64_t rows = rows_of(nest);
  const auto units = static_cast<std::int64_t>(nest.row_bytes / static_cast<std::int64_t>(sizeof(Unit)));
  const Shape shape = shape_of(rows, units);
  auto* destination = static_cast<char*>(to);
  if (needs_64_bits(rows)) {
    fill_rows<Unit, std::uint64_t><<<shape.blocks, threads_per_block, 0, stream>>>(
        nest, static_cast<std::uint64_t>(rows), shape.lanes, units, pattern, destination);
  } else {
    fill_rows<Unit, std::uint32_t><<<shape.blocks, threads_per_block, 0, stream>>>(
        nest, static_cast<std::uint32_t>(rows), shape.lanes, units, pattern, destination);
  }
  return cudaGetLastError();
}

/// The lowest set bit of all lengths, steps and addresses bounds the width of an access.
std::uint64_t alignment_of(const Nest& nest, const void* from, const void* to) {
  std::uint64_t bits = reinterpret_cast<std::uintptr_t>(from) | reinterpret_cast<std::uintptr_t>(to) |
                       static_cast<std::uint64_t>(nest.row_bytes) | 16;
  for (int i = 0; i < nest.loops; ++i) {
    bits |= static_cast<std::uint64_t>(nest.from_strides[i]) | static_cast<std::uint64_t>(nest.to_strides[i]);
  }
  return bits & (~bits + 1);
}

template <class Unit>
int load_units() {
  const int results[] = {load(copy_rows<Unit, std::uint32_t>), load(copy_rows<Unit, std::uint64_t>),
                         load(fill_rows<Unit, std::uint32_t>), load(fill_rows<Unit, std::uint64_t>)};
  for (const int result : results) {
    if (result != cudaSuccess) return result;
  }
  return cudaSuccess;
}

}  // namespace

int launch_copy(const Nest& nest, const void* from, void* to, void* stream) {
  auto* const queue = static_cast<cudaStream_t>(stream);
  switch (alignment_of(nest, from, to)) {
    case 16:
      return copy_in_units<uint4>(nest, from, to, queue);
    case 8:
      return copy_in_units<std::uint64_t>(nest, from, to, queue);
    case 4:
      return copy_in_units<std::uint32_t>(nest, from, to, queue);
    case 2:
      return copy_in_units<std::uint16_t>(nest, from, to, queue);
    default:
      return copy_in_units<std::uint8_t>(nest, from, to, queue);
  }
}

int launch_fill(const Nest& nest, const Pattern& pattern, void* to, void* stream) {
  auto* const queue = static_cast<cudaStream_t>(stream);
  switch (alignment_of(nest, to, to)) {
    case 16:
      return fill_in_units<uint4>(nest, pattern, to, queue);
    case 8:
      return fill_in_units<std::uint64_t>(nest, pattern, to, queue);
    case 4:
      return fill_in_units<std::uint32_t>(nest, pattern, to, queue);
    case 2:
      return fill_in_units<std::uint16_t>(nest, pattern, to, queue);
    default:
      return fill_in_units<std::uint8_t>(nest, pattern, to, queue);
  }
}

int load_copy_kernels() {
  const int results[] = {load_units<uint4>(), load_units<std::uint64_t>(), load_units<std::uint32_t>(),
                         load_units<std::uint16_t>(), load_units<std::uint8_t>()};
  for (const int result : results) {
    if (result != cudaSuccess) return result;
  }
  return cudaSuccess;
}

}  // namespace partita::cuda
