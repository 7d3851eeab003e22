// The copying of a nest by the threads of a launch.
#pragma once

#include "kernels/cuda/rows.cuh"

namespace partita::cuda {

/// Units of a row: four loads in flight before the first store.
template <class Unit>
__device__ void copy_units(const Unit* source, Unit* destination, std::int64_t first, std::int64_t end,
                           unsigned step) {
  std::int64_t i = first;
  for (; i + 3 * step < end; i += 4 * step) {
    const Unit a = source[i];
    const Unit b = source[i + step];
    const Unit c = source[i + 2 * step];
    const Unit d = source[i + 3 * step];
    destination[i] = a;
    destination[i + step] = b;
    destination[i + 2 * step] = c;
    destination[i + 3 * step] = d;
  }
  for (; i < end; i += step) destination[i] = source[i];
}

template <class Unit, class Number>
__device__ void copy_nest(const Nest& nest, const Deal& deal, unsigned lanes, const void* from, void* to) {
  for_each_segment<Number>(
      nest, deal, lanes, [&](const RowOffsets& row, std::int64_t first, std::int64_t end, unsigned step) {
        copy_units(reinterpret_cast<const Unit*>(static_cast<const char*>(from) + row.from),
                   reinterpret_cast<Unit*>(static_cast<char*>(to) + row.to), first, end, step);
      });
}

/// The lowest set bit of all lengths, steps and addresses bounds the width of an access.
inline std::uint64_t alignment_of(const Nest& nest, const void* from, const void* to) {
  std::uint64_t bits = reinterpret_cast<std::uintptr_t>(from) | reinterpret_cast<std::uintptr_t>(to) |
                       static_cast<std::uint64_t>(nest.row_bytes) | 16;
  for (int i = 0; i < nest.loops; ++i) {
    bits |= static_cast<std::uint64_t>(nest.from_strides[i]) | static_cast<std::uint64_t>(nest.to_strides[i]);
  }
  return bits & (~bits + 1);
}

}  // namespace partita::cuda
