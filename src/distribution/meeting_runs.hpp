// Where the blocks of two periodic families meet, found by congruences.
#pragma once

#include <vector>

#include "distribution/index_set_state.hpp"

namespace partita::detail {

/// The blocks [first + i * period, first + i * period + length), over all integers i.
struct Family {
  std::int64_t first = 0;
  std::int64_t length = 0;
  std::int64_t period = 0;
};

/// The common runs of the two in [from, to), increasing. A block of b begins d after one of a, where d is
/// congruent to b.first - a.first modulo the greatest common divisor of the periods; each such d at which
/// blocks meet gives one block of b in every period of a / gcd (Chinese remainder theorem). Cost: the number
/// of those d, and the runs found.
std::vector<Run> meeting_runs(const Family& a, const Family& b, std::int64_t from, std::int64_t to);

/// The number of d that `meeting_runs` tries.
std::int64_t meeting_offsets(const Family& a, const Family& b);

}  // namespace partita::detail
