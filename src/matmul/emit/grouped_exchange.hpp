// The round of each message of a multiply, for messages in groups.
#pragma once

#include <cstddef>
#include <cstdint>

#include "matmul/emit/matmul_buffers.hpp"

namespace partita::multiplication {

/// How many rounds a turn has, and how many the products; from the tiles of all ranks.
void find_rounds(MatmulBuffers& buffers);

/// A round is named by the turn for which its messages are needed, or is one of products, and by how far the
/// taker is from the giver: what one rank gives travels around the ring, so that what has come in one round
/// is multiplied while the next is in flight. Both ends know all of that.
class GroupedExchange {
 public:
  /// `first`: of a range of numbers (PlanBuilder::new_rounds); -1: messages go on their own, in no round.
  GroupedExchange(const MatmulBuffers& buffers, std::int64_t first) : buffers_(buffers), first_(first) {}

  int of_turn(int giver, int taker) const { return round(buffers_.turn_rounds, giver, taker); }
  int of_products(int maker, int holder) const { return round(buffers_.product_rounds, maker, holder); }
  std::int64_t number_in_turn(std::size_t turn, int round) const {
    return first_ < 0 ? -1 : first_ + static_cast<std::int64_t>(turn) * buffers_.turn_rounds + round;
  }
  std::int64_t number_of_products(int round) const { return first_ + behind_all_turns + round; }

 private:
  static constexpr std::int64_t behind_all_turns = std::int64_t{1} << 39;

  int round(int rounds, int giver, int taker) const {
    const std::int64_t before = buffers_.distance(giver, taker) - 1;
    return static_cast<int>(before * rounds / (buffers_.problem.ranks() - 1));
  }

  const MatmulBuffers& buffers_;
  std::int64_t first_;
};

}  // namespace partita::multiplication
