// The copying of a nest by the threads of a launch.
#pragma once

#include "kernels/cuda/rows.cuh"

namespace partita::kernels::cuda {

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

/// How the units of a nest are numbered through, row after row.
struct Units {
  std::int64_t of_row = 0;
  std::int64_t all = 0;
};

inline Units units_of(const Nest& nest, std::int64_t unit_bytes) {
  const std::int64_t of_row = nest.row_bytes / unit_bytes;
  return {of_row, rows_of(nest) * of_row};
}

/// Dealt out unit by unit to `threads` threads, of which this is number `first`: four of each are under way at
/// once, however short the rows are.
template <class Unit, class Number>
__device__ void copy_unit_by_unit(const Nest& nest, const Units& units, Number first, Number threads,
                                  const void* from, void* to) {
  constexpr int at_once = 4;
  const auto of_row = static_cast<Number>(units.of_row);
  const auto all = static_cast<Number>(units.all);
  for (Number begin = first; begin < all; begin += at_once * threads) {
    Unit held[at_once];
    std::int64_t places[at_once];
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      const Number unit = begin + static_cast<Number>(i) * threads;
      if (unit >= all) break;
      const Number row = unit / of_row;
      const RowOffsets offsets = row_offsets(nest, row);
      const std::int64_t within = static_cast<std::int64_t>(unit - row * of_row) * sizeof(Unit);
      held[i] = *reinterpret_cast<const Unit*>(static_cast<const char*>(from) + offsets.from + within);
      places[i] = offsets.to + within;
    }
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      if (begin + static_cast<Number>(i) * threads >= all) break;
      *reinterpret_cast<Unit*>(static_cast<char*>(to) + places[i]) = held[i];
    }
  }
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

}  // namespace partita::kernels::cuda
