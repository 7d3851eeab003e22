// Elements that are chosen by their positions, and the positions of those that are true.
#pragma once

#include <cstdint>

namespace partita::kernels {

/// Row i of `to` is row rows[i] of `from`; both are dense.
struct GatherPass {
  std::int64_t row_bytes = 0;
  std::int64_t count = 0;  ///< of rows of `to`
  const void* from = nullptr;
  const std::int64_t* rows = nullptr;
  void* to = nullptr;
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
