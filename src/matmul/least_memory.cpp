#include "matmul/least_memory.hpp"

#include <algorithm>

#include "matmul/tiling_price.hpp"

namespace partita::multiplication {
namespace {

constexpr std::int64_t shortest_turn = 32;  // indices of k
constexpr std::int64_t shares = 6;          // of the scratch that one turn's messages get
constexpr std::int64_t piece_of_product = std::int64_t{1} << 20;  // bytes: they are sent so
constexpr std::int64_t padding = 1024;                            // messages start at cache lines

bool between_nodes(const Problem& problem) {
  return problem.topology.node_count() > 1;
}

/// What of the operands leaves its rank.
struct Moving {
  bool a = false;
  bool b = false;
  bool products = false;
};

bool covers(const Operand& operand, int rank, const Region& wanted) {
  return common_size(wanted, operand.layout.region(rank)) == wanted.size();
}

Moving moving(const Problem& problem, const Tiling& tiling) {
  Moving moves;
  for (int rank = 0; rank < problem.ranks(); ++rank) {
    const Tile tile = tiling.tile(rank);
    if (tile.empty()) continue;
    if (!moves.a) moves.a = !covers(problem.a, rank, needed_of_a(problem, tile));
    if (!moves.b) moves.b = !covers(problem.b, rank, needed_of_b(problem, tile));
    if (!moves.products && !tiling.stationary_d) {
      moves.products =
          problem.d.layout.is_replicated() || !covers(problem.d, rank, product_of(problem, tile));
    }
    if (moves.a && moves.b && (moves.products || tiling.stationary_d)) break;
  }
  return moves;
}

std::int64_t published(const Problem& problem, const Operand& operand) {
  const bool alone = problem.topology.node_count() == problem.ranks();
  if (alone || readable_in_place(operand)) return 0;
  return operand.layout.largest_local_size() * size_of(operand.dtype);
}

std::int64_t fixed(const Problem& problem, const Moving& moves) {
  std::int64_t bytes = 0;
  if (moves.a) bytes += published(problem, problem.a);
  if (moves.b) bytes += published(problem, problem.b);
  const std::int64_t item = size_of(problem.compute);
  const Layout& d = problem.d.layout;
  if (problem.d.dtype != problem.compute || (problem.in_place && moves.products)) {
    bytes += d.largest_local_size() * item;
  }
  if (moves.products && d.is_replicated()) bytes += (volume(d.shape()) / problem.ranks() + 1) * item;
  return bytes;
}

}  // namespace

bool readable_in_place(const Operand& operand) {
  return operand.dense && operand.residency == Residency::heap;
}

std::int64_t fixed_scratch(const Problem& problem) {
  return fixed(problem, {true, true, true}) + (between_nodes(problem) ? padding : 0);
}

std::int64_t round_scratch(const Problem& problem) {
  return between_nodes(problem) ? shares * std::min(problem.k(), shortest_turn) : 0;
}

std::int64_t piece_scratch(const Problem& problem) {
  return between_nodes(problem) ? piece_of_product : 0;
}

std::int64_t least_scratch(const Problem& problem, const Tiling& tiling) {
  const Moving moves = moving(problem, tiling);
  std::int64_t products = 0;
  std::int64_t turn = 0;
  for (int rank = 0; rank < problem.ranks(); ++rank) {
    const Tile tile = tiling.tile(rank);
    if (tile.empty()) continue;
    if (moves.products) products = std::max(products, product_of(problem, tile).size());
    const Region a = needed_of_a(problem, tile), b = needed_of_b(problem, tile);
    const std::int64_t along_k =
        (moves.a ? a.size() : 0) / tile.k.size() + (moves.b ? b.size() : 0) / tile.k.size();
    turn = std::max(turn, along_k * std::min(tile.k.size(), shortest_turn));
  }
  std::int64_t bytes = products * size_of(problem.compute);
  if (between_nodes(problem) && (turn > 0 || products > 0)) {
    bytes += std::min(bytes, piece_of_product) + shares * turn * size_of(problem.a.dtype) + padding;
  }
  return bytes + fixed(problem, moves);
}

}  // namespace partita::multiplication
