// Size of groups of messages.
#pragma once

#include <cstdint>

namespace partita::multiplication {

/// Of a plan whose messages go in groups (Plan::grouped), the same on all ranks.
struct Groups {
  /// What arrives at a rank in one turn: fewer turns leave fewer passes over the sums.
  std::int64_t turn_bytes = std::int64_t{256} << 20;
  /// For which a separate round is worth it: a group costs some thirty microseconds.
  std::int64_t round_bytes = std::int64_t{8} << 20;
  std::int64_t shortest_turn = 128;  ///< indices of k
};

}  // namespace partita::multiplication
