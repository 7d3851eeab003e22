// Cuts the tiles of any ranks into blocks, and remembers what they have in common.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/hash.hpp"
#include "matmul/emit/blocks.hpp"

namespace partita::multiplication {

/// What was worked out of index sets.
struct HashOfSet {
  std::size_t operator()(const IndexSet& set) const {
    const auto ends = mix(static_cast<std::uint64_t>(set.front()), static_cast<std::uint64_t>(set.back()));
    return mix(ends, static_cast<std::uint64_t>(set.size()));
  }
};
template <class Value>
using BySet = std::unordered_map<IndexSet, Value, HashOfSet>;

/// A rank looks at the tiles of all those that take something from it, which may be all ranks; their rows,
/// columns and turns are those of a few process rows and columns. Not thread-safe.
class Cutting {
 public:
  explicit Cutting(const MatmulBuffers& buffers);
  Blocks blocks(int rank);
  /// Whether the multiplies of the rank can read what its panels would hold, and all that moves would be in
  /// one.
  bool gathers(int rank);
  /// The one dimension along which the rank's products are cut: 0 of rows, 1 of columns.
  std::optional<int> cut_dimension(int rank);

 private:
  struct Cut {
    std::shared_ptr<const Partition> owners;  // as the input cuts them
    std::shared_ptr<const Partition> products;
    Panel panel = Panel::none;
  };
  struct Schedule {
    std::int64_t longest = 0;
    Panels panels{};
    std::shared_ptr<const Turns> turns;
  };

  Blocks products(const Tile& tile);  // all but the turns
  Cut lines(const Tile& tile, bool of_a);
  Cut cut_lines(const Tile& tile, bool of_a) const;
  std::shared_ptr<const Turns> turns(const Tile& tile, const Panels& panels);
  std::vector<std::vector<IndexSet>> batches(const Tile& tile) const;
  Turns cut_turns(const Tile& tile, std::int64_t longest, const Panels& panels) const;

  const MatmulBuffers& buffers_;
  bool boxes_;  // of those each tile is cut by itself
  BySet<Cut> rows_;
  BySet<Cut> columns_;
  BySet<std::vector<Schedule>> turns_;
};

/// Records in the buffers that the data of a k-step is gathered into panels, and the layout of products then,
/// if that is possible for every rank's tile; returns whether it is.
bool find_panels(MatmulBuffers& buffers);

}  // namespace partita::multiplication
