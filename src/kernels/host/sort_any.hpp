// Sorts that hosts do beyond those of hosts and devices.
#pragma once

#include "kernels/host/sort.hpp"

namespace partita::kernels {

/// A sort on the host, also of complex numbers (order.hpp).
struct HostSort {
  SortPass pass;
  /// Without an order: memory of the size of the elements, neither `from` nor `to`; null: it is allocated, if
  /// it is needed.
  void* scratch = nullptr;
  /// Of u64 without an order: the elements are in the order of their lower 32 bits already.
  bool lower_bits_ordered = false;
};

/// As `sort`, which is this without scratch. By digits of keys, or of few elements by comparisons.
void sort_any(const HostSort& sort);

}  // namespace partita::kernels
