// One of the dimensions m, n, k of a local product, divided into chunks with even spacing in both operands.
#pragma once

#include <array>
#include <vector>

#include "execute/axis_runs.hpp"
#include "kernels/host/tile.hpp"

namespace partita::execution {

/// Chunks of one dimension that two operands share. Where the sets meet in long runs each run is a chunk;
/// where they are short, there is one chunk, and an operand in which it is not even has a table. Not movable:
/// chunks refer to the tables.
class ProductAxis {
 public:
  struct Chunk {
    std::int64_t count = 0;
    std::array<kernels::TileAxis, 2> in;  ///< by operand
  };

  /// Runs shorter than `short_run` on average are merged.
  ProductAxis(const PartAxis& first, const PartAxis& second, std::int64_t size, std::int64_t short_run);
  ProductAxis(const ProductAxis&) = delete;
  ProductAxis& operator=(const ProductAxis&) = delete;

  /// Cuts the chunks into pieces of at most `most` elements.
  void split(std::int64_t most);

  const std::vector<Chunk>& chunks() const { return chunks_; }
  std::int64_t largest_chunk() const;

 private:
  kernels::TileAxis joined(const PartAxis& part, std::int64_t size, std::vector<std::int64_t>& table) const;

  std::vector<Chunk> chunks_;
  std::array<std::vector<std::int64_t>, 2> tables_;
};

}  // namespace partita::execution
