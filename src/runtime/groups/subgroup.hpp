// What the sub-groups of all backends have in common.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <partita/topology.hpp>
#include <vector>

namespace partita::runtime {

/// Throws ArgumentError unless `ranks` names ranks of a group of `size`, each once, `caller` among them.
/// Returns the place of `caller` in it.
int check_subgroup(const std::vector<int>& ranks, int size, int caller);
/// Also checks whether `caller` is in the list; if it is not, no other rank waits for it.
int check_in_subgroup(const std::vector<int>& ranks, int caller);

/// The nodes of these ranks, numbered anew in order of appearance.
Topology subgroup_topology(const Topology& topology, const std::vector<int>& ranks);

/// Keys that keep the messages of different groups of the same processes apart. One a process. Thread-safe.
/// The members of a new group each draw a number, take the largest of all, and then all claim it; where
/// another group has claimed it in one of the processes at the same time, they draw again.
class SubgroupKeys {
 public:
  std::int32_t draw();
  /// Whether `key` is now `owner`'s in this process. Members of one group in one process name the same owner.
  bool claim(std::int32_t key, std::uint64_t owner);

  static SubgroupKeys& of_process();

 private:
  std::mutex mutex_;
  std::int32_t next_ = 1;
  std::map<std::int32_t, std::uint64_t> owners_;
};

}  // namespace partita::runtime
