// Places of elements in the order of others: searches in sorted elements, and counts of elements in bins.
#pragma once

#include <cstdint>
#include <partita/dtype.hpp>

namespace partita::kernels {

/// Of `count` values in the order of `sorted_count` sorted elements, in which NaN are the largest ones.
struct SearchPass {
  Dtype dtype = Dtype::f64;
  std::int64_t sorted_count = 0;
  const void* sorted = nullptr;
  std::int64_t count = 0;
  const void* values = nullptr;
  bool after = false;              ///< behind equal elements, not before them
  std::int64_t* places = nullptr;  ///< null: not wanted
  bool* contained = nullptr;       ///< whether there is an equal element; NaN equals none; null: not wanted
};

/// Of elements whose dtype is_sorted_here. Thread-safe.
void search(const SearchPass& pass);

/// to[b] = how many elements are in bin b, or the sum of their weights: from edges[b] on, below edges[b + 1],
/// which the last bin contains. Elements outside the edges, and NaN, are in no bin.
struct CountPass {
  Dtype dtype = Dtype::f64;
  std::int64_t count = 0;
  const void* from = nullptr;
  std::int64_t bins = 0;          ///< 1 or more
  Dtype edge_dtype = Dtype::f64;  ///< or i64, of integers and booleans
  const void* edges =
      nullptr;  ///< bins + 1 of them, none below the one before; null: 0, 1, ..., for integers
  const double* weights = nullptr;  ///< null: each element counts as 1
  void* to = nullptr;               ///< i64; with weights f64
};

/// Of elements whose dtype is_sorted_here. Thread-safe.
void count(const CountPass& pass);

}  // namespace partita::kernels
