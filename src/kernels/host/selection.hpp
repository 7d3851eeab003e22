// Elements that are chosen by their positions, and the positions of those that are true.
#pragma once

#include <cstdint>

namespace partita::kernels {

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

/// Thread-safe.
void gather(const GatherPass& pass);

/// The positions of what is true among `count` booleans, increasing.
struct TruePass {
  std::int64_t count = 0;
  const bool* from = nullptr;
  std::int64_t* to = nullptr;     ///< null: they are only counted
  std::int64_t* found = nullptr;  ///< how many there are
};

/// Thread-safe.
void find_true(const TruePass& pass);

}  // namespace partita::kernels
