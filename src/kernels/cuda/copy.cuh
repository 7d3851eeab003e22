// The copying of a nest by the threads of a launch.
#pragma once

#include "kernels/cuda/alignment.hpp"
#include "kernels/cuda/rows.cuh"

namespace partita::kernels::cuda {

/// As many units at a time as there are, all loaded before the first is stored; returns the next one.
template <int at_once, class Unit>
__device__ std::int64_t copy_some(const Unit* source, Unit* destination, std::int64_t first, std::int64_t end,
                                  unsigned step) {
  std::int64_t i = first;
  for (; i + (at_once - 1) * step < end; i += at_once * step) {
    Unit held[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k) held[k] = source[i + k * step];
#pragma unroll
    for (int k = 0; k < at_once; ++k) destination[i + k * step] = held[k];
  }
  return i;
}

/// Units of a row. Of narrow ones more are on their way: as many bytes are what hides it.
template <class Unit>
__device__ void copy_units(const Unit* source, Unit* destination, std::int64_t first, std::int64_t end,
                           unsigned step) {
  std::int64_t i = first;
  if constexpr (sizeof(Unit) < 4) i = copy_some<16>(source, destination, i, end, step);
  i = copy_some<4>(source, destination, i, end, step);
  copy_some<1>(source, destination, i, end, step);
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

}  // namespace partita::kernels::cuda
