// A redistribution whose messages go in groups.
#pragma once

#include <vector>

#include "plan/transfers.hpp"
#include "redistribute/exchange.hpp"

namespace partita::redistribution {

/// Every overlap is cut into as many pieces as there are rounds, and piece k of all overlaps is sent in round
/// k (planning::GroupWriter). Groups follow one another in the same order on all ranks, and a group waits for
/// earlier ones only, so none waits for one that waits for it.
struct Rounds {
  std::int64_t count = 1;       ///< that an overlap is cut into, at most
  std::int64_t half_bytes = 0;  ///< of scratch, for the messages of a round one way
  std::int64_t halves = 2;      ///< 1 if no other round overlaps

  std::int64_t private_bytes() const { return 2 * halves * half_bytes; }
};

/// Whether `options.staging_bytes` is enough. The same on every rank.
bool fits_rounds(const Problem& problem);

/// For an exchange of so many parts. The same on every rank. Throws ArgumentError where
/// `options.staging_bytes` is too small.
Rounds choose_rounds(const Problem& problem, std::size_t parts);

/// Writes the steps; gives those at which the parts of the exchange begin.
std::vector<int> write_rounds(const Problem& problem, const Rounds& rounds,
                              const std::vector<Exchange>& parts, planning::PlanBuilder& builder);

}  // namespace partita::redistribution
