#include "array/elements.hpp"

namespace partita {

bool is_first_holder(const Layout& layout, int rank) {
  const Region mine = layout.region(rank);
  if (mine.empty()) return false;
  const std::vector<Layout::Cell> cells = layout.cells(mine);
  return !cells.empty() && cells.front().contributions.front().front() == rank;
}

}  // namespace partita
