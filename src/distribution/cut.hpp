// How one dimension is cut into parts.
#pragma once

#include <partita/index_set.hpp>
#include <vector>

namespace partita::distribution {

/// Seen through a window, index 0 is the index `lower` of the cut dimension, and `length` indices are seen;
/// the coordinates stay.
struct Cut {
  enum class Kind : std::uint8_t {
    balanced,  ///< contiguous; the first extent mod parts of them get one more
    blocks,    ///< one block each, parts * block >= extent
    cyclic,    ///< blocks distributed cyclically
  };
  Kind kind = Kind::balanced;
  std::int64_t extent = 0;
  std::int64_t parts = 1;
  std::int64_t block = 1;   ///< unused where balanced
  std::int64_t first = 0;   ///< the coordinate that owns the first block
  std::int64_t lower = 0;   ///< of the window
  std::int64_t length = 0;  ///< of the window; the extent where there is none

  static Cut balanced(std::int64_t extent, std::int64_t parts);
  static Cut blocks(std::int64_t extent, std::int64_t parts, std::int64_t block, std::int64_t first = 0);
  static Cut ceil(std::int64_t extent, std::int64_t parts, std::int64_t first = 0);
  static Cut cyclic(std::int64_t extent, std::int64_t parts, std::int64_t block, std::int64_t first = 0);

  /// The same cut with indices [lower_, lower_ + length_) of what is seen of it.
  Cut window(std::int64_t lower_, std::int64_t length_) const;

  IndexSet set(std::int64_t coordinate) const;
  std::int64_t owner(std::int64_t index) const;  ///< the coordinate whose set holds the index
  std::int64_t largest() const;                  ///< size of the largest set
  /// The coordinates that may own an index of [front, back], increasing; all others own none.
  std::vector<std::int64_t> candidates(std::int64_t front, std::int64_t back) const;

 private:
  IndexSet whole_set(std::int64_t coordinate) const;
  std::int64_t block_of(std::int64_t whole_index) const;
};

}  // namespace partita::distribution
