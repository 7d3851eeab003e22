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

/// One look at all tiles.
struct Survey {
  Moving moves;
  std::int64_t products = 0;   ///< elements of the largest tile of D
  std::int64_t turn_of_a = 0;  ///< and of a short turn of A
  std::int64_t turn_of_b = 0;
};

void look_at(const Problem& problem, const Tiling& tiling, int rank, Survey& survey) {
  const Tile tile = tiling.tile(rank);
  if (tile.empty()) return;
  const Region a = needed_of_a(problem, tile), b = needed_of_b(problem, tile);
  Moving& moves = survey.moves;
  moves.a = moves.a || !covers(problem.held_a.by(rank), a);
  moves.b = moves.b || !covers(problem.held_b.by(rank), b);
  if (!tiling.stationary_d) {
    const Region d = product_of(problem, tile);
    moves.products =
        moves.products || problem.d.layout.is_replicated() || !covers(problem.held_d.by(rank), d);
    survey.products = std::max(survey.products, d.size());
  }
  const std::int64_t k = tile.k.size(), turn = std::min(k, shortest_turn);
  survey.turn_of_a = std::max(survey.turn_of_a, a.size() / k * turn);
  survey.turn_of_b = std::max(survey.turn_of_b, b.size() / k * turn);
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
  return bytes;
}

/// Of all tiles that were looked at.
std::int64_t scratch_of(const Problem& problem, const Survey& survey) {
  const Moving& moves = survey.moves;
  const std::int64_t turn = (moves.a ? survey.turn_of_a : 0) + (moves.b ? survey.turn_of_b : 0);
  std::int64_t bytes = moves.products ? survey.products * size_of(problem.compute) : 0;
  if (between_nodes(problem) && (turn > 0 || bytes > 0)) {
    bytes += std::min(bytes, piece_of_product) + shares * turn * size_of(problem.a.dtype) + padding;
  }
  return bytes + fixed(problem, moves);
}

}  // namespace

bool readable_in_place(const Operand& operand) {
  return operand.dense && operand.residency == Residency::heap;
}

std::int64_t fixed_scratch(const Problem& problem) {
  return problem.beside_moving + fixed(problem, {true, true, true}) + (between_nodes(problem) ? padding : 0);
}

std::int64_t round_scratch(const Problem& problem) {
  return between_nodes(problem) ? shares * std::min(problem.k(), shortest_turn) : 0;
}

std::int64_t piece_scratch(const Problem& problem) {
  return between_nodes(problem) ? piece_of_product : 0;
}

std::int64_t least_scratch(const Problem& problem, const Tiling& tiling, std::int64_t enough) {
  Survey survey;
  const std::int64_t beside = tiling.stationary_d ? problem.beside_stationary : problem.beside_moving;
  std::int64_t bytes = beside;
  for (int rank = 0; rank < problem.ranks() && bytes <= enough; ++rank) {
    look_at(problem, tiling, rank, survey);
    bytes = beside + scratch_of(problem, survey);
  }
  return bytes;
}

}  // namespace partita::multiplication
