// Sorting of the elements of one rank.
#pragma once

#include <cstdint>
#include <partita/dtype.hpp>

namespace partita::kernels {

/// A sequence, dense on both sides.
struct SortPass {
  Dtype dtype = Dtype::f64;
  bool descending = false;
  std::int64_t count = 0;
  const void* from = nullptr;
  void* to = nullptr;             ///< the sorted elements; not `from`; null: not wanted beside an order
  std::int64_t* order = nullptr;  ///< where they were, in the order of equal elements; null: not wanted
};

/// Whether elements of the dtype are sorted: complex numbers and FP8 are not.
bool is_sorted_here(Dtype dtype);

/// NaN are the largest elements, 0 and -0 are equal. Thread-safe.
void sort(const SortPass& pass);

}  // namespace partita::kernels
