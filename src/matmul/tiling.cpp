#include "matmul/tiling.hpp"

#include <algorithm>

namespace partita::multiplication {

bool Tile::empty() const {
  const bool no_batch =
      std::any_of(batch.begin(), batch.end(), [](const IndexSet& set) { return set.empty(); });
  return no_batch || m.empty() || n.empty() || k.empty();
}

}  // namespace partita::multiplication
