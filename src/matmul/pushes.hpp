// Pieces of A and B that ranks of a node put into each other's memory, while these multiply others.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "matmul/cutting.hpp"
#include "plan/plan_builder.hpp"

namespace partita::multiplication {

/// A piece that another rank of the node puts into the taker's `landing`.
struct Landing {
  std::size_t turn = 0;  ///< of the taker
  bool of_a = true;
  std::size_t number = 0;  ///< of the piece in that turn
  int owner = 0;
  Region region;
  std::int64_t offset = 0;  ///< in `landing`, in bytes
};

/// All that a rank is given so, in the order of its turns, and in a turn by the distance of the owners, so
/// that no two of them put to the same rank at the same time. Pure, so that owners know it, too.
struct Landings {
  std::vector<Landing> pieces;
  std::int64_t bytes = 0;  ///< that they take up
};
Landings landings_of(const Frame& frame, const Blocks& blocks, int rank);

/// Says in the frame which inputs are put: on a device, where nobody limits memory, and pieces take longer on
/// their way than to start. Returns the bytes that a rank needs for them at most.
std::int64_t find_pushes(Frame& frame);

/// Writes it into the plan of one rank: grants to those who give, which then put all, turn after turn, around
/// the ring; each piece is waited for by the first product that reads it.
class Pushes {
 public:
  Pushes(const Frame& frame, planning::PlanBuilder& builder, Cutting& cutting, const Blocks& blocks);

  void begin();
  bool brings(std::size_t t, bool of_a, std::size_t number) const {
    return pieces_.contains({t, of_a, number});
  }
  /// When a piece comes, of those of its turn; 0: it need not come.
  std::size_t position(std::size_t t, bool of_a, std::size_t number) const;
  /// Where it lies, once it is there.
  Place place_of(std::size_t t, bool of_a, std::size_t number);

 private:
  using PieceKey = std::tuple<std::size_t, bool, std::size_t>;  // turn, of A, number
  struct Put {
    int taker = 0;
    Landing piece;
  };

  std::vector<Put> puts(Cutting& cutting) const;
  Place landing(int rank, const Landing& piece) const;

  const Frame& frame_;
  planning::PlanBuilder& builder_;
  Landings landings_;
  std::map<PieceKey, std::size_t> pieces_;  // where in `landings_`
  std::vector<std::int64_t> ordinals_;      // of each of them, among those of its owner, from 1 on
  std::map<int, std::int64_t> arrived_;     // by owner: so many have been waited for
  std::vector<Put> puts_;
};

}  // namespace partita::multiplication
