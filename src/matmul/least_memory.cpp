#include "matmul/least_memory.hpp"

#include <algorithm>

#include "matmul/grid_search.hpp"
#include "matmul/tiling_price.hpp"

namespace partita::multiplication {
namespace {

/// Whether a rank reads the region of the operand where it lies, its own part or a neighbour's.
bool read_in_place(const Problem& problem, const Operand& operand, const Region& wanted, int rank) {
  if (operand.dtype != problem.compute) return false;
  if (common_size(wanted, operand.layout.region(rank)) == wanted.size()) return true;
  return problem.topology.node_count() == 1 && readable_in_place(problem, operand);
}

std::int64_t least_scratch(const Problem& problem, const Tile& tile, bool into_d, int rank) {
  if (tile.empty()) return 0;
  const Region a = needed_of_a(problem, tile), b = needed_of_b(problem, tile);
  const std::int64_t round = std::min(tile.k.size(), shortest_round) * size_of(problem.compute);
  std::int64_t bytes = into_d ? 0 : product_of(problem, tile).size() * size_of(problem.compute);
  if (!read_in_place(problem, problem.a, a, rank)) bytes += tile.m.size() * round;
  if (!read_in_place(problem, problem.b, b, rank)) bytes += tile.n.size() * round;
  return bytes;
}

}  // namespace

bool readable_in_place(const Problem& problem, const Operand& operand) {
  return operand.dense && operand.residency == Residency::heap && operand.dtype == problem.compute &&
         !operand.layout.partial();
}

bool multiplies_into_d(const Problem& problem, const Tiling& tiling) {
  return tiling.stationary_d && problem.d.dtype == problem.compute;
}

std::int64_t least_scratch(const Problem& problem, const Tiling& tiling) {
  const bool into_d = multiplies_into_d(problem, tiling);
  std::int64_t most = 0;
  for (int rank = 0; rank < problem.ranks(); ++rank) {
    most = std::max(most, least_scratch(problem, tiling.tile(rank), into_d, rank));
  }
  return most;
}

}  // namespace partita::multiplication
