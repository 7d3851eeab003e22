// Checks of the plans of all ranks.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <partita/machine.hpp>
#include <partita/plan.hpp>
#include <set>

namespace partita::testing {

/// All ranks run to their ends, under a discrete-event clock, and are in the same plan.
inline void expect_consistent(const Planner& planner, int ranks) {
  std::set<std::uint64_t> hashes;
  for (int rank = 0; rank < ranks; ++rank) hashes.insert(planner(rank).hash());
  EXPECT_EQ(hashes.size(), 1U);
  EXPECT_NO_THROW((void)simulate(planner, ranks, Machine{}));
}

}  // namespace partita::testing
