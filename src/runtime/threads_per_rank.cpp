#include "runtime/threads_per_rank.hpp"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "base/control_group.hpp"
#include "runtime/groups/host_identity.hpp"

namespace partita::runtime {

namespace {

std::vector<int> affinity() {
  // Machines with more processors than a cpu_set_t holds need a larger set.
  for (int processors = CPU_SETSIZE; processors <= (1 << 20); processors *= 2) {
    const auto count = static_cast<std::size_t>(processors);
    const std::size_t bytes = CPU_ALLOC_SIZE(count);
    std::vector<unsigned long> words(bytes / sizeof(unsigned long));
    auto* const set = reinterpret_cast<cpu_set_t*>(words.data());
    if (sched_getaffinity(0, bytes, set) != 0) continue;
    std::vector<int> result;
    for (std::size_t i = 0; i < count; ++i) {
      if (CPU_ISSET_S(i, bytes, set)) result.push_back(static_cast<int>(i));
    }
    return result;
  }
  return {0};
}

// Cores: microseconds of a period. 0: no limit ("max", or -1).
double quota_of(const std::string& folder, bool unified) {
  double granted = 0, period = 0;
  if (unified) {
    std::ifstream(folder + "/cpu.max") >> granted >> period;
  } else {
    std::ifstream(folder + "/cpu.cfs_quota_us") >> granted;
    std::ifstream(folder + "/cpu.cfs_period_us") >> period;
  }
  return granted > 0 && period > 0 ? granted / period : 0;
}

// How many ranks of my host may use each core.
std::map<int, int> users_of_cores(std::span<const Cores> ranks, const std::string& host) {
  std::map<int, int> users;
  for (const Cores& rank : ranks) {
    if (rank.host != host) continue;
    for (const int core : rank.usable) ++users[core];
  }
  return users;
}

int ranks_of_host(std::span<const Cores> ranks, const std::string& host) {
  return static_cast<int>(
      std::count_if(ranks.begin(), ranks.end(), [&](const Cores& rank) { return rank.host == host; }));
}

}  // namespace

double processor_quota(const std::string& root) {
  double lowest = 0;
  const auto group = ControlGroup::of_this_process("cpu", root);
  for (const std::string& path : group ? group->levels() : std::vector<std::string>()) {
    const double quota = quota_of(group->mount + path, group->unified);
    if (quota > 0 && (lowest == 0 || quota < lowest)) lowest = quota;
  }
  return lowest;
}

Cores this_rank_cores(std::string_view place, const std::string& root) {
  return {host_of(place), affinity(), processor_quota(root)};
}

int threads_per_rank(std::span<const Cores> ranks, int me) {
  const Cores& mine = ranks[static_cast<std::size_t>(me)];
  const std::map<int, int> users = users_of_cores(ranks, mine.host);
  double share = 0;
  for (const int core : mine.usable) share += 1.0 / users.at(core);
  if (mine.quota > 0) share = std::min(share, mine.quota / ranks_of_host(ranks, mine.host));
  return std::max(1, static_cast<int>(share + 1e-6));
}

bool cores_for_all(std::span<const Cores> ranks, int me) {
  const Cores& mine = ranks[static_cast<std::size_t>(me)];
  const int sharing = ranks_of_host(ranks, mine.host);
  const auto cores = users_of_cores(ranks, mine.host).size();
  return static_cast<std::size_t>(sharing) <= cores && (mine.quota <= 0 || sharing <= mine.quota);
}

}  // namespace partita::runtime
