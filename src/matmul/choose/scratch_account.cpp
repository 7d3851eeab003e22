#include "matmul/choose/scratch_account.hpp"

#include <algorithm>

namespace partita::multiplication {
namespace {

constexpr std::int64_t shortest_turn = 32;  // indices of k
constexpr std::int64_t shares = 6;          // of the scratch that one k-step's messages get

}  // namespace

void Demand::add(const Problem& problem, const Tile& tile, int rank, bool stationary_d) {
  if (tile.empty()) return;
  const Region a = region_of(problem, tile, true), b = region_of(problem, tile, false);
  moves_a = moves_a || !covers(problem.a.held.by(rank), a);
  moves_b = moves_b || !covers(problem.b.held.by(rank), b);
  if (!stationary_d) {
    const Region d = region_of_d(tile);
    delivers = delivers || problem.d.layout.is_replicated() || !covers(problem.d.held.by(rank), d);
    products = std::max(products, d.size());
  }
  const std::int64_t k = tile.k.size(), turn = std::min(k, shortest_turn);
  turn_of_a = std::max(turn_of_a, a.size() / k * turn);
  turn_of_b = std::max(turn_of_b, b.size() / k * turn);
}

Demand Demand::of_all(std::int64_t rows, std::int64_t columns, std::int64_t depth, std::int64_t products) {
  const std::int64_t turn = std::min(depth, shortest_turn);
  return {true, true, true, products, rows * turn, columns * turn};
}

bool readable_in_place(const Operand& operand) {
  return operand.dense && operand.residency == Residency::heap;
}

bool is_published(const Problem& problem, const Operand& operand) {
  const bool alone = problem.topology.node_count() == problem.ranks();
  return !alone && !readable_in_place(operand);
}

bool sums_apart(const Problem& problem, bool delivers) {
  return problem.d.dtype != problem.compute ||
         (problem.in_place && (delivers || problem.multiplies_nothing() || problem.scales_product()));
}

std::int64_t array_bytes(const Operand& operand) {
  return operand.layout.largest_local_size() * size_of(operand.dtype);
}

std::int64_t least_scratch(const Problem& problem, const Demand& demand, bool stationary_d) {
  std::int64_t bytes = stationary_d ? problem.beside_stationary : problem.beside_moving;
  if (demand.moves_a && is_published(problem, problem.a)) bytes += array_bytes(problem.a);
  if (demand.moves_b && is_published(problem, problem.b)) bytes += array_bytes(problem.b);
  if (sums_apart(problem, demand.delivers))
    bytes += problem.d.layout.largest_local_size() * size_of(problem.compute);
  const std::int64_t products = demand.delivers ? demand.products * size_of(problem.compute) : 0;
  const std::int64_t turn = (demand.moves_a ? demand.turn_of_a : 0) + (demand.moves_b ? demand.turn_of_b : 0);
  const bool messages = problem.topology.node_count() > 1 && (turn > 0 || products > 0);
  if (messages) {
    bytes += std::min(products, product_message_bytes) + shares * turn * size_of(problem.a.dtype) +
             message_padding;
  }
  return bytes + products;
}

std::int64_t least_scratch(const Problem& problem, const Tiling& tiling, std::int64_t enough) {
  Demand demand;
  std::int64_t bytes = least_scratch(problem, demand, tiling.stationary_d);
  for (int rank = 0; rank < problem.ranks() && bytes <= enough; ++rank) {
    demand.add(problem, tiling.tile(rank), rank, tiling.stationary_d);
    bytes = least_scratch(problem, demand, tiling.stationary_d);
  }
  return bytes;
}

}  // namespace partita::multiplication
