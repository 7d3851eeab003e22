// Selections, searches and counts among elements, as the kernels of hosts and of devices take them.
#pragma once

#include <cstdint>
#include <partita/dtype.hpp>

#include "base/everywhere.hpp"

namespace partita {

/// What becomes of an index that an extent does not have.
enum class Outside : std::uint8_t {
  none,    ///< there is none
  report,  ///< below 0 it counts from the end; the first element is read instead of others, which are
           ///< reported
  wrap,    ///< it is taken modulo the extent
  clip,    ///< the nearest one
};

/// For each o of `outer`: row i of `to` is row indices[i] of `from`; all are dense. With `own` each element
/// has an index of its own, so that `indices` has the extents of `to`.
struct GatherPass {
  std::int64_t element_bytes = 0;  ///< 1, 2, 4, 8 or 16
  std::int64_t width = 1;          ///< elements of a row
  std::int64_t outer = 1;
  std::int64_t count = 0;   ///< of rows of `to`
  std::int64_t extent = 0;  ///< of rows of `from`
  bool own = false;
  Outside outside = Outside::none;
  const void* from = nullptr;
  const std::int64_t* indices = nullptr;
  void* to = nullptr;
  std::int64_t* reported = nullptr;  ///< becomes 1 if there is something to report, which is kept otherwise
};

/// The row that an index means; -1: none, which is to be reported.
PARTITA_EVERYWHERE inline std::int64_t settled(std::int64_t index, const GatherPass& pass) {
  const std::int64_t end = pass.extent;
  if (pass.outside == Outside::none) return index;
  if (pass.outside == Outside::clip) return index < 0 ? 0 : index < end ? index : end - 1;
  if (pass.outside == Outside::wrap) {
    const std::int64_t rest = index % end;
    return rest < 0 ? rest + end : rest;
  }
  const std::int64_t found = index < 0 ? index + end : index;
  return found >= 0 && found < end ? found : -1;
}

/// The positions of what is true among `count` booleans, increasing.
struct TruePass {
  std::int64_t count = 0;
  const bool* from = nullptr;
  std::int64_t* to = nullptr;     ///< null: they are only counted
  std::int64_t* found = nullptr;  ///< how many there are
};

/// Of `count` values in the order of `sorted_count` sorted elements, in which NaN are the largest ones.
struct SearchPass {
  Dtype dtype = Dtype::f64;        ///< of the sorted elements, in which values are compared
  Dtype value_dtype = Dtype::f64;  ///< the same, or another one where that is f64 or, of integers, i64
  std::int64_t sorted_count = 0;
  const void* sorted = nullptr;
  std::int64_t count = 0;
  const void* values = nullptr;
  bool after = false;              ///< behind equal elements, not before them
  std::int64_t* places = nullptr;  ///< null: not wanted
  bool* contained = nullptr;       ///< whether there is an equal element; NaN equals none; null: not wanted
};

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

}  // namespace partita
