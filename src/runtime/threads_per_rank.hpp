// The processor cores that ranks may use, and how many threads that gives each.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/serialize.hpp"

namespace partita::runtime {

/// Of one rank.
struct Cores {
  std::string host;         ///< ranks of another host share no cores with this one
  std::vector<int> usable;  ///< the processors of the affinity mask, in increasing order
  double quota = 0;  ///< cores that the control group grants to all its processes together; 0: no limit
};
auto members_of(is_a<Cores> auto& cores) {
  return std::tie(cores.host, cores.usable, cores.quota);
}

/// Of the calling thread. `root` is put before /proc and /sys (for tests).
Cores this_rank_cores(std::string_view place, const std::string& root = "");

/// The cores of the control group's processor quota (v1 and v2, the lowest of all levels above this process);
/// 0: no limit.
double processor_quota(const std::string& root = "");

/// Threads for rank `me`: its share of the cores that it may use, each core divided among the ranks that may
/// use it, and of the quota; at least 1. Pure.
int threads_per_rank(std::span<const Cores> ranks, int me);

/// Whether every rank on the host of `me` can have a separate core, so that spinning takes no time from other
/// ranks. Pure.
bool cores_for_all(std::span<const Cores> ranks, int me);

}  // namespace partita::runtime
